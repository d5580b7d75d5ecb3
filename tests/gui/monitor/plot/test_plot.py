"""A plot's picture moves on as if it had been painted anew each time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QImage, QWheelEvent

from gpu_assistant.gui.monitor.plot import widget
from gpu_assistant.gui.monitor.plot.annotations import Event
from gpu_assistant.gui.monitor.plot.curves import LineStyle, SeriesCurve
from gpu_assistant.gui.monitor.plot.overlay import Limit
from gpu_assistant.gui.monitor.plot.time_axis import TimeAxis
from gpu_assistant.gui.monitor.plot.widget import Repaint

pytestmark = pytest.mark.gui

BEGIN = 1_790_000_000.0


class Past:
    """A wave of a second's samples, with a hole, until a moment that the test moves on."""

    def __init__(self, step: float = 1.0, length: int = 90_000) -> None:
        self.step = step
        self.t = BEGIN + step * (np.arange(length) + 0.5)
        dice = np.random.default_rng(1)
        self.y = 50 + 40 * np.sin(np.arange(length) / 40) + dice.normal(0, 4, length)
        self.y[300:340] = np.nan
        self.now = BEGIN

    def fetch(self, key: str, since: float, reach: float) -> SeriesCurve:
        del reach
        cut = slice(*np.searchsorted(self.t, (since, self.now)))
        mean = self.y[cut] if key == "a" else 100 - self.y[cut]
        spread = 0.0 if self.step == 1 else 3.0
        return SeriesCurve(t=self.t[cut], mean=mean, low=mean - spread, high=mean + spread, step=self.step)


@pytest.fixture
def past():
    return Past()


@pytest.fixture
def shown(qtbot, past):
    """A plot of two lines over a past, drawn at moments of the test's choice."""

    def made(span: int, width: int = 420):
        axis = TimeAxis(now=lambda: past.now)
        axis.choose(span)
        plot = widget.Plot(axis, ticks=lambda _: (0, 25, 50, 75, 100))
        plot.set_line("a", LineStyle(colour_token="s1"))
        plot.set_line("b", LineStyle(colour_token="s2", name="GPU 1", dash=1, fill=False))
        plot.set_events((Event(start=BEGIN + 700, end=BEGIN + 800, text="slowed by heat", tone="warn"),))
        plot.resize(width, 160)
        qtbot.addWidget(plot)
        plot.show()
        return plot

    return made


def pixels(plot):
    image = plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint8).astype(int)


