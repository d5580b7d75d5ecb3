"""Small painted charts: a value over the last while, the speed of a download, bars to compare."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from .base import Themed, draw_rounded_rect

SparkPoint = tuple[float, float | None]


class Sparkline(Themed, QWidget):
    """A line without axes through points (x, value), over `span` up to the last x. A value of None is a gap.

    Values range from `low` to `high`, both marked by a faint line; with `high` None up to the largest one.
    """

    def __init__(
        self,
        token: str = "s1",
        *,
        span: float = 60.0,
        low: float = 0.0,
        high: float | None = None,
        height: int = 34,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.token, self.span, self.low, self.high, self._height = token, span, low, high, height
        self._points: list[SparkPoint] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def set_points(self, points: Iterable[SparkPoint], *, high: float | None = None) -> None:
        """Set the points, oldest first. Points before a step back of x (a clock that was set) are dropped."""
        all_points = list(points)
        start = next(
            (index for index in range(len(all_points) - 1, 0, -1) if all_points[index][0] < all_points[index - 1][0]), 0
        )
        self._points = all_points[start:]
        self.high = high if high is not None else self.high
        self.update()

    def points(self) -> tuple[SparkPoint, ...]:
        """The points that are drawn."""
        return tuple(self._points)

    def sizeHint(self) -> QSize:
        return QSize(160, theme.px(self._height))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        values = [value for _x, value in self._points if value is not None]
        if not values:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 5, -5, -5)
        top = self.high if self.high is not None else max(values) * 1.15
        value_range = max(top - self.low, 1e-9)
        newest = self._points[-1][0]
        if self.high is not None:
            painter.setPen(theme.color("grid"))
            for y in (area.top(), area.bottom()):
                painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))

        def map_point(x: float, value: float) -> QPointF:
            fraction = min(max((value - self.low) / value_range, 0.0), 1.0)
            return QPointF(
                area.right() - (newest - x) / self.span * area.width(), area.bottom() - fraction * area.height()
            )

        segment: list[QPointF] = []
        for x, value in (*self._points, (newest, None)):
            if value is not None and newest - x <= self.span:
                segment.append(map_point(x, value))
            elif segment:
                self._draw_segment(painter, segment, area.bottom())
                segment = []
        x, value = self._points[-1]
        if value is not None:
            painter.setBrush(theme.color(self.token))
            painter.drawEllipse(map_point(x, value), 3.2, 3.2)

    def _draw_segment(self, painter: QPainter, segment: list[QPointF], bottom: float) -> None:
        line = QPainterPath(segment[0])
        for point in segment[1:]:
            line.lineTo(point)
        filled_path = QPainterPath(line)
        filled_path.lineTo(segment[-1].x(), bottom)
        filled_path.lineTo(segment[0].x(), bottom)
        painter.fillPath(filled_path, theme.color(self.token, 0.14))
        painter.setPen(QPen(theme.color(self.token), 1.8))
        painter.setBrush(theme.color(self.token, 0.0))
        painter.drawPath(line)


class SpeedSparkline(Sparkline):
    """The speed of the last 90 seconds, in bytes per second. `clock` gives seconds and never goes back."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, height: int = 56, parent: QWidget | None = None
    ) -> None:
        self._clock = clock
        self._history: deque[SparkPoint] = deque(maxlen=1200)
        super().__init__("accent", span=90.0, height=height, parent=parent)

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Speed over the last 90 seconds"))

    def add(self, rate: float | None) -> None:
        """Add the current speed; None while nothing is downloaded."""
        now = self._clock()
        self._history.append((now, rate))
        while self._history and now - self._history[0][0] > self.span:
            self._history.popleft()
        self.set_points(self._history)

    def clear(self) -> None:
        self._history.clear()
        self.set_points(())


Bar = tuple[str, float | None, str, str]
# Pixels behind the labels, behind the values, and of the longest bar.
GLYPH_OVERHANG = 2  # a glyph may be painted a little beyond its own advance (pixels)
LABEL_GAP, VALUE_MARGIN, MIN_BAR_LENGTH = 18, 12, 80


class BarChart(Themed, QWidget):
    """Horizontal bars from zero. A bar is (label, length, value as text, token of its colour).

    Where a row is too narrow, label and value are above the bar: no value is cut.
    """

    def __init__(self, bars: Sequence[Bar] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: tuple[Bar, ...] = ()
        self._stacked = self._compact = False
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)
        self.apply_theme()
        self.set_bars(bars)

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """Set the bars from the top; one of unknown length (None) has only its texts."""
        self._bars = tuple(bars)
        self.setAccessibleName(", ".join(f"{label}: {value}" for label, _length, value, _token in bars))
        self.refresh()

    def set_compact(self, compact: bool) -> None:
        """Put the rows closer together."""
        if compact != self._compact:
            self._compact = compact
            self.refresh()

    def refresh(self) -> None:
        labels, values = self._text_widths()
        self._stacked = (
            labels + LABEL_GAP + values + VALUE_MARGIN + (theme.px(MIN_BAR_LENGTH) if self._has_lengths() else 0)
            > self.width()
        )
        super().refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.refresh()

    def _has_lengths(self) -> bool:
        return any(bar[1] is not None for bar in self._bars)

    def _text_widths(self) -> tuple[float, float]:
        """Widths of the longest label and of the longest value."""
        small, strong = QFontMetricsF(theme.font("small")), QFontMetricsF(theme.font("small-strong"))
        labels = max((small.horizontalAdvance(bar[0]) for bar in self._bars), default=0.0)
        return labels, max((strong.horizontalAdvance(bar[2]) for bar in self._bars), default=0.0)

    def _row_height(self) -> int:
        line = QFontMetricsF(theme.font("body")).height().__ceil__()
        if self._stacked:
            return line + self._thickness() + (8 if self._compact else 12)
        return line + (8 if self._compact else 21)

    def _thickness(self) -> int:
        """Of a bar; a compact one below its texts is thinner."""
        return theme.px(12 if self._stacked and self._compact else 20)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(260), self._row_height() * len(self._bars))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        labels, values = self._text_widths()
        longest = max((bar[1] or 0.0 for bar in self._bars), default=0.0)
        row_height, thickness = self._row_height(), self._thickness()
        gap = 8 if self._compact else 12  # below a bar that is below its texts
        text_height = row_height - thickness - gap if self._stacked else row_height  # of label and value
        start = 0.0 if self._stacked else labels + LABEL_GAP
        bar_space = self.width() - 2.0 if self._stacked else max(self.width() - start - values - VALUE_MARGIN, 20.0)
        centre, right = int(Qt.AlignmentFlag.AlignVCenter), int(Qt.AlignmentFlag.AlignRight)
        for index, (label, length, value, token) in enumerate(self._bars):
            top = index * row_height
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("soft"))
            painter.drawText(QRectF(0, top, self.width() if self._stacked else start, text_height), centre, label)
            end = start
            if length is not None and longest > 0:
                # A bar that is too short to see still shows that there is one.
                width = max(bar_space * length / longest, 2.0)
                bar_top = text_height if self._stacked else (row_height - thickness) / 2
                draw_rounded_rect(painter, QRectF(start, top + bar_top, width, thickness), 4, theme.color(token))
                end = start + width + 10
            painter.setFont(theme.font("small-strong"))
            painter.setPen(theme.color("text"))
            if self._stacked:
                painter.drawText(QRectF(0, top, self.width() - GLYPH_OVERHANG, text_height), centre | right, value)
            else:
                painter.drawText(QRectF(end, top, self.width() - end, row_height), centre, value)
