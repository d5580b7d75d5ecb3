"""Small painted lines: a value over the last while, the speed of a download."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from .base import Themed

SparkPoint = tuple[float, float | None]


class Sparkline(Themed, QWidget):
    """A line without axes: points (x, value), drawn over `span` up to the last x. None is a gap.

    Values reach from `low` to `high`; with `high` None the largest one seen is the top.
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
        """The points to draw, oldest first. What was before a clock was set back has no place beside what is since."""
        all_points = list(points)
        start = next((index for index in range(len(all_points) - 1, 0, -1) if all_points[index][0] < all_points[index - 1][0]), 0)
        self._points = all_points[start:]
        self.high = high if high is not None else self.high
        self.update()

    def points(self) -> tuple[SparkPoint, ...]:
        """What is drawn."""
        return tuple(self._points)

    def sizeHint(self) -> QSize:
        """As high as asked for, grown with the text."""
        return QSize(160, theme.px(self._height))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Filled line by line between the gaps, a dot at the newest value."""
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
    """The speed of the last 90 seconds, in bytes per second."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, height: int = 56, parent: QWidget | None = None
    ) -> None:
        self._clock = clock
        self._history: deque[SparkPoint] = deque(maxlen=1200)
        super().__init__("accent", span=90.0, height=height, parent=parent)

    def retranslate(self) -> None:
        """What a screen reader calls it."""
        self.setAccessibleName(self.tr("Speed over the last 90 seconds"))

    def add(self, rate: float | None) -> None:
        """The speed of now; None while nothing is fetched."""
        now = self._clock()
        self._history.append((now, rate))
        while self._history and now - self._history[0][0] > self.span:
            self._history.popleft()
        self.set_points(self._history)

    def clear(self) -> None:
        """Forget what was."""
        self._history.clear()
        self.set_points(())
