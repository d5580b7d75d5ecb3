"""The time axis: the range that all plots of a page share, the axis item, and the format of times.

Times are seconds since the epoch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pyqtgraph as pg
from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QFontMetricsF

from ... import theme

# One minute, ten minutes, an hour, a day, thirty days.
SPANS = (60, 600, 3600, 86_400, 30 * 86_400)
SHORTEST_SPAN = 10.0  # seconds

MINUTE, HOUR, DAY = 60, 3600, 86_400
TICK_SPACING = 1.7  # of a label's width, between the middles of two labels
TICK_STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR)
TICK_DAYS = tuple(count * DAY for count in (1, 2, 5, 7, 10, 14))


class TimeAxis(QObject):
    """Span, end and cross-hair of all plots of a page, which are live, paused or panned.

    Signals: `moved` (shown range), `cursor_moved`, `spanned` (seconds of the range chosen), `paused_changed`.
    """

    moved = Signal()
    cursor_moved = Signal()
    spanned = Signal(int)
    paused_changed = Signal(bool)

    def __init__(self, now: Callable[[], float] = time.time, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.now = now
        self._span = float(SPANS[1])
        self._chosen = SPANS[1]
        self._end: float | None = None
        self._cursor: float | None = None
        self._paused = self._moved = False

    @property
    def span(self) -> float:
        """The length of the shown range in seconds."""
        return self._span

    @property
    def chosen(self) -> int:
        """The length in seconds that was chosen last, one of SPANS."""
        return self._chosen

    @property
    def live(self) -> bool:
        """Whether the right edge is the present time."""
        return self._end is None

    @property
    def as_chosen(self) -> bool:
        """Whether the range is neither zoomed nor panned."""
        return self._span == self._chosen and not self._moved

    @property
    def paused(self) -> bool:
        """Whether the user paused the plots (sampling continues)."""
        return self._paused

    @property
    def cursor(self) -> float | None:
        """The time at the cross-hair; None where it is hidden."""
        return self._cursor

    def view(self) -> tuple[float, float]:
        """(start, end) of the shown range."""
        end = self.now() if self._end is None else self._end
        return end - self._span, end

    def choose(self, span: int) -> None:
        """Show the last `span` seconds."""
        self._chosen = span
        self._span = float(span)
        if not self._paused:
            self._end, self._moved = None, False
        self.spanned.emit(span)
        self.moved.emit()

    def pause(self, on: bool) -> None:
        """Pause at the shown range, also a panned one; or resume at the present time."""
        self._paused = on
        if not on:
            self._end, self._moved = None, False
        elif self._end is None:
            self._end = self.now()
        self.paused_changed.emit(on)
        self.moved.emit()

    def zoom(self, factor: float, at: float) -> None:
        """Multiply the span by `factor`, keeping the time `at` in place; it stays between SHORTEST_SPAN and the longest
        of SPANS.
        """
        start, end = self.view()
        span = min(max(self._span * factor, SHORTEST_SPAN), float(SPANS[-1]))
        share = (at - start) / (end - start)
        # Live plots stay live when zoomed near their right edge.
        if self._end is not None or share < 0.9:
            self._end, self._moved = min(at + (1 - share) * span, self.now()), True
        self._span = span
        self.moved.emit()

    def pan(self, seconds: float) -> None:
        """Move the range by `seconds` (negative: into the past); at the present time the plots are live again."""
        _, end = self.view()
        now = self.now()
        moved = end + seconds
        self._end = moved if self._paused or moved < now - 0.01 * self._span else None
        self._moved = self._end is not None
        self.moved.emit()

    def reset(self) -> None:
        """Show the chosen range up to the present time, without cross-hair or pause."""
        self._span = float(self._chosen)
        self._end, self._moved = None, False
        self._cursor = None
        if self._paused:
            self._paused = False
            self.paused_changed.emit(False)
        self.moved.emit()

    def point(self, at: float | None) -> None:
        """Put the cross-hair at a time within the range, or hide it (None)."""
        if at is not None:
            start, end = self.view()
            at = min(max(at, start), end)
        if at != self._cursor:
            self._cursor = at
            self.cursor_moved.emit()

    def step(self, count: int) -> None:
        """Move the cross-hair by `count` steps of a hundredth of the span, or of a second where that is longer."""
        end = self.view()[1] if self._cursor is None else self._cursor
        self.point(end + max(round(self._span / 100), 1) * count)


class TimeAxisItem(pg.DateAxisItem):  # type: ignore[misc]
    """pyqtgraph's date axis with ticks at round local times, in a format that is the same in every language."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self.setStyle(tickLength=0, tickAlpha=0, tickTextOffset=5, hideOverlappingLabels=True)
        self.setPen(None)

    def apply_theme(self) -> None:
        """Apply the theme's fonts and colours."""
        font = theme.font("axis")
        metrics = QFontMetricsF(font)
        self._short_width, self._long_width = map(metrics.horizontalAdvance, ("00:00", "00:00:00"))
        self.setTickFont(font)
        self.setTextPen(theme.color("soft"))
        self.setHeight(math.ceil(metrics.height() + 8))

    def tickValues(self, start: float, end: float, size: float) -> list[tuple[float, list[float]]]:
        """One level of ticks, far enough apart for their labels (overrides AxisItem)."""
        step, moments = ticks(start, end, max(int(size / (self._short_width * TICK_SPACING)), 2))
        if step < MINUTE:  # the labels have seconds
            step, moments = ticks(start, end, max(int(size / (self._long_width * TICK_SPACING)), 2))
        return [(step, moments)]

    def label_rects(self) -> list[QRectF]:
        """About where the labels of the ticks are, in the coordinates of the scene."""
        rect, (start, end) = self.sceneBoundingRect(), self.range
        step, moments = self.tickValues(start, end, rect.width())[0]
        middles = (rect.left() + (moment - start) / (end - start) * rect.width() for moment in moments)
        width = self._long_width if step < MINUTE else self._short_width
        return [QRectF(middle - width / 2, rect.top(), width, rect.height()) for middle in middles]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The labels of these ticks (overrides AxisItem)."""
        del scale
        start, end = self.range
        return [format_tick(moment, spacing, end - start) for moment in values]


def ticks(start: float, end: float, max_count: int) -> tuple[int, list[float]]:
    """(seconds between two ticks, times of the ticks), about `max_count` at most; days begin at local midnight."""
    step = next((each for each in (*TICK_STEPS, *TICK_DAYS) if (end - start) / each <= max_count), TICK_DAYS[-1])
    shift = time.localtime(end).tm_gmtoff
    first = math.ceil((start + shift) / step) * step - shift
    return step, [float(at) for at in range(first, math.ceil(end), step)]


def format_tick(moment: float, step: float, span: float) -> str:
    """14:27, or 14:27:10 where ticks are less than a minute apart, or a date where a day or more is shown."""
    local = time.localtime(moment)
    if step >= DAY:
        return time.strftime("%m-%d", local)
    if span >= DAY and (local.tm_hour, local.tm_min) == (0, 0):
        return time.strftime("%m-%d", local)
    return time.strftime("%H:%M:%S" if step < MINUTE else "%H:%M", local)


def format_since(moment: float, now: float) -> str:
    """A time within a sentence: "14:20" of the same day as `now`, else with its date."""
    local, today = time.localtime(moment), time.localtime(now)
    return time.strftime("%H:%M" if local[:3] == today[:3] else "%Y-%m-%d %H:%M", local)


def format_moment(moment: float, span: float) -> str:
    """A time at the cross-hair, with its date where a day or more is shown."""
    return time.strftime("%m-%d %H:%M" if span >= DAY else "%H:%M:%S", time.localtime(moment))
