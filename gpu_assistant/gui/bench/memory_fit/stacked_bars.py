"""What fits in memory, as bars: one for each way of training, stacked of what a training step keeps in memory.

`MemoryFitBars` is the card; a `StackedBarRow` is one way of training with its largest batch, its sum and its
`StackedBar`. `MemoryPartsKey` names the colours of all bars once. On demand `PartMeanings` says what the parts are, and
each row has a `MemoryPartsLegend` with their sizes, which stand below one another in all rows. Memory is in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QFocusEvent, QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....bench.memory_fit import is_batch_fitting
from ....core.results import BenchDevice, FitVariant, MemoryFit
from ....reports import messages as bench_messages
from ....texts.benchmark import with_label
from ....texts.format import format_memory_column
from ....texts.translate import remove_cjk_gaps
from ... import language, theme
from ...widgets.base import KeyboardFocus, Themed, draw_focus_ring
from ...widgets.buttons import Button, ButtonKind
from ...widgets.cards import Banner, Card, InsetPanel, Pill
from ...widgets.icons import IconWidget
from ...widgets.layouts import FlowLayout, clear_layout
from ...widgets.text import TextLabel, label
from . import messages

LIMIT_MARGIN = 2  # pixels between the line of the usable memory, where the bar ends, and the edge
FOCUS_MARGIN = 5  # pixels around a row, for the focus ring
SQUARE_SIZE, SQUARE_GAP = 12, 8  # pixels of a square of the legend, at 100 % text, and behind it
MIN_COLUMN_GAP, MAX_COLUMN_GAP = 16, 40  # pixels between two columns of the legend
LINE_GAP = 4  # pixels between two lines of the legend
# Where colours cannot tell the parts apart, since a contrast theme of the system has only a few.
PATTERNS = {
    "gradients": Qt.BrushStyle.HorPattern,
    "optimizer": Qt.BrushStyle.VerPattern,
    "activations": Qt.BrushStyle.Dense4Pattern,
    "temporary": Qt.BrushStyle.DiagCrossPattern,
    "cache": Qt.BrushStyle.FDiagPattern,
}


class MemoryFitBars(Card):
    """Hidden until `show_fits` has something to show; `rows` in the order in which they were measured.

    For a batch that does not fit `remedy_buttons` offer what helps, the recommended one filled; `remedy_chosen` brings
    the `messages.FitRemedy`.
    """

    remedy_chosen = Signal(object)

    def __init__(self) -> None:
        self._fits: tuple[MemoryFit, ...] = ()
        self._omissions: Mapping[str, str] = {}
        self._devices: tuple[BenchDevice, ...] = ()
        self._from_previous_run = self._ready = self._shows_meanings = False
        self._offers_remedies = True
        self._remedies: tuple[messages.FitRemedy, ...] = ()
        super().__init__(" ")
        self.meanings_button = Button(kind="ghost", trailing_icon="down", small=True, flush="right")
        self.meanings_button.setObjectName("partMeanings")
        self.meanings_button.clicked.connect(self._toggle_meanings)
        self.meanings, self.key = PartMeanings(), MemoryPartsKey()
        self.rows: dict[FitVariant, StackedBarRow] = {}
        self.answer_banner = Banner("ok", inset=True)
        self.answer_banner.label.set_kind("strong")
        self.remedy_buttons: list[Button] = []
        self._remedies_row = QWidget()
        self._remedies_layout = FlowLayout(self._remedies_row, spacing=8)
        self.free_label, self.notes_label = label("small"), label("small")
        self._rows_layout, self._omissions_layout = QVBoxLayout(), QVBoxLayout()
        self._rows_layout.setSpacing(8)
        self.add_title_action(self.meanings_button)
        self.column.addWidget(self.meanings)
        self.column.addWidget(self.answer_banner)
        self.column.addWidget(self._remedies_row)
        self.column.addWidget(self.key)
        self.column.addLayout(self._rows_layout)
        self.column.addWidget(self.free_label)
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
        is_running: bool = False,
    ) -> None:
        """Show what was measured so far; `omissions` are text codes by the variant that was left out.

        `from_previous_run`: a new run has started and has no result yet. `is_running`: what fits is not known yet, so
        no remedies are offered.
        """
        self._offers_remedies = not is_running
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
            self._show_remedies(())
            return
        first = fits[0]
        # As wide as the usable memory, so that a bar shows how full that is.
        scale = max(messages.usable_memory(first) or 0, *(fit.peak for fit in fits))
        columns = PartColumns(fits)
        self._show_meanings()
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
        remedies = messages.fit_remedies(fits) if self._offers_remedies else ()
        self._show_remedies(remedies)
        fastest = next((remedy.variant for remedy in remedies if remedy.variant is not None), None)
        self.free_label.setText(messages.free_memory_text(first))
        self.free_label.setVisible(bool(self.free_label.text()))
        for fit in fits:
            if fit.variant in self.rows:
                self.rows[fit.variant].show_fit(fit, baseline, scale, columns)
            else:
                self._add_row(StackedBarRow(fit, baseline, scale, columns), fit.variant)
            self.rows[fit.variant].set_fastest(fit.variant == fastest)
            self.rows[fit.variant].set_details_shown(self._shows_meanings)
        for variant, reason in self._omissions.items():
            name = next((messages.variant_name(each) for each in messages.FIT_VARIANTS if each == variant), variant)
            text = with_label(name, bench_messages.omission_reason(reason), language.texts().language)
            self._omissions_layout.addWidget(label("small", text))
        self.notes_label.setText(remove_cjk_gaps(" ".join(self._notes())))

    def _show_remedies(self, remedies: tuple[messages.FitRemedy, ...]) -> None:
        """Offer these; the same ones keep their buttons, and the focus."""
        self._remedies_row.setVisible(bool(remedies))
        if remedies == self._remedies:
            return
        self._remedies = remedies
        clear_layout(self._remedies_layout)
        self.remedy_buttons = []
        for index, remedy in enumerate(remedies):
            is_code = remedy.variant is not None
            kind: ButtonKind = "primary" if index == 0 else "secondary"
            button = Button(remedy.label, kind, icon_name="code" if is_code else None)
            button.clicked.connect(lambda _checked=False, remedy=remedy: self.remedy_chosen.emit(remedy))
            self.remedy_buttons.append(button)
            self._remedies_layout.addWidget(button)
            button.show()

    def _toggle_meanings(self) -> None:
        self._shows_meanings = not self._shows_meanings
        for row in self.rows.values():
            row.set_details_shown(self._shows_meanings)
        self._show_meanings()

    def _show_meanings(self) -> None:
        """What the parts are, or only their names and the button for it."""
        parts = messages.common_memory_parts(self._fits)
        if self._shows_meanings:
            self.meanings.set_parts(parts)
        self.key.set_parts(parts)
        self.meanings.setVisible(self._shows_meanings)
        self.key.setVisible(not self._shows_meanings)
        meanings = self.tr("Details of the parts")
        self.meanings_button.setText(self.tr("Hide") if self._shows_meanings else meanings)
        hide = with_label(self.tr("Hide"), meanings, language.texts().language)
        self.meanings_button.setAccessibleName(hide if self._shows_meanings else meanings)
        self.meanings_button.setAccessibleDescription(
            self.tr("expanded") if self._shows_meanings else self.tr("collapsed")
        )
        self.meanings_button.set_icon(None, "up" if self._shows_meanings else "down")

    def _notes(self) -> list[str]:
        """How the bars have to be read."""
        fits = self._fits
        notes = [self.tr("A batch is the set of examples that the model learns from at once.")]
        if not all(fit.exact for fit in fits):
            notes.append(self.tr("Projected from small steps that varied a little, so this is approximate."))
        if any(fit.gradients < fit.parameters for fit in fits):
            notes.append(self.tr("Each bar shows the moment of highest memory use; not all gradients exist by then."))
        if fits[0].device == "cpu":
            notes.append(
                self.tr(
                    "Only what the training itself needs is counted; PyTorch's own libraries take a few hundred MB "
                    "more."
                )
            )
        notes.append(
            self.tr("1 GB of memory is 1,024 MB, as on the card's box. PyTorch writes GiB and MiB for the same.")
        )
        return notes

    def _add_row(self, row: StackedBarRow, variant: FitVariant) -> None:
        self.rows[variant] = row
        self._rows_layout.addWidget(row)
        row.focus_changed.connect(self.update)
        row.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The focus ring of a row stands outside it, so that rows and other lines begin at one edge."""
        super().paintEvent(event)
        for row in self.rows.values():
            if row.shows_focus_ring:
                margin = FOCUS_MARGIN
                draw_focus_ring(QPainter(self), QRectF(row.geometry()).adjusted(-margin, -margin, margin, margin), 6)


