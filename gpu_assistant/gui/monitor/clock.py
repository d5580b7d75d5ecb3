"""The time axis that all plots of a page share."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

# One minute, ten minutes, an hour, a day, thirty days.
SPANS = (60, 600, 3600, 86_400, 30 * 86_400)


class Clock(QObject):
    """The time axis that all plots of a page share: span, end, cross-hair; live, paused or moved by hand."""

    moved = Signal()
    cursor_moved = Signal()
    spanned = Signal(int)
    paused_changed = Signal(bool)

    def __init__(self, now: Callable[[], float] = time.time, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = now
        self._span = float(SPANS[1])
        self._chosen = SPANS[1]
        self._end: float | None = None
        self._cursor: float | None = None
        self._paused = self._moved = False

    @property
    def span(self) -> float:
        """Seconds that the plots show."""
        return self._span

    @property
    def chosen(self) -> int:
        """Seconds of the range chosen last."""
        return self._chosen

    @property
    def live(self) -> bool:
        """Whether the right edge is now."""
        return self._end is None

    @property
    def as_chosen(self) -> bool:
        """Whether the range chosen last is shown, up to now or to where the plots were stopped."""
        return self._span == self._chosen and not self._moved

    @property
    def paused(self) -> bool:
        """Whether the user stopped the plots (samples are still kept)."""
        return self._paused

    @property
    def cursor(self) -> float | None:
        """Where the cross-hair stands."""
        return self._cursor

    def view(self) -> tuple[float, float]:
        """The first and the last moment shown."""
        end = self._now() if self._end is None else self._end
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
        """Stand still, where one has moved to too; or go on with now."""
        self._paused = on
        if not on:
            self._end, self._moved = None, False
        elif self._end is None:
            self._end = self._now()
        self.paused_changed.emit(on)
        self.moved.emit()

    def zoom(self, factor: float, at: float) -> None:
        """Stretch time around the moment `at`; the range chosen last is the widest."""
        start, end = self.view()
        span = min(max(self._span * factor, 10.0), float(SPANS[-1]))
        share = (at - start) / (end - start)
        # Near the right edge of live plots the edge stays now.
        if self._end is not None or share < 0.9:
            self._end, self._moved = min(at + (1 - share) * span, self._now()), True
        self._span = span
        self.moved.emit()

    def pan(self, seconds: float) -> None:
        """Move into the past (negative) or back; at the right edge the plots run again."""
        _, end = self.view()
        now = self._now()
        moved = end + seconds
        self._end = moved if self._paused or moved < now - 0.01 * self._span else None
        self._moved = self._end is not None
        self.moved.emit()

    def reset(self) -> None:
        """Back to the range chosen, up to now, running."""
        self._span = float(self._chosen)
        self._end, self._moved = None, False
        self._cursor = None
        if self._paused:
            self._paused = False
            self.paused_changed.emit(False)
        self.moved.emit()

    def point(self, at: float | None) -> None:
        """Put the cross-hair at a moment, or take it away."""
        if at is not None:
            start, end = self.view()
            at = min(max(at, start), end)
        if at != self._cursor:
            self._cursor = at
            self.cursor_moved.emit()

    def step(self, count: int) -> None:
        """Move the cross-hair by `count` hundredths of what is shown, at least a second each."""
        end = self.view()[1] if self._cursor is None else self._cursor
        self.point(end + max(round(self._span / 100), 1) * count)
