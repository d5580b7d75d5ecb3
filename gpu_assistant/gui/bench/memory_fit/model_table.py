"""Which models fit on this card, from published figures: a table for each kind, before anything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QSizePolicy, QWidget

from ....bench.model_memory import roomiest, rounded_down
from ....core.jobs import JobContext
from ....core.results import FitVerdict, ModelFit, ModelFits
from ....texts.format import format_memory, format_memory_column, format_percent, short_name
from ....texts.translate import remove_cjk_gaps
from ... import language, theme
from ...widgets.base import Themed, draw_rounded_rect
from ...widgets.buttons import Button, SegmentedControl
from ...widgets.cards import Banner, Card, Pill, PillKind
from ...widgets.icons import draw_icon
from ...widgets.layouts import FlowLayout
from ...widgets.text import label

if TYPE_CHECKING:
    from ....app import App

KINDS = ("language", "image", "training")
# What does not fit is no fault of the card: grey.
PILLS: dict[FitVerdict, PillKind] = {"fits": "ok", "tight": "warn", "no": "neutral", "unknown": "neutral"}
KEY: tuple[FitVerdict, ...] = ("fits", "tight", "no")
MIN_HIDDEN = 2  # models that do not fit: one alone is shown
KEY_GAP = 18  # pixels
COLUMN_GAP, ROW_GAP, CELL_MARGIN = 28, 14, 8  # pixels
ICON_SIZE, ICON_GAP = 16, 6  # pixels

translate = QCoreApplication.translate


class EstimateModelsJob:
    """Looks at the machine and computes what fits; raises AppError as detecting does, and "catalog-broken"."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> ModelFits:
        machine = self._app.setup.detect().run(context)
        return self._app.monitoring.estimate_models(machine)


