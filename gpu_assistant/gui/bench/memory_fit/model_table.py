"""Which models fit on this card, from published figures: a table for each kind, before anything is measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from ....bench.model_memory import roomiest, rounded_down
from ....core.jobs import JobContext
from ....core.results import FitVerdict, ModelFit, ModelFits
from ....texts.format import UNKNOWN_VALUE, format_memory, format_memory_column, format_percent, short_name
from ....texts.translate import remove_cjk_gaps
from ... import language, theme
from ...widgets.base import Themed, draw_rounded_rect
from ...widgets.buttons import Button, SegmentedControl
from ...widgets.cards import Banner, Card, Pill, PillKind
from ...widgets.icons import draw_icon
from ...widgets.inputs import CaptionedField
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

    In the table the text is at the right, so that the figures of a column stand below one another; the icon stands
    before the widest of them (`set_text_width`), so that the icons do, too.
    """

    def __init__(self, verdict: FitVerdict, text: str = "", *, in_key: bool = False) -> None:
        self._in_key, self._text_width = in_key, 0
        super().__init__(PILLS[verdict], text, icon="cross" if verdict == "no" else None)
        if not in_key:
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def refresh(self) -> None:
        super().refresh()
        self.setFont(theme.font("small"))

    @property
    def text_width(self) -> int:
        """The width of its own text in pixels."""
        return self.fontMetrics().horizontalAdvance(self.text) + 1

    def set_text_width(self, width: int) -> None:
        """Reserve so many pixels for the text."""
        self._text_width = width
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        icon_width = theme.px(ICON_SIZE) + ICON_GAP if self.icon_name is not None else 0
        return QSize(max(self.text_width, self._text_width) + icon_width, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        tone = "soft" if self.kind == "neutral" else self.kind
        if self.icon_name is not None:
            text_width, icon_width = max(self.text_width, self._text_width), theme.px(ICON_SIZE)
            left = 0.0 if self._in_key else max(rect.right() - text_width - ICON_GAP - icon_width, 0.0)
            draw_icon(painter, self.icon_name, tone, ICON_SIZE, QRectF(left, 0, icon_width, rect.height()))
            rect.setLeft(left + icon_width + ICON_GAP)
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
        self.grid.setContentsMargins(0, 0, 0, ROW_GAP // 2)  # as below every other row
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
        self.table = FitTable()
        self._kinds_field = CaptionedField(self.kinds)
        self.column.addWidget(self.answer_label)
        self.column.addWidget(self.card_label)
        self.column.addSpacing(4)
        self.column.addWidget(self._kinds_field, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._key)
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
        self.table.grid.invalidate()

    def retranslate(self) -> None:
        fits = self._fits
        if fits is None:
            return
        texts = language.texts()
        self.setAccessibleName(self.tr("Models and the memory they need"))
        self.kinds.set_options(
            [self.tr("Language models"), self.tr("Image models"), self.tr("Training")],
        )
        self.kinds.setAccessibleName(self.tr("Kind of model"))
        self._kinds_field.set_caption(self.tr("Kind of model"))
        if fits.memory is None or fits.usable is None:
            self.card_label.setText(texts.translate("fit.no-card"))
        else:
            memory, usable = format_memory(fits.memory), format_memory_column(fits.usable)
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
                "Parameters are the numbers that a model has learned; 7B in a name stands for 7 billion of them. "
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
        best_format, last = common_format(list(models.values())), len(headers)
        has_card = self._fits.usable is not None  # without one nothing can be said of how much fits
        for column, text in enumerate([*headers, *([self._largest_header(kind, best_format)] * has_card)]):
            is_format = 0 < column < last
            hint = self._format_hint(formats[column - 1].format) if is_format else ""
            if kind == "language" and column == last:
                hint = self.tr("in tokens")
            header = label("caption", "\n".join(part for part in (text, hint) if part))
            if column > 0:
                header.setAlignment(Qt.AlignmentFlag.AlignRight)
            self.table.add(header, 0, column)
        columns: dict[int, list[FitCell]] = {column: [] for column in range(1, last + 1)}
        for row, fits in enumerate(shown, 1):
            self.table.add(label("strong", fits[0].name), row, 0)
            for column, fit in enumerate(fits, 1):
                is_over = fit.verdict == "tight" and (self._fits.usable or 0) < fit.needed
                cell = FitCell("no" if is_over else fit.verdict, format_memory_column(fit.needed))
                verdict = texts.translate("fit.verdict.over" if is_over else f"fit.verdict.{fit.verdict}")
                cell.setToolTip(verdict)
                cell.setAccessibleName(f"{fits[0].name}, {headers[column]}: {cell.text}, {verdict}")
                columns[column].append(cell)
                self.table.add(cell, row, column)
            if has_card:
                self._add_largest(fits, row, last, names_format=best_format is None)
        for cells in columns.values():
            for cell in cells:
                cell.set_text_width(max(each.text_width for each in cells))
        larger_count = len(models) - len(shown)
        self.more_button.setVisible(larger_count > 0 or self._shows_all)
        self.more_button.set_icon(None, "up" if self._shows_all else "down")
        more_text = self.tr("Show {count} models that do not fit").format(count=larger_count)
        self.more_button.setText(self.tr("Hide models that do not fit") if self._shows_all else more_text)
        for column in range(last + has_card):
            self.table.grid.setColumnStretch(column, 2 if column in (0, last) else 1)

    def _add_largest(self, fits: list[ModelFit], row: int, column: int, *, names_format: bool) -> None:
        """How much fits of a model; where nothing does, why, with the sign of the key."""
        best = roomiest(fits)
        verdict = None if best is not None else best_verdict(fits)
        if verdict is not None:
            text = language.texts().translate(f"fit.verdict.{verdict}")
            cell = FitCell(verdict, text[:1].upper() + text[1:])
            cell.setAccessibleName(f"{fits[0].name}: {text}")
            self.table.add(cell, row, column)
            return
        size = UNKNOWN_VALUE if best is None else size_text(best, names_format=names_format)
        size_label = label("strong", size)
        size_label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.table.add(size_label, row, column)

    def _shown_models(self, models: list[list[ModelFit]]) -> list[list[ModelFit]]:
        """Without those that fit in no format, unless all are asked for; all where none fits, or one alone does not."""
        fitting = [fits for fits in models if any(fit.verdict != "no" for fit in fits)]
        return models if self._shows_all or not fitting or len(models) - len(fitting) < MIN_HIDDEN else fitting

    def _answer_text(self, kind: str, models: list[list[ModelFit]]) -> str:
        """The largest model that fits, in the most exact format in which it does; "" without a card.

        Of language models its class, since their names do not say which of them is larger.
        """
        if self._fits is None or self._fits.usable is None:
            return ""
        texts, device = language.texts(), self._fits.device
        values = {"card": short_name(device) if device is not None else "GPU"}
        for verdict in ("fits", "tight"):
            fit = largest_model(models, verdict)
            if fit is not None:
                values |= {"model": fit.name, "format": texts.translate(f"fit.format.{fit.format}")}
                if kind == "language" and verdict == "fits":
                    template = self.tr(
                        "Your {card} runs language models with up to {billions} billion parameters ({format})"
                    )
                    return template.format(**values, **class_figures(fit.parameters))
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
            "training": self.tr("Max. batch size"),
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


def class_figures(parameters: int) -> dict[str, str]:
    """The number of parameters as people speak of a class of models, rounded down, in the units of both languages."""
    billions = parameters // 10**9 or math.floor(parameters / 10**8) / 10
    return {"billions": f"{billions}", "hundred_millions": f"{round(billions * 10)}"}


def common_format(models: list[list[ModelFit]]) -> str | None:
    """The format with the most room, where it is the same for all models that have room; else None."""
    formats = {best.format for fits in models if (best := roomiest(fits)) is not None}
    return formats.pop() if len(formats) == 1 else None


def best_verdict(fits: list[ModelFit]) -> FitVerdict | None:
    """The best verdict of a model that has room in no format; None where the card's memory is unknown."""
    verdicts = {fit.verdict for fit in fits}
    return next((each for each in ("tight", "no") if each in verdicts), None)


def size_text(best: ModelFit, *, names_format: bool) -> str:
    """How much fits in the format with the most room, and which one that is; what limits it stands before the figure,
    so that the figures of a column end below one another.
    """
    texts = language.texts()
    size = texts.translate(f"fit.size.{best.item}", {"size": f"{rounded_down(best.largest or 0):,}"})
    if best.limit is not None and best.largest == best.limit:
        size = texts.translate("fit.size.limit", {"size": size})
    if not names_format:
        return size
    return translate("ModelFitCard", "{format}: {size}").format(
        format=texts.translate(f"fit.format.{best.format}"), size=size
    )