@pytest.mark.parametrize(
    ("span", "first", "step"), [(60, 280, 1), (600, 250, 1), (3600, 4000, 1), (86_400, 90_000, 10)]
)
def test_incremental_paint_equals_full_paint(shown, past, span, first, step):
    past.__init__(step=step)
    moving, anew = shown(span), shown(span)
    past.now = BEGIN + first
    moving.refresh(past.fetch)
    advanced = 0
    for second in range(0, 12 * max(span // 400, 1), max(span // 300, 1)):
        past.now = BEGIN + first + second
        advanced += moving.refresh(past.fetch) is Repaint.EDGE
        anew.apply_theme()
        assert anew.refresh(past.fetch) is Repaint.ALL
        # Where the new edge meets the old picture a smoothed pixel may differ by a shade that nobody sees: how much
        # depends on where the fonts of the system put the axis.
        differ = np.abs(pixels(moving) - pixels(anew)).reshape(-1, 4)
        assert differ.max() <= 24, second
        assert (differ.max(axis=1) > 8).sum() <= 1, second
    assert advanced >= 5


def test_subpixel_move_is_not_redrawn(shown, past):
    plot = shown(86_400)
    past.now = BEGIN + 90_000
    assert plot.refresh(past.fetch) is Repaint.ALL
    past.now += 1
    assert plot.refresh(past.fetch) is Repaint.NOTHING
    past.now += 300
    assert plot.refresh(past.fetch) is Repaint.EDGE


def test_size_theme_or_event_redraws_at_once(shown, past):
    plot = shown(600)
    past.now = BEGIN + 600
    assert plot.refresh(past.fetch) is Repaint.ALL
    plot.apply_theme()
    assert plot.refresh(past.fetch) is Repaint.ALL
    plot.set_events(())
    assert plot.refresh(past.fetch) is Repaint.ALL
    plot.resize(300, 200)
    assert plot.refresh(past.fetch) is Repaint.ALL
    assert plot.refresh(past.fetch) is Repaint.NOTHING


def test_crosshair_reads_drawn_values(shown, past):
    plot = shown(600)
    past.now = BEGIN + 600
    plot.refresh(past.fetch)
    plot.time_axis.point(BEGIN + 200.5)
    assert [(reading.line.name, round(reading.value, 6)) for reading in plot.readings()] == [
        ("", round(float(past.y[200]), 6)),
        ("GPU 1", round(float(100 - past.y[200]), 6)),
    ]
    plot.time_axis.point(BEGIN + 320.5)
    assert plot.readings() == []


def test_open_event_reaches_right_edge():
    event = Event(start=100.0, end=math.inf, text="", tone="warn")
    assert event.within(1000, 2000)
    assert not event.is_instant
    assert not Event(start=100.0, end=150.0, text="", tone="warn").within(1000, 2000)


def test_event_before_view_is_labelled_at_left_edge(shown, past):
    plot = shown(60)
    past.now = BEGIN + 1000
    seen = []
    for text in ("GPU 1 hot", ""):
        plot.set_events((Event(start=BEGIN + 700, end=math.inf, text=text, tone="warn"),))
        plot.refresh(past.fetch)
        corner = QRect(plot.area().left(), 0, 60, 12)
        seen.append(plot.grab(corner).toImage())
    labels, none = seen
    plot.set_events((Event(start=BEGIN + 700, end=math.inf, text="GPU 2 hot", tone="warn"),))
    plot.refresh(past.fetch)
    assert labels != none
    assert labels != plot.grab(corner).toImage()


def turned(plot, modifiers) -> bool:
    """Turn the wheel by one notch over the middle of a plot; whether the plot kept it for itself."""
    middle = QPointF(plot.rect().center())
    event = QWheelEvent(
        *(middle, QPointF(plot.mapToGlobal(middle.toPoint())), QPoint(0, 0), QPoint(0, 120)),
        *(Qt.MouseButton.NoButton, modifiers, Qt.ScrollPhase.NoScrollPhase, False),
    )
    plot.wheelEvent(event)
    return event.isAccepted()


def test_the_wheel_scrolls_and_with_ctrl_zooms(shown):
    plot = shown(600)
    assert not turned(plot, Qt.KeyboardModifier.NoModifier)
    assert plot.time_axis.span == 600
    assert turned(plot, Qt.KeyboardModifier.ControlModifier)
    assert plot.time_axis.span == 480


def test_keys_zoom_pan_and_reset(shown, past, qtbot):
    plot = shown(600)
    past.now += 5000
    qtbot.keyClick(plot, Qt.Key.Key_Plus)
    assert plot.time_axis.span == 480
    qtbot.keyClick(plot, Qt.Key.Key_Minus)
    assert plot.time_axis.span == pytest.approx(600)
    qtbot.keyClick(plot, Qt.Key.Key_PageUp)
    assert plot.time_axis.view()[1] == pytest.approx(past.now - 300)
    qtbot.keyClick(plot, Qt.Key.Key_PageDown)
    assert plot.time_axis.live
    qtbot.keyClick(plot, Qt.Key.Key_PageUp)
    qtbot.keyClick(plot, Qt.Key.Key_0)
    assert plot.time_axis.as_chosen


def test_crosshair_reads_band_extremes(shown, past):
    past.__init__(step=10)
    past.now = BEGIN + 90_000
    plot = shown(86_400)
    plot.refresh(past.fetch)
    plot.time_axis.point(BEGIN + 80_000)
    reading = plot.readings()[0]
    low, high = reading.extremes
    assert low <= reading.value - 3
    assert high >= reading.value + 3
    near = np.abs(past.t - (BEGIN + 80_000)) <= 86_400 / plot.area().width() / 2
    assert (low, high) == (past.y[near].min() - 3, past.y[near].max() + 3)


def test_no_extremes_without_band(shown, past):
    past.now = BEGIN + 280
    plot = shown(60)
    plot.refresh(past.fetch)
    plot.time_axis.point(BEGIN + 270)
    assert plot.readings()[0].extremes is None


def test_overlapping_events_are_not_darker(shown, past):
    past.now = BEGIN + 280
    plot = shown(60)
    one = Event(start=BEGIN + 230, end=BEGIN + 275, text="", tone="warn")
    grounds = []
    for events in ((one,), (one, one, one)):
        plot.set_events(events)
        plot.refresh(past.fetch)
        grounds.append(pixels(plot))
    assert np.array_equal(*grounds)


def test_labels_of_events_stand_above_the_curves(shown, past):
    """Those of one in one lane, of two that are near in two; what has no text takes no room."""
    past.now = BEGIN + 1000
    plot = shown(600)
    tops = []
    for texts in ((), ("",), ("slowed by heat",), ("slowed by heat", "power limit"), ("hot", "slowed by heat", "lost")):
        events = (
            Event(start=BEGIN + 700 + at, end=BEGIN + 800, text=text, tone="warn") for at, text in enumerate(texts)
        )
        plot.set_events(tuple(events))
        plot.refresh(past.fetch)
        tops.append(plot.area().top())
        assert plot.event_labels.required_height == tops[-1]
    assert tops[0] == tops[1] == 0 < tops[2] < tops[3] == tops[4]


@pytest.mark.parametrize("value", [100.0, 60.0])
def test_the_text_of_a_limit_is_never_cut(shown, past, value):
    past.now = BEGIN + 280
    plot = shown(60)
    plot.set_limit(Limit(value=value, text="limit {120} W"))
    plot.refresh(past.fetch)
    plot.grab()
    label = plot.limit_line.line.label
    assert label.toPlainText() == "limit {120} W"
    assert QRectF(plot.area()).adjusted(0, -1, 0, 1).contains(label.mapRectToScene(label.boundingRect()))
    plot.set_limit(None)
    plot.refresh(past.fetch)
    assert not plot.limit_line.line.isVisible()


def test_the_cross_hair_covers_no_curve_and_has_its_time_on_the_axis(shown, past):
    plot = shown(600)
    past.now = BEGIN + 1000
    plot.refresh(past.fetch)
    before = plot.grab().toImage()
    read = []
    plot.pointed.connect(read.append)
    ratio = before.devicePixelRatio()
    for at in (BEGIN + 401, BEGIN + 750, BEGIN + 999):
        plot.time_axis.point(at)
        pointed = plot.grab().toImage()
        assert read[-1] == plot.readings()
        x = plot.area().left() + plot.view.x(at) / plot.view.ratio
        differ = np.abs(np.subtract(*(as_array(image) for image in (pointed, before)))).max(axis=2) > 0
        columns = np.flatnonzero(differ[: round(plot.area().bottom() * ratio)].any(axis=0)) / ratio
        assert np.abs(columns - x).max() <= 7  # the line with its dots
        assert differ[round((plot.area().bottom() + 4) * ratio) :].any()
    plot.time_axis.point(None)
    assert plot.grab().toImage() == before
    assert read[-1] is None


def as_array(image):
    """(rows, columns, 4) of an image."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4).astype(int)


@pytest.mark.parametrize(("span", "step", "has_range"), [(600, 1, False), (86_400, 10, True)])
def test_readings_tell_the_range_of_the_samples_that_they_stand_for(shown, past, span, step, has_range):
    past.__init__(step=step)
    plot = shown(span)
    past.now = BEGIN + span
    plot.refresh(past.fetch)
    plot.time_axis.point(BEGIN + span / 2)
    assert [reading.extremes is not None for reading in plot.readings()] == [has_range, has_range]


def test_the_focused_plot_has_a_frame(shown, past, qtbot):
    plot = shown(60)
    past.now = BEGIN + 280
    plot.refresh(past.fetch)
    plot.clearFocus()
    before = pixels(plot)
    plot.activateWindow()
    plot.setFocus()
    qtbot.waitUntil(plot.hasFocus, timeout=5000)
    assert not np.array_equal(pixels(plot), before)


def test_the_mouse_points_drags_and_leads_back(shown, past, qtbot):
    plot = shown(600)
    past.now = BEGIN + 5000
    plot.refresh(past.fetch)
    middle, axis = plot.area().center(), plot.time_axis
    qtbot.mouseMove(plot.viewport(), middle)
    assert axis.cursor == pytest.approx(plot.moment_at(middle.x()), abs=2)
    qtbot.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseMove(plot.viewport(), middle + QPoint(plot.area().width() // 3, 0))
    qtbot.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton)
    assert axis.view()[1] == pytest.approx(past.now - 200, abs=3)
    qtbot.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert axis.live
    assert axis.cursor is None


def test_ticks_of_a_low_plot_stand_apart(qapp):
    percent = (0, 25, 50, 75, 100)
    assert widget.spaced_ticks(percent, 300) == percent
    assert widget.spaced_ticks(percent, 50) == (0, 50, 100)
    assert widget.spaced_ticks((30, 50, 70, 90), 30) == (30, 90)
    assert widget.spaced_ticks((0, 1), 5) == (0, 1)