class FitCell(Pill):
    """A verdict as icon and text without a background: thirty coloured pills would all ask for attention.

    In the table the text is at the right, so that the figures of a column stand below one another.
    """

    def __init__(self, verdict: FitVerdict, text: str = "", *, in_key: bool = False) -> None:
        self._in_key = in_key
        super().__init__(PILLS[verdict], text, icon="cross" if verdict == "no" else None)
        if not in_key:
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def refresh(self) -> None:
        super().refresh()
        self.setFont(theme.font("small" if self._in_key else "body"))

    def sizeHint(self) -> QSize:
        icon_width = theme.px(ICON_SIZE) + ICON_GAP if self.icon_name is not None else 0
        return QSize(self.fontMetrics().horizontalAdvance(self.text) + icon_width + 1, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        tone = "soft" if self.kind == "neutral" else self.kind
        if self.icon_name is not None:
            draw_icon(painter, self.icon_name, tone, ICON_SIZE, QRectF(0, 0, theme.px(ICON_SIZE), rect.height()))
            rect.setLeft(theme.px(ICON_SIZE) + ICON_GAP)
        painter.setPen(theme.color("soft" if self.kind == "neutral" or self._in_key else "text"))
        painter.setFont(self.font())
        side = Qt.AlignmentFlag.AlignLeft if self._in_key else Qt.AlignmentFlag.AlignRight
        painter.drawText(rect, int(side | Qt.AlignmentFlag.AlignVCenter), self.text)


class FitTable(Themed, QWidget):
    """Rows of widgets below a header, with a line below each; the row under the pointer is highlighted."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[QWidget] = []
        self._rows: list[list[QWidget]] = []
        self._hovered = 0  # the header is row 0
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(COLUMN_GAP)
        self.grid.setVerticalSpacing(ROW_GAP)
        self.setMouseTracking(True)
        self.apply_theme()

    def clear(self) -> None:
        """Delete all cells."""
        for widget in self.cells:
            self.grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.cells, self._rows, self._hovered = [], [], 0
        for column in range(self.grid.columnCount()):
            self.grid.setColumnStretch(column, 0)

    def add(self, widget: QWidget, row: int, column: int) -> None:
        """Add a cell, row by row."""
        widget.setMouseTracking(True)
        self.cells.append(widget)
        if row == len(self._rows):
            self._rows.append([])
        self._rows[row].append(widget)
        self.grid.addWidget(widget, row, column, Qt.AlignmentFlag.AlignVCenter)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the row."""
        y = event.position().y()
        rows = ((row, self._row_rect(row)) for row in range(1, len(self._rows)))
        self._set_hovered(next((row for row, rect in rows if rect.top() <= y < rect.bottom()), 0))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._set_hovered(0)

    def _set_hovered(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.update()

    def _row_rect(self, row: int) -> QRectF:
        top = min(cell.y() for cell in self._rows[row]) - ROW_GAP / 2
        bottom = max(cell.y() + cell.height() for cell in self._rows[row]) + ROW_GAP / 2
        return QRectF(0, top, self.width(), bottom - top)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        if self._hovered:
            rect = self._row_rect(self._hovered).adjusted(-CELL_MARGIN, 1, CELL_MARGIN, -1)
            draw_rounded_rect(painter, rect, 6, theme.color("hover"))
        painter.setPen(theme.color("line"))
        for row in range(len(self._rows) - 1):
            y = round(self._row_rect(row).bottom())
            painter.drawLine(0, y, self.width(), y)


class ModelFitCard(Card):
    """The models of one kind at a time: which is the largest that fits, of each format the memory and whether it fits,
    then how much fits at most. Models that fit in no format are shown on demand.
    """

    def __init__(self) -> None:
        self._fits: ModelFits | None = None
        self._shows_all = self._shows_setting = False
        super().__init__()
        self.kinds = SegmentedControl(("", "", ""))
        self.answer_label, self.card_label = label("heading"), label("small")
        self.formats_label, self.error_label = label("small"), label("small")
        self.more_button = Button(kind="ghost", trailing_icon="down", small=True, flush="left")
        self.spill_banner = Banner("neutral", inset=True)
        self.spill_banner.button.set_icon(None, "down")
        self.key_pills = {verdict: FitCell(verdict, in_key=True) for verdict in KEY}
        self._key, self._key_layout = QWidget(), FlowLayout(spacing=KEY_GAP, line_spacing=4)
        self._key.setLayout(self._key_layout)
        for pill in self.key_pills.values():
            self._key_layout.addWidget(pill)
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._head.setSpacing(12)
        self._head.addWidget(self.kinds, 0, Qt.AlignmentFlag.AlignLeft)
        self._head.addStretch(1)
        self._head.addWidget(self._key, 0, Qt.AlignmentFlag.AlignVCenter)
        self.table = FitTable()
        self.column.addLayout(self._head)
        self.column.addWidget(self.answer_label)
        self.column.addWidget(self.card_label)
        self.column.addSpacing(4)
        self.column.addWidget(self.table)
        self.column.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self.formats_label)
        self.column.addWidget(self.error_label)
        self.column.addWidget(self.spill_banner)
        self.kinds.chosen.connect(lambda _: self._show_kind())
        self.more_button.clicked.connect(self._toggle_all)
        self.spill_banner.button.clicked.connect(self._toggle_setting)
        self.hide()

    @property
    def rows(self) -> list[QWidget]:
        """The widgets of the table, row by row."""
        return self.table.cells

    def show_fits(self, fits: ModelFits | None) -> None:
        """Show other figures; None hides the card."""
        self._fits = fits
        self.setVisible(fits is not None)
        self.retranslate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_key()
        self.table.grid.invalidate()

    def _place_key(self) -> None:
        """Put the key beside the kinds where it fits in one line, else below them."""
        needed = self.kinds.sizeHint().width() + self._head.spacing() + self._key_layout.sizeHint().width()
        beside = needed <= self.contentsRect().width() - self.column.contentsMargins().left() * 2
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._head.direction() != direction:
            self._head.setDirection(direction)

    def retranslate(self) -> None:
        fits = self._fits
        if fits is None:
            return
        texts = language.texts()
        self.setAccessibleName(self.tr("Does it fit on my card?"))
        self.kinds.set_options(
            [self.tr("Language models"), self.tr("Image models"), self.tr("Training")],
        )
        self.kinds.setAccessibleName(self.tr("Kind of model"))
        if fits.memory is None or fits.usable is None:
            self.card_label.setText(texts.translate("fit.no-card"))
        else:
            memory, usable = format_memory(fits.memory), format_memory(fits.usable)
            self.card_label.setText(texts.translate("fit.memory", {"memory": memory, "usable": usable}))
        self._show_spill_text()
        self.spill_banner.setVisible(fits.spills and any(each.verdict in ("tight", "no") for each in fits.models))
        self._update_rows()

    def _show_spill_text(self) -> None:
        """What Windows does when the card's memory is full, and on demand the setting for it."""
        texts = language.texts()
        parts = [texts.translate("fit.spills"), *([texts.translate("fit.spills.setting")] * self._shows_setting)]
        self.spill_banner.set("neutral", remove_cjk_gaps(" ".join(parts)))
        self.spill_banner.button.setText(self.tr("Hide") if self._shows_setting else self.tr("What to do"))
        self.spill_banner.button.set_icon(None, "up" if self._shows_setting else "down")
        self.spill_banner.button.show()

    def _toggle_setting(self) -> None:
        self._shows_setting = not self._shows_setting
        self._show_spill_text()

    def _show_kind(self) -> None:
        self._shows_all = False
        self._update_rows()

    def _toggle_all(self) -> None:
        self._shows_all = not self._shows_all
        self._update_rows()

    def _update_rows(self) -> None:
        # Hidden meanwhile: Qt would lay out the whole page anew for each cell that appears.
        self.table.hide()
        self.table.clear()
        self._add_rows()
        self.table.show()

    def _add_rows(self) -> None:
        if self._fits is None:
            return
        kind = KINDS[self.kinds.current()]
        self.formats_label.setText(
            self.tr(
                "8-bit and 4-bit models are quantised: less precise, but they need less memory. "
                "A token is about three quarters of a word."
            )
        )
        self.formats_label.setVisible(kind == "language")
        models: dict[str, list[ModelFit]] = {}
        for each in self._fits.models:
            if each.kind == kind:
                models.setdefault(each.id, []).append(each)
        formats = next(iter(models.values()), [])
        texts = language.texts()
        self._show_error(formats)
        self.answer_label.setText(self._answer_text(kind, list(models.values())))
        self.answer_label.setVisible(bool(self.answer_label.text()))
        shown = self._shown_models(list(models.values()))
        headers = [self.tr("Model"), *(texts.translate(f"fit.format.{each.format}") for each in formats)]
        best_format = common_format(list(models.values()))
        for column, text in enumerate([*headers, self._largest_header(kind, best_format)]):
            is_format = 0 < column < len(headers)
            hint = self._format_hint(formats[column - 1].format) if is_format else ""
            if kind == "language" and column == len(headers):
                hint = self.tr("in tokens")
            header = label("caption", "\n".join(part for part in (text, hint) if part))
            if is_format:
                header.setAlignment(Qt.AlignmentFlag.AlignRight)
            self.table.add(header, 0, column)
        for row, fits in enumerate(shown, 1):
            self.table.add(label("strong", fits[0].name), row, 0)
            for column, fit in enumerate(fits, 1):
                is_over = fit.verdict == "tight" and (self._fits.usable or 0) < fit.needed
                cell = FitCell("no" if is_over else fit.verdict, format_memory_column(fit.needed))
                verdict = texts.translate("fit.verdict.over" if is_over else f"fit.verdict.{fit.verdict}")
                cell.setToolTip(verdict)
                cell.setAccessibleName(f"{fits[0].name}, {headers[column]}: {cell.text}, {verdict}")
                self.table.add(cell, row, column)
            self.table.add(
                label("body", largest_text(fits, names_format=best_format is None), "soft"), row, len(headers)
            )
        larger_count = len(models) - len(shown)
        self.more_button.setVisible(larger_count > 0 or self._shows_all)
        self.more_button.set_icon(None, "up" if self._shows_all else "down")
        more_text = self.tr("Show {count} models that do not fit").format(count=larger_count)
        self.more_button.setText(self.tr("Hide models that do not fit") if self._shows_all else more_text)
        last = len(headers)
        for column in range(last + 1):
            self.table.grid.setColumnStretch(column, 2 if column in (0, last) else 1)

    def _shown_models(self, models: list[list[ModelFit]]) -> list[list[ModelFit]]:
        """Without those that fit in no format, unless all are asked for; all where none fits, or one alone does not."""
        fitting = [fits for fits in models if any(fit.verdict != "no" for fit in fits)]
        return models if self._shows_all or not fitting or len(models) - len(fitting) < MIN_HIDDEN else fitting

    def _answer_text(self, kind: str, models: list[list[ModelFit]]) -> str:
        """The largest model that fits, in the most exact format in which it does; "" without a card."""
        if self._fits is None or self._fits.usable is None:
            return ""
        texts, device = language.texts(), self._fits.device
        values = {"card": short_name(device) if device is not None else "GPU"}
        for verdict in ("fits", "tight"):
            fit = largest_model(models, verdict)
            if fit is not None:
                values |= {"model": fit.name, "format": texts.translate(f"fit.format.{fit.format}")}
                return texts.translate(f"fit.answer.{kind}" if verdict == "fits" else "fit.answer.tight", values)
        return texts.translate("fit.answer.none", values)

    def _format_hint(self, weight_format: str) -> str:
        """What a format of weights means, for the header; "" for one of training."""
        return {
            "float16": self.tr("as released"),
            "int8": self.tr("compressed"),
            "nf4": self.tr("smallest"),
        }.get(weight_format, "")

    def _show_error(self, formats: list[ModelFit]) -> None:
        """How far off the estimate may be, in the key and below the table."""
        if self._fits is None or not formats:
            return
        percent = format_percent(round(100 * formats[0].error))
        for verdict, pill in self.key_pills.items():
            pill.set(PILLS[verdict], self._key_text(verdict).format(percent=percent))
        self._key.setVisible(self._fits.usable is not None)
        self._place_key()
        self.error_label.setText(
            self.tr("Estimated from published data ({date}); the actual need may be {percent} more or less.").format(
                date=self._fits.as_of, percent=percent
            )
        )

    def _key_text(self, verdict: FitVerdict) -> str:
        """What the colour of a verdict means."""
        return {
            "fits": self.tr("Fits"),
            "tight": self.tr("May just fit (up to {percent} below the limit)"),
            "no": self.tr("Does not fit"),
        }[verdict]

    def _largest_header(self, kind: str, best_format: str | None) -> str:
        """The title of the column with how much fits, and in which format where that is the same for all models."""
        title = {
            "language": self.tr("Longest text"),
            "image": self.tr("Most images"),
            "training": self.tr("Largest batch"),
        }[kind]
        if best_format is None:
            return title
        return self.tr("{title} ({format})").format(
            title=title, format=language.texts().translate(f"fit.format.{best_format}")
        )


def largest_model(models: list[list[ModelFit]], verdict: FitVerdict) -> ModelFit | None:
    """Of the models with this verdict in some format the one with the most weights, in the first such format, which is
    the most exact; None where there is none. `models` are lists of formats.
    """
    candidates = [fits for fits in models if any(fit.verdict == verdict for fit in fits)]
    largest = max(candidates, key=lambda fits: fits[0].weights, default=[])
    return next((fit for fit in largest if fit.verdict == verdict), None)


def common_format(models: list[list[ModelFit]]) -> str | None:
    """The format with the most room, where it is the same for all models that have room; else None."""
    formats = {best.format for fits in models if (best := roomiest(fits)) is not None}
    return formats.pop() if len(formats) == 1 else None


def largest_text(fits: list[ModelFit], *, names_format: bool = True) -> str:
    """How much fits in the format with the most room, and which one that is; the best verdict where none has room."""
    texts = language.texts()
    best = roomiest(fits)
    if best is None:
        verdicts = {fit.verdict for fit in fits}
        verdict = next((each for each in ("tight", "no") if each in verdicts), None)
        return "—" if verdict is None else texts.translate(f"fit.verdict.{verdict}")
    size = texts.translate(f"fit.size.{best.item}", {"size": f"{rounded_down(best.largest or 0):,}"})
    if best.limit is not None and best.largest == best.limit:
        size = texts.translate("fit.size.limit", {"size": size})
    if not names_format:
        return size
    return translate("ModelFitCard", "{format}: {size}").format(
        format=texts.translate(f"fit.format.{best.format}"), size=size
    )
