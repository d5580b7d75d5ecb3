"""One thing measured on every device: name, a bar from zero for each, a bracket where the usual range is, the ratio."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...bench.summary import Pair
from ...core.results import BenchResult
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Live
from ..components.base import rounded
from . import scores
from .meanings import short_name

GAP = 5
Range = tuple[float, float]


class PairRow(Live, QWidget):
    """Painted. `under` says what the name means; `usual` is the range of healthy cards, in the results' unit.

    A figure that has nothing beside it has no bar.
    """

    def __init__(self, pair: Pair, under: str, usual: Range | None = None) -> None:
        super().__init__()
        self._pair, self._under, self._usual = pair, under, usual
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.follow()

    def retranslate(self) -> None:
        """What a screen reader says."""
        pair = self._pair
        parts = [f"{self._bar_name(each) or scores.device_name(each)} {scores.value(each)}" for each in pair.results]
        if self._usual is not None:
            low, high = (scores.amount(each, pair.best.unit) for each in self._usual)
            parts.append(self.tr("usual for this card: {low} to {high}").format(low=low, high=high))
        if pair.ratio is not None:
            parts.append(self.tr("{times} times the CPU").format(times=scores.times(pair.ratio)))
        self.setAccessibleName(f"{short_name(pair)}: " + ", ".join(parts))

    def sizeHint(self) -> QSize:
        """As high as its words or its bars, whichever is more, and some air."""
        strong, small = QFontMetricsF(theme.font("strong")), QFontMetricsF(theme.font("small"))
        words = strong.height() + small.height()
        return QSize(theme.px(360), math.ceil(max(words, self._bars_height())) + 16)

    def _bars_height(self) -> float:
        return sum(self._thick(each) + GAP for each in self._pair.results) - GAP

    def _thick(self, result: BenchResult) -> float:
        lines = QFontMetricsF(theme.font("small")).height()
        return max(theme.px(10 if result.device == "cpu" and self._pair.gpus else 16), lines)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Words at the left, bars with their figures, the ratio at the right."""
        del event
        painter, pair = QPainter(self), self._pair
        strong, small = QFontMetricsF(theme.font("strong")), QFontMetricsF(theme.font("small"))
        words = min(self.width() * 0.36, theme.px(250))
        top = (self.height() - strong.height() - small.height()) / 2
        elide = Qt.TextElideMode.ElideRight
        painter.setPen(theme.color("text"))
        painter.setFont(theme.font("strong"))
        title = strong.elidedText(short_name(pair), elide, words - 12)
        painter.drawText(QRectF(0, top, words, strong.height() + 2), title)
        painter.setPen(theme.color("soft"))
        painter.setFont(theme.font("small"))
        under = small.elidedText(self._under, elide, words - 12)
        painter.drawText(QRectF(0, top + strong.height(), words, small.height() + 2), under)
        right = 0.0
        if pair.gpus:
            ratio = pair.ratio
            text = UNKNOWN if ratio is None else scores.ratio_words(ratio)
            heading = QFontMetricsF(theme.font("heading"))
            right = max(heading.horizontalAdvance(text), heading.horizontalAdvance("100×")) + 12
            painter.setFont(theme.font("heading"))
            painter.setPen(theme.color("text"))
            aligned = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
            painter.drawText(QRectF(self.width() - right, 0, right, self.height()), aligned, text)
        self._paint_bars(painter, words, self.width() - right)

    def _paint_bars(self, painter: QPainter, left: float, right: float) -> None:
        pair, strong = self._pair, QFontMetricsF(theme.font("small-strong"))
        labels = {id(each): self._label(each) for each in pair.results}
        room = right - left - max(strong.horizontalAdvance(text) for text in labels.values()) - 22
        room = max(room, 24.0)
        ends = [each.median for each in pair.results] + ([self._usual[1]] if self._usual else [])
        scale = max(*ends, 1e-12) if len(ends) > 1 else max(ends[0], 1e-12)
        y = (self.height() - self._bars_height()) / 2
        for result in pair.results:
            row, main = self._thick(result), result.device != "cpu" or not pair.gpus
            thick = theme.px(14 if main else 9)
            width = max(room * result.median / scale, 5.0)
            bar = QRectF(left, y + (row - thick) / 2, width, thick)
            end = width
            if len(ends) == 1:  # a length says nothing where there is nothing beside it
                end, width = -10, 0.0
            usual = self._usual if result is pair.best else None
            if usual is not None:
                low, high = (room * min(each / scale, 1.0) for each in usual)
                painter.fillRect(QRectF(left + low, bar.top() - 3, high - low, thick + 6), theme.color("ok", 0.16))
                end = max(width, high)
            if width > 0:
                rounded(painter, bar, 3, theme.color(scores.colour(result)))
            if usual is not None:
                for x in (low, high):
                    painter.fillRect(QRectF(left + x - 1, bar.top() - 4, 2, thick + 8), theme.color("ok"))
            painter.setFont(theme.font("small-strong" if main else "small"))
            painter.setPen(theme.color("text" if main else "soft"))
            place = QRectF(left + end + 10, y, max(right - left - end - 10, 0), row)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), labels[id(result)])
            y += row + GAP

    def _label(self, result: BenchResult) -> str:
        name = self._bar_name(result)
        return f"{name}  {scores.value(result)}" if name else scores.value(result)

    def _bar_name(self, result: BenchResult) -> str:
        """What tells a bar from the others: nothing for the only card or processor."""
        pair = self._pair
        if result is pair.together:
            said = scores.together(result)
            return said if result.dtype == pair.best.dtype else f"{said} ({scores.dtype_name(result.dtype)})"
        if result.device != "cpu":
            return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
        if not pair.gpus:
            return ""
        kind = scores.dtype_name(result.dtype)
        return f"CPU ({kind})" if kind and result.dtype != pair.best.dtype else "CPU"
