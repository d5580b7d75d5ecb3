"""One thing measured on every device: name, a bar from zero for each, a bracket where the usual range is, the ratio.

What a training step needs in one variant: its sum, the largest batch that fits, a bar stacked of its parts and
what each of them is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen, QTextLayout
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....bench import results as bench_results
from ....bench.results import DeviceComparison
from ....core.results import BenchResult, MemoryFit
from ....texts.benchmark import format_ratio
from ....texts.format import UNKNOWN_VALUE
from ... import theme
from ...widgets.base import KeyboardFocus, Themed, draw_focus_ring, draw_rounded_rect
from ...widgets.text import label, layout_text
from .. import messages
from ..memory_fit import messages as memory_fit_messages
from ..messages import pair_title

BAR_GAP, STACKED_BAR_GAP, ROW_PADDING = 5, 12, 16
VALUE_MARGIN = 22  # beside a bar's figure
ValueRange = tuple[float, float]


class _RowGeometry(NamedTuple):
    """Whether the words stand `above`, and how wide they are; where bars begin and all of it ends at the ratio."""

    stacked: bool
    text_width: float
    bars_left: float
    bars_right: float


class ComparisonRow(Themed, QWidget):
    """Painted. `under` says what the name means; `usual` is the range of healthy cards, in the results' unit; `when`
    names the bar of what was before.

    Rows that stand together have the same room for bars, and those of one unit one scale: the longer bar is more.
    A figure that has nothing beside it has no bar. Words and bars stand beside each other where there is room for
    both, else the words above the bars and each bar's figure above it.
    """

    def __init__(
        self,
        pair: DeviceComparison,
        description: str,
        expected_range: ValueRange | None = None,
        previous_date: str = "",
    ) -> None:
        super().__init__()
        self._pair, self._description, self._expected_range, self._previous_date = (
            pair,
            description,
            expected_range,
            previous_date,
        )
        self._aligned_rows: Sequence[ComparisonRow] = (self,)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def align_with(self, rows: Sequence[ComparisonRow]) -> None:
        """Where one of these rows has no room for words beside bars, none has them there; lengths compare."""
        self._aligned_rows = rows
        self.updateGeometry()
        self.update()

    def retranslate(self) -> None:
        """The words, put together once: layouts ask for their widths over and over; and what a screen reader says."""
        pair = self._pair
        self._title = pair_title(pair)
        self._labels = {id(each): self._bar_text(each) for each in pair.results}
        parts = [
            f"{self._bar_label(each) or messages.result_device(each)} {messages.marked_median(each)}"
            for each in pair.results
        ]
        if self._expected_range is not None:
            low, high = (messages.value_with_unit(each, pair.fastest.unit) for each in self._expected_range)
            parts.append(self.tr("usual for this card: {low} to {high}").format(low=low, high=high))
        if pair.ratio is not None:
            parts.append(self.tr("{times} times the CPU").format(times=format_ratio(pair.ratio)))
        self.setAccessibleName(f"{self._title}: " + ", ".join(parts))

    def hasHeightForWidth(self) -> bool:
        """Narrower is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """As high as its words or its bars, whichever is more, or both where they stand above each other."""
        geometry = self._geometry(width)
        text_height = sum(size.height() for _, size in self._text_layouts(geometry.text_width))
        bars_height = self._bars_height(geometry)
        return (
            math.ceil(text_height + BAR_GAP + bars_height if geometry.stacked else max(text_height, bars_height))
            + ROW_PADDING
        )

    def sizeHint(self) -> QSize:
        """Beside each other."""
        return QSize(theme.px(520), self.heightForWidth(theme.px(520)))

    def minimumSizeHint(self) -> QSize:
        """Above each other."""
        value_width = math.ceil(self._widest_value())
        return QSize(min(value_width, theme.px(240)), 0)

    def _geometry(self, width: float) -> _RowGeometry:
        """Where everything stands in this width."""
        stacked = any(row._needs_stacking(width) for row in self._aligned_rows)
        ratio_width, text_width = self._ratio_width(), min(width * 0.36, theme.px(250))
        return _RowGeometry(
            stacked,
            width - ratio_width - 12 if stacked else text_width - 12,
            0.0 if stacked else text_width,
            width - ratio_width,
        )

    def _ratio_width(self) -> float:
        """What the longest ratio takes."""
        ratios = [row._ratio_text() for row in self._aligned_rows if row._pair.gpus]
        return max(theme.advance("heading", each) for each in (*ratios, "100×")) + 12 if ratios else 0.0

    def _needs_stacking(self, width: float) -> bool:
        """Whether there is no room for its words beside its bars."""
        pair, text_width = self._pair, min(width * 0.36, theme.px(250))
        bar_width = theme.px(60) if len(pair.results) > 1 or self._expected_range is not None else 0
        title_width = min(theme.advance("strong", self._title), theme.px(238)) + 12
        return (
            title_width > text_width
            or text_width + bar_width + self._widest_value() + VALUE_MARGIN + self._ratio_width() > width
        )

    def _text_layouts(self, width: float) -> list[tuple[QTextLayout, QSize]]:
        """Name and what it means, in lines."""
        return [
            layout_text(self._title, theme.font("strong"), width),
            layout_text(self._description, theme.font("small"), width),
        ]

    def _ratio_text(self) -> str:
        ratio = self._pair.ratio
        return UNKNOWN_VALUE if ratio is None else messages.ratio_text(ratio)

    def _widest_value(self) -> float:
        """How wide the longest figure of all rows is."""
        return max(theme.advance("small-strong", text) for row in self._aligned_rows for text in row._labels.values())

    def _full_bar_width(self, width: float) -> float:
        """How long a whole bar may be: behind each bar of all rows its figure has to fit."""
        full_width = width - VALUE_MARGIN
        for row in self._aligned_rows:
            for each in () if row._is_single_value() else row._pair.results:
                end = max(
                    each.median, row._expected_range[1] if row._expected_range and each is row._pair.fastest else 0.0
                )
                label_width = theme.advance("small-strong", row._labels[id(each)])
                full_width = min(full_width, (width - VALUE_MARGIN - label_width) * row._full_bar_value() / end)
        return full_width

    def _full_bar_value(self) -> float:
        """What a whole bar is, in the unit of the results."""
        unit = self._pair.fastest.unit
        same_unit_rows = [row for row in self._aligned_rows if row._pair.fastest.unit == unit]
        ranges = [row._expected_range[1] for row in same_unit_rows if row._expected_range is not None]
        maximum = bench_results.unit_maxima([row._pair for row in same_unit_rows]).get(unit, 0.0)
        return max(maximum, self._pair.fastest.median, *ranges, 1e-12)

    def _bars_height(self, geometry: _RowGeometry) -> float:
        results, gap = self._pair.results, STACKED_BAR_GAP if geometry.stacked else BAR_GAP
        return sum(self._bar_row_height(each) + self._value_layout(each, geometry)[1] + gap for each in results) - gap

    def _is_single_value(self) -> bool:
        """Whether there is nothing beside the figure: a length would say nothing."""
        return len(self._pair.results) == 1 and self._expected_range is None

    def _value_layout(self, result: BenchResult, geometry: _RowGeometry) -> tuple[QTextLayout | None, float]:
        """A bar's figure in lines above it, and how high they are; none where it stands behind the bar."""
        if not geometry.stacked or self._is_single_value():
            return None, 0.0
        is_main = self._is_main(result)
        font = theme.font("small-strong" if is_main else "small")
        layout, size = layout_text(self._labels[id(result)], font, geometry.bars_right - geometry.bars_left)
        return layout, size.height()

    def _bar_row_height(self, result: BenchResult) -> float:
        line_height = QFontMetricsF(theme.font("small")).height()
        return max(theme.px(16 if self._is_main(result) else 10), line_height)

    def _is_main(self, result: BenchResult) -> bool:
        """Whether the row is about this one; the others are what it is compared with."""
        return messages.bar_colour(result, self._pair) != "s5"

    def paintEvent(self, event: QPaintEvent) -> None:
        """Words, bars with their figures, the ratio at the right."""
        del event
        painter, pair, geometry = QPainter(self), self._pair, self._geometry(self.width())
        layouts = self._text_layouts(geometry.text_width)
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
                self._ratio_text(),
            )
        self._paint_bars(painter, geometry, y + BAR_GAP)

    def _paint_bars(self, painter: QPainter, geometry: _RowGeometry, top: float) -> None:
        pair, left, right, stacked = self._pair, geometry.bars_left, geometry.bars_right, geometry.stacked
        full_width = max(right - left - 12.0 if stacked else self._full_bar_width(right - left), 24.0)
        scale, single_value = self._full_bar_value(), self._is_single_value()
        y = top if stacked else (self.height() - self._bars_height(geometry)) / 2
        for result in pair.results:
            row_height, is_main = self._bar_row_height(result), self._is_main(result)
            thickness = theme.px(14 if is_main else 9)
            layout, text_height = self._value_layout(result, geometry)
            width = max(full_width * result.median / scale, 5.0)
            bar = QRectF(left, y + text_height + (row_height - thickness) / 2, width, thickness)
            end = width
            if single_value:
                end, width = -10, 0.0
            expected_range = self._expected_range if result is pair.fastest else None
            if expected_range is not None:
                low, high = (full_width * each / scale for each in expected_range)
                high = max(high, low + 6)
                painter.fillRect(QRectF(left + low, bar.top() - 3, high - low, thickness + 6), theme.color("ok", 0.16))
                end = max(width, high)
            if width > 0:
                draw_rounded_rect(painter, bar, 3, theme.color(messages.bar_colour(result, pair)))
            if expected_range is not None:
                for x in (low, high):
                    painter.fillRect(QRectF(left + x - 1, bar.top() - 4, 2, thickness + 8), theme.color("ok"))
            painter.setFont(theme.font("small-strong" if is_main else "small"))
            painter.setPen(theme.color("text" if is_main else "soft"))
            text_rect = QRectF(left + end + 10, y, max(right - left - end - 10, 0), row_height)
            if layout is None:
                painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self._labels[id(result)])
            else:
                for index in range(layout.lineCount()):
                    layout.lineAt(index).draw(painter, QPointF(left, y))
            y += row_height + text_height + (STACKED_BAR_GAP if stacked else BAR_GAP)

    def _bar_text(self, result: BenchResult) -> str:
        name = self._bar_label(result)
        return f"{name}  {messages.marked_median(result)}" if name else messages.marked_median(result)

    def _bar_label(self, result: BenchResult) -> str:
        """What tells a bar from the others: nothing for the only card or processor."""
        pair = self._pair
        if result is pair.parallel:
            label = messages.multi_gpu_label(result)
            return label if result.dtype == pair.fastest.dtype else f"{label} ({messages.dtype_name(result.dtype)})"
        if result.device != "cpu":
            return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
        dtype = messages.dtype_name(result.dtype)
        if not pair.gpus:
            return self._previous_date if result is pair.previous else dtype if pair.mixed is not None else ""
        return messages.cpu_label(result.dtype) if result.dtype != pair.fastest.dtype else "CPU"


