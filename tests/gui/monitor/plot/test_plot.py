"""A plot's picture moves on as if it had been painted anew each time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QPainter, QWheelEvent

from gpu_assistant.gui import theme
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
        mean = self.y[cut] if key[0] == "a" else 100 - self.y[cut]
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


@pytest.fixture
def in_strips(qtbot, past):
    """A plot of this many lines that may have strips, drawn over ten minutes of a past."""

    def made(count: int = 3, *, has_strips: bool = True):
        axis = TimeAxis(now=lambda: past.now)
        axis.choose(600)
        plot = widget.Plot(axis, ticks=lambda _: (0, 25, 50, 75, 100), has_strips=has_strips)
        for number in range(count):
            plot.set_line("ab"[number % 2] * (number + 1), LineStyle(colour_token="s1", name=f"GPU {number}", dash=1))
        plot.resize(420, 200)
        qtbot.addWidget(plot)
        plot.show()
        past.now = BEGIN + 1000
        plot.refresh(past.fetch)
        return plot

    return made


def test_many_lines_have_a_strip_each_with_its_name(in_strips, past):
    plot = in_strips()
    assert plot.view.strips == 3
    assert plot.value_axis.strip_names == ("GPU 0", "GPU 1", "GPU 2")
    plot.reorder_lines(list(plot.lines)[::-1])
    plot.refresh(past.fetch)
    assert plot.value_axis.strip_names == ("GPU 2", "GPU 1", "GPU 0")
    # Each name is beside the middle of its strip, and a line ends this.
    image = QImage(plot.size(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    _, lines, texts = plot.value_axis.generateDrawSpecs(painter)
    painter.end()
    height = plot.area().height() / 3
    assert [text for _, _, text in texts] == ["GPU 2", "GPU 1", "GPU 0"]
    for strip, ((rect, _, _), (_, begin, _)) in enumerate(zip(texts, lines, strict=True)):
        middle = plot.view.y(50.0, strip) / plot.view.ratio
        assert rect.center().y() == pytest.approx(middle, abs=1)
        assert begin.y() == pytest.approx((strip + 1) * height, abs=1)
        assert rect.left() >= 0


@pytest.mark.parametrize(("count", "has_strips"), [(1, True), (4, False)], ids=["one line", "lines to compare"])
def test_other_lines_are_drawn_over_one_another_with_their_scale(in_strips, count, has_strips):
    plot = in_strips(count, has_strips=has_strips)
    assert plot.view.strips == 1
    assert plot.value_axis.strip_names == ()
    assert len(plot.view.ticks) > 2


def test_strips_go_on_at_their_edge_alone(in_strips, past):
    moving, anew = in_strips(), in_strips()
    for _ in range(6):
        past.now += 4
        assert moving.refresh(past.fetch) is Repaint.EDGE
        anew.apply_theme()
        assert anew.refresh(past.fetch) is Repaint.ALL
        assert np.abs(pixels(moving) - pixels(anew)).max() <= 24


def test_the_cross_hair_of_strips_has_its_dot_on_each_curve(in_strips):
    plot = in_strips()
    plot.time_axis.point(BEGIN + 800.5)
    plot.grab()
    readings = plot.readings()
    assert len(readings) == 3
    to_scene = plot.view_box.mapViewToScene
    x, y = plot.cursor.items[1].getData()
    for strip, (at, dot, reading) in enumerate(zip(x, y, readings, strict=True)):
        height = to_scene(QPointF(at, dot)).y() - plot.area().top()
        assert height == pytest.approx(plot.view.y(reading.value, strip) / plot.view.ratio, abs=1)


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


def test_a_reset_to_the_range_that_is_shown_brings_the_newest_values(shown, past):
    """Nothing is painted then, but the values are those of the present again."""
    past.now = BEGIN + 1000
    plot, read = shown(600), []
    axis = plot.time_axis
    plot.pointed.connect(read.append)

    def drawn() -> Repaint:
        repaint = plot.refresh(past.fetch)
        plot.grab()
        return repaint

    drawn()
    for factor in (0.5, 2.0):
        axis.zoom(factor, axis.view()[0])
        drawn()
    assert not axis.live
    assert read[-1] == plot.readings()
    axis.reset()
    assert drawn() is Repaint.NOTHING
    assert read[-1] is None


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


def test_events_stand_above_the_curves(shown, past):
    """A state has a band; the labels of one are in one lane, of two that are near in two."""
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
    assert tops[0] == 0 < tops[1] < tops[2] < tops[3] == tops[4]


def test_a_state_only_tints_the_ground_of_the_curves(shown, past):
    """By 14 % at most, and with no hatch: the curves are what is read there."""
    past.now = BEGIN + 1000
    plot = shown(600)
    grounds = []
    for end, hatch in ((BEGIN + 450, "plain"), (math.inf, "plain"), (math.inf, "rising")):
        plot.set_events((Event(start=BEGIN + 400, end=end, text="", tone="warn", hatch=hatch),))
        plot.refresh(past.fetch)
        image = as_array(plot.grab(plot.area()).toImage())
        grounds.append(image[:, image.shape[1] // 2 :, :3])
    calm, plain, rising = grounds
    assert np.array_equal(plain, rising)
    card, warn = (np.array(theme.color(token).getRgb()[:3]) for token in ("card", "warn"))
    differ = np.abs(plain - calm)
    assert differ.max() > 0
    assert (differ <= np.abs(warn - card)[::-1] * 0.14 + 1).all()  # blue first


def test_the_line_of_a_limit_is_shown_and_hidden(shown, past):
    past.now = BEGIN + 280
    plot = shown(60)
    plot.set_limit(Limit(value=60.0, text="limit 120 W"))
    plot.refresh(past.fetch)
    assert plot.limit_line.line.isVisible()
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
