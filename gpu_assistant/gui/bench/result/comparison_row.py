"""One workload on every device, painted: title, a bar from zero for each result, its expected range, the GPUs' ratios.

Three layouts, the first in which the bars have MIN_BAR_SHARE of the width, for all rows that are aligned with each
other:

    beside   title        ▇▇▇▇▇▇▇▇▇▇▇[▇▇▇]  262 images/s      31×
             description  ▇  CPU  8.4 images/s

    below    title, description, then each bar with its value at its end; the ratio stays at the right

    stacked  title, description, then each bar with its value above it; the ratio stays at the right

A bar that ends below the range has its value above it in each layout: behind the range it would be read as the
usual value, which stands there instead.

All lengths are in pixels of the window.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from ....bench.device_comparison import DeviceComparison
from ....bench.expected_ranges import shortfall_percent
from ....core.results import BenchResult
from ....reports import messages
from ....reports.expected_ranges import limit_text
from ....texts.benchmark import format_ratio
from ....texts.format import format_percent
from ... import theme
from ...widgets.base import Themed, draw_rounded_rect
from ...widgets.text import layout_text

BAR_GAP, STACKED_BAR_GAP, ROW_PADDING = 5, 12, 16
BRACKET_REACH = 4  # of a range above and below its bar
VALUE_MARGIN = 22  # before and after the value at a bar's end
MIN_BAR_SHARE = 0.35  # of the width that a full bar has, where its value stands at its end
MAX_TEXT_SHARE, MAX_TEXT_WIDTH = 0.36, 250  # of title and description beside the bars; pixels at 100 % text
BELOW_TOKEN = "warn"  # the colour of a bar that ends below its usual range
ValueRange = tuple[float, float]


class RowGeometry(NamedTuple):
    """Whether the text is above the bars, and the values are; how wide the text is, where the bars begin and end."""

    is_text_above: bool
    is_value_above: bool
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
            values = (text for row in self.rows for text in (*row.texts.values(), *row.range_texts.values()))
            ratios = [text for row in self.rows for text in row.ratio_texts.values()]
            has_gpus = any(row.pair.gpus for row in self.rows)
            self._text_widths = (
                max(theme.advance("small-strong", text) for text in values),
                max(theme.advance("heading", each) for each in (*ratios, "100×")) + 12 if has_gpus else 0.0,
            )
        return self._text_widths

    def geometry_for(self, width: float) -> RowGeometry:
        """The layout of all rows in this width."""
        if width not in self._geometries:
            bars_right, text_width = width - self.ratio_width, _text_width(width)
            is_above = not all(row.fits_beside_text(width) for row in self.rows)
            self._geometries[width] = RowGeometry(
                is_text_above=is_above,
                is_value_above=is_above and not all(row.fits_beside_value(width) for row in self.rows),
                text_width=(bars_right if is_above else text_width) - 12,
                bars_left=0.0 if is_above else text_width,
                bars_right=bars_right,
            )
        return self._geometries[width]

    def height_for(self, row: ComparisonRow, width: int) -> int:
        """The height of one of the rows in this width."""
        if (row, width) not in self._heights:
            self._heights[row, width] = row.measure_height(self.geometry_for(width))
        return self._heights[row, width]


class ComparisonRow(Themed, QWidget):
    """`texts` has the text at the bar of each result, by `id(result)`; `range_texts` the usual range of each slow one,
    `ratio_texts` how many times as fast as the CPU each GPU is, and all of them together.

    `expected_ranges` has (low, high) of healthy GPUs in the unit of the results, by device; `limit` is what each GPU
    could reach at most, drawn as the ground of its bar; `previous_date` names the earlier run to screen readers: on the
    screen its colour does, in the key.

    Rows that are aligned have bars of the same width, each in the scale of its own results and range: what is fast for
    one workload is not for another. Rows that are compared with the CPU alone share one, in which its bars are equally
    long: else the longest bar of each would be full, as if nothing could be faster. Rows of one value without a range
    share a scale if their unit is the same; where there is just one such row, its value has no bar. Beside a row that
    is below its range, one whose range is unknown has no bars either: the longest would look like the best. Title and
    description stand beside the bars where both fit, else above them.
    """

    def __init__(
        self,
        pair: DeviceComparison,
        description: str,
        expected_ranges: Mapping[str, ValueRange] | None = None,
        previous_date: str = "",
        limit: float | None = None,
    ) -> None:
        super().__init__()
        self.pair = pair
        self._description, self._previous_date, self.limit = description, previous_date, limit
        self.expected_ranges = expected_ranges or {}
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
        self.range_texts = {id(each): self._range_text(each) for each in pair.results if self._shortfall(each)}
        ratios = self._ratios()
        self.ratio_texts = {name: messages.ratio_text(ratio) for name, ratio in ratios.items()}
        parts = []
        for result in pair.results:
            name = self._previous_date if result is pair.previous else self._bar_label(result)
            parts.append(f"{name or messages.result_device(result)} {messages.spoken_median(result)}")
            if result is pair.parallel:
                parts.append(messages.efficiency_text(result))
            if result.device in self.expected_ranges:
                limits = self.expected_ranges[result.device]
                low, high = (messages.value_with_unit(each, result.unit) for each in limits)
                parts.append(self.tr("usual for this card: {low} to {high}").format(low=low, high=high))
            if id(result) in ratios:
                times = format_ratio(ratios[id(result)])
                parts.append(self.tr("{times} times as fast as the CPU").format(times=times))
        if self.limit is not None:
            parts.append(limit_text(self.limit, pair))
        if self.is_unjudged:
            parts.append(self.tr("not compared with other cards"))
        self.setAccessibleName(f"{self._title}: " + ", ".join(part for part in parts if part))

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
            math.ceil(text_height + BAR_GAP + bars_height if geometry.is_text_above else max(text_height, bars_height))
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

    def fits_beside_text(self, width: float) -> bool:
        """Whether title and bars of this row fit beside each other."""
        text_width = _text_width(width)
        title_width = min(theme.advance("strong", self._title), theme.px(238)) + 12
        return title_width <= text_width and self.fits_beside_value(width, text_width)

    def fits_beside_value(self, width: float, left: float = 0.0) -> bool:
        """Whether bars of this row that begin at `left` and the values at their ends fit."""
        bar_width = max(theme.px(60), MIN_BAR_SHARE * width) if self.has_own_scale and self.has_bars else 0
        value_width = self._alignment.value_width + VALUE_MARGIN
        return left + bar_width + value_width + self._alignment.ratio_width <= width

    def text_layouts(self, width: float) -> list[tuple[QTextLayout, QSize]]:
        """Title and description, wrapped to a width, each with its size."""
        return [
            layout_text(self._title, theme.font("strong"), width),
            layout_text(self._description, theme.font("small"), width),
        ]

    def _ratios(self) -> dict[int, float]:
        """How many times as fast as the CPU each GPU is, and all of them together, by `id(result)`."""
        pair = self.pair
        if pair.ratio is None or pair.cpu is None:
            return {}
        together = () if pair.parallel is None else (pair.parallel,)
        return {id(each): each.median / pair.cpu.median for each in (*pair.gpus, *together)}

    def full_bar_width(self, width: float) -> float:
        """The length of a full bar that leaves room for the value after each bar of all aligned rows."""
        full_width = width - VALUE_MARGIN
        for row in self._alignment.rows:
            for each in row.pair.results if row.has_bars else ():
                end = max(each.median, row.ground_end(each))
                label_width = row.end_label_width(each)
                full_width = min(full_width, (width - VALUE_MARGIN - label_width) * row.full_bar_value() / end)
        return full_width

    def full_bar_value(self) -> float:
        """The value of a full bar, in the unit of the results: the largest of its own, or of the rows like it."""
        if self.is_compared_with_cpu_alone and self.pair.cpu is not None:
            rows = [row for row in self._alignment.rows if row.is_compared_with_cpu_alone]
            return self.pair.cpu.median * max(ratio for row in rows for ratio in row.ratios_to_cpu)
        rows = [self] if self.has_own_scale else self._rows_in_scale
        ends = (max(each.median, row.ground_end(each)) for row in rows for each in row.pair.results)
        return max(1e-12, *ends)

    def ground_end(self, result: BenchResult) -> float:
        """The value at which the usual range or the limit of a result ends; 0 where neither is known."""
        _, high = self.expected_ranges.get(result.device, (0.0, 0.0))
        return max(high, self.limit or 0.0)

    @property
    def is_compared_with_cpu_alone(self) -> bool:
        """Whether the CPU is all that says how good its values are."""
        return self.pair.ratio is not None and not self.expected_ranges and self.limit is None

    @property
    def ratios_to_cpu(self) -> tuple[float, ...]:
        """Its bars as multiples of the CPU's."""
        return (1.0, *self._ratios().values())

    @property
    def has_own_scale(self) -> bool:
        """Whether there is something in the row to compare its value with."""
        return len(self.pair.results) > 1 or self.ground_end(self.pair.fastest) > 0

    @property
    def _rows_in_scale(self) -> list[ComparisonRow]:
        """This row and those of one value in the same unit."""
        unit = self.pair.fastest.unit
        others = (row for row in self._alignment.rows if row is not self and not row.has_own_scale)
        return [self, *(row for row in others if row.pair.fastest.unit == unit)]

    def bars_height(self, geometry: RowGeometry) -> float:
        """The height of all bars with their gaps, and with their values where these are above them."""
        results, gap = self.pair.results, STACKED_BAR_GAP if geometry.is_value_above else BAR_GAP
        return sum(self._bar_row_height(each) + self._value_layout(each, geometry)[1] + gap for each in results) - gap

    @property
    def is_single_value(self) -> bool:
        """Whether there is nothing to compare the value with, so that the length of a bar would say nothing."""
        return not self.has_own_scale and len(self._rows_in_scale) == 1

    @property
    def is_unjudged(self) -> bool:
        """Whether its usual range is unknown while that of another of the rows is known."""
        return not self.expected_ranges and any(row.expected_ranges for row in self._alignment.rows)

    @property
    def has_bars(self) -> bool:
        """Whether its values have bars, else they stand alone."""
        is_beside_slow_row = any(row.is_below_range for row in self._alignment.rows)
        return not self.is_single_value and not (self.is_unjudged and is_beside_slow_row)

    @property
    def bar_tokens(self) -> frozenset[str]:
        """The colours of its bars."""
        return frozenset(self._bar_token(each) for each in self.pair.results) if self.has_bars else frozenset()

    def _bar_token(self, result: BenchResult) -> str:
        return BELOW_TOKEN if self._shortfall(result) else messages.bar_colour(result, self.pair)

    def _value_layout(self, result: BenchResult, geometry: RowGeometry) -> tuple[QTextLayout | None, float]:
        """The value above a bar and its height; (None, 0) where it stands at the bar's end."""
        if not self.has_bars or not (geometry.is_value_above or self._shortfall(result)):
            return None, 0.0
        is_main = self._is_main(result)
        font = theme.font("small-strong" if is_main else "small")
        layout, size = layout_text(self.texts[id(result)], font, geometry.bars_right - geometry.bars_left)
        return layout, size.height()

    def _bar_row_height(self, result: BenchResult) -> float:
        line_height = QFontMetricsF(theme.font("small")).height()
        thickness = self._bar_thickness(result)
        reach = BRACKET_REACH + 1 if result.device in self.expected_ranges else 1
        return max(thickness + 2 * reach, line_height)

    def _bar_thickness(self, result: BenchResult) -> int:
        return theme.px(14 if self._is_main(result) else 9)

    def _is_main(self, result: BenchResult) -> bool:
        """Whether it is what the row is about, not what that is compared with."""
        return messages.bar_colour(result, self.pair) != messages.REFERENCE_TOKEN

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, geometry = QPainter(self), self.geometry_for(self.width())
        layouts = self.text_layouts(geometry.text_width)
        text_height = sum(size.height() for _, size in layouts)
        y = ROW_PADDING / 2 if geometry.is_text_above else (self.height() - text_height) / 2
        for (layout, size), token in zip(layouts, ("text", "soft"), strict=True):
            painter.setPen(theme.color(token))
            _draw_lines(painter, layout, QPointF(0, y))
            y += size.height()
        self._paint_bars(painter, geometry, y + BAR_GAP)

    def _paint_bars(self, painter: QPainter, geometry: RowGeometry, top: float) -> None:
        pair, left, right, is_value_above = self.pair, geometry.bars_left, geometry.bars_right, geometry.is_value_above
        full_width = max(right - left - 12.0 if is_value_above else self.full_bar_width(right - left), 24.0)
        scale, has_bars = self.full_bar_value(), self.has_bars
        y = top if geometry.is_text_above else (self.height() - self.bars_height(geometry)) / 2
        for result in pair.results:
            row_height, is_main = self._bar_row_height(result), self._is_main(result)
            thickness = self._bar_thickness(result)
            layout, text_height = self._value_layout(result, geometry)
            width = max(full_width * result.median / scale, 5.0)
            bar = QRectF(left, y + text_height + (row_height - thickness) / 2, width, thickness)
            end = width
            if not has_bars:
                end, width = -10, 0.0
            if has_bars and self.limit is not None:
                end = max(width, full_width * self.limit / scale)
                ground, border = QRectF(left, bar.top(), end, thickness), None
                if theme.current().line_width > 1:
                    border = theme.color("line")
                draw_rounded_rect(painter, ground, 3, theme.color("pressed"), border)
            expected_range = self.expected_ranges.get(result.device)
            if expected_range is not None:
                low, high = (full_width * each / scale for each in expected_range)
                high = max(high, low + 6)
                bracket = bar.adjusted(0, -BRACKET_REACH, 0, BRACKET_REACH)
                painter.fillRect(
                    QRectF(left + low, bracket.top() + 1, high - low, bracket.height() - 2), theme.color("ok", 0.16)
                )
                end = max(end, high)
            if width > 0:
                draw_rounded_rect(painter, bar, 3, theme.color(self._bar_token(result)))
            if expected_range is not None:
                _paint_range_ends(painter, bracket, (left + low, left + high))
            self._paint_ratio(painter, result, QRectF(right, y + text_height, self.width() - right, row_height))
            text_rect = QRectF(left + end + 10, y, max(right - left - end - 10, 0), row_height)
            painter.setFont(theme.font("small-strong" if is_main else "small"))
            painter.setPen(theme.color("text" if is_main else "soft"))
            if layout is None:
                painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self.texts[id(result)])
            else:
                _draw_lines(painter, layout, QPointF(left, y))
                if not is_value_above:
                    self._paint_usual_value(painter, result, text_rect.translated(0, text_height))
            y += row_height + text_height + (STACKED_BAR_GAP if is_value_above else BAR_GAP)

    def _paint_usual_value(self, painter: QPainter, result: BenchResult, area: QRectF) -> None:
        """What is usual for a slow bar, behind its range."""
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("soft"))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter), self.range_texts.get(id(result), ""))

    def _paint_ratio(self, painter: QPainter, result: BenchResult, area: QRectF) -> None:
        """How many times as fast as the CPU it is, at the right of its bar; large where it stands alone in its row."""
        painter.setFont(theme.font("heading" if len(self.ratio_texts) == 1 else "strong"))
        painter.setPen(theme.color("text"))
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        # Its line may be higher than the bar.
        painter.drawText(area.adjusted(0, -BAR_GAP, 0, BAR_GAP), flags, self.ratio_texts.get(id(result), ""))

    def end_label_width(self, result: BenchResult) -> float:
        """The width of what stands at a bar's end beside the title: its value, or the usual range of a slow one."""
        if id(result) in self.range_texts:
            return theme.advance("small", self.range_texts[id(result)])
        return theme.advance("small-strong", self.texts[id(result)])

    def _range_text(self, result: BenchResult) -> str:
        """The usual range of a result that has one."""
        limits = self.expected_ranges[result.device]
        (low, low_unit), (high, high_unit) = (messages.readable_value(each, result.unit) for each in limits)
        low_text = low if low_unit == high_unit else f"{low} {messages.unit_label(low_unit)}"
        high_text = f"{high} {messages.unit_label(high_unit)}"
        return self.tr("usual {low}–{high}").format(low=low_text, high=high_text)

    def bar_text(self, result: BenchResult) -> str:
        """The text at a bar: what distinguishes it, and the value."""
        name = self._bar_label(result)
        value = messages.value_beside(result, self.pair.fastest)
        value = messages.marked_median(result, self._shown_results(), value)
        if shortfall := self._shortfall(result):
            percent = format_percent(shortfall)
            value = f"{value} · {self.tr('{percent} slower').format(percent=percent)}"
        return f"{name}  {value}" if name else value

    @property
    def is_below_range(self) -> bool:
        """Whether one of its bars has the colour of BELOW_TOKEN."""
        return any(self._shortfall(each) for each in self.pair.gpus)

    def _shortfall(self, result: BenchResult) -> int:
        """By how many percent a result is slower than usual; 0 where it is not, or no range is known."""
        expected = self.expected_ranges.get(result.device)
        return 0 if expected is None else shortfall_percent(result.median, expected)

    def _shown_results(self) -> tuple[BenchResult, ...]:
        """Those of all rows that are shown together."""
        return tuple(each for row in self._alignment.rows for each in row.pair.results)

    def _bar_label(self, result: BenchResult) -> str:
        """What distinguishes a bar from the others; "" for the only GPU or CPU."""
        pair = self.pair
        if result is pair.parallel:
            label = messages.gpu_count_label(result)
            return label if result.dtype == pair.fastest.dtype else f"{label} ({messages.dtype_name(result.dtype)})"
        if result.device != "cpu":
            return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
        dtype = messages.dtype_name(result.dtype)
        if not pair.gpus:
            return dtype if pair.mixed is not None and result is not pair.previous else ""
        return messages.cpu_label(result)


def _draw_lines(painter: QPainter, layout: QTextLayout, position: QPointF) -> None:
    for index in range(layout.lineCount()):
        layout.lineAt(index).draw(painter, position)


def _paint_range_ends(painter: QPainter, bracket: QRectF, ends: tuple[float, float]) -> None:
    """The ends of a usual range, each on a wider line, so that both are visible on the bar."""
    for half_width, token in ((2, "card"), (1, "ok")):
        for x in ends:
            line = QRectF(round(x) - half_width, bracket.top(), 2 * half_width, bracket.height())
            painter.fillRect(line, theme.color(token))


def _text_width(width: float) -> float:
    """The width of title and description beside the bars."""
    return min(width * MAX_TEXT_SHARE, theme.px(MAX_TEXT_WIDTH))