class StackedBarRow(KeyboardFocus, Themed, QWidget):
    """One way of training. It takes the focus so that a screen reader can read it, and has no action; the card draws
    its focus ring.
    """

    focus_changed = Signal()

    def __init__(self, fit: MemoryFit, baseline: MemoryFit | None, scale: int, columns: PartColumns) -> None:
        self._fit, self._baseline = fit, baseline
        self._ready = self._is_fastest = False
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.name_label, self.largest_label = label("strong"), label("figure")
        self.detail_label, self.peak_label, self.batch_label = label("small"), label("small"), label("small")
        self.fastest_pill = Pill("accent")
        self.bar, self.legend, self.batch_icon = StackedBar(), MemoryPartsLegend(), IconWidget("ok", "ok", 16)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, FOCUS_MARGIN, 0, FOCUS_MARGIN)
        column.setSpacing(4)
        batch = QWidget()
        batch_row = QHBoxLayout(batch)
        batch_row.setContentsMargins(0, 0, 0, 0)
        batch_row.setSpacing(6)
        batch_row.addWidget(self.batch_icon, 0, Qt.AlignmentFlag.AlignVCenter)
        batch_row.addWidget(self.batch_label, 1, Qt.AlignmentFlag.AlignVCenter)
        batch_row.addWidget(self.largest_label, 0, Qt.AlignmentFlag.AlignVCenter)
        name = QWidget()
        name_layout = FlowLayout(name, spacing=8, line_spacing=2)
        name_layout.addWidget(self.name_label)
        name_layout.addWidget(self.fastest_pill)
        for left, right, side in (
            (name, batch, Qt.AlignmentFlag.AlignVCenter),
            (self.detail_label, self.peak_label, Qt.AlignmentFlag.AlignTop),
        ):
            row = QHBoxLayout()
            row.setSpacing(16)
            row.addWidget(left, 1, side)
            row.addWidget(right, 0, side)
            column.addLayout(row)
        for each in (self.peak_label, self.batch_label):
            each.setAlignment(Qt.AlignmentFlag.AlignRight)
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        self.legend.hide()
        self._ready = True
        self.apply_theme()
        self.show_fit(fit, baseline, scale, columns)

    def show_fit(self, fit: MemoryFit, baseline: MemoryFit | None, scale: int, columns: PartColumns) -> None:
        """`baseline` is training without savings; the full width of the bar is `scale` bytes."""
        self._fit, self._baseline = fit, baseline
        self.bar.show_fit(fit, scale)
        self.legend.show_fit(fit, columns)
        self.retranslate()

    def set_details_shown(self, shown: bool) -> None:
        """Show the sizes of the parts below the bar."""
        self.legend.setVisible(shown)

    def set_fastest(self, is_fastest: bool) -> None:
        """Mark it as the way that costs least time of those with which the batch fits."""
        self._is_fastest = is_fastest
        self.retranslate()

    def retranslate(self) -> None:
        if not self._ready:
            return
        fit = self._fit
        self.name_label.setText(messages.variant_name(fit.variant))
        self.peak_label.setText(messages.peak_text(fit, self._baseline))
        self.detail_label.setText(messages.variant_detail(fit))
        self.batch_label.setText(messages.fit_text(fit))
        self.largest_label.setText(messages.largest_batch_text(fit))
        self.largest_label.setVisible(bool(self.largest_label.text()))
        icon, tone = messages.fit_sign(fit)
        self.batch_icon.set(icon, tone)
        self.batch_icon.setVisible(bool(self.batch_label.text()))
        self.batch_label.set_tone(tone)
        self.fastest_pill.set("accent", self.tr("Costs least time"))
        self.fastest_pill.setVisible(self._is_fastest)
        self.legend.retranslate()
        pill_text = self.fastest_pill.text if self._is_fastest else ""
        parts = [text for text, _ in self.legend.parts]
        self.bar.setToolTip("\n".join(parts))
        answer = " ".join(each.text() for each in (self.batch_label, self.largest_label) if each.text())
        texts = [pill_text, answer, self.peak_label.text(), *parts]
        self.setAccessibleName(f"{self.name_label.text()}: " + ", ".join(each for each in texts if each))
        self.setAccessibleDescription(self.detail_label.text())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


