"""The install page in a small window: the running step and the list of steps are seen at once, in both languages and
with large text; what is told of what has come is true.
"""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.plan import StepEvent
from gpu_assistant.gui import theme
from gpu_assistant.gui.wizard.pages.install import messages

pytestmark = pytest.mark.gui
LANGUAGES = ("en", "zh_CN")


@pytest.fixture
def scale(qapp: QApplication):
    return lambda to: theme.set_text_scale(qapp, to)


@pytest.fixture
def installing(app, at_recommendation, qtbot):
    """In the middle of a download, `done` bytes of it here."""

    def start(done: int = 119_000_000):
        app.gate = None
        wizard = at_recommendation(app)
        app.gate = threading.Event()
        ended = [StepEvent(id=name, state="done") for name in ("space", "python", "resolve")]
        event = StepEvent(id="download", state="running", done=done, total=192_000_000, unit="bytes", speed=18.4e6)
        app.events["install"] = (*ended, StepEvent(id="download", state="running"), event)
        wizard.recommendation.primary_button.click()
        page = wizard.install
        qtbot.waitUntil(
            lambda: page.step_panel.isVisible() and page.step_panel.download_controls.isVisible(), timeout=5000
        )
        return wizard

    yield start
    if app.gate is not None:
        app.gate.set()


def in_sight(page, widget) -> bool:
    """Whether the whole widget is to be seen without scrolling."""
    view = page.page.viewport()
    top = widget.mapTo(view, QPoint(0, 0)).y()
    return widget.isVisible() and top >= 0 and top + widget.height() <= view.height()


@pytest.mark.parametrize("size", [(1000, 700), (880, 520)])
@pytest.mark.parametrize("large", [1.0, 1.5])
@pytest.mark.parametrize("code", LANGUAGES)
def test_running_step_and_next_steps_are_visible(installing, qtbot, speak, scale, code, large, size) -> None:
    if (large, size) == (1.5, (880, 520)):
        pytest.skip("half of the smallest window's height is title and foot with such text")
    wizard = installing()
    speak(code)
    scale(large)
    wizard.resize(*size)
    page = wizard.install

    def seen() -> None:
        assert in_sight(page, page.step_panel)
        assert all(in_sight(page, page.step_list.rows[name]) for name in ("download", "pytorch", "verify"))

    qtbot.waitUntil(seen, timeout=20_000)
    # What is behind is one line, which the keyboard opens.
    fold = page.step_list.fold_button
    assert in_sight(page, fold)
    assert fold.text() == {"en": "3 steps done", "zh_CN": "已完成 3 步"}[code]
    assert not page.step_list.rows["space"].isVisible()
    fold.setFocus()
    qtbot.keyClick(fold, Qt.Key.Key_Space)
    assert page.step_list.rows["space"].isVisible()
    qtbot.keyClick(fold, Qt.Key.Key_Space)
    assert not page.step_list.rows["space"].isVisible()
    # Its figures stand in a line of words.
    assert "119 MB / 192 MB · 18.4 MB/s" in page.step_panel.description_label.text()
    assert not page.step_panel.speed_line.isVisible()


def test_wide_window_shows_all_rows_and_speed_curve(installing, qtbot) -> None:
    wizard = installing()
    wizard.resize(1000, 700)
    page = wizard.install
    qtbot.waitUntil(page.step_list.fold_button.isVisible, timeout=5000)
    wizard.resize(1180, 760)
    qtbot.waitUntil(page.step_panel.speed_line.isVisible, timeout=5000)
    assert not page.step_list.fold_button.isVisible()
    assert all(row.isVisible() for row in page.step_list.rows.values())


def test_finished_install_lists_every_step(app, installing, qtbot) -> None:
    wizard = installing()
    wizard.resize(1000, 700)
    wizard.controller.stop()
    qtbot.waitUntil(lambda: wizard.flow.state.stage == "cancelled", timeout=5000)
    page = wizard.install
    qtbot.waitUntil(lambda: all(row.isVisible() for row in page.step_list.rows.values()), timeout=5000)
    assert not page.step_list.fold_button.isVisible()


