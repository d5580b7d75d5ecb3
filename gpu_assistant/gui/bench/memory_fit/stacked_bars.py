"""What fits in memory, as bars: one for each way of training, stacked of what a training step keeps in memory.

`MemoryFitBars` is the card; a `StackedBarRow` is one way of training with its sum, its largest batch, its
`StackedBar` and the legend of its parts. Memory is in bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....bench.memory_fit import is_batch_fitting
from ....core.results import BenchDevice, FitVariant, MemoryFit
from ....reports import messages as bench_messages
from ....texts.benchmark import with_label
from ....texts.format import format_memory
from ....texts.translate import remove_cjk_gaps
from ... import language, theme
from ...widgets.base import KeyboardFocus, Themed, draw_focus_ring
from ...widgets.cards import Banner, Card
from ...widgets.layouts import clear_layout
from ...widgets.text import label
from . import messages

FOCUS_MARGIN = 5  # pixels around a row, for the focus ring


class MemoryFitBars(Card):
    """Hidden until `show_fits` has something to show; `rows` in the order in which they were measured."""

    def __init__(self) -> None:
        self._fits: tuple[MemoryFit, ...] = ()
        self._omissions: Mapping[str, str] = {}
        self._devices: tuple[BenchDevice, ...] = ()
        self._from_previous_run = self._ready = False
        super().__init__(" ")
        self.rows: dict[FitVariant, StackedBarRow] = {}
        self.answer_banner = Banner("ok", inset=True)
        self.answer_banner.label.set_kind("strong")
        self.free_label, self.notes_label = label("small"), label("small")
        self._rows_layout, self._omissions_layout = QVBoxLayout(), QVBoxLayout()
        self._rows_layout.setSpacing(8)
        self.column.addWidget(self.answer_banner)
        self.column.addWidget(self.free_label)
        self.column.addLayout(self._rows_layout)
        self.column.addLayout(self._omissions_layout)
        self.column.addWidget(self.notes_label)
        self._ready = True
        self.retranslate()

    def show_fits(
        self,
        fits: Sequence[MemoryFit],
        omissions: Mapping[str, str],
        devices: tuple[BenchDevice, ...],
        *,
        from_previous_run: bool = False,
    ) -> None:
        """Show what was measured so far; `omissions` are text codes by the variant that was left out.

        `from_previous_run`: a new run has started and has no result yet.
        """
        self._fits, self._omissions, self._devices = tuple(fits), omissions, devices
        self._from_previous_run = from_previous_run
        self.retranslate()

    def retranslate(self) -> None:
        """Update texts and bars. Existing rows stay, so that one of them keeps the focus."""
        if not self._ready:
            return
        fits = self._fits
        self.setVisible(bool(fits))
        if self.rows and [*self.rows] != [fit.variant for fit in fits[: len(self.rows)]]:
            clear_layout(self._rows_layout)
            self.rows.clear()
        clear_layout(self._omissions_layout)
        if not fits:
            return
        first, scale = fits[0], max(fit.peak for fit in fits)
        title = self.tr("{model}: one step with a batch of {batch}, on {device}").format(
            model=messages.fit_model_name(first.model),
            batch=first.batch,
            device=messages.numbered_gpu_name(first.device, self._devices),
        )
        self.set_title(self.tr("The earlier result: {title}").format(title=title) if self._from_previous_run else title)
        baseline = next((fit for fit in fits if fit.variant == "plain"), None)
        answer = messages.fit_summary(fits)
        self.answer_banner.set("ok" if is_batch_fitting(first) else "warn", answer)
        self.answer_banner.setVisible(bool(answer))
        self.free_label.setText(messages.free_memory_text(first, scale))
        self.free_label.setVisible(bool(self.free_label.text()))
        for fit in fits:
            if fit.variant in self.rows:
                self.rows[fit.variant].show_fit(fit, baseline, scale)
            else:
                self._add_row(StackedBarRow(fit, baseline, scale), fit.variant)
        for variant, reason in self._omissions.items():
            name = next((messages.variant_name(each) for each in messages.FIT_VARIANTS if each == variant), variant)
            text = with_label(name, bench_messages.omission_reason(reason), language.texts().language)
            self._omissions_layout.addWidget(label("small", text))
        self.notes_label.setText(remove_cjk_gaps(" ".join(self._notes())))

    def _notes(self) -> list[str]:
        """How the bars have to be read."""
        fits = self._fits
        notes: list[str] = []
        if not all(fit.exact for fit in fits):
            notes.append(self.tr("Projected from small steps that varied a little, so this is approximate."))
        if any(0 < fit.gradients < fit.parameters for fit in fits):
            notes.append(self.tr("Each bar shows the moment of highest memory use; not all gradients exist by then."))
        if fits[0].device == "cpu":
            notes.append(
                self.tr(
                    "Only what the training itself needs is counted; PyTorch's own libraries take a few hundred MB "
                    "more."
                )
            )
        notes.append(self.tr("1 GB of memory is 1,024 MB, as cards are sold. PyTorch writes GiB and MiB for the same."))
        return notes

    def _add_row(self, row: StackedBarRow, variant: FitVariant) -> None:
        self.rows[variant] = row
        self._rows_layout.addWidget(row)
        row.show()


class StackedBarRow(KeyboardFocus, Themed, QWidget):
    """One way of training. It takes the focus so that a screen reader can read it, and has no action."""

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
        """`baseline` is training without savings; the full width of the bar is `scale` bytes."""
        self._fit, self._baseline = fit, baseline
        self.bar.show_fit(fit, scale)
        self.retranslate()

    def retranslate(self) -> None:
        if not self._ready:
            return
        fit = self._fit
        self.name_label.setText(messages.variant_name(fit.variant))
        self.peak_label.setText(messages.peak_text(fit, self._baseline))
        self.detail_label.setText(messages.variant_detail(fit))
        self.batch_label.setText(messages.max_batch_text(fit))
        self.batch_label.set_tone(messages.fit_colour(fit))
        parts = [(messages.memory_part_text(part, count), colour) for part, count, colour in messages.memory_parts(fit)]
        self.legend.set_parts(tuple(parts))
        texts = [self.peak_label.text(), self.batch_label.text(), *(text for text, _ in parts)]
        self.setAccessibleName(f"{self.name_label.text()}: " + ", ".join(each for each in texts if each))
        self.setAccessibleDescription(self.detail_label.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self.shows_focus_ring:
            draw_focus_ring(QPainter(self), QRectF(self.rect()), 6)


class StackedBar(Themed, QWidget):
    """The parts of one training step from the left. Where the usable memory ends inside the bar there is a dashed line;
    what is beyond it is hatched, and the size of the usable memory stands above.
    """

    def __init__(self) -> None:
        self._fit: MemoryFit | None = None
        self._scale = 1
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def show_fit(self, fit: MemoryFit, scale: int) -> None:
        self._fit, self._scale = fit, max(scale, 1)
        self.setFont(theme.font("caption"))
        self.updateGeometry()
        self.update()

    @property
    def _exceeded(self) -> int | None:
        """The usable memory where the step needs more; else None."""
        usable = messages.usable_memory(self._fit) if self._fit is not None else None
        return usable if self._fit is not None and usable is not None and usable < self._fit.peak else None

    @property
    def _caption_height(self) -> int:
        return self.fontMetrics().height() if self._exceeded is not None else 0

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), theme.px(20) + 6 + self._caption_height)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self._fit is None:
            return
        painter, bar = QPainter(self), QRectF(self.rect()).adjusted(0, 3 + self._caption_height, 0, -3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        clip = QPainterPath()
        clip.addRoundedRect(bar, 4, 4)
        painter.save()
        painter.setClipPath(clip)
        painter.fillRect(bar, theme.color("sunken"))
        x = bar.left()
        for _part, count, colour in messages.memory_parts(self._fit):
            width = bar.width() * count / self._scale
            painter.fillRect(QRectF(x, bar.top(), max(width - 1, 1.0), bar.height()), theme.color(colour))
            x += width
        exceeded = self._exceeded
        if exceeded is not None:
            limit_x = bar.left() + bar.width() * exceeded / self._scale
            beyond = QRectF(limit_x, bar.top(), x - limit_x, bar.height())
            painter.fillRect(beyond, theme.color("error_soft"))
            painter.fillRect(beyond, QBrush(theme.color("error", 0.7), Qt.BrushStyle.BDiagPattern))
        painter.restore()
        usable = messages.usable_memory(self._fit)
        if exceeded is not None:
            self._draw_limit_text(painter, bar, exceeded)
        if usable is not None and usable < self._scale:
            limit_x = int(bar.left() + bar.width() * usable / self._scale)
            # With a wider line below it, so that it is visible on every colour of the bar.
            for pen in (QPen(theme.color("card"), 4), QPen(theme.color("error"), 2, Qt.PenStyle.DashLine)):
                painter.setPen(pen)
                painter.drawLine(limit_x, self._caption_height, limit_x, self.height())

    def _draw_limit_text(self, painter: QPainter, bar: QRectF, usable: int) -> None:
        """How much memory can be used, above the line where it ends."""
        text = self.tr("{size} usable").format(size=format_memory(usable))
        width = QFontMetricsF(self.font()).horizontalAdvance(text) + 1
        left = bar.left() + bar.width() * usable / self._scale - width / 2
        area = QRectF(min(max(left, 0.0), self.width() - width), 0, width, self._caption_height)
        painter.setFont(self.font())
        painter.setPen(theme.color("error"))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), text)


class MemoryPartsLegend(Themed, QWidget):
    """The names of the parts, each after a square in its colour, wrapped into lines."""

    def __init__(self) -> None:
        self.parts: tuple[tuple[str, str], ...] = ()
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """(text, colour token) of each part."""
        self.parts = parts
        self.setAccessibleName(", ".join(text for text, _ in parts))
        self.refresh()

    def _item_rects(self, width: float) -> list[tuple[QRectF, str, str]]:
        """(rectangle, text, colour token) of each part in this width."""
        metrics = QFontMetricsF(theme.font("small"))
        line_height, side, x, y, items = metrics.height() + 6, theme.px(12), 0.0, 0.0, []
        for text, colour in self.parts:
            item_width = side + 8 + metrics.horizontalAdvance(text) + 2
            if x > 0 and x + item_width > width:
                x, y = 0.0, y + line_height
            items.append((QRectF(x, y, item_width, line_height), text, colour))
            x += item_width + 18
        return items

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        items = self._item_rects(width)
        return math.ceil(items[-1][0].bottom()) if items else 0

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), self.heightForWidth(10_000))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        side = theme.px(12)
        for rect, text, colour in self._item_rects(self.width()):
            square = QRectF(rect.left(), rect.top() + (rect.height() - side) / 2, side, side)
            painter.fillRect(square, theme.color(colour))
            painter.setPen(theme.color("text"))
            painter.drawText(rect.adjusted(side + 8, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)
