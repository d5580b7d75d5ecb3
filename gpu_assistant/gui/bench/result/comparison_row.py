"""One workload on every device, painted: title, a bar from zero for each result, the expected range, the ratio.

Two layouts, chosen from the width and from all rows that are aligned with each other:

    beside   title        ▇▇▇▇▇▇▇▇▇▇▇[▇▇▇]  262 images/s      31×
             description  ▇  CPU  8.4 images/s

    stacked  title, description, then each bar with its value above it; the ratio stays at the right

All lengths are in pixels of the window.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from ....bench.device_comparison import DeviceComparison
from ....core.results import BenchResult
from ....reports import messages
from ....texts.benchmark import format_ratio
from ....texts.format import format_percent
from ... import theme
from ...widgets.base import Themed, draw_rounded_rect
from ...widgets.text import layout_text

BAR_GAP, STACKED_BAR_GAP, ROW_PADDING = 5, 12, 16
VALUE_MARGIN = 22  # before and after the value at a bar's end
MAX_TEXT_SHARE, MAX_TEXT_WIDTH = 0.36, 250  # of title and description beside the bars; pixels at 100 % text
ValueRange = tuple[float, float]


class RowGeometry(NamedTuple):
    """Whether the text is above the bars, how wide it is, and where the bars begin and end."""

    stacked: bool
    text_width: float
    bars_left: float
    bars_right: float


class RowAlignment:
    """Rows that share one layout. What depends on the texts of all of them is measured once: the layout of the page
    asks each row for its height many times.
    """

    def __init__(self, rows: Sequence[ComparisonRow]) -> None:
        self.rows = tuple(rows)
        self._text_widths: tuple[float, float] | None = None
        self._geometries: dict[float, RowGeometry] = {}
        self._heights: dict[tuple[ComparisonRow, int], int] = {}

    def invalidate(self) -> None:
        """Measure again, since texts or fonts of a row have changed."""
        self._text_widths = None
        self._geometries.clear()
        self._heights.clear()

    @property
    def value_width(self) -> float:
        """The width of the longest value."""
        return self._measured_widths()[0]

    @property
    def ratio_width(self) -> float:
        """The width of the column of ratios; 0 for rows without a GPU."""
        return self._measured_widths()[1]

    def _measured_widths(self) -> tuple[float, float]:
        if self._text_widths is None:
            values = (text for row in self.rows for text in row.texts.values())
            ratios = [row.ratio_text for row in self.rows if row.pair.gpus]
            self._text_widths = (
                max(theme.advance("small-strong", text) for text in values),
                max(theme.advance("heading", each) for each in (*ratios, "100×")) + 12 if ratios else 0.0,
            )
        return self._text_widths

    def geometry_for(self, width: float) -> RowGeometry:
        """The layout of all rows in this width."""
        if width not in self._geometries:
            bars_right, text_width = width - self.ratio_width, _text_width(width)
            self._geometries[width] = (
                RowGeometry(stacked=True, text_width=bars_right - 12, bars_left=0.0, bars_right=bars_right)
                if any(row.needs_stacking(width) for row in self.rows)
                else RowGeometry(stacked=False, text_width=text_width - 12, bars_left=text_width, bars_right=bars_right)
            )
        return self._geometries[width]

    def height_for(self, row: ComparisonRow, width: int) -> int:
        """The height of one of the rows in this width."""
        if (row, width) not in self._heights:
            self._heights[row, width] = row.measure_height(self.geometry_for(width))
        return self._heights[row, width]


class ComparisonRow(Themed, QWidget):
    """`texts` has the text at the bar of each result, by `id(result)`.

    `expected_range` is (low, high) of healthy GPUs in the unit of the results; `previous_date` names the bar of the
    earlier run.

    Rows that are aligned have bars of the same width, each in the scale of its own results and range: what is fast for
    one workload is not for another. Rows of one value without a range share a scale if their unit is the same; where
    there is just one such row, its value has no bar. Title and description stand beside the bars where both fit, else
    above them.
    """

    def __init__(
        self,
        pair: DeviceComparison,
        description: str,
        expected_range: ValueRange | None = None,
        previous_date: str = "",
    ) -> None:
        super().__init__()
        self.pair = pair
        self._description, self.expected_range, self._previous_date = description, expected_range, previous_date
        self._alignment = RowAlignment((self,))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def align_with(self, alignment: RowAlignment) -> None:
        """Share layout and scales with the rows of `alignment`, of which this is one."""
        self._alignment = alignment
        self.retranslate()
        self.updateGeometry()
        self.update()

    def retranslate(self) -> None:
        """Make the texts once, since the layout asks for their widths often, and the text for screen readers."""
        self._alignment.invalidate()
        pair = self.pair
        self._title = messages.pair_title(pair)
        self.texts = {id(each): self.bar_text(each) for each in pair.results}
        parts = [
            f"{self._bar_label(each) or messages.result_device(each)} {messages.spoken_median(each)}"
            for each in pair.results
        ]
        if self.expected_range is not None:
            low, high = (messages.value_with_unit(each, pair.fastest.unit) for each in self.expected_range)
            parts.append(self.tr("usual for this card: {low} to {high}").format(low=low, high=high))
        if pair.ratio is not None:
            parts.append(self.tr("{times} times the CPU").format(times=format_ratio(pair.ratio)))
        self.setAccessibleName(f"{self._title}: " + ", ".join(parts))

    def refresh(self) -> None:
        self._alignment.invalidate()
        super().refresh()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._alignment.height_for(self, width)

    def measure_height(self, geometry: RowGeometry) -> int:
        """The height of this row in a layout."""
        text_height = sum(size.height() for _, size in self.text_layouts(geometry.text_width))
        bars_height = self.bars_height(geometry)
        return (
            math.ceil(text_height + BAR_GAP + bars_height if geometry.stacked else max(text_height, bars_height))
            + ROW_PADDING
        )

    def sizeHint(self) -> QSize:
        return QSize(theme.px(520), self.heightForWidth(theme.px(520)))

    def minimumSizeHint(self) -> QSize:
        value_width = math.ceil(self._alignment.value_width)
        return QSize(min(value_width, theme.px(240)), 0)

    def geometry_for(self, width: float) -> RowGeometry:
        """The layout of all aligned rows in this width."""
        return self._alignment.geometry_for(width)

    def needs_stacking(self, width: float) -> bool:
        """Whether title and bars of this row do not fit beside each other."""
        pair, text_width = self.pair, _text_width(width)
        bar_width = theme.px(60) if len(pair.results) > 1 or self.expected_range is not None else 0
        title_width = min(theme.advance("strong", self._title), theme.px(238)) + 12
        return (
            title_width > text_width
            or text_width + bar_width + self._alignment.value_width + VALUE_MARGIN + self._alignment.ratio_width > width
        )

    def text_layouts(self, width: float) -> list[tuple[QTextLayout, QSize]]:
        """Title and description, wrapped to a width, each with its size."""
        return [
            layout_text(self._title, theme.font("strong"), width),
            layout_text(self._description, theme.font("small"), width),
        ]

    @property
    def ratio_text(self) -> str:
        """The ratio; "" where the CPU does nothing of the kind."""
        ratio = self.pair.ratio
        return "" if ratio is None else messages.ratio_text(ratio)

    def full_bar_width(self, width: float) -> float:
        """The length of a full bar that leaves room for the value after each bar of all aligned rows."""
        full_width = width - VALUE_MARGIN
        for row in self._alignment.rows:
            for each in () if row.is_single_value else row.pair.results:
                range_end = row.expected_range[1] if row.expected_range and each is row.pair.fastest else 0.0
                end = max(each.median, range_end)
                label_width = theme.advance("small-strong", row.texts[id(each)])
                full_width = min(full_width, (width - VALUE_MARGIN - label_width) * row.full_bar_value() / end)
        return full_width

    def full_bar_value(self) -> float:
        """The value of a full bar, in the unit of the results: the largest of its own, or of the rows like it."""
        rows = [self] if self.has_own_scale else self._rows_in_scale
        ranges = [row.expected_range[1] for row in rows if row.expected_range is not None]
        return max(*(each.median for row in rows for each in row.pair.results), *ranges, 1e-12)

    @property
    def has_own_scale(self) -> bool:
        """Whether there is something in the row to compare its value with."""
        return len(self.pair.results) > 1 or self.expected_range is not None

    @property
    def _rows_in_scale(self) -> list[ComparisonRow]:
        """This row and those of one value in the same unit."""
        unit = self.pair.fastest.unit
        others = (row for row in self._alignment.rows if row is not self and not row.has_own_scale)
        return [self, *(row for row in others if row.pair.fastest.unit == unit)]

    def bars_height(self, geometry: RowGeometry) -> float:
        """The height of all bars with their gaps, and with their values where these are above them."""
        results, gap = self.pair.results, STACKED_BAR_GAP if geometry.stacked else BAR_GAP
        return sum(self._bar_row_height(each) + self._value_layout(each, geometry)[1] + gap for each in results) - gap

    @property
    def is_single_value(self) -> bool:
        """Whether there is nothing to compare the value with, so that the length of a bar would say nothing."""
        return not self.has_own_scale and len(self._rows_in_scale) == 1

    def _value_layout(self, result: BenchResult, geometry: RowGeometry) -> tuple[QTextLayout | None, float]:
        """The value above a bar and its height; (None, 0) where it stands at the bar's end."""
        if not geometry.stacked or self.is_single_value:
            return None, 0.0
        is_main = self._is_main(result)
        font = theme.font("small-strong" if is_main else "small")
        layout, size = layout_text(self.texts[id(result)], font, geometry.bars_right - geometry.bars_left)
        return layout, size.height()

    def _bar_row_height(self, result: BenchResult) -> float:
        line_height = QFontMetricsF(theme.font("small")).height()
        return max(theme.px(16 if self._is_main(result) else 10), line_height)

    def _is_main(self, result: BenchResult) -> bool:
        """Whether it is what the row is about, not what that is compared with."""
        return messages.bar_colour(result, self.pair) != messages.REFERENCE_TOKEN

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, pair, geometry = QPainter(self), self.pair, self.geometry_for(self.width())
        layouts = self.text_layouts(geometry.text_width)
        text_height = sum(size.height() for _, size in layouts)
        y = ROW_PADDING / 2 if geometry.stacked else (self.height() - text_height) / 2
        for (layout, size), token in zip(layouts, ("text", "soft"), strict=True):
            painter.setPen(theme.color(token))
            for index in range(layout.lineCount()):
                layout.lineAt(index).draw(painter, QPointF(0, y))
            y += size.height()
        if pair.gpus:
            painter.setFont(theme.font("heading"))
            painter.setPen(theme.color("text"))
            flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
            painter.drawText(
                QRectF(geometry.bars_right, 0, self.width() - geometry.bars_right, self.height()),
                flags,
                self.ratio_text,
            )
        self._paint_bars(painter, geometry, y + BAR_GAP)

    def _paint_bars(self, painter: QPainter, geometry: RowGeometry, top: float) -> None:
        pair, left, right, stacked = self.pair, geometry.bars_left, geometry.bars_right, geometry.stacked
        full_width = max(right - left - 12.0 if stacked else self.full_bar_width(right - left), 24.0)
        scale, single_value = self.full_bar_value(), self.is_single_value
        y = top if stacked else (self.height() - self.bars_height(geometry)) / 2
        for result in pair.results:
            row_height, is_main = self._bar_row_height(result), self._is_main(result)
            thickness = theme.px(14 if is_main else 9)
            layout, text_height = self._value_layout(result, geometry)
            width = max(full_width * result.median / scale, 5.0)
            bar = QRectF(left, y + text_height + (row_height - thickness) / 2, width, thickness)
            end = width
            if single_value:
                end, width = -10, 0.0
            expected_range = self.expected_range if result is pair.fastest else None
            if expected_range is not None:
                low, high = (full_width * each / scale for each in expected_range)
                high = max(high, low + 6)
                painter.fillRect(QRectF(left + low, bar.top() - 3, high - low, thickness + 6), theme.color("ok", 0.16))
                end = max(width, high)
            if width > 0:
                token = "warn" if self._shortfall(result) else messages.bar_colour(result, pair)
                draw_rounded_rect(painter, bar, 3, theme.color(token))
            if expected_range is not None:
                for x in (low, high):
                    painter.fillRect(QRectF(left + x - 1, bar.top() - 4, 2, thickness + 8), theme.color("ok"))
            painter.setFont(theme.font("small-strong" if is_main else "small"))
            painter.setPen(theme.color("text" if is_main else "soft"))
            text_rect = QRectF(left + end + 10, y, max(right - left - end - 10, 0), row_height)
            if layout is None:
                painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self.texts[id(result)])
            else:
                for index in range(layout.lineCount()):
                    layout.lineAt(index).draw(painter, QPointF(left, y))
            y += row_height + text_height + (STACKED_BAR_GAP if stacked else BAR_GAP)

    def bar_text(self, result: BenchResult) -> str:
        """The text at a bar: what distinguishes it, and the value."""
        name = self._bar_label(result)
        value = messages.value_beside(result, self.pair.fastest)
        value = messages.marked_median(result, self._shown_results(), value)
        if shortfall := self._shortfall(result):
            percent = format_percent(shortfall)
            value = f"{value} · {self.tr('{percent} below usual').format(percent=percent)}"
        return f"{name}  {value}" if name else value

    def _shortfall(self, result: BenchResult) -> int:
        """By how many percent a result is below the usual range; 0 where it is not, or none is known."""
        if self.expected_range is None or result is not self.pair.fastest or result.median >= self.expected_range[0]:
            return 0
        return max(round(100 * (1 - result.median / self.expected_range[0])), 1)

    def _shown_results(self) -> tuple[BenchResult, ...]:
        """Those of all rows that are shown together."""
        return tuple(each for row in self._alignment.rows for each in row.pair.results)

    def _bar_label(self, result: BenchResult) -> str:
        """What distinguishes a bar from the others; "" for the only GPU or CPU."""
        pair = self.pair
        if result is pair.parallel:
            label = messages.multi_gpu_label(result)
            return label if result.dtype == pair.fastest.dtype else f"{label} ({messages.dtype_name(result.dtype)})"
        if result.device != "cpu":
            return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
        dtype = messages.dtype_name(result.dtype)
        if not pair.gpus:
            return self._previous_date if result is pair.previous else dtype if pair.mixed is not None else ""
        return messages.cpu_label(result)


def _text_width(width: float) -> float:
    """The width of title and description beside the bars."""
    return min(width * MAX_TEXT_SHARE, theme.px(MAX_TEXT_WIDTH))
