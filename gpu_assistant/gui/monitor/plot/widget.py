"""The plot of one metric over time; all plots of a page share time range and cross-hair (`TimeAxis`).

Only the Monitor page imports this module: pyqtgraph and numpy take longer to import than the rest of the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
import pyqtgraph as pg
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ... import theme
from .annotations import Event
from .curves import EMPTY_CURVE, GAP_STEPS, LineStyle, SeriesCurve
from .overlay import Cursor, EventLabels, EventsItem, Limit, LimitLine, Reading, draw_time_tag
from .renderer import CurvesItem, ViewRange
from .time_axis import TimeAxis, TimeAxisItem, format_moment

TICK_SPACING = 1.35  # heights of a label that two ticks are apart at least
MIN_RANGE_SECONDS = 5.0  # in one column from which on a reading tells its extremes
ZOOM_STEP = 0.8  # factor of the span for one notch of the wheel
# (key of a line, start of the values, start of the range that decides the resolution) -> values
Fetch = Callable[[str, float, float], SeriesCurve | None]


class Repaint(Enum):
    """What `Plot.refresh` painted: nothing, the new columns at the right edge, or all columns."""

    NOTHING = "nothing"
    EDGE = "edge"
    ALL = "all"


class ValueAxisItem(pg.AxisItem):  # type: ignore[misc]
    """The axis of values at the left, with grid lines across the plot.

    Of a plot with strips it has a line below each strip, and in place of the values the names of the strips. It is wide
    enough for `reserved_names` too, those of a plot above or below it, so that their time axes are in line.
    """

    def __init__(self) -> None:
        super().__init__("left")
        self.setStyle(tickLength=0, tickTextOffset=6, tickAlpha=255)
        self.setPen(None)
        self.setGrid(255)
        self._bounds: QRectF | None = None
        self.strip_names: tuple[str, ...] = ()
        self.reserved_names: tuple[str, ...] = ()
        self._rise = 0.0  # pixels by which labels are above their lines

    def apply_theme(self) -> None:
        """Apply the theme's fonts and colours."""
        self.setTickFont(theme.font("axis"))
        self.setTextPen(theme.color("soft"))
        self.setTickPen(pg.mkPen(theme.color("grid"), width=1))
        self._update_width()

    def _update_width(self) -> None:
        metrics = QFontMetricsF(theme.font("axis"))
        texts = ("0000", *self.strip_names, *self.reserved_names)
        self.setWidth(math.ceil(max(map(metrics.horizontalAdvance, texts)) + 8))

    def name_strips(self, names: tuple[str, ...], reserved: tuple[str, ...]) -> bool:
        """Set the names of the strips, the uppermost first, none for the values, and those to have room for; whether
        any were others.
        """
        if (names, reserved) == (self.strip_names, self.reserved_names):
            return False
        self.strip_names, self.reserved_names = names, reserved
        self._update_width()
        return True

    def show_ticks(self, view: ViewRange) -> None:
        """Show the ticks of this range, or the names of its strips."""
        if self.strip_names:
            self._rise = (view.y(view.bottom) - view.y((view.ticks[0] + view.ticks[-1]) / 2)) / view.ratio
            self.setTicks([[(view.box_y(view.bottom, strip), name) for strip, name in enumerate(self.strip_names)]])
        else:
            self._rise = 0.0
            self.setTicks([[(tick, f"{tick:g}") for tick in view.ticks]])

    def generateDrawSpecs(self, p: QPainter) -> tuple[Any, list[Any], list[Any]] | None:
        """What pyqtgraph draws, with the labels beside the middle of the strips."""
        specs = super().generateDrawSpecs(p)
        if specs is None:
            return None
        axis, lines, texts = specs
        return axis, lines, [(rect.translated(0, -self._rise), flags, text) for rect, flags, text in texts]

    def boundingRect(self) -> QRectF:
        """The rectangle with half a label's height at both ends, which pyqtgraph adds only without a grid."""
        if self._bounds is None:
            half = QFontMetricsF(theme.font("axis")).height() / 2
            self._bounds = super().boundingRect().adjusted(0, -half, 0, half)
        return self._bounds

    def linkedViewChanged(self, view: pg.ViewBox, *new_range: tuple[float, float]) -> None:
        """Forget the rectangle when the view's range or size changed."""
        self.prepareGeometryChange()
        self._bounds = None
        super().linkedViewChanged(view, *new_range)