def test_download_keeps_its_place_while_one_file_follows_another(app, installing, qtbot) -> None:
    wizard = installing(119_000_000)
    page = wizard.install
    description = page.step_panel.description_label
    before = description.text()
    assert "checks every file" in before
    events = (
        StepEvent(
            id="download",
            state="running",
            done=done,
            total=192_000_000,
            unit="bytes",
            speed=1e6,
            code="progress.fetching",
            data={"name": name},
        )
        for done, name in ((120_000_000, "numpy.whl"), (130_000_000, "nvidia_nccl_cu13-2.30.7-py3-none-any.whl"))
    )
    for event in events:
        page.controller.runners.install.reported.emit(event)
        assert description.text() == before
    assert "nccl" in page.log_drawer.text()
    assert page.log_drawer.header.last == ""


def test_files_that_are_only_checked_have_no_speed_and_no_pause(app, installing, qtbot) -> None:
    wizard = installing(0)
    panel = wizard.install.step_panel
    panel.speed_line.clear()
    step = wizard.controller.progress.steps["download"]
    panel.set_step(replace(step, done=239_000_000, speed=0.0, bottleneck="checking"), wizard.install.texts)
    assert panel.done_figure.isVisible()
    assert not panel.speed_line.isVisible()
    assert not panel.speed_figure.isVisible()
    assert not panel.download_controls.isVisible()
    panel.set_step(replace(step, done=239_000_000, speed=2e6, bottleneck="network"), wizard.install.texts)
    assert panel.speed_line.isVisible()
    assert panel.download_controls.isVisible()


def test_stopping_and_stopped_say_where_and_do_not_offer_to_stop_again(app, installing, qtbot, seen) -> None:
    wizard = installing(119_000_000)
    page = wizard.install
    wizard.flow.request_stop()
    wizard.controller.changed.emit()
    assert page.cancel_button.text() == "Stopping…"
    assert "Safe to interrupt" not in seen(page)
    # There is nothing left to pause, to limit or to wait for.
    panel = page.step_panel
    assert panel.progress_bar.isVisible()
    assert not any(widget.isVisible() for widget in (panel.download_controls, panel.bottleneck_row, panel.speed_line))
    panel.set_compact(True)
    assert "/s" not in seen(panel)
    wizard.controller.stop()
    qtbot.waitUntil(lambda: wizard.flow.state.stage == "cancelled", timeout=5000)
    assert "Step 4 of 6: Download" in seen(page)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("done", [0, 119_000_000])
def test_downloads_are_called_kept_only_after_bytes_arrived(app, installing, qtbot, speak, seen, code, done) -> None:
    wizard = installing(done)
    speak(code)
    page = wizard.install
    qtbot.waitUntil(lambda: wizard.controller.progress.steps["download"].done == done, timeout=5000)
    page.step_panel.download_controls.pause_button.click()
    promise = {"en": "Your download is kept.", "zh_CN": "已下载的会保留。"}[code]
    nothing = {"en": "Nothing downloaded yet.", "zh_CN": "还没有下载任何数据。"}[code]
    text = seen(page.step_panel)
    assert (promise in text, nothing in text) == (bool(done), not done)
    question = messages.kept_work_text(wizard.controller.progress, only_download_kept=False)
    promised = {"en": "download is kept", "zh_CN": "已下载的会保留"}[code]
    assert (promised in question) == bool(done)
    wizard.controller.stop()
    qtbot.waitUntil(lambda: wizard.flow.state.stage == "cancelled", timeout=5000)
    there = {"en": "119 MB of 192 MB downloaded", "zh_CN": "已下载 119 MB，共 192 MB"}[code]
    nothing = {"en": "Nothing was downloaded yet", "zh_CN": "还没有下载任何内容"}[code]
    qtbot.waitUntil(lambda: (there if done else nothing) in seen(page), timeout=5000)


def test_what_keeps_an_install_safe_is_seen_in_a_low_window(app, installing, qtbot) -> None:
    wizard = installing()
    page = wizard.install
    text = "Safe to interrupt. Your download is kept; next time, the setup continues from here."
    assert page.note_cards[0].isVisible()
    wizard.resize(880, 520)
    qtbot.waitUntil(lambda: page.footer.hint_label.text() == text, timeout=5000)
    assert not page.note_cards[0].isVisible()
    wizard.resize(1180, 760)
    qtbot.waitUntil(page.note_cards[0].isVisible, timeout=5000)
    assert page.footer.hint_label.text() == ""
