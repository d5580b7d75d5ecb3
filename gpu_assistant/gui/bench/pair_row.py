"""One thing measured on every device: name, a bar from zero for each, a bracket where the usual range is, the ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...bench import summary
from ...bench.summary import Pair
from ...core.results import BenchResult
from ...texts.format import UNKNOWN
from ...texts.measured import times
from .. import theme
from ..components import Live
from ..components.base import rounded
from ..components.text import laid_out
from . import scores
from .meanings import short_name

GAP, WIDE_GAP, AIR = 5, 12, 16
ROOM = 22  # beside a bar's figure
Range = tuple[float, float]


class _Places(NamedTuple):
    """Whether the words stand `above`, and how wide they are; where bars begin and all of it ends at the ratio."""

    above: bool
    words: float
    bars: float
    right: float


class PairRow(Live, QWidget):
    """Painted. `under` says what the name means; `usual` is the range of healthy cards, in the results' unit; `when`
    names the bar of what was before.

    Rows that stand together have the same room for bars, and those of one unit one scale: the longer bar is more.
    A figure that has nothing beside it has no bar. Words and bars stand beside each other where there is room for
    both, else the words above the bars and each bar's figure above it.
    """

    def __init__(self, pair: Pair, under: str, usual: Range | None = None, when: str = "") -> None:
        super().__init__()
        self._pair, self._under, self._usual, self._when = pair, under, usual, when
        self._rows: Sequence[PairRow] = (self,)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.follow()

    def stand_with(self, rows: Sequence[PairRow]) -> None:
        """Where one of these rows has no room for words beside bars, none has them there; lengths compare."""
        self._rows = rows
        self.updateGeometry()
        self.update()

    def retranslate(self) -> None:
        """The words, put together once: layouts ask for their widths over and over; and what a screen reader says."""
        pair = self._pair
        self._title = short_name(pair)
        self._labels = {id(each): self._label(each) for each in pair.results}
        parts = [f"{self._bar_name(each) or scores.device_name(each)} {scores.marked(each)}" for each in pair.results]
        if self._usual is not None:
            low, high = (scores.amount(each, pair.best.unit) for each in self._usual)
            parts.append(self.tr("usual for this card: {low} to {high}").format(low=low, high=high))
        if pair.ratio is not None:
            parts.append(self.tr("{times} times the CPU").format(times=times(pair.ratio)))
        self.setAccessibleName(f"{self._title}: " + ", ".join(parts))

    def hasHeightForWidth(self) -> bool:
        """Narrower is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """As high as its words or its bars, whichever is more, or both where they stand above each other."""
        places = self._places(width)
        words = sum(size.height() for _, size in self._words(places.words))
        bars = self._bars_height(places)
        return math.ceil(words + GAP + bars if places.above else max(words, bars)) + AIR

    def sizeHint(self) -> QSize:
        """Beside each other."""
        return QSize(theme.px(520), self.heightForWidth(theme.px(520)))

    def minimumSizeHint(self) -> QSize:
        """Above each other."""
        wide = math.ceil(self._longest())
        return QSize(min(wide, theme.px(240)), 0)

    def _places(self, width: float) -> _Places:
        """Where everything stands in this width."""
        above = any(row._crowded(width) for row in self._rows)
        right, words = self._beside(), min(width * 0.36, theme.px(250))
        return _Places(above, width - right - 12 if above else words - 12, 0.0 if above else words, width - right)

    def _beside(self) -> float:
        """What the longest ratio takes."""
        told = [row._ratio() for row in self._rows if row._pair.gpus]
        return max(theme.advance("heading", each) for each in (*told, "100×")) + 12 if told else 0.0

    def _crowded(self, width: float) -> bool:
        """Whether there is no room for its words beside its bars."""
        pair, words = self._pair, min(width * 0.36, theme.px(250))
        bar = theme.px(60) if len(pair.results) > 1 or self._usual is not None else 0
        title = min(theme.advance("strong", self._title), theme.px(238)) + 12
        return title > words or words + bar + self._longest() + ROOM + self._beside() > width

    def _words(self, width: float) -> list[tuple[QTextLayout, QSize]]:
        """Name and what it means, in lines."""
        return [
            laid_out(self._title, theme.font("strong"), width),
            laid_out(self._under, theme.font("small"), width),
        ]

    def _ratio(self) -> str:
        ratio = self._pair.ratio
        return UNKNOWN if ratio is None else scores.ratio_words(ratio)

    def _longest(self) -> float:
        """How wide the longest figure of all rows is."""
        return max(theme.advance("small-strong", text) for row in self._rows for text in row._labels.values())

    def _room(self, width: float) -> float:
        """How long a whole bar may be: behind each bar of all rows its figure has to fit."""
        room = width - ROOM
        for row in self._rows:
            for each in () if row._alone() else row._pair.results:
                end = max(each.median, row._usual[1] if row._usual and each is row._pair.best else 0.0)
                label = theme.advance("small-strong", row._labels[id(each)])
                room = min(room, (width - ROOM - label) * row._scale() / end)
        return room

    def _scale(self) -> float:
        """What a whole bar is, in the unit of the results."""
        unit = self._pair.best.unit
        same = [row for row in self._rows if row._pair.best.unit == unit]
        ranges = [row._usual[1] for row in same if row._usual is not None]
        most = summary.scales([row._pair for row in same]).get(unit, 0.0)
        return max(most, self._pair.best.median, *ranges, 1e-12)

    def _bars_height(self, places: _Places) -> float:
        results, gap = self._pair.results, WIDE_GAP if places.above else GAP
        return sum(self._thick(each) + self._said(each, places)[1] + gap for each in results) - gap

    def _alone(self) -> bool:
        """Whether there is nothing beside the figure: a length would say nothing."""
        return len(self._pair.results) == 1 and self._usual is None

    def _said(self, result: BenchResult, places: _Places) -> tuple[QTextLayout | None, float]:
        """A bar's figure in lines above it, and how high they are; none where it stands behind the bar."""
        if not places.above or self._alone():
            return None, 0.0
        main = self._main(result)
        font = theme.font("small-strong" if main else "small")
        layout, size = laid_out(self._labels[id(result)], font, places.right - places.bars)
        return layout, size.height()

    def _thick(self, result: BenchResult) -> float:
        lines = QFontMetricsF(theme.font("small")).height()
        return max(theme.px(16 if self._main(result) else 10), lines)

    def _main(self, result: BenchResult) -> bool:
        """Whether the row is about this one; the others are what it is compared with."""
        return scores.colour(result, self._pair) != "s5"

    def paintEvent(self, event: QPaintEvent) -> None:
        """Words, bars with their figures, the ratio at the right."""
        del event
        painter, pair, places = QPainter(self), self._pair, self._places(self.width())
        words = self._words(places.words)
        high = sum(size.height() for _, size in words)
        y = AIR / 2 if places.above else (self.height() - high) / 2
        for (layout, size), token in zip(words, ("text", "soft"), strict=True):
            painter.setPen(theme.color(token))
            for number in range(layout.lineCount()):
                layout.lineAt(number).draw(painter, QPointF(0, y))
            y += size.height()
        if pair.gpus:
            painter.setFont(theme.font("heading"))
            painter.setPen(theme.color("text"))
            aligned = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
            painter.drawText(
                QRectF(places.right, 0, self.width() - places.right, self.height()), aligned, self._ratio()
            )
        self._paint_bars(painter, places, y + GAP)

    def _paint_bars(self, painter: QPainter, places: _Places, below: float) -> None:
        pair, left, right, above = self._pair, places.bars, places.right, places.above
        room = max(right - left - 12.0 if above else self._room(right - left), 24.0)
        scale, alone = self._scale(), self._alone()
        y = below if above else (self.height() - self._bars_height(places)) / 2
        for result in pair.results:
            row, main = self._thick(result), self._main(result)
            thick = theme.px(14 if main else 9)
            layout, line = self._said(result, places)
            width = max(room * result.median / scale, 5.0)
            bar = QRectF(left, y + line + (row - thick) / 2, width, thick)
            end = width
            if alone:
                end, width = -10, 0.0
            usual = self._usual if result is pair.best else None
            if usual is not None:
                low, high = (room * each / scale for each in usual)
                high = max(high, low + 6)
                painter.fillRect(QRectF(left + low, bar.top() - 3, high - low, thick + 6), theme.color("ok", 0.16))
                end = max(width, high)
            if width > 0:
                rounded(painter, bar, 3, theme.color(scores.colour(result, pair)))
            if usual is not None:
                for x in (low, high):
                    painter.fillRect(QRectF(left + x - 1, bar.top() - 4, 2, thick + 8), theme.color("ok"))
            painter.setFont(theme.font("small-strong" if main else "small"))
            painter.setPen(theme.color("text" if main else "soft"))
            place = QRectF(left + end + 10, y, max(right - left - end - 10, 0), row)
            if layout is None:
                painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), self._labels[id(result)])
            else:
                for number in range(layout.lineCount()):
                    layout.lineAt(number).draw(painter, QPointF(left, y))
            y += row + line + (WIDE_GAP if above else GAP)

    def _label(self, result: BenchResult) -> str:
        name = self._bar_name(result)
        return f"{name}  {scores.marked(result)}" if name else scores.marked(result)

    def _bar_name(self, result: BenchResult) -> str:
        """What tells a bar from the others: nothing for the only card or processor."""
        pair = self._pair
        if result is pair.together:
            said = scores.together(result)
            return said if result.dtype == pair.best.dtype else f"{said} ({scores.dtype_name(result.dtype)})"
        if result.device != "cpu":
            return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
        kind = scores.dtype_name(result.dtype)
        if not pair.gpus:
            return self._when if result is pair.before else kind if pair.mixed is not None else ""
        return scores.cpu_in(result.dtype) if result.dtype != pair.best.dtype else "CPU"