class Plot(pg.GraphicsView):  # type: ignore[misc]
    """One metric over the shared time axis.

    `ticks(highest)` gives the values of the grid lines for the highest value shown. `outdated` is emitted when size,
    theme or lines changed and `refresh` is needed; `pointed` brings the `readings`, None while the newest values are
    wanted. `view` is the range painted last; None before that, and while lines or theme are otherwise than painted.
    Axes, curves and events are created by the first `refresh`: of many plots, most are never scrolled into view.

    With `has_strips` several lines are not drawn over one another but each in a strip of its own.
    """

    outdated = Signal()
    pointed = Signal(object)

    def __init__(
        self,
        time_axis: TimeAxis,
        *,
        ticks: Callable[[float], tuple[float, ...]],
        has_strips: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        self.time_axis = time_axis
        self.view: ViewRange | None = None
        self.lines: dict[str, LineStyle] = {}
        self.events: tuple[Event, ...] = ()
        self.limit: Limit | None = None
        self._ticks, self._has_strips = ticks, has_strips
        self._curves: dict[str, SeriesCurve] = {}
        self._stale = True
        self._cursor_stale = False
        self._columns_left = 0
        self._drag: QPointF | None = None
        self._reserved_names: tuple[str, ...] = ()
        self._has_items = False
        super().__init__(parent)
        self.event_labels = EventLabels()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.viewport().setMouseTracking(True)
        time_axis.cursor_moved.connect(self._move_cursor)
        time_axis.moved.connect(self._move_cursor)  # the values may be others where not a column has moved
        self.apply_theme()

    def _create_items(self) -> None:
        # The parts of a PlotItem without its context menu, which creates fifty widgets for each plot.
        self.view_box = pg.ViewBox(enableMouse=False, enableMenu=False)
        self.view_box.disableAutoRange()
        self.value_axis, self._time_axis_item = ValueAxisItem(), TimeAxisItem()
        for item, row, column in (
            (self.event_labels, 0, 1),
            (self.value_axis, 1, 0),
            (self.view_box, 1, 1),
            (self._time_axis_item, 2, 1),
        ):
            self.centralLayout.addItem(item, row, column)
        self.centralLayout.setSpacing(0)
        self.centralLayout.setContentsMargins(0, 0, 0, 0)
        self.value_axis.setZValue(self.view_box.zValue() - 1)  # its grid is behind the curves
        for axis in (self.value_axis, self._time_axis_item):
            axis.linkToView(self.view_box)
        self.curves_item = CurvesItem()
        self.view_box.addItem(self.curves_item, ignoreBounds=True)
        self.events_item = EventsItem()
        self.view_box.addItem(self.events_item, ignoreBounds=True)
        self.limit_line, self.cursor = LimitLine(self.view_box), Cursor(self.view_box)
        self.scene().sigPrepareForPaint.connect(self._show_cursor)
        self._has_items = True
        self._apply_theme_to_items()

    def sizeHint(self) -> QSize:
        """A small size: plots share the page's remaining space."""
        return QSize(240, 120)

    # What is shown

    def set_line(self, key: str, line: LineStyle) -> None:
        """Add a series, or change how it looks."""
        self.lines[key] = line
        self.view = None
        self.outdated.emit()

    def reorder_lines(self, keys: Sequence[str]) -> None:
        """Take this order of the lines for their strips and for the bands of their events."""
        self.lines = {key: self.lines[key] for key in keys}
        self.view = None
        self.outdated.emit()

    @property
    def strip_names(self) -> tuple[str, ...]:
        """The names of the strips, the uppermost first; none without strips."""
        return tuple(line.name for line in self.lines.values()) if self.strips > 1 else ()

    def reserve_names(self, names: tuple[str, ...]) -> None:
        """Keep the room at the left that the names of another plot's strips take there."""
        if names != self._reserved_names:
            self._reserved_names = names
            self._stale = True
            self.outdated.emit()

    def set_limit(self, limit: Limit | None) -> None:
        """Set the dashed limit line; None for none."""
        if limit != self.limit:
            self.limit = limit
            self._stale = True

    def set_max_lanes(self, count: int) -> None:
        """Set how many rows the labels of events take at most, of the height of the curves."""
        if count != self.event_labels.max_lanes:
            self.event_labels.max_lanes = count
            self._stale = True
            self.outdated.emit()

    def set_events(self, events: tuple[Event, ...]) -> None:
        """Set the events on the time axis."""
        if events != self.events:
            self.events = events
            self._stale = True

    def refresh(self, fetch: Fetch) -> Repaint:
        """Paint the range of the time axis, as far as it has changed.

        `fetch` gets a line's key, the time from which on to read its series, and the time to which the resolution must
        reach back; it gives None where there is no series.
        """
        if not self._has_items:
            self._create_items()
        if self.value_axis.name_strips(self.strip_names, self._reserved_names):
            self.centralLayout.activate()
        area = self.area()
        if area.width() < 10 or area.height() < 10:
            return Repaint.NOTHING
        before, view = self.view, self._current_view(area)
        moved = view.first - before.first if before is not None else 0
        same = not self._stale and before is not None and _scale(before) == _scale(view)
        if same and moved == 0:
            return Repaint.NOTHING
        if self._place_event_labels(view):
            return self.refresh(fetch)
        # After half a width all columns are painted, so that the scale follows values that have left the range.
        if same and before is not None and 0 < moved < view.width / 2 and self._columns_left > 0:
            since = self._fetch_newer(view, fetch)
            scaled = self._with_ticks(view)
            if since is not None and scaled.ticks == before.ticks:
                self._columns_left -= moved
                self.curves_item.advance(moved, since, scaled, self._drawn())
                self._show_view(scaled)
                return Repaint.EDGE
        self._repaint(view, fetch)
        return Repaint.ALL

    def _place_event_labels(self, view: ViewRange) -> bool:
        """Place the labels of events; returns whether the height that they need has changed."""
        before = self.event_labels.required_height
        self.event_labels.show_events(self.events, view, self.lines)
        if self.event_labels.required_height == before:
            return False
        self._stale = True
        self._update_label_height()
        return True

    def _fetch_newer(self, view: ViewRange, fetch: Fetch) -> float | None:
        """Append newer values to the curves; returns the time from which to paint, None for all columns."""
        known = [curve.t[-1] for curve in self._curves.values() if len(curve.t)]
        if not known:
            return None
        step = max(curve.step for curve in self._curves.values())
        since: float = min(known) - 2 * step - (view.column if view.column > step else 0)
        curves: dict[str, SeriesCurve] = {}
        for key in self.lines:
            newer, curve = fetch(key, since - 3 * step - 2 * view.column, view.start), self._curves.get(key)
            if newer is None or curve is None or newer.step != curve.step:
                return None
            curves[key] = curve.merge_newer(newer).since(view.start - 5 * view.column - step)
        self._curves = curves
        return since

    def _repaint(self, view: ViewRange, fetch: Fetch) -> None:
        span = view.end - view.start
        # A little more than the shown range, so that lines enter it, but not enough for a coarser resolution.
        begin = view.start - min(max(2 * view.column, 0.02 * span), 0.006 * span + 1)
        curves = {key: fetch(key, begin, begin) for key in self.lines}
        self._curves = {key: curve if curve is not None else EMPTY_CURVE for key, curve in curves.items()}
        scaled = self._with_ticks(view)
        self.curves_item.repaint(scaled, self._drawn())
        self._columns_left = view.width // 2
        self._stale = any(curve is None for curve in curves.values())
        self._show_view(scaled)
        self.limit_line.show(self.limit)

    def _show_view(self, view: ViewRange) -> None:
        """Update axes, events and cross-hair to the painted range."""
        if self.view is None or (self.view.ticks, self.view.height) != (view.ticks, view.height):
            self.value_axis.show_ticks(view)
        self.view = view
        top = view.box_y(view.top)
        self.view_box.setRange(
            xRange=(view.start, view.end), yRange=(view.bottom, top), padding=0, disableAutoRange=False
        )
        self.events_item.show_events(self.event_labels, view)
        self._move_cursor()

    def _current_view(self, area: QRect) -> ViewRange:
        """The range of the time axis, aligned to whole columns of device pixels."""
        ratio = self.devicePixelRatio()
        width, height = round(area.width() * ratio), round(area.height() * ratio)
        _, end = self.time_axis.view()
        column = self.time_axis.span / width
        first = math.ceil(end / column) - width
        ticks = self.view.ticks if self.view is not None else (0, 1)
        return ViewRange(
            width=width, height=height, first=first, column=column, ticks=ticks, ratio=ratio, strips=self.strips
        )

    def _with_ticks(self, view: ViewRange) -> ViewRange:
        """The same range with ticks for the highest value in it."""
        highest = self.limit.value if self.limit is not None else 0.0
        for curve in self._curves.values():
            top = np.fmax.reduce(curve.high) if len(curve.high) else math.nan
            highest = float(top) if top > highest else highest
        ticks = self._ticks(highest)
        if view.strips > 1:
            return replace(view, ticks=(ticks[0], ticks[-1]))
        return replace(view, ticks=spaced_ticks(ticks, view.height / view.ratio))

    def _drawn(self) -> list[tuple[LineStyle, SeriesCurve]]:
        return [(line, self._curves.get(key, EMPTY_CURVE)) for key, line in self.lines.items()]

    def apply_theme(self) -> None:
        """Apply the theme's colours, fonts and sizes."""
        self.setBackground(theme.color("card"))
        if self._has_items:
            self._apply_theme_to_items()
        self.view = None
        self.outdated.emit()

    def _apply_theme_to_items(self) -> None:
        self.value_axis.apply_theme()
        self._time_axis_item.apply_theme()
        self._update_label_height()

    def _update_label_height(self) -> None:
        """Give the labels of events their height, at most half of the plot's."""
        above = min(self.event_labels.required_height, self.height() // 2)
        self.event_labels.setMinimumHeight(above)
        self.event_labels.setMaximumHeight(above)
        self.centralLayout.activate()

    @property
    def strips(self) -> int:
        """How many strips there are; 1 where the lines are drawn over one another."""
        return max(len(self.lines), 1) if self._has_strips else 1

    def area(self) -> QRect:
        """The rectangle of the curves, in the widget's coordinates; empty before the first `refresh`."""
        area: QRect = self.view_box.sceneBoundingRect().toRect() if self._has_items else QRect()
        return area

    def moment_at(self, x: float) -> float:
        """The time at the horizontal position `x` of the widget."""
        start, end = self.time_axis.view()
        area = self.area()
        return start + (x - area.left()) / max(area.width(), 1) * (end - start)

    # The cross-hair

    def readings(self) -> list[Reading]:
        """The known values of all lines at the cross-hair, without it at the right edge."""
        cursor, view = self.time_axis.cursor, self.view
        if view is None:
            return []
        at = self.time_axis.view()[1] if cursor is None else cursor
        readings = []
        for key, curve in self._curves.items():
            value = curve.value_at(at, max(GAP_STEPS * curve.step, self.time_axis.span / 100))
            if value is not None:
                interval = max(curve.step, view.column)
                extremes = curve.extremes(at, interval / 2) if interval >= MIN_RANGE_SECONDS else None
                readings.append(Reading(key=key, line=self.lines[key], value=value, extremes=extremes))
        return readings

    def _move_cursor(self) -> None:
        """Mark the cross-hair as moved; it is placed when painted, which hidden plots are not."""
        self._cursor_stale = True
        self.viewport().update()

    def _show_cursor(self) -> None:
        if not self._cursor_stale or self.view is None:
            return
        self._cursor_stale = False
        at = self.time_axis.cursor
        if at is None:
            self.cursor.hide()
            self.pointed.emit(None if self.time_axis.live else self.readings())
            return
        readings, strips = self.readings(), list(self.lines)
        heights = [
            self.view.box_y(reading.value, strips.index(reading.key) if self.strips > 1 else 0) for reading in readings
        ]
        self.cursor.show(at, readings, heights)
        self.pointed.emit(readings)

    # Mouse, keys, focus

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Draw the time at the cross-hair, and a frame while the plot has the keyboard focus."""
        del rect
        at, view = self.time_axis.cursor, self.view
        if at is not None and view is not None:
            area, axis = self.area(), self._time_axis_item.sceneBoundingRect()
            text = format_moment(at, view.end - view.start)
            x = area.left() + view.x(at) / view.ratio
            draw_time_tag(painter, x, axis, text, self._time_axis_item.label_rects())
        if self.hasFocus():
            painter.setPen(QPen(theme.color("focus"), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the frame."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the frame."""
        super().focusOutEvent(event)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Emit `outdated`, since the curves depend on the size."""
        super().resizeEvent(event)
        if event is not None and not self.closed:
            if self._has_items:
                self._update_label_height()
            self._stale = True
            self.outdated.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while dragging; otherwise move the cross-hair."""
        at = event.position()
        if self._drag is not None:
            self.time_axis.pan(self.moment_at(self._drag.x()) - self.moment_at(at.x()))
            self._drag = at
        elif self.area().contains(at.toPoint()):
            self.time_axis.point(self.moment_at(at.x()))
        else:
            self.time_axis.point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start a drag."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag = event.position()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag."""
        del event
        self._drag = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Reset the time axis."""
        del event
        self.time_axis.reset()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer with Ctrl; without it the page scrolls."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        self.time_axis.zoom(ZOOM_STEP ** (event.angleDelta().y() / 120), self.moment_at(event.position().x()))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the cross-hair."""
        self.time_axis.point(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """← → move the cross-hair (Shift: ten times as far), Home and End to the edges, Esc hides it; + and - zoom at
        it, Page Up and Page Down pan by half of the span, 0 resets the time axis.
        """
        far = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        axis = self.time_axis
        start, end = axis.view()
        match event.key():
            case Qt.Key.Key_Left:
                axis.step(-far)
            case Qt.Key.Key_Right:
                axis.step(far)
            case Qt.Key.Key_Home:
                axis.point(start)
            case Qt.Key.Key_End:
                axis.point(end)
            case Qt.Key.Key_Escape if axis.cursor is not None:
                axis.point(None)
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal | Qt.Key.Key_Minus:
                factor = 1 / ZOOM_STEP if event.key() == Qt.Key.Key_Minus else ZOOM_STEP
                axis.zoom(factor, end if axis.cursor is None else axis.cursor)
            case Qt.Key.Key_PageUp:
                axis.pan(-axis.span / 2)
            case Qt.Key.Key_PageDown:
                axis.pan(axis.span / 2)
            case Qt.Key.Key_0:
                axis.reset()
            case _:
                event.ignore()


def spaced_ticks(ticks: tuple[float, ...], height: float) -> tuple[float, ...]:
    """Every second, third … of these ticks, so that the labels of a plot of `height` logical pixels stand apart; the
    first and the last remain.
    """
    gap = TICK_SPACING * QFontMetricsF(theme.font("axis")).height()
    intervals = len(ticks) - 1
    steps = (step for step in range(1, intervals + 1) if intervals % step == 0)
    return ticks[:: next((step for step in steps if height * step / intervals >= gap), max(intervals, 1))]


def _scale(view: ViewRange) -> tuple[int, int, float, float]:
    return view.width, view.height, view.column, view.ratio
