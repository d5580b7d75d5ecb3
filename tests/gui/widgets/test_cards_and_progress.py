"""What is read: texts, progress, steps, verdicts, rows and the page they stand on; and what all of it loads."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.widgets.cards import Hero, MetricTile, Pill, ValueRow
from gpu_assistant.gui.widgets.charts import BarChart, SpeedSparkline
from gpu_assistant.gui.widgets.page import Footer, Page
from gpu_assistant.gui.widgets.progress import ProgressBar, StepList
from gpu_assistant.gui.widgets.text import label

# Text


def test_text_wraps_and_nothing_is_cut(show) -> None:
    text = "A sentence that is long enough to need more than one line " + "https://" + "x" * 80
    made = label("small", text)
    narrow, wide = made.heightForWidth(200), made.heightForWidth(1200)
    assert narrow > wide >= made.fontMetrics().height()
    from gpu_assistant.gui.widgets.text import layout_text

    layout, size = layout_text(text, made.font(), 200)
    assert size.width() <= 200
    assert layout.lineCount() >= 5


def test_elided_text_has_tooltip(show) -> None:
    made = show(label("body", "word " * 100), 300, 60)
    made.set_one_line(True)
    made.grab()
    assert made.toolTip() == made.text()
    assert made.sizeHint().height() <= made.fontMetrics().height() + 1


def test_chinese_breaks_between_characters() -> None:
    made = label("body", "下载到一半时网络断了，已下载的都在，下次会从这里接着装。" * 3)
    assert made.heightForWidth(160) > 2 * made.heightForWidth(4000)


# Progress


def test_progress_has_a_value_and_an_unknown_total(show) -> None:
    bar = show(ProgressBar())
    bar.set_fraction(0.62)
    assert bar.value() == 62
    known = bar.grab().toImage()
    bar.set_fraction(None)
    assert bar.fraction() is None
    assert bar.grab().toImage() != known
    bar.set_fraction(7)
    assert bar.fraction() == 1.0
    assert QAccessible.queryAccessibleInterface(bar).role() == QAccessible.Role.ProgressBar


def test_quarters_are_announced_once(show, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = show(ProgressBar())
    said: list[str] = []
    monkeypatch.setattr("gpu_assistant.gui.widgets.progress.announce", lambda _widget, text: said.append(text))
    for percent in range(101):
        bar.set_fraction(percent / 100)
    assert said == ["25 %", "50 %", "75 %", "100 %"]


def test_speed_sparkline_keeps_90_seconds_and_gaps() -> None:
    now = [0.0]
    line = SpeedSparkline(clock=lambda: now[0])
    for second in range(200):
        now[0] = float(second)
        line.add(None if second == 150 else 1e6)
    points = line.points()
    assert points[0][0] == 109.0
    assert points[-1] == (199.0, 1e6)
    assert [x for x, value in points if value is None] == [150.0]
    line.resize(300, 60)
    assert not line.grab().isNull()
    line.clear()
    assert line.points() == ()


def test_unknown_is_a_dash_with_a_reason() -> None:
    tile = MetricTile("fan", "Fan")
    tile.set_value(None, "%", None, "This card does not report its fan.")
    assert tile.accessibleName() == "Fan: —"
    assert tile.toolTip() == tile.accessibleDescription() == "This card does not report its fan."
    assert not tile.progress_bar.isVisibleTo(tile)
    tile.set_value("0", "%", 0.0)
    assert tile.accessibleName() == "Fan: 0 %"
    assert tile.progress_bar.isVisibleTo(tile)


# Steps


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("waiting", "waiting"),
        ("running", "running"),
        ("done", "done"),
        ("skipped", "not needed"),
        ("failed", "failed"),
        ("cancelled", "stopped"),
    ],
)
def test_a_step_shows_and_says_its_state(show, state: str, word: str) -> None:
    steps = StepList()
    steps.add_step("a", "Download PyTorch", "740 MB")
    show(steps)
    steps.set_state("a", state, "1.62 / 2.61 GB", "62 %")
    row = steps.rows["a"]
    assert steps.state("a") == state
    assert row.accessibleName() == f"Download PyTorch: {word}, 1.62 / 2.61 GB, 62 %"
    assert not row.grab().isNull()


def test_the_states_look_different(show) -> None:
    steps = StepList()
    steps.add_step("a", "Download")
    show(steps)
    seen = []
    for state in ("waiting", "running", "done", "skipped", "failed", "cancelled"):
        steps.set_state("a", state)
        seen.append(steps.grab().toImage())
    assert all(one != other for index, one in enumerate(seen) for other in seen[:index])


def test_spinner_runs_only_while_visible(show) -> None:
    steps = StepList()
    steps.add_step("a", "Download")
    show(steps)
    picture = steps.rows["a"]._state_icon
    steps.set_state("a", "running")
    assert picture._spin_timer.isActive()
    steps.window().hide()
    assert not picture._spin_timer.isActive()
    steps.window().show()
    assert picture._spin_timer.isActive()
    steps.set_state("a", "done")
    assert not picture._spin_timer.isActive()


def test_steps_can_be_cleared(show, qtbot: QtBot) -> None:
    steps = show(StepList())
    steps.add_step("a", "One")
    steps.clear()
    steps.add_step("a", "Two")
    assert steps.rows["a"].accessibleName().startswith("Two")


# Heroes, rows, bars, page


def test_hero_repaints_on_new_verdict(show, qtbot: QtBot) -> None:
    class Watched(Hero):
        regions: Sequence = ()

        def paintEvent(self, event) -> None:
            self.regions = [*self.regions, event.rect()]
            super().paintEvent(event)

    hero = show(Watched("neutral", "Looking"))
    qtbot.waitUntil(lambda: bool(hero.regions), timeout=5000)
    hero.regions = ()
    hero.set("ok", "Looking")
    qtbot.waitUntil(lambda: hero.rect() in hero.regions, timeout=5000)


@pytest.mark.parametrize("kind", ["ok", "warn", "error", "neutral", "accent"])
def test_a_hero_says_its_verdict(show, kind: str) -> None:
    hero = show(Hero(kind, "Your GPU is well", "41 °C"))
    assert hero.accessibleName() == "Your GPU is well. 41 °C"
    assert not hero.button.isVisible()
    hero.set(kind, "Hot", "", "What can I do?")
    assert hero.button.isVisible()
    assert not hero.detail_label.isVisible()


def test_value_row_is_one_accessible_name() -> None:
    row = ValueRow("driver")
    row.set("Graphics driver", "566.03", "CUDA up to 12.7", ("warn", "update advised"))
    assert row.accessibleName() == "Graphics driver: 566.03, CUDA up to 12.7, update advised"
    row.set("Graphics driver", None, reason="could not be read")
    assert row.accessibleName() == "Graphics driver: —, could not be read"


def test_bar_chart_is_drawn_and_named(show) -> None:
    bars = show(BarChart([("CPU", 8.4, "8.4 images/s", "s5"), ("GPU", None, "—", "accent")]))
    assert bars.accessibleName() == "CPU: 8.4 images/s, GPU: —"
    before = bars.grab().toImage()
    bars.set_bars([("CPU", 8.4, "8.4 images/s", "s5"), ("GPU", 262.0, "262 images/s", "accent")])
    assert bars.grab().toImage() != before


def test_narrow_bar_chart_cuts_no_value(show) -> None:
    bars = show(BarChart([("11-22 10:55, full", 8.4, "8.40 images/s (doubtful)", "s5")]))
    labels, values = bars._text_widths()
    bars.resize(int(labels + values) + 200, bars.height())
    beside = bars.sizeHint().height()
    bars.resize(int(max(labels, values)) + 60, bars.height())
    assert bars.sizeHint().height() > beside
    ink = bars.grab().toImage()
    edge = [ink.pixel(ink.width() - 1, y) for y in range(ink.height())]
    assert len(set(edge)) == 1  # no letter ends at the edge


def test_pill_has_icon_and_text(show) -> None:
    pictures = []
    for kind in ("ok", "warn", "error"):
        pill = show(Pill(kind, "state"))
        assert pill.accessibleName() == "state"
        grey = pill.grab().toImage().convertToFormat(QImage.Format.Format_Mono)
        pictures.append([grey.pixelIndex(x, y) for x in range(26) for y in range(grey.height())])
    assert pictures[0] != pictures[1] != pictures[2], "their icons differ without colour"


@pytest.mark.parametrize(
    ("width", "left", "column"), [(1180, 28, 1120), (1400, 40, 1120), (1700, 290, 1120), (900, 24, 852)]
)
def test_the_page_keeps_its_column(qtbot: QtBot, width: int, left: int, column: int) -> None:
    page = Page("Home", "A card")
    qtbot.addWidget(page)
    page.resize(width, 700)
    page.show()
    qtbot.waitExposed(page)
    if page.width() != width:
        pytest.skip(f"this screen lets no window be {width} px wide")
    assert page.title_label.parentWidget().layout().contentsMargins().left() == left
    assert min(page.content.contentsRect().width() - 2 * left, column) == page.header.geometry().width()


def test_low_window_has_one_line_subtitle(qtbot: QtBot) -> None:
    page = Page("Home", "word " * 80)
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()
    qtbot.waitExposed(page)
    tall = page.subtitle_label.height()
    page.resize(900, 520)
    qtbot.waitUntil(lambda: page.subtitle_label.height() < tall)


def test_the_page_scrolls_to_what_has_focus(qtbot: QtBot) -> None:
    page = Page("Home")
    for number in range(40):
        page.column.addWidget(Button(f"Button {number}"))
    qtbot.addWidget(page)
    page.resize(900, 520)
    page.show()
    qtbot.waitExposed(page)
    page.activateWindow()
    first = page.column.itemAt(0).widget()
    first.setFocus()
    qtbot.waitUntil(first.hasFocus)
    for _ in range(20):
        qtbot.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
    assert page.verticalScrollBar().value() > 0
    assert page.focusWidget().text() == "Button 20"


def test_long_hint_is_above_buttons(qtbot: QtBot) -> None:
    footer = Footer()
    go = footer.add_button(Button("Install the graphics driver", "primary"))
    footer.set_hint("A hint that needs quite a lot of room, far more than there is beside the buttons here.")
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addStretch(1)
    column.addWidget(footer)
    window.resize(1200, 400)
    window.show()
    qtbot.waitExposed(window)
    hint = footer.hint_label.mapTo(footer, footer.hint_label.rect().topLeft())
    assert hint.x() < go.mapTo(footer, go.rect().topLeft()).x()
    window.resize(460, 400)
    qtbot.waitUntil(lambda: footer.hint_label.geometry().bottom() < go.geometry().top())


# Loading


def test_no_module_imports_heavy_ones() -> None:
    import subprocess
    import sys

    code = (
        "import sys, gpu_assistant.gui.widgets\n"
        "print([name for name in ('numpy', 'pyqtgraph', 'requests', 'psutil') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "[]"


def test_package_import_loads_no_qt() -> None:
    import subprocess
    import sys

    code = "import sys, gpu_assistant.gui; print('PySide6' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "False"
