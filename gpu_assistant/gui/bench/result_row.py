"""One measured workload: name, bar from zero to the median, a bracket from quartile to quartile, the figure."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...core.results import BenchResult
from .. import theme
from ..components import Live
from ..components.base import rounded
from . import scores


class ResultRow(Live, QWidget):
    """Painted; `scale` is the value at the bar's full length, in the result's unit."""

    def __init__(self, result: BenchResult, scale: float, *, names: bool = True) -> None:
        super().__init__()
        self._result, self._scale, self._names = result, scale, names
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.follow()

    def retranslate(self) -> None:
        """What a screen reader says."""
        result = self._result
        self.setAccessibleName(
            self.tr("{name}, {device}: {value}, half of the runs from {low} to {high}").format(
                name=scores.name(result),
                device=scores.device_name(result),
                value=scores.value(result),
                low=" ".join(scores.shown(result.q1, result.unit)),
                high=" ".join(scores.shown(result.q3, result.unit)),
            )
        )

    def sizeHint(self) -> QSize:
        """Two lines and some air."""
        strong, small = QFontMetricsF(theme.font("strong")), QFontMetricsF(theme.font("small"))
        return QSize(theme.px(360), math.ceil(strong.height() + small.height()) + 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Words at the left, bar and figure at the right."""
        del event
        painter, result = QPainter(self), self._result
        strong, small = QFontMetricsF(theme.font("strong")), QFontMetricsF(theme.font("small"))
        words = min(self.width() * 0.46, theme.px(270))
        top = (self.height() - strong.height() - small.height()) / 2
        painter.setPen(theme.color("text"))
        painter.setFont(theme.font("strong"))
        elide = Qt.TextElideMode.ElideRight
        title = strong.elidedText(scores.name(result), elide, words - 12)
        painter.drawText(QRectF(0, top, words, strong.height() + 2), title)
        painter.setPen(theme.color("soft"))
        painter.setFont(theme.font("small"))
        under = small.elidedText(f"{scores.device_name(result)} · {scores.detail(result)}", elide, words - 12)
        painter.drawText(QRectF(0, top + strong.height(), words, small.height() + 2), under)
        self._paint_bar(painter, words)

    def _paint_bar(self, painter: QPainter, left: float) -> None:
        result, metrics = self._result, QFontMetricsF(theme.font("small-strong"))
        text = scores.value(result)
        room = max(self.width() - left - metrics.horizontalAdvance(text) - 20, 20.0)
        thick, middle = theme.px(16), self.height() / 2
        scale = max(self._scale, 1e-12)
        width = max(room * result.median / scale, 4.0)
        rounded(painter, QRectF(left, middle - thick / 2, width, thick), 3, theme.color(scores.colour(result)))
        low, high = left + room * result.q1 / scale, left + room * min(result.q3 / scale, 1.0)
        high = max(high, low + 3)
        painter.fillRect(QRectF(low, middle - thick / 2 - 3, high - low, thick + 6), theme.color("ok", 0.18))
        for x in (low, high):
            painter.fillRect(QRectF(x - 1, middle - thick / 2 - 4, 2, thick + 8), theme.color("ok"))
        painter.setFont(theme.font("small-strong"))
        painter.setPen(theme.color("text"))
        place = QRectF(max(left + width, high) + 10, 0, self.width(), self.height())
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), text)