class StackedBar(Themed, QWidget):
    """The parts of one training step from the left. Where the usable memory ends there is a dashed line; what is beyond
    it is hatched. The size of the usable memory stands above the bar of the usual way of training, which is the first
    one, and of those that need more.
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
        is_plain = self._fit is not None and self._fit.variant == "plain"
        is_named = self._exceeded is not None or (is_plain and self._limit is not None)
        return self.fontMetrics().height() if is_named else 0

    @property
    def _limit(self) -> int | None:
        """The usable memory where it ends within the bar; else None."""
        usable = messages.usable_memory(self._fit) if self._fit is not None else None
        return usable if usable is not None and usable <= self._scale else None

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
        for part, count, colour in messages.memory_parts(self._fit):
            width = bar.width() * count / self._scale
            if count > 0:
                fill_part(painter, QRectF(x, bar.top(), max(width - 1, 1.0), bar.height()), part, colour)
            x += width
        exceeded = self._exceeded
        if exceeded is not None:
            limit_x = bar.left() + bar.width() * exceeded / self._scale
            beyond = QRectF(limit_x, bar.top(), x - limit_x, bar.height())
            painter.fillRect(beyond, theme.color("error_soft"))
            painter.fillRect(beyond, QBrush(theme.color("error", 0.7), Qt.BrushStyle.BDiagPattern))
        painter.restore()
        limit = self._limit
        if limit is not None:
            if self._caption_height > 0:
                self._draw_limit_text(painter, bar, limit, "soft" if exceeded is None else "error")
            limit_x = min(int(bar.left() + bar.width() * limit / self._scale), self.width() - LIMIT_MARGIN)
            # With a wider line below it, so that it is visible on every colour of the bar.
            for pen in (QPen(theme.color("card"), 4), QPen(theme.color("error"), 2, Qt.PenStyle.DashLine)):
                painter.setPen(pen)
                painter.drawLine(limit_x, self._caption_height, limit_x, self.height())

    def _draw_limit_text(self, painter: QPainter, bar: QRectF, usable: int, tone: str) -> None:
        """How much memory can be used, above the line where it ends."""
        text = self.tr("{size} usable").format(size=format_memory_column(usable))
        width = QFontMetricsF(self.font()).horizontalAdvance(text) + 1
        left = bar.left() + bar.width() * usable / self._scale - width / 2
        area = QRectF(min(max(left, 0.0), self.width() - width), 0, width, self._caption_height)
        painter.setFont(self.font())
        painter.setPen(theme.color(tone))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), text)


class PartColumns:
    """The parts of all bars as columns: each as wide as its name and the widest of its sizes."""

    def __init__(self, fits: Sequence[MemoryFit]) -> None:
        self.parts = messages.common_memory_parts(fits)
        self._sizes: dict[str, set[str]] = {part: set() for part, _ in self.parts}
        for fit in fits:
            for part, count, _ in messages.memory_parts(fit):
                if part in self._sizes:
                    self._sizes[part].add(messages.memory_part_size(count))

    def lines(self, width: float) -> list[list[tuple[float, str, str]]]:
        """(left edge, part, colour token) of each part in lines of this width; if one is not enough, the columns of all
        lines stand below one another.
        """
        widths = [self._column_width(part) for part, _ in self.parts]
        gap = (width - sum(widths)) / max(len(widths) - 1, 1)
        if gap >= MIN_COLUMN_GAP:
            gap, left, line = min(gap, theme.px(MAX_COLUMN_GAP)), 0.0, []
            for column_width, (part, colour) in zip(widths, self.parts, strict=True):
                line.append((left, part, colour))
                left += column_width + gap
            return [line]
        step = max(widths) + MIN_COLUMN_GAP
        count = max(int((width + MIN_COLUMN_GAP) // step), 1)
        return [
            [(index * step, part, colour) for index, (part, colour) in enumerate(self.parts[start : start + count])]
            for start in range(0, len(self.parts), count)
        ]

    def _column_width(self, part: str) -> float:
        sizes = (theme.advance("small", size) for size in self._sizes[part])
        text_width = max(theme.advance("caption", messages.memory_part_name(part)), *sizes)
        return theme.px(SQUARE_SIZE) + SQUARE_GAP + text_width + 2


class MemoryPartsLegend(Themed, QWidget):
    """The parts of one bar in columns, which are the same for all bars: a square in its colour, its name and, below
    that, its size.
    """

    def __init__(self) -> None:
        self.parts: tuple[tuple[str, str], ...] = ()  # texts with the colour tokens
        self._fit: MemoryFit | None = None
        self._columns = PartColumns(())
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def show_fit(self, fit: MemoryFit, columns: PartColumns) -> None:
        """Show the sizes of its parts in these columns."""
        self._fit, self._columns = fit, columns
        self.retranslate()

    def retranslate(self) -> None:
        self.parts = tuple(
            (messages.memory_part_text(part, self._counts[part]), colour) for part, colour in self._columns.parts
        )
        self.setAccessibleName(", ".join(text for text, _ in self.parts))
        self.refresh()

    @property
    def _counts(self) -> dict[str, int]:
        """Bytes by part."""
        return {part: count for part, count, _ in messages.memory_parts(self._fit)} if self._fit is not None else {}

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = len(self._columns.lines(width)) if self._columns.parts else 0
        return lines * self._line_height() + max(lines - 1, 0) * LINE_GAP

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), self.heightForWidth(10_000))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._line_height())

    @staticmethod
    def _line_height() -> int:
        return theme.text_height("caption") + theme.text_height("small")

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, counts, top = QPainter(self), self._counts, 0.0
        name_height, size_height = theme.text_height("caption"), theme.text_height("small")
        for line in self._columns.lines(self.width()) if counts else []:
            for left, part, colour in line:
                side = theme.px(SQUARE_SIZE)
                fill_part(painter, QRectF(left, top + (name_height - side) / 2, side, side), part, colour)
                text_left = left + side + SQUARE_GAP
                rect = QRectF(text_left, top, max(self.width() - text_left, 0.0), name_height)
                flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                painter.setFont(theme.font("caption"))
                painter.setPen(theme.color("soft"))
                painter.drawText(rect, flags, messages.memory_part_name(part))
                rect.moveTop(top + name_height)
                rect.setHeight(size_height)
                painter.setFont(theme.font("small"))
                painter.setPen(theme.color("text" if counts[part] > 0 else "soft"))
                painter.drawText(rect, flags, messages.memory_part_size(counts[part]))
            top += name_height + size_height + LINE_GAP


class MemoryPartsKey(Themed, QWidget):
    """What the colours of all bars mean: a square of each part with its name."""

    def __init__(self) -> None:
        self._names: list[tuple[str, TextLabel]] = []
        super().__init__()
        self._flow = FlowLayout(self, spacing=20, line_spacing=2)
        self.apply_theme()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """Name these parts; the second of each is its colour token."""
        if [part for part, _ in parts] != [part for part, _ in self._names]:
            clear_layout(self._flow)
            self._names = []
            for part, colour in parts:
                entry, name = QWidget(), label("small")
                row = QHBoxLayout(entry)
                row.setContentsMargins(0, 0, 0, 0)
                row.setSpacing(SQUARE_GAP)
                row.addWidget(PartSquare(part, colour))
                row.addWidget(name)
                self._names.append((part, name))
                self._flow.addWidget(entry)
                entry.show()
        self.retranslate()

    def retranslate(self) -> None:
        for part, name in self._names:
            name.setText(messages.memory_part_name(part))


class PartMeanings(InsetPanel):
    """What the parts of memory are, as a list; hidden until it is asked for."""

    def __init__(self) -> None:
        self._parts: tuple[tuple[str, str], ...] = ()
        self._rows: list[tuple[str, TextLabel, TextLabel]] = []
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        self.column.addLayout(self._grid)
        self.hide()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """List these parts; the second of each is its colour token."""
        if parts != self._parts:
            self._parts, self._rows = parts, []
            clear_layout(self._grid)
            for row, (part, colour) in enumerate(parts):
                name, meaning = label("small-strong"), label("small")
                self._rows.append((part, name, meaning))
                for column, widget in enumerate((PartSquare(part, colour), name, meaning)):
                    self._grid.addWidget(widget, row, column, Qt.AlignmentFlag.AlignTop)
                    widget.show()
        self.retranslate()

    def retranslate(self) -> None:
        for part, name, meaning in self._rows:
            name.setText(messages.memory_part_name(part))
            meaning.setText(messages.memory_part_meaning(part))


class PartSquare(Themed, QWidget):
    """A square in the colour of a part, as high as the line of text beside it."""

    def __init__(self, part: str, colour: str) -> None:
        self._part, self._colour = part, colour
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(SQUARE_SIZE), theme.text_height("small-strong"))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        side = theme.px(SQUARE_SIZE)
        fill_part(QPainter(self), QRectF(0, (self.height() - side) / 2, side, side), self._part, self._colour)


def fill_part(painter: QPainter, rect: QRectF, part: str, colour: str) -> None:
    """Fill an area of a part with its colour; in a contrast theme with its pattern, and a line around it."""
    style = PATTERNS.get(part, Qt.BrushStyle.SolidPattern)
    if theme.current().line_width == 1 or style == Qt.BrushStyle.SolidPattern:
        painter.fillRect(rect, theme.color(colour))
        return
    painter.fillRect(rect, QBrush(theme.color(colour), style))
    painter.setPen(theme.color(colour))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
