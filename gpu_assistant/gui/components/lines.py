"""Small painted lines: a value over the last while, the speed of a download."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from .base import Live

Point = tuple[float, float | None]


class SparkLine(Live, QWidget):
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
        self._points: list[Point] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.follow()

    def set_points(self, points: Iterable[Point], *, high: float | None = None) -> None:
        """The points to draw, oldest first. What was before a clock was set back has no place beside what is since."""
        given = list(points)
        back = next((n for n in range(len(given) - 1, 0, -1) if given[n][0] < given[n - 1][0]), 0)
        self._points = given[back:]
        self.high = high if high is not None else self.high
        self.update()

    def points(self) -> tuple[Point, ...]:
        """What is drawn."""
        return tuple(self._points)

    def sizeHint(self) -> QSize:
        """As high as asked for, grown with the text."""
        return QSize(160, theme.px(self._height))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Filled line by line between the gaps, a dot at the newest value."""
        del event
        known = [value for _x, value in self._points if value is not None]
        if not known:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 5, -5, -5)
        top = self.high if self.high is not None else max(known) * 1.15
        reach = max(top - self.low, 1e-9)
        newest = self._points[-1][0]

        def place(x: float, value: float) -> QPointF:
            share = min(max((value - self.low) / reach, 0.0), 1.0)
            return QPointF(
                area.right() - (newest - x) / self.span * area.width(), area.bottom() - share * area.height()
            )

        run: list[QPointF] = []
        for x, value in (*self._points, (newest, None)):
            if value is not None and newest - x <= self.span:
                run.append(place(x, value))
            elif run:
                self._draw(painter, run, area.bottom())
                run = []
        x, value = self._points[-1]
        if value is not None:
            painter.setBrush(theme.color(self.token))
            painter.drawEllipse(place(x, value), 3.2, 3.2)

    def _draw(self, painter: QPainter, run: list[QPointF], bottom: float) -> None:
        line = QPainterPath(run[0])
        for point in run[1:]:
            line.lineTo(point)
        ground = QPainterPath(line)
        ground.lineTo(run[-1].x(), bottom)
        ground.lineTo(run[0].x(), bottom)
        painter.fillPath(ground, theme.color(self.token, 0.14))
        painter.setPen(QPen(theme.color(self.token), 1.8))
        painter.setBrush(theme.color(self.token, 0.0))
        painter.drawPath(line)


class SpeedLine(SparkLine):
    """The speed of the last 90 seconds, in bytes per second."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, height: int = 56, parent: QWidget | None = None
    ) -> None:
        self._clock = clock
        self._kept: deque[Point] = deque(maxlen=1200)
        super().__init__("accent", span=90.0, height=height, parent=parent)

    def retranslate(self) -> None:
        """What a screen reader calls it."""
        self.setAccessibleName(self.tr("Speed over the last 90 seconds"))

    def add(self, rate: float | None) -> None:
        """The speed of now; None while nothing is fetched."""
        now = self._clock()
        self._kept.append((now, rate))
        while self._kept and now - self._kept[0][0] > self.span:
            self._kept.popleft()
        self.set_points(self._kept)

    def clear(self) -> None:
        """Forget what was."""
        self._kept.clear()
        self.set_points(())
