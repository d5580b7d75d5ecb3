"""Which models fit on this card, from published figures: a table for each kind, before anything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from ....bench.model_memory import roomiest, rounded_down
from ....core.jobs import JobContext
from ....core.results import FitVerdict, ModelFit, ModelFits
from ....texts.format import format_memory, format_memory_column
from ... import language
from ...widgets.buttons import SegmentedControl
from ...widgets.cards import Banner, Card, Pill, PillKind
from ...widgets.layouts import FlowLayout
from ...widgets.text import label

if TYPE_CHECKING:
    from ....app import App

KINDS = ("language", "image", "training")
# What does not fit is no fault of the card: grey.
PILLS: dict[FitVerdict, PillKind] = {"fits": "ok", "tight": "warn", "no": "neutral", "unknown": "neutral"}
KEY: tuple[FitVerdict, ...] = ("fits", "tight", "no")
KEY_GAP = 8  # pixels
COLUMN_GAP, ROW_GAP = 18, 10  # pixels

translate = QCoreApplication.translate


class EstimateModelsJob:
    """Looks at the machine and computes what fits; raises AppError as detecting does, and "catalog-broken"."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> ModelFits:
        machine = self._app.setup.detect().run(context)
        return self._app.monitoring.estimate_models(machine)


class ModelFitCard(Card):
    """The models of one kind at a time: of each format the memory and whether it fits, then how much fits at most."""

    def __init__(self) -> None:
        self._fits: ModelFits | None = None
        super().__init__(" ")
        self._rows: list[QWidget] = []
        self.kinds = SegmentedControl(("", "", ""))
        self.card_label, self.formats_label, self.error_label = label("small"), label("small"), label("small")
        self.spill_banner = Banner("warn", inset=True)
        self.key_pills = {verdict: _pill(verdict) for verdict in KEY}
        self._key, key_layout = QWidget(), FlowLayout(spacing=KEY_GAP)
        self._key.setLayout(key_layout)
        for pill in self.key_pills.values():
            key_layout.addWidget(pill)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(COLUMN_GAP)
        self._grid.setVerticalSpacing(ROW_GAP)
        self.column.addWidget(self.card_label)
        self.column.addWidget(self.kinds, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._key)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.formats_label)
        self.column.addWidget(self.error_label)
        self.column.addWidget(self.spill_banner)
        self.kinds.chosen.connect(lambda _: self._update_rows())
        self.hide()

    @property
    def rows(self) -> list[QWidget]:
        """The widgets of the table, row by row."""
        return self._rows

    def show_fits(self, fits: ModelFits | None) -> None:
        """Show other figures; None hides the card."""
        self._fits = fits
        self.setVisible(fits is not None)
        self.retranslate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grid.invalidate()

    def retranslate(self) -> None:
        fits = self._fits
        if fits is None:
            return
        texts = language.texts()
        self.set_title(self.tr("Does it fit on my card?"))
        self.kinds.set_options(
            [self.tr("Language models"), self.tr("Image models"), self.tr("Training")],
        )
        self.kinds.setAccessibleName(self.tr("Kind of model"))
        for verdict, pill in self.key_pills.items():
            pill.set(PILLS[verdict], self._key_text(verdict))
        self._key.setVisible(fits.usable is not None)
        if fits.memory is None or fits.usable is None:
            self.card_label.setText(texts.translate("fit.no-card"))
        else:
            memory, usable = format_memory(fits.memory), format_memory(fits.usable)
            self.card_label.setText(
                texts.translate("fit.card", {"device": fits.device, "memory": memory, "usable": usable})
            )
        errors = {each.kind: round(100 * each.error) for each in fits.models}
        data = {"date": fits.as_of, "language": errors.get("language"), "other": errors.get("image")}
        self.error_label.setText(texts.translate("fit.error", data))
        self.spill_banner.set("warn", texts.translate("fit.spills"))
        self.spill_banner.setVisible(fits.spills and any(each.verdict in ("tight", "no") for each in fits.models))
        self._update_rows()

    def _update_rows(self) -> None:
        for widget in self._rows:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._rows = []
        if self._fits is None:
            return
        kind = KINDS[self.kinds.current()]
        self.formats_label.setText(
            self.tr(
                "16-bit: as released. 8-bit and 4-bit: quantised weights, which need less memory and are less exact. "
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
        headers = [self.tr("Model"), *(texts.translate(f"fit.format.{each.format}") for each in formats)]
        for column, text in enumerate([*headers, self._largest_header(kind)]):
            self._add(label("caption", text), 0, column)
        for row, fits in enumerate(models.values(), 1):
            self._add(label("strong", fits[0].name), row, 0)
            for column, fit in enumerate(fits, 1):
                pill = _pill(fit.verdict, format_memory_column(fit.needed))
                verdict = texts.translate(f"fit.verdict.{fit.verdict}")
                pill.setToolTip(verdict)
                pill.setAccessibleName(f"{fits[0].name}, {headers[column]}: {pill.text}, {verdict}")
                self._add(pill, row, column)
            self._add(label("small", largest_text(fits)), row, len(headers))
        self._grid.setColumnStretch(0, 2)
        self._grid.setColumnStretch(len(headers), 3)

    def _key_text(self, verdict: FitVerdict) -> str:
        """What the colour of a verdict means."""
        return {
            "fits": self.tr("Fits"),
            "tight": self.tr("May just fit"),
            "no": self.tr("Does not fit"),
        }[verdict]

    def _largest_header(self, kind: str) -> str:
        """The title of the column with how much fits."""
        return {
            "language": self.tr("Longest text"),
            "image": self.tr("Most images"),
            "training": self.tr("Largest batch"),
        }[kind]

    def _add(self, widget: QWidget, row: int, column: int) -> None:
        self._rows.append(widget)
        self._grid.addWidget(widget, row, column, Qt.AlignmentFlag.AlignVCenter)
        widget.show()


def _pill(verdict: FitVerdict, text: str = "") -> Pill:
    return Pill(PILLS[verdict], text, icon="cross" if verdict == "no" else None)


def largest_text(fits: list[ModelFit]) -> str:
    """How much fits in the format with the most room, and which one that is; "—" where none has room."""
    texts = language.texts()
    best = roomiest(fits)
    if best is None:
        return "—"
    size = texts.translate(f"fit.largest.{best.item}", {"size": f"{rounded_down(best.largest or 0):,}"})
    return translate("ModelFitCard", "{format}: {size}").format(
        format=texts.translate(f"fit.format.{best.format}"), size=size
    )