FOCUS_MARGIN = 5  # room for the ring


class StackedBarRow(KeyboardFocus, Themed, QWidget):
    """The keyboard gets to it, so that it can be read out; it does nothing."""

    def __init__(self, fit: MemoryFit, baseline: MemoryFit | None, scale: int) -> None:
        self._fit, self._baseline = fit, baseline
        self._ready = False
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.name_label, self.peak_label = label("strong"), label("strong")
        self.detail_label, self.batch_label = label("small"), label("small")
        self.bar, self.legend = StackedBar(), MemoryPartsLegend()
        column = QVBoxLayout(self)
        column.setContentsMargins(FOCUS_MARGIN, FOCUS_MARGIN, FOCUS_MARGIN, FOCUS_MARGIN)
        column.setSpacing(4)
        for left, right in ((self.name_label, self.peak_label), (self.detail_label, self.batch_label)):
            row = QHBoxLayout()
            row.setSpacing(16)
            row.addWidget(left, 1)
            right.setAlignment(Qt.AlignmentFlag.AlignRight)
            row.addWidget(right)
            column.addLayout(row)
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        self._ready = True
        self.apply_theme()
        self.show_fit(fit, baseline, scale)

    def show_fit(self, fit: MemoryFit, baseline: MemoryFit | None, scale: int) -> None:
        """Its figures, beside those without anything saved; `scale` in bytes is the whole width of the bar."""
        self._fit, self._baseline = fit, baseline
        self.bar.show_fit(fit, scale)
        self.retranslate()

    def retranslate(self) -> None:
        """All words, and what a screen reader says."""
        if not self._ready:
            return
        fit = self._fit
        self.name_label.setText(memory_fit_messages.variant_name(fit.variant))
        self.peak_label.setText(memory_fit_messages.peak_text(fit, self._baseline))
        self.detail_label.setText(memory_fit_messages.variant_detail(fit))
        self.batch_label.setText(memory_fit_messages.max_batch_text(fit))
        self.batch_label.set_tone(memory_fit_messages.fit_colour(fit))
        parts = [
            (memory_fit_messages.memory_part_text(part, count), colour)
            for part, count, colour in memory_fit_messages.memory_parts(fit)
        ]
        self.legend.set_parts(tuple(parts))
        texts = [self.peak_label.text(), self.batch_label.text(), *(text for text, _ in parts)]
        self.setAccessibleName(f"{self.name_label.text()}: " + ", ".join(each for each in texts if each))
        self.setAccessibleDescription(self.detail_label.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ring while the keyboard is here."""
        del event
        if self.shows_focus_ring:
            draw_focus_ring(QPainter(self), QRectF(self.rect()), 6)


class StackedBar(Themed, QWidget):
    """Painted. What may be planned with is a dashed line where it lies within."""

    def __init__(self) -> None:
        self._fit: MemoryFit | None = None
        self._scale = 1
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def show_fit(self, fit: MemoryFit, scale: int) -> None:
        """Another bar."""
        self._fit, self._scale = fit, max(scale, 1)
        self.update()

    def sizeHint(self) -> QSize:
        """A bar, and room for the line that stands out of it."""
        return QSize(theme.px(240), theme.px(20) + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The parts from the left."""
        del event
        if self._fit is None:
            return
        painter, bar = QPainter(self), QRectF(self.rect()).adjusted(0, 3, 0, -3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        clip = QPainterPath()
        clip.addRoundedRect(bar, 4, 4)
        painter.save()
        painter.setClipPath(clip)
        painter.fillRect(bar, theme.color("sunken"))
        x = bar.left()
        for _part, count, colour in memory_fit_messages.memory_parts(self._fit):
            width = bar.width() * count / self._scale
            painter.fillRect(QRectF(x, bar.top(), max(width - 1, 1.0), bar.height()), theme.color(colour))
            x += width
        painter.restore()
        usable = memory_fit_messages.usable_memory(self._fit)
        if usable is not None and usable < self._scale:
            limit_x = int(bar.left() + bar.width() * usable / self._scale)
            # On a ground of its own: it must be seen on every colour of the bar.
            for pen in (QPen(theme.color("card"), 4), QPen(theme.color("error"), 2, Qt.PenStyle.DashLine)):
                painter.setPen(pen)
                painter.drawLine(limit_x, 0, limit_x, self.height())


class MemoryPartsLegend(Themed, QWidget):
    """Words, each with the colour of its part before it, wrapped into as many lines as they take."""

    def __init__(self) -> None:
        self._parts: tuple[tuple[str, str], ...] = ()
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """(words, colour) of each."""
        self._parts = parts
        self.setAccessibleName(", ".join(text for text, _ in parts))
        self.refresh()

    def _item_rects(self, width: float) -> list[tuple[QRectF, str, str]]:
        metrics = QFontMetricsF(theme.font("small"))
        line_height, side, x, y, items = metrics.height() + 6, theme.px(12), 0.0, 0.0, []
        for text, colour in self._parts:
            item_width = side + 8 + metrics.horizontalAdvance(text) + 2
            if x > 0 and x + item_width > width:
                x, y = 0.0, y + line_height
            items.append((QRectF(x, y, item_width, line_height), text, colour))
            x += item_width + 18
        return items

    def hasHeightForWidth(self) -> bool:
        """It has."""
        return True

    def heightForWidth(self, width: int) -> int:
        """All lines."""
        items = self._item_rects(width)
        return math.ceil(items[-1][0].bottom()) if items else 0

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(theme.px(240), self.heightForWidth(10_000))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A square and its words each."""
        del event
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        side = theme.px(12)
        for rect, text, colour in self._item_rects(self.width()):
            square = QRectF(rect.left(), rect.top() + (rect.height() - side) / 2, side, side)
            painter.fillRect(square, theme.color(colour))
            painter.setPen(theme.color("text"))
            painter.drawText(rect.adjusted(side + 8, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)
