"""What fits in memory, as bars: one for each way of training, stacked of what a training step keeps in memory.

`MemoryFitBars` is the card; a `StackedBarRow` is one way of training with its `StackedBar`, all of which have one
`BarScale`, and with its largest batch, all of which stand below one heading. What the colours mean is in
`memory_parts`. Memory is in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QFocusEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....core.results import BenchDevice, FitVariant, MemoryFit
from ....reports import messages as bench_messages
from ....texts.benchmark import with_label
from ....texts.translate import remove_cjk_gaps
from ... import language, theme
from ...widgets.base import KeyboardFocus, Themed, draw_focus_ring
from ...widgets.buttons import Button, ButtonKind
from ...widgets.cards import Banner, Card, Pill
from ...widgets.icons import IconWidget
from ...widgets.layouts import FlowLayout, HeadedKeyRow, ListLayout, clear_layout
from ...widgets.text import TextLabel, label
from . import messages
from .memory_parts import MemoryPartsKey, MemoryPartsLegend, PartColumns, PartMeanings, fill_part

BAR_HEIGHT, MIN_BAR_WIDTH = 20, 40  # pixels, the first at 100 % text
VALUE_GAP, SAVING_GAP = 16, 8  # pixels between what a step needs and its bar, and before how much that saves
LINE_ROOM = 3  # pixels behind a full bar, for the dashed line at its end
FOCUS_MARGIN = 5  # pixels around a row, for the focus ring
LINE_GAP, CAPTION_GAP = 4, 24  # pixels between the lines of a row, and between description and caption in one line


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
        self.refusal_banner = Banner("warn", inset=True)
        self.refusal_banner.label.set_kind("strong")
        self.remedy_buttons: list[Button] = []
        self._remedies_row = QWidget()
        self._remedies_layout = FlowLayout(self._remedies_row, spacing=8)
        self.basis_label, self.free_label, self.notes_label = label("small"), label("small"), label("small")
        self.largest_heading = label("caption")
        self.largest_heading.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._rows_layout, self._omissions_layout = QVBoxLayout(), QVBoxLayout()
        self._rows_layout.setSpacing(8)
        self.add_title_action(self.meanings_button)
        self.column.addWidget(self.basis_label)
        self.column.addWidget(self.meanings)
        self.column.addWidget(self.refusal_banner)
        self.column.addWidget(self._remedies_row)
        self.column.addLayout(HeadedKeyRow(self.key, self.largest_heading))
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
        scale, columns = BarScale(fits), PartColumns(fits)
        self._show_meanings()
        title = messages.fit_title(first, self._devices)
        self.set_title(self.tr("The earlier result: {title}").format(title=title) if self._from_previous_run else title)
        refusal = messages.refusal_text(fits)
        self.refusal_banner.set("warn", refusal)
        self.refusal_banner.setVisible(bool(refusal))
        self.largest_heading.setText(self.tr("Max. batch (approx.)"))
        self.largest_heading.setVisible(any(messages.largest_batch_text(fit) for fit in fits))
        remedies = messages.fit_remedies(fits) if self._offers_remedies else ()
        self._show_remedies(remedies)
        fastest = next((remedy.variant for remedy in remedies if remedy.variant is not None), None)
        if len(messages.fitting_variants(fits)) < 2:
            fastest = None  # a single one costs neither more nor less than others
        self.basis_label.setText(messages.basis_text(fits))
        self.free_label.setText(messages.free_memory_text(first))
        self.free_label.setVisible(bool(self.free_label.text()))
        for fit in fits:
            if fit.variant in self.rows:
                self.rows[fit.variant].show_fit(fit, scale, columns)
            else:
                self._add_row(StackedBarRow(fit, scale, columns), fit.variant)
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

    def __init__(self, fit: MemoryFit, scale: BarScale, columns: PartColumns) -> None:
        self._fit, self._scale = fit, scale
        self._ready = self._is_fastest = False
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.name_label, self.largest_label = label("strong"), label("strong")
        self.detail_label, self.answer_label = label("small"), label("small")
        self.limit_label = label("caption", "", "soft")
        self.fastest_pill = Pill("accent")
        self.bar, self.legend, self.answer_icon = StackedBar(), MemoryPartsLegend(), IconWidget("ok", "ok", 16)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, FOCUS_MARGIN, 0, FOCUS_MARGIN)
        column.setSpacing(LINE_GAP)
        answer = QWidget()
        answer_row = QHBoxLayout(answer)
        answer_row.setContentsMargins(0, 0, 0, 0)
        answer_row.setSpacing(6)
        answer_row.addWidget(self.answer_icon, 0, Qt.AlignmentFlag.AlignVCenter)
        answer_row.addWidget(self.answer_label, 1, Qt.AlignmentFlag.AlignVCenter)
        name = QWidget()
        name_layout = FlowLayout(name, spacing=12, line_spacing=2)
        for part in (self.name_label, answer, self.fastest_pill):
            name_layout.addWidget(part)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(name, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.largest_label, 0, Qt.AlignmentFlag.AlignVCenter)
        column.addLayout(row)
        column.addLayout(DetailAboveBar(self.detail_label, self.limit_label, self.bar))
        column.addWidget(self.legend)
        self.legend.hide()
        self._ready = True
        self.apply_theme()
        self.show_fit(fit, scale, columns)

    def show_fit(self, fit: MemoryFit, scale: BarScale, columns: PartColumns) -> None:
        """Show this estimate, in the scale of all rows."""
        self._fit, self._scale = fit, scale
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
        self.detail_label.setText(messages.variant_detail(fit))
        self.limit_label.setText(self._scale.limit_text(fit))
        self.limit_label.setVisible(bool(self.limit_label.text()))
        self.answer_label.setText(messages.fit_text(fit))
        self.largest_label.setText(messages.largest_batch_text(fit))
        self.largest_label.setVisible(bool(self.largest_label.text()))
        icon, tone = messages.fit_sign(fit)
        self.answer_icon.set(icon, tone)
        for part in (self.answer_icon, self.answer_label):
            part.setVisible(bool(self.answer_label.text()))
        self.answer_label.set_tone(tone)
        self.fastest_pill.set("accent", self.tr("Costs least time"))
        self.fastest_pill.setVisible(self._is_fastest)
        self.legend.retranslate()
        pill_text = self.fastest_pill.text if self._is_fastest else ""
        parts = [text for text, _ in self.legend.parts]
        self.bar.setToolTip("\n".join(parts))
        largest = self.tr("max. batch size about {batch}").format(batch=self.largest_label.text())
        texts = [
            self.answer_label.text(),
            pill_text,
            largest if self.largest_label.text() else "",
            *self._scale.value_texts(fit),
            self._scale.limit_text(fit),
            *parts,
        ]
        self.setAccessibleName(f"{self.name_label.text()}: " + ", ".join(each for each in texts if each))
        self.setAccessibleDescription(self.detail_label.text())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


class BarScale:
    """What the bars of all rows have in common: they are as wide as the usable memory, so that each shows how full that
    is, or as the one that needs most; and the columns of values before them.
    """

    def __init__(self, fits: Sequence[MemoryFit]) -> None:
        self._fits = tuple(fits)
        self._baseline = next((fit for fit in fits if fit.variant == "plain"), None)
        self.usable = messages.usable_memory(fits[0])
        self.size = max(self.usable or 0, 1, *(fit.peak for fit in fits))

    def value_texts(self, fit: MemoryFit) -> tuple[str, str]:
        """What a step needs, and how much that saves; "" for nothing."""
        return messages.peak_text(fit), messages.saving_text(fit, self._baseline)

    def saving_left(self) -> float:
        """Where the savings begin: behind the longest of the needs."""
        return max(theme.advance("strong", peak) for peak, _ in map(self.value_texts, self._fits)) + SAVING_GAP

    def bar_left(self) -> float:
        """Where the bars begin: behind all values, so that none stands at the wrong side of the dashed line."""
        savings = [theme.advance("small", saving) for _, saving in map(self.value_texts, self._fits) if saving]
        return self.saving_left() + (max(savings) if savings else -SAVING_GAP) + VALUE_GAP

    def limit_text(self, fit: MemoryFit) -> str:
        """How much memory can be used, which the first of the bars says for all; "" for the others."""
        return messages.usable_text(self.usable) if fit is self._fits[0] and self.usable is not None else ""


class DetailAboveBar(ListLayout):
    """The description of a way of training above its bar, with the caption of the dashed line: at the end of the
    description where both fit into one line, else below it.
    """

    def __init__(self, detail: TextLabel, caption: TextLabel, bar: StackedBar) -> None:
        super().__init__()
        self._detail, self._caption, self._bar = detail, caption, bar
        for widget in (detail, caption, bar):
            self.addWidget(widget)

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def heightForWidth(self, width: int) -> int:
        return self._places(width)[self._bar].bottom() + 1

    def sizeHint(self) -> QSize:
        width = max(item.sizeHint().width() for item in self._visible_items())
        return QSize(width, self.heightForWidth(width))

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._visible_items()]
        return QSize(max(size.width() for size in sizes), max(size.height() for size in sizes))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        for widget, place in self._places(rect.width()).items():
            widget.setGeometry(place.translated(rect.topLeft()))

    def _places(self, width: int) -> dict[QWidget, QRect]:
        """Where each of them is in this width."""
        detail = QRect(0, 0, width, self._detail.heightForWidth(width))
        places: dict[QWidget, QRect] = {self._detail: detail}
        top = detail.bottom() + 1 + LINE_GAP
        if not self._caption.isHidden():
            size = self._caption.sizeHint()
            caption = QRect(QPoint(self._bar.caption_left(width, size.width()), top), size)
            if self._detail.sizeHint().width() + CAPTION_GAP <= caption.left():
                caption.moveBottom(detail.bottom())
                detail.setRight(caption.left() - CAPTION_GAP)
            else:
                top = caption.bottom() + 1  # the bar has a margin for the ends of the line
            places[self._caption] = caption
        places[self._bar] = QRect(QPoint(0, top), QSize(width, self._bar.sizeHint().height()))
        return places


class StackedBar(Themed, QWidget):
    """What one training step needs, and its parts from the left. Where the usable memory ends there is a dashed line;
    what is beyond it is hatched.
    """

    def __init__(self) -> None:
        self._fit: MemoryFit | None = None
        self._scale: BarScale | None = None
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def show_fit(self, fit: MemoryFit, scale: BarScale) -> None:
        self._fit, self._scale = fit, scale
        self.updateGeometry()
        self.update()

    def caption_left(self, width: int, caption_width: int) -> int:
        """Where a caption of the dashed line begins in a bar of this width: it is centred above the line."""
        return max(min(self._limit_x(width) - caption_width // 2, width - caption_width), 0)

    def _limit_x(self, width: float) -> int:
        """Where the usable memory ends, if it is known."""
        scale = self._scale
        if scale is None:
            return 0
        return int(scale.bar_left() + self._track_width(width) * (scale.usable or 0) / scale.size)

    def _track_width(self, width: float) -> float:
        left = self._scale.bar_left() if self._scale is not None else 0.0
        return max(width - left - LINE_ROOM, MIN_BAR_WIDTH)

    @property
    def track(self) -> QRectF:
        """The area of a full bar."""
        height = theme.px(BAR_HEIGHT)
        left = self._scale.bar_left() if self._scale is not None else 0.0
        return QRectF(left, self.height() - 3 - height, self._track_width(self.width()), height)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), theme.px(BAR_HEIGHT) + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self._fit is None or self._scale is None:
            return
        painter, bar, fit, scale = QPainter(self), self.track, self._fit, self._scale
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        clip = QPainterPath()
        clip.addRoundedRect(bar, 4, 4)
        painter.save()
        painter.setClipPath(clip)
        painter.fillRect(bar, theme.color("sunken"))
        if theme.current().line_width > 1:  # the ground of a contrast theme is that of the card
            painter.strokePath(clip, QPen(theme.color("line"), 2))
        x = bar.left()
        for part, count, colour in messages.memory_parts(fit):
            width = bar.width() * count / scale.size
            if count > 0:
                fill_part(painter, QRectF(x, bar.top(), max(width - 1, 1.0), bar.height()), part, colour)
            x += width
        limit_x = None if scale.usable is None else self._limit_x(self.width())
        if limit_x is not None and scale.usable is not None and scale.usable < fit.peak:
            beyond = QRectF(limit_x, bar.top(), x - limit_x, bar.height())
            painter.fillRect(beyond, theme.color("error_soft"))
            painter.fillRect(beyond, QBrush(theme.color("error", 0.7), Qt.BrushStyle.BDiagPattern))
        painter.restore()
        if limit_x is not None:
            # With a wider line below it, so that it is visible on every colour of the bar.
            for pen in (QPen(theme.color("card"), 4), QPen(theme.color("error"), 2, Qt.PenStyle.DashLine)):
                painter.setPen(pen)
                painter.drawLine(limit_x, 0, limit_x, self.height())
        peak, saving = scale.value_texts(fit)
        for left, text, kind, tone in ((0.0, peak, "strong", "text"), (scale.saving_left(), saving, "small", "soft")):
            painter.setFont(theme.font(kind))
            painter.setPen(theme.color(tone))
            area = QRectF(left, bar.top() - 3, bar.left() - left, bar.height() + 6)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter), text)
