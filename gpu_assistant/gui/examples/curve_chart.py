"""How a figure of a running program changes: a line over all of its steps, with axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from ..widgets.base import Themed

HEIGHT, LABEL_GAP, DOT_RADIUS = 126, 8, 3.2  # pixels at 100 % text; of the dot always
MAX_STEPS_Y = 4
NICE_FACTORS = (1, 2, 2.5, 5, 10)
CurvePoint = tuple[float, float]


class CurveChart(Themed, QWidget):
    """A line through points (step, value), from 0 to `steps` and from 0 to a round value above the largest."""

    def __init__(self, token: str = "s2", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.token, self.steps, self.unit = token, 1, ""
        self._points: tuple[CurvePoint, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """The points that are drawn."""
        return self._points

    def set_points(self, points: Sequence[CurvePoint], steps: int) -> None:
        """Show these points of a run of so many steps."""
        self._points, self.steps = tuple(points), max(steps, 1)
        self.update()

    def set_unit(self, unit: str) -> None:
        """Name what the steps count, behind the last one."""
        if unit != self.unit:
            self.unit = unit
            self.update()

    def refresh(self) -> None:
        self.setFont(theme.font("caption"))
        super().refresh()

    def sizeHint(self) -> QSize:
        return QSize(200, theme.px(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if not self._points:
            return
        painter, metrics = QPainter(self), QFontMetricsF(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ticks = axis_ticks(max(value for _, value in self._points))
        texts = [f"{tick:g}" for tick in ticks]
        line_height, gap = metrics.height(), theme.px(LABEL_GAP)
        left = max(metrics.horizontalAdvance(text) for text in texts) + gap
        area = QRectF(self.rect()).adjusted(
            left, line_height / 2 + 1, -DOT_RADIUS - 2, -line_height - theme.px(LABEL_GAP) / 2
        )
        soft = theme.color("soft")
        for tick, text in zip(ticks, texts, strict=True):
            y = area.bottom() - tick / ticks[-1] * area.height()
            painter.setPen(QPen(theme.color("control" if tick == 0 else "grid"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(soft)
            label_area = QRectF(0, y - line_height / 2, left - gap, line_height)
            painter.drawText(label_area, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text)
        self._draw_steps(painter, metrics, area)
        self._draw_line(painter, area, ticks[-1])

    def _draw_steps(self, painter: QPainter, metrics: QFontMetricsF, area: QRectF) -> None:
        """The first, the middle and the last step below the line."""
        top = area.bottom() + theme.px(LABEL_GAP) / 2
        for step in dict.fromkeys((0, self.steps // 2, self.steps)):
            text = f"{step:,} {self.unit}".rstrip() if step == self.steps else f"{step:,}"
            width = metrics.horizontalAdvance(text)
            centre = area.left() + step / self.steps * area.width()
            left = min(max(centre - width / 2, area.left()), self.width() - width)
            painter.drawText(QPointF(left, top + metrics.ascent()), text)

    def _draw_line(self, painter: QPainter, area: QRectF, top: float) -> None:
        def map_point(point: CurvePoint) -> QPointF:
            step, value = point
            return QPointF(
                area.left() + min(step / self.steps, 1) * area.width(), area.bottom() - value / top * area.height()
            )

        mapped = [map_point(point) for point in self._points]
        line = QPainterPath(mapped[0])
        for point in mapped[1:]:
            line.lineTo(point)
        filled = QPainterPath(line)
        filled.lineTo(mapped[-1].x(), area.bottom())
        filled.lineTo(mapped[0].x(), area.bottom())
        painter.fillPath(filled, theme.color(self.token, 0.12))
        painter.setPen(QPen(theme.color(self.token), 1.8))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(line)
        painter.setBrush(theme.color(self.token))
        painter.drawEllipse(mapped[-1], DOT_RADIUS, DOT_RADIUS)


def axis_ticks(largest: float) -> list[float]:
    """Round values from 0 to the first one that is not below `largest`, at most MAX_STEPS_Y steps."""
    if largest <= 0:
        return [0.0, 1.0]
    magnitude = 10.0 ** floor(log10(largest / MAX_STEPS_Y))
    step = next(factor * magnitude for factor in NICE_FACTORS if largest / (factor * magnitude) <= MAX_STEPS_Y)
    return [round(index * step, 10) for index in range(ceil(largest / step) + 1)]
