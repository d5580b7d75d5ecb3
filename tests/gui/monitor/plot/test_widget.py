"""A plot's picture moves on as if it had been painted anew each time."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QWheelEvent

np = pytest.importorskip("numpy")
plot_ = pytest.importorskip("gpu_assistant.gui.monitor.plot")

from gpu_assistant.gui.monitor.canvas import Frame  # noqa: E402
from gpu_assistant.gui.monitor.clock import Clock  # noqa: E402
from gpu_assistant.gui.monitor.events import Event  # noqa: E402
from gpu_assistant.gui.monitor.history_model import LineStyle, SeriesCurve  # noqa: E402
from gpu_assistant.gui.monitor.overlay import Limit, paint_limit, together, told_of, words_of  # noqa: E402

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
        clock = Clock(now=lambda: past.now)
        clock.choose(span)
        plot = plot_.Plot(clock, ticks=lambda _: (0, 25, 50, 75, 100), figure=lambda value: f"{value:.0f} %")
        plot.series("a", LineStyle(colour_token="s1"))
        plot.series("b", LineStyle(colour_token="s2", name="GPU 1", dash=1, fill=False))
        plot.set_events((Event(start=BEGIN + 700, end=BEGIN + 800, text="slowed by heat", tone="warn"),))
        plot.resize(width, 160)
        qtbot.addWidget(plot)
        plot.show()
        return plot

    return made


def pixels(plot):
    image = plot._canvas.picture.toImage().convertToFormat(QImage.Format.Format_RGB32)
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
        left = moving._left
        moving.refresh(past.fetch)
        advanced += moving._left < left
        anew._stale = True
        anew.refresh(past.fetch)
        # Where the new edge meets the old picture a smoothed pixel may differ by a shade that nobody sees: how much
        # depends on where the fonts of the system put the axis.
        differ = np.abs(pixels(moving) - pixels(anew)).reshape(-1, 4)
        assert differ.max() <= 24, second
        assert (differ.max(axis=1) > 8).sum() <= 1, second
    assert advanced >= 5


def test_subpixel_move_is_not_redrawn(shown, past):
    plot = shown(86_400)
    past.now = BEGIN + 90_000
    assert plot.refresh(past.fetch)
    past.now += 1
    assert not plot.refresh(past.fetch)
    past.now += 300
    assert plot.refresh(past.fetch)


def test_size_theme_or_event_redraws_at_once(shown, past):
    plot = shown(600)
    past.now = BEGIN + 600
    assert plot.refresh(past.fetch)
    plot.restyle()
    assert plot.refresh(past.fetch)
    plot.set_events(())
    assert plot.refresh(past.fetch)
    plot.resize(300, 200)
    assert plot.refresh(past.fetch)
    assert not plot.refresh(past.fetch)


def test_crosshair_reads_drawn_values(shown, past):
    plot = shown(600)
    past.now = BEGIN + 600
    plot.refresh(past.fetch)
    plot.clock.point(BEGIN + 200.5)
    assert [(line.name, round(value, 6)) for line, value in plot.readings()] == [
        ("", round(float(past.y[200]), 6)),
        ("GPU 1", round(float(100 - past.y[200]), 6)),
    ]
    plot.clock.point(BEGIN + 320.5)
    assert plot.readings() == []


def test_open_event_reaches_right_edge():
    event = Event(start=100.0, end=math.inf, text="", tone="warn")
    assert event.within(1000, 2000)
    assert not event.moment
    assert not Event(start=100.0, end=150.0, text="", tone="warn").within(1000, 2000)


def test_event_begun_before_view_keeps_label(shown, past):
    plot = shown(60)
    past.now = BEGIN + 1000
    seen = []
    for text in ("GPU 1 hot", ""):
        plot.set_events((Event(start=BEGIN + 700, end=math.inf, text=text, tone="warn"),))
        plot.refresh(past.fetch)
        corner = QRect(plot.area().left(), 0, 60, 12)
        seen.append(plot.grab(corner).toImage())
    words, none = seen
    plot.set_events((Event(start=BEGIN + 700, end=math.inf, text="GPU 2 hot", tone="warn"),))
    plot.refresh(past.fetch)
    assert words != none
    assert words != plot.grab(corner).toImage()


def turned(plot, modifiers) -> bool:
    """Turn the wheel by one notch over the middle of a plot; whether the plot kept it for itself."""
    middle = QPointF(plot.rect().center())
    event = QWheelEvent(
        *(middle, QPointF(plot.mapToGlobal(middle.toPoint())), QPoint(0, 0), QPoint(0, 120)),
        *(Qt.MouseButton.NoButton, modifiers, Qt.ScrollPhase.NoScrollPhase, False),
    )
    plot.wheelEvent(event)
    return event.isAccepted()


def test_wheel_scrolls_and_ctrl_wheel_zooms(shown):
    plot = shown(600)
    assert not turned(plot, Qt.KeyboardModifier.NoModifier)
    assert plot.clock.span == 600
    assert turned(plot, Qt.KeyboardModifier.ControlModifier)
    assert plot.clock.span == 480


def test_keys_zoom_pan_and_reset(shown, past, qtbot):
    plot = shown(600)
    past.now += 5000
    qtbot.keyClick(plot, Qt.Key.Key_Plus)
    assert plot.clock.span == 480
    qtbot.keyClick(plot, Qt.Key.Key_Minus)
    assert plot.clock.span == pytest.approx(600)
    qtbot.keyClick(plot, Qt.Key.Key_PageUp)
    assert plot.clock.view()[1] == pytest.approx(past.now - 300)
    qtbot.keyClick(plot, Qt.Key.Key_PageDown)
    assert plot.clock.live
    qtbot.keyClick(plot, Qt.Key.Key_PageUp)
    qtbot.keyClick(plot, Qt.Key.Key_0)
    assert plot.clock.as_chosen


@pytest.mark.parametrize("start", [-200.0, 98.0], ids=["before the left edge", "at the right edge"])
def test_event_label_is_whole_at_edge(qtbot, start: float) -> None:
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QPainter

    from gpu_assistant.gui.monitor import overlay
    from gpu_assistant.gui.monitor.canvas import Frame

    frame = Frame(area=QRect(20, 20, 300, 60), first=0, column=100 / 300, grid=(0, 100))

    def ink(begin: float) -> int:
        image = QImage(340, 80, QImage.Format.Format_RGB32)
        image.fill(0)
        painter = QPainter(image)
        event = Event(start=begin, end=math.inf, text="slowed by heat", tone="warn")
        overlay.paint_words(painter, frame, overlay.words_of(frame, (event,)))
        painter.end()
        return len({x for x in range(25, 320) for y in range(20) if image.pixel(x, y) & 0xFFFFFF != 0})

    assert abs(ink(start) - ink(30.0)) <= 1  # the line of its beginning
    assert ink(start)


@pytest.mark.parametrize("value", [120.0, 60.0])
def test_limit_label_is_never_cut(qtbot, value):
    frame = Frame(area=QRect(0, 40, 300, 80), first=0, column=1.0, grid=(0, 30, 60, 90, 120))
    image = QImage(QSize(300, 160), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    paint_limit(painter, frame, Limit(value=value, text="limit 120 W"))
    painter.end()
    rows = {y for y in range(160) for x in range(300) if image.pixelColor(x, y) != Qt.GlobalColor.white}
    assert min(rows) >= frame.area.top()
    assert max(rows) <= frame.area.bottom()


def test_simultaneous_events_share_label(qtbot):
    frame = Frame(area=QRect(0, 0, 600, 80), first=0, column=1.0, grid=(0, 100))

    def event(gpu, start, word="power limit"):
        said = f"GPU {gpu} {word}"
        return Event(start=start, end=500, text=said, tone="soft", gpu=gpu, whose=f"GPU {gpu}", word=word)

    events = (event(0, 100), event(1, 101), event(3, 110), event(2, 400), event(2, 102, "hot"))
    said = [text for _, text in together(frame, events)]
    assert said == ["GPU 0, 1, 3 power limit", "GPU 2 hot", "GPU 2 power limit"]


def test_bare_number_label_yields(qtbot):
    frame = Frame(area=QRect(0, 0, 600, 80), first=100, column=1.0, grid=(0, 100))

    def event(gpu, start, word=""):
        said = f"GPU {gpu} {word}".strip()
        return Event(start=start, end=900, text=said, tone="soft", gpu=gpu, whose=f"GPU {gpu}", word=word)

    events = (event(0, 50), event(1, 50, "hot"), event(2, 300, "hot"), event(3, 320), event(4, 600))
    said = [text for _, text, _ in words_of(frame, events)]
    assert said == ["GPU 1 hot", "GPU 2 hot", "GPU 4"]


def test_crosshair_reads_band_extremes(shown, past):
    past.__init__(step=10)
    past.now = BEGIN + 90_000
    plot = shown(86_400)
    plot.refresh(past.fetch)
    plot.clock.point(BEGIN + 80_000)
    line, value = plot.readings()[0]
    low, high = plot.extremes(line)
    assert low <= value - 3
    assert high >= value + 3
    near = np.abs(past.t - (BEGIN + 80_000)) <= 86_400 / plot.area().width() / 2
    assert (low, high) == (past.y[near].min() - 3, past.y[near].max() + 3)


def test_no_extremes_without_band(shown, past):
    past.now = BEGIN + 280
    plot = shown(60)
    plot.refresh(past.fetch)
    plot.clock.point(BEGIN + 270)
    assert plot.extremes(plot.readings()[0][0]) is None


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


def test_event_labels_are_above_curves(shown, past):
    """Those of one in one lane, of two that are near in two; what is not said takes no room."""
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
        assert all(place.bottom() <= plot.area().top() + 1 for _, _, place in plot._words)
        assert all(place.top() >= 0 for _, _, place in plot._words)
    assert tops[0] == tops[1] == 0 < tops[2] < tops[3] == tops[4]


def test_crosshair_merges_simultaneous_events():
    events = [
        Event(start=1, end=9, text="", tone="warn", gpu=gpu, whose=f"GPU {gpu}", told=told)
        for gpu, told in ((2, "hot"), (0, "hot"), (1, "power limit"))
    ]
    events.append(Event(start=1, end=1, text="install", tone="accent", told="install"))
    assert told_of(events) == ["GPU 0, 2 hot", "GPU 1 power limit", "install"]
