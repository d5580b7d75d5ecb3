"""Plots over time, on pyqtgraph: one clock for all of them, gaps that stay gaps, a cross-hair with figures.

Imported by the Monitor page only, at its first opening: pyqtgraph and numpy cost more than the whole window.
Times are seconds since the epoch everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from .axis import TimeAxis
from .clock import Clock
from .series import GAP_STEPS, Array, Line, Series, pen, reduced, with_gaps


class Limit(Struct, frozen=True, kw_only=True):
    """A dashed line with words: where the card slows down, what it may draw."""

    value: float
    text: str


class Plot(pg.PlotWidget):  # type: ignore[misc]
    """One metric over the shared clock.

    `ticks(highest)` gives the grid for the highest value shown; the scale ends 13 % above the last of them.
    `figure(value)` says a value with its unit, for the reading box.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        ticks: Callable[[float], tuple[float, ...]],
        figure: Callable[[float], str],
        step: float = 1.0,
        parent: QWidget | None = None,
    ) -> None:
        self._time = TimeAxis("bottom")
        self._scale = pg.AxisItem("left")
        super().__init__(
            parent,
            axisItems={"bottom": self._time, "left": self._scale},
            enableMenu=False,
            viewBox=pg.ViewBox(enableMouse=False, enableMenu=False, defaultPadding=0),
        )
        self.clock = clock
        self._ticks = ticks
        self._figure = figure
        self._step = step
        self._lines: dict[str, Series] = {}
        self._raw: dict[str, tuple[Array, Array]] = {}
        self._limit: Limit | None = None
        self._drag: QPointF | None = None
        self._grid: tuple[float, ...] = ()
        self.hideButtons()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.getPlotItem().layout.setContentsMargins(0, 0, 0, 0)
        for axis in (self._time, self._scale):
            axis.setStyle(tickLength=0, tickAlpha=0, autoExpandTextSpace=False, hideOverlappingLabels=False)
            axis.setZValue(-1)
            # Else it writes its label anew, and the plot is painted twice, at every move.
            axis.enableAutoSIPrefix(False)
        clock.cursor_moved.connect(self._cursor_moved)
        self.restyle()

    def sizeHint(self) -> QSize:
        """Small: plots share what the page has left."""
        return QSize(240, 120)

    # What is shown

    def series(self, key: str, line: Line) -> None:
        """Add a series, or change how it looks."""
        if key not in self._lines:
            self._lines[key] = Series(line)
            self.addItem(self._lines[key], ignoreBounds=True)
        self._lines[key].line = line

    def keep_only(self, keys: set[str]) -> None:
        """Forget the series that are gone."""
        for key in set(self._lines) - keys:
            self.removeItem(self._lines.pop(key))
            self._raw.pop(key, None)

    def set_data(self, key: str, t: Array, y: Array, step: float = 1.0) -> None:
        """A series' samples, oldest first and `step` seconds apart, with NaN where nothing was known."""
        self._step = step
        self._raw[key] = with_gaps(t, y, step)

    def set_limit(self, limit: Limit | None) -> None:
        """The dashed line, if this card says where it is."""
        self._limit = limit

    def refresh(self) -> None:
        """Draw what the clock shows of the data held; cheap enough for once a second."""
        start, end = self.clock.view()
        # Up to ten minutes every sample is drawn; an hour becomes a mean line in its band.
        room = max(int(self.getViewBox().width()), 500)
        shown: list[tuple[Series, tuple[Array, ...]]] = []
        highest = 0.0
        for key, series in self._lines.items():
            t, y = self._raw.get(key, (np.empty(0), np.empty(0)))
            cut = slice(*np.searchsorted(t, (start - 2 * self._step, end + 2 * self._step)))
            part: tuple[Array, ...] = (t[cut], y[cut])
            if len(part[0]) > 1.5 * room:
                part = reduced(t[cut], y[cut], room)
            known = part[-1][np.isfinite(part[-1])]
            highest = max(highest, float(known.max())) if len(known) else highest
            shown.append((series, part))
        if self._limit is not None:
            highest = max(highest, self._limit.value)
        grid = self._ticks(highest)
        base, top = grid[0], grid[-1] + 0.13 * (grid[-1] - grid[0])
        if grid != self._grid:
            self._grid = grid
            self._scale.setTicks([[(value, f"{value:g}") for value in grid]])
        column = (end - start) / max(self.getViewBox().width(), 1)
        for series, part in shown:
            band = {"low": part[2], "high": part[3]} if len(part) == 4 else {}
            series.set_data(part[0], part[1], base=base, column=column, **band)
        self.getViewBox().setRange(xRange=(start, end), yRange=(base, top), padding=0)
        # Else the view moves its items only while it paints, which paints everything once more.
        self.getViewBox().prepareForPaint()
        self.viewport().update()

    def restyle(self) -> None:
        """Take colours and sizes from the theme of the moment."""
        self.setBackground(theme.color("card"))
        small = theme.font("axis")
        for axis in (self._time, self._scale):
            axis.setTickFont(small)
            axis.setTextPen(theme.color("soft"))
            axis.setPen(None)
            axis.setTickPen(None)
        metrics = QFontMetricsF(small)
        self._time.setHeight(int(metrics.height() + 8))
        self._scale.setWidth(int(metrics.horizontalAdvance("0000") + 8))
        self.viewport().update()

    # How it is painted: grid below the series, limit and cross-hair above them, in pixels

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:
        """Ground and grid."""
        super().drawBackground(painter, rect)
        area = self.area()
        painter.setPen(QPen(theme.color("grid"), 1))
        for value in self._grid:
            y = round(self._y(value, area)) + 0.5
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:  # noqa: ARG002
        """Limit, cross-hair and reading box."""
        area = self.area()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._limit is not None:
            self._paint_limit(painter, area, self._limit)
        if self.clock.cursor is not None:
            self._paint_cursor(painter, area, self.clock.cursor)

    def area(self) -> QRectF:
        """The rectangle of the curves, in pixels of the widget."""
        found: QRectF = self.getViewBox().sceneBoundingRect()
        return found

    def moment(self, x: float) -> float:
        """The time below a pixel."""
        start, end = self.clock.view()
        area = self.area()
        return start + (x - area.left()) / max(area.width(), 1) * (end - start)

    def readings(self) -> list[tuple[Line, float]]:
        """What the series say at the cross-hair."""
        at = self.clock.cursor
        if at is None:
            return []
        reach = max(GAP_STEPS * self._step, self.clock.span / 100)
        found = ((series.line, series.at(at, reach)) for series in self._lines.values())
        return [(line, value) for line, value in found if value is not None]

    def _x(self, moment: float, area: QRectF) -> float:
        start, end = self.clock.view()
        return area.left() + (moment - start) / (end - start) * area.width()

    def _y(self, value: float, area: QRectF) -> float:
        (_, _), (base, top) = self.getViewBox().viewRange()
        return float(area.bottom() - (value - base) / (top - base) * area.height())

    def _paint_limit(self, painter: QPainter, area: QRectF, limit: Limit) -> None:
        colour = theme.color("error")
        y = round(self._y(limit.value, area)) + 0.5
        painter.setPen(pen(colour, 1, 1))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(colour)
        painter.setFont(theme.font("axis"))
        metrics = QFontMetricsF(theme.font("axis"))
        painter.drawText(QPointF(area.right() - metrics.horizontalAdvance(limit.text) - 4, y - 4), limit.text)

    def _paint_cursor(self, painter: QPainter, area: QRectF, at: float) -> None:
        x = round(self._x(at, area)) + 0.5
        painter.setPen(QPen(theme.color("text"), 1))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        readings = self.readings()
        for line, value in readings:
            painter.setPen(QPen(theme.color("card"), 1.5))
            painter.setBrush(theme.color(line.colour))
            painter.drawEllipse(QPointF(x, self._y(value, area)), 4, 4)
        parts = [(time.strftime("%H:%M:%S", time.localtime(at)), False)]
        for line, value in readings:
            parts += [(line.name, False)] if line.name else []
            parts.append((self._figure(value), True))
        self._paint_box(painter, area, x, parts)

    def _paint_box(self, painter: QPainter, area: QRectF, x: float, parts: list[tuple[str, bool]]) -> None:
        """The reading box, on the side of the cross-hair that has room."""
        strong = theme.font("caption-strong")
        fonts = [strong if bold else theme.font("caption") for _, bold in parts]
        widths = [QFontMetricsF(font).horizontalAdvance(text) for font, (text, _) in zip(fonts, parts, strict=True)]
        gap, metrics = 6.0, QFontMetricsF(strong)
        size = sum(widths) + gap * (len(parts) - 1) + 16
        left = x + 7 if x + 7 + size <= area.right() else max(x - 7 - size, area.left())
        box = QRectF(left, area.top() + 0.62 * area.height(), size, metrics.height() + 8)
        painter.setPen(QPen(theme.color("control"), 1))
        painter.setBrush(theme.color("hover"))
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(theme.color("text"))
        place = box.left() + 8
        for (text, _), font, width in zip(parts, fonts, widths, strict=True):
            painter.setFont(font)
            painter.drawText(QPointF(place, box.top() + 4 + metrics.ascent()), text)
            place += width + gap

    def _cursor_moved(self) -> None:
        self.viewport().update()

    # Mouse and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag moves through time; else the cross-hair follows."""
        at = event.position()
        if self._drag is not None:
            self.clock.pan(self.moment(self._drag.x()) - self.moment(at.x()))
            self._drag = at
        elif self.area().contains(at):
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
        """Stretch time around the pointer."""
        self.clock.zoom(0.8 ** (event.angleDelta().y() / 120), self.moment(event.position().x()))
        event.accept()

    def leaveEvent(self, event: Any) -> None:  # noqa: ANN401 - QEvent, as the base has it
        """The cross-hair goes with the pointer."""
        self.clock.point(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """← → move the cross-hair (Shift: ten times as far), Home and End go to the edges, Esc takes it away."""
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
            case _:
                event.ignore()
