"""One metric over time: a moving picture, the limit and the cross-hair over it, mouse and keys.

Imported by the Monitor page only, at its first opening: pyqtgraph and numpy cost more than the whole window.
Times are seconds since the epoch everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from . import overlay
from .canvas import Canvas, Frame
from .clock import Clock
from .events import Event
from .history_model import EMPTY_CURVE, GAP_STEPS, LineStyle, SeriesCurve
from .overlay import Limit

CLOSER = 0.8  # what is shown, after one notch of the wheel
Fetch = Callable[[str, float, float], SeriesCurve | None]


class Plot(QWidget):
    """One metric over the shared clock.

    `ticks(highest)` gives the grid for the highest value shown; the scale ends 13 % above the last of them.
    `figure(value)` says a value with its unit, for the reading box. `outdated` asks for a `refresh`: another size,
    another look.
    """

    outdated = Signal()

    def __init__(
        self,
        clock: Clock,
        *,
        ticks: Callable[[float], tuple[float, ...]],
        figure: Callable[[float], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.clock = clock
        self._ticks = ticks
        self._figure = figure
        self._lines: dict[str, LineStyle] = {}
        self._curves: dict[str, SeriesCurve] = {}
        self._events: tuple[Event, ...] = ()
        self._words: list[overlay.Placed] = []
        self._above = 0
        self._limit: Limit | None = None
        self._canvas = Canvas()
        self._frame: Frame | None = None
        self._stale = True
        self._left = 0
        self._drag: QPointF | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        clock.cursor_moved.connect(self.update)
        self.restyle()

    def sizeHint(self) -> QSize:
        """Small: plots share what the page has left."""
        return QSize(240, 120)

    # What is shown

    def series(self, key: str, line: LineStyle) -> None:
        """Add a series, or change how it looks."""
        self._lines[key] = line
        self._stale = True

    def set_limit(self, limit: Limit | None) -> None:
        """The dashed line, if this card says where it is."""
        if limit != self._limit:
            self._limit = limit
            self._stale = True

    def set_events(self, events: tuple[Event, ...]) -> None:
        """What is marked on the time line."""
        if events != self._events:
            self._events = events
            self._stale = True

    def refresh(self, fetch: Fetch) -> bool:
        """Draw what the clock shows; whether there was anything new to draw.

        `fetch(key, since, reach)` gives a series from a moment on, in the resolution that reaches back to `reach`.
        """
        area = self.area()
        if area.width() < 10 or area.height() < 10:
            return False
        before, now = self._frame, self._now(area)
        moved = now.first - before.first if before is not None else 0
        same = not self._stale and before is not None and (before.area, before.column) == (area, now.column)
        if same and moved == 0:
            return False
        if self._make_room(now):
            return self.refresh(fetch)
        known = [curve.t[-1] for curve in self._curves.values() if len(curve.t)]
        # Once in a while all is drawn anew, so that the scale follows what has gone.
        step = max((curve.step for curve in self._curves.values()), default=0.0)
        same = same and 0 < moved < area.width() / 2 and self._left > 0 and bool(known)
        if same:
            begin = min(known) - 2 * step - (now.column if now.column > step else 0)
            newer = {key: fetch(key, begin - 3 * step - 2 * now.column, now.start) for key in self._lines}
            found = {key: self._curves[key].merge_newer(curve) for key, curve in newer.items() if curve is not None}
            same = len(found) == len(self._lines) and all(
                curve is not None and curve.step == self._curves[key].step for key, curve in newer.items()
            )
        if same:
            self._curves = {key: curve.since(now.start - 5 * now.column - step) for key, curve in found.items()}
            frame = self._scaled(now)
            if before is not None and frame.grid == before.grid:
                self._left -= moved
                self._frame = frame
                self._canvas.advance(moved, begin, frame, self._drawn(), self._shown(frame))
                self.update()
                return True
        self._redraw(now, fetch)
        return True

    def _make_room(self, now: Frame) -> bool:
        """Place the words of events; whether they want other room above the curves than there is."""
        self._words = overlay.words_of(now, self._events)
        above = math.ceil(overlay.lanes_of(self._words, now.area) * QFontMetricsF(theme.font("axis")).height())
        other, self._above = above != self._above, above
        self._stale |= other
        return other

    def _redraw(self, now: Frame, fetch: Fetch) -> None:
        span = now.end - now.start
        # A little more than is seen, so that lines come from somewhere; not so much that a coarser resolution comes.
        begin = now.start - min(max(2 * now.column, 0.02 * span), 0.006 * span + 1)
        curves = {key: fetch(key, begin, begin) for key in self._lines}
        self._curves = {key: curve if curve is not None else EMPTY_CURVE for key, curve in curves.items()}
        self._frame = self._scaled(now)
        self._canvas.paint(self.size(), self.devicePixelRatio(), self._frame, self._drawn(), self._shown(self._frame))
        self._left = self._frame.area.width() // 2
        self._stale = any(curve is None for curve in curves.values())
        self.update()

    def _now(self, area: QRect) -> Frame:
        """The clock's view in whole columns, so that it moves by whole pixels."""
        _, end = self.clock.view()
        column = self.clock.span / area.width()
        first = math.ceil(end / column) - area.width()
        return Frame(area=area, first=first, column=column, grid=self._frame.grid if self._frame else (0, 1))

    def _scaled(self, frame: Frame) -> Frame:
        """With the ticks for what is to be seen."""
        highest = self._limit.value if self._limit is not None else 0.0
        for curve in self._curves.values():
            top = np.fmax.reduce(curve.high) if len(curve.high) else math.nan
            highest = float(top) if top > highest else highest
        return Frame(area=frame.area, first=frame.first, column=frame.column, grid=self._ticks(highest))

    def _drawn(self) -> list[tuple[LineStyle, SeriesCurve]]:
        return [(line, self._curves.get(key, EMPTY_CURVE)) for key, line in self._lines.items()]

    def _shown(self, frame: Frame) -> tuple[Event, ...]:
        return tuple(event for event in self._events if event.within(frame.start - 0.5 * self.clock.span, frame.end))

    def restyle(self) -> None:
        """Take colours and sizes from the theme of the moment."""
        metrics = QFontMetricsF(theme.font("axis"))
        self._below = math.ceil(metrics.height() + 8)
        self._before = math.ceil(metrics.horizontalAdvance("0000") + 8)
        self._canvas.forget()
        self._stale = True
        self.outdated.emit()

    def area(self) -> QRect:
        """The rectangle of the curves, in pixels of the widget."""
        high = self.height() - self._below
        above = min(self._above, high // 2)
        return QRect(self._before, above, self.width() - self._before, high - above)

    def moment(self, x: float) -> float:
        """The time below a pixel."""
        start, end = self.clock.view()
        area = self.area()
        return start + (x - area.left()) / max(area.width(), 1) * (end - start)

    def readings(self) -> list[tuple[LineStyle, float]]:
        """What the series say at the cross-hair."""
        at = self.clock.cursor
        if at is None:
            return []
        found = (
            (self._lines[key], curve.value_at(at, max(GAP_STEPS * curve.step, self.clock.span / 100)))
            for key, curve in self._curves.items()
        )
        return [(line, value) for line, value in found if value is not None]

    def extremes(self, line: LineStyle) -> tuple[float, float] | None:
        """The lowest and the highest at the cross-hair, where a line is drawn in the band of them."""
        at, frame = self.clock.cursor, self._frame
        curve = next((curve for key, curve in self._curves.items() if self._lines[key] is line), EMPTY_CURVE)
        if at is None or frame is None or not curve.has_band(frame.column):
            return None
        return curve.extremes(at, max(curve.step, frame.column) / 2)

    # How it is painted: the picture, above it limit and cross-hair

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture moves on its own; only what is over it is painted here."""
        painter = QPainter(self)
        frame = self._frame
        if frame is None or frame.area != self.area():
            painter.fillRect(event.rect(), theme.color("card"))
            return
        painter.drawPixmap(0, 0, self._canvas.picture)
        if self._limit is not None:
            overlay.paint_limit(painter, frame, self._limit)
        overlay.paint_words(painter, frame, self._words)
        if self.clock.cursor is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            at = self.clock.cursor
            near = 2 * frame.column
            events = overlay.told_of(event for event in self._events if event.within(at - near, at + near))
            readings = [(line, value, self.extremes(line)) for line, value in self.readings()]
            overlay.paint_cursor(painter, frame, at, readings, figure=self._figure, events=events)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("focus"), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another size wants another picture."""
        super().resizeEvent(event)
        self._stale = True
        self.outdated.emit()

    # Mouse and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag moves through time; else the cross-hair follows."""
        at = event.position()
        if self._drag is not None:
            self.clock.pan(self.moment(self._drag.x()) - self.moment(at.x()))
            self._drag = at
        elif self.area().contains(at.toPoint()):
            self.clock.point(self.moment(at.x()))
        else:
            self.clock.point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag = event.position()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002
        """End of the drag."""
        self._drag = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002
        """Back to now."""
        self.clock.reset()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl: stretch time around the pointer. Without: the page scrolls."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        self.clock.zoom(CLOSER ** (event.angleDelta().y() / 120), self.moment(event.position().x()))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """The cross-hair goes with the pointer."""
        self.clock.point(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """← → move the cross-hair (Shift: ten times as far), Home and End go to the edges, Esc takes it away; + and -
        stretch time around it, Page Up and Page Down move half of what is shown, 0 goes back to now.
        """
        far = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        start, end = self.clock.view()
        match event.key():
            case Qt.Key.Key_Left:
                self.clock.step(-far)
            case Qt.Key.Key_Right:
                self.clock.step(far)
            case Qt.Key.Key_Home:
                self.clock.point(start)
            case Qt.Key.Key_End:
                self.clock.point(end)
            case Qt.Key.Key_Escape if self.clock.cursor is not None:
                self.clock.point(None)
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal | Qt.Key.Key_Minus:
                factor = 1 / CLOSER if event.key() == Qt.Key.Key_Minus else CLOSER
                self.clock.zoom(factor, end if self.clock.cursor is None else self.clock.cursor)
            case Qt.Key.Key_PageUp:
                self.clock.pan(-self.clock.span / 2)
            case Qt.Key.Key_PageDown:
                self.clock.pan(self.clock.span / 2)
            case Qt.Key.Key_0:
                self.clock.reset()
            case _:
                event.ignore()
