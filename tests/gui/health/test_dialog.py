"""The dialog of the health test: opened from Home, Monitor and alarms; a test, its end, its options."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication

from gpu_assistant.app import App
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.results import HealthTestCurve
from gpu_assistant.gui.health.dialog import HealthDialog, HealthDialogOptions, HealthTestJob
from gpu_assistant.gui.main.main_area import HOME, MONITOR
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.health.job import NEVER_COVERED, PRIORITY_AREAS
from tests.fakes.health_findings import PROGRESS, health_checks
from tests.fakes.main_window import ENVIRONMENT, FakeMain, feed, gpu, sample

pytestmark = pytest.mark.gui


@pytest.fixture
def app(tmp_path):
    app = FakeMain(tmp_path)
    app.results["health"] = health_checks()
    app.events["health"] = (PROGRESS, *health_checks().checks[:2])
    return app


@pytest.fixture
def open_dialog(app, qtbot, language):
    def opened(**options) -> HealthDialog:
        dialog = HealthDialog(app, None, HealthDialogOptions(**options))
        qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: not dialog.environment_runner.running, timeout=5000)
        return dialog

    return opened


def test_duration_shown_before_and_scope_after(open_dialog, app, qtbot, seen):
    dialog = open_dialog(level=2)
    assert "Some minutes" in dialog.level_label.text()
    assert "30 minutes at the latest" in dialog.level_label.text()
    dialog.levels.buttons[2].click()
    assert "10 minutes of full load" in dialog.level_label.text()
    dialog.levels.buttons[1].click()
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=5000):
        dialog.start_button.click()
    assert app.calls[-1] == f"health 2 {Path(ENVIRONMENT.path)}"
    assert [row.check.state for row in dialog.result_view.rows] == ["pass", "pass", "pass", "warn", "skip"]
    qtbot.waitUntil(lambda: "Check whether all fans turn" in seen(dialog), timeout=5000)
    assert dialog.result_view.verdict.kind == "warn"
    assert "It does not cover: " in dialog.result_view.scope.text()
    dialog.copy_button.click()
    verdict, *rows = QGuiApplication.clipboard().text().splitlines()
    assert verdict == "Level 2: It works, but something wants a look. What to do stands below."
    assert any(row.startswith("wants a look: ") for row in rows)
    assert rows[-1] == dialog.result_view.scope.text().splitlines()[-1]
    assert dialog.copy_button.text() == "Copied"


def test_cancel_keeps_finished_checks(open_dialog, app, qtbot, seen):
    app.gate = threading.Event()
    dialog = open_dialog(level=2)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: len(dialog.result_view.rows) == 2, timeout=5000)
    assert dialog.progress_label.text() == "The free memory, bit by bit · GPU 0 · 42 % · 61 °C · 104 W"
    assert not dialog.levels.isEnabled()
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=5000):
        dialog.cancel_button.click()
    assert "without a verdict" in seen(dialog)
    assert len(dialog.result_view.rows) == 2
    assert dialog.start_button.isVisible()


def test_closing_stops_the_test_first(open_dialog, app, qtbot):
    app.gate = threading.Event()
    dialog = open_dialog()
    dialog.start_button.click()
    qtbot.waitUntil(lambda: dialog.test_runner.running, timeout=5000)
    dialog.reject()
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=5000)
    assert not dialog.test_runner.running


@pytest.mark.parametrize("stop", [False, True])
def test_closing_long_test_asks_first(open_dialog, app, qtbot, monkeypatch, stop):
    app.gate = threading.Event()
    dialog = open_dialog(level=3)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: dialog.test_runner.running, timeout=5000)
    titles = []
    monkeypatch.setattr(ConfirmDialog, "ask", lambda *texts, **options: titles.append(texts[1]) or stop)
    dialog.reject()
    assert titles == ["Stop the test?"]
    if stop:
        qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=5000)
        return
    assert dialog.isVisible()
    assert dialog.test_runner.running
    app.gate.set()
    qtbot.waitUntil(lambda: not dialog.test_runner.running, timeout=5000)


def test_stop_question_closes_when_test_ends(open_dialog, app, qtbot):
    app.gate = threading.Event()
    dialog = open_dialog(level=3)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: dialog.test_runner.running, timeout=5000)
    questions = []

    def end():
        questions.extend(dialog.findChildren(ConfirmDialog))
        app.gate.set()
        # So that a question which stays open fails the test instead of blocking it.
        QTimer.singleShot(5000, questions[0], questions[0].accept)

    QTimer.singleShot(0, dialog, end)
    dialog.close_button.click()
    assert questions[0].result() == ConfirmDialog.DialogCode.Rejected
    assert not dialog.test_runner.running
    assert dialog.isVisible()
    assert dialog.result_view.verdict.kind == "warn"


def test_minutes_and_gpu_can_be_selected(open_dialog, app, qtbot):
    dialog = open_dialog(level=3, gpus=(gpu(0), gpu(1)), gpu=1)
    dialog.test_options.minutes.buttons[2].click()
    assert "30 minutes of full load" in dialog.level_label.text()
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=5000):
        dialog.start_button.click()
    assert app.calls[-1] == f"health 3 {Path(ENVIRONMENT.path)} cuda:1 1800.0"
    dialog.test_options.gpu_dropdown.choose(dialog.test_options.gpu_dropdown.entries[0])
    dialog.levels.buttons[1].click()
    assert not dialog.test_options.minutes.isVisible()
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=5000):
        dialog.start_button.click()
    assert app.calls[-1] == f"health 2 {Path(ENVIRONMENT.path)}"


def test_single_gpu_hides_selection(open_dialog):
    dialog = open_dialog(gpus=(gpu(0),), gpu=0)
    assert not dialog.test_options.isVisible()
    assert dialog.test_options.device is None


def test_gpu_curves_are_drawn(open_dialog, seen, qtbot):
    t = tuple(float(second) for second in range(900))
    hot = replace(
        health_checks(3),
        curves=(
            HealthTestCurve(
                gpu=0,
                t=t,
                temp=tuple(40 + min(second, 400) // 10 for second in range(900)),
                clock_sm=tuple(2700 if second < 450 else 1800 for second in range(900)),
                throttle=tuple(() if second < 450 else ("thermal",) for second in range(900)),
            ),
        ),
    )
    dialog = open_dialog(level=3)
    dialog.result_view.show_result(hot)
    qtbot.waitUntil(lambda: "Temperature: 40 °C at the start, 80 °C at most" in seen(dialog), timeout=5000)
    assert "Held back for 50 % of the time" in seen(dialog)
    temperature, clock, throttle = dialog.result_view.curves[0].sparklines
    assert max(value for _, value in temperature.points()) == 80
    assert min(value for _, value in clock.points()) == 1800
    assert {value for _, value in throttle.points()} == {0.0, 1.0}
    dialog.result_view.show_result(health_checks())
    assert dialog.result_view.curves == []


def test_verdict_shows_level_and_untested_gpu(open_dialog):
    dialog = open_dialog()
    dialog.result_view.show_result(replace(health_checks(1), verdict="pass"))
    assert dialog.result_view.verdict.label.text() == "Level 1: Everything that was tested is right."
    assert dialog.result_view.verdict.kind == "ok"
    dialog.result_view.show_result(replace(health_checks(2), verdict="pass", covers=("cpu-compute", "memory-test-cpu")))
    assert dialog.result_view.verdict.kind == "neutral"
    assert "No card was tested" in dialog.result_view.verdict.label.text()


def test_checks_precede_scope_and_focus_on_start(open_dialog):
    dialog = open_dialog()
    assert dialog.focusWidget() is dialog.start_button
    dialog.result_view.show_result(health_checks())
    dialog.result_view.widget().layout().activate()
    assert dialog.result_view.scope.y() > dialog.result_view.rows[-1].y()


def test_home_opens_health_test(home, app, qtbot):
    window, page = home(app)
    feed(window, sample(gpu(0), gpu(1, temp=80)))
    qtbot.waitUntil(page.live_card.test_button.isVisible, timeout=5000)
    page.live_card.test_button.click()
    dialog = window.findChild(HealthDialog)
    assert dialog.test_options.device == "cuda:1"
    dialog.reject()


def test_only_level_1_without_environment(open_dialog, app):
    app.known = ()
    dialog = open_dialog(level=2)
    assert not dialog.start_button.isEnabled()
    assert "Level 1 works without it" in dialog.level_label.text()
    dialog.levels.buttons[0].click()
    assert dialog.start_button.isEnabled()
    assert "computes nothing" in dialog.level_label.text()


@pytest.mark.parametrize(("variant", "warned"), [("cpu", True), ("cu130", False)])
def test_cpu_only_pytorch_shows_warning(open_dialog, app, variant, warned):
    app.known = (replace(ENVIRONMENT, variant=variant),)
    dialog = open_dialog(level=3)
    assert dialog.cpu_only_banner.isVisible() == warned
    assert "processor only" in dialog.cpu_only_banner.label.text()
    assert dialog.start_button.isEnabled()
    dialog.levels.buttons[0].click()
    assert not dialog.cpu_only_banner.isVisible()


def test_health_test_blocked_during_benchmark(open_dialog):
    dialog = open_dialog(busy=True)
    assert not dialog.start_button.isEnabled()
    assert "benchmark" in dialog.level_label.text()


def test_alarm_opens_test_at_level_2(home, app, qtbot):
    window, page = home(app)
    for _ in range(3):
        feed(window, sample(gpu(ecc_uncorrected=5)))
    row = next(iter(page.alarms_card.rows.values()))
    assert row.test_button.isVisible()
    row.test_button.click()
    dialog = window.findChild(HealthDialog)
    assert dialog.level == 2
    dialog.reject()
    assert window.main_area.current_page == HOME


def test_scope_lists_most_important_first(open_dialog, app, qtbot):
    app.results["health"] = replace(health_checks(1), leaves_out=(*PRIORITY_AREAS, "card-fan", *NEVER_COVERED))
    dialog = open_dialog(level=1)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=5000):
        dialog.start_button.click()
    scope = dialog.result_view.scope
    assert "a small computation on the card; computing in each precision; the free memory, bit by bit; and 5 more" in (
        scope.text()
    )
    dialog.result_view.expand_button.click()
    assert "screens, games and video" in scope.text()
    assert "more" not in scope.text()
    dialog.result_view.expand_button.click()
    assert "screens" not in scope.text()
    dialog.copy_button.click()
    assert "screens, games and video" in QGuiApplication.clipboard().text()


def test_monitor_opens_health_test(home, app, qtbot):
    window, _ = home(app)
    window.main_area.open_page(MONITOR)
    qtbot.waitUntil(lambda: window.main_area.current_page == MONITOR, timeout=20_000)
    window.main_area.pages[MONITOR].toolbar.test_button.click()
    dialog = window.findChild(HealthDialog)
    assert dialog.level == 1
    dialog.reject()


def test_real_job_runs_without_environment(tmp_path):
    """On this computer, in the way that the window runs it."""
    real_app = App(data_dir=str(tmp_path / "d"), environ={})
    checks = HealthTestJob(real_app, None, 1).run(JobContext())
    assert checks.level == 1
    assert "cpu-compute" in checks.leaves_out
