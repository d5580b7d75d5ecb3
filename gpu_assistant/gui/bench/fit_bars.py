"""The answer to what fits in memory: a bar for each way of training, what is free, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...core.memory import FitVariant, MemoryFit
from ...core.results import BenchDevice
from ...texts.measured import labelled
from ...texts.sentences import closed_up
from .. import language
from ..components import Card, label
from . import fit_words, scores
from .layouts import emptied
from .stack_row import StackRow


class FitBars(Card):
    """`rows` in the order in which they were measured; the keyboard gets to them after the widget `before`."""

    def __init__(self, before: QWidget) -> None:
        self._before = before
        self._fits: tuple[MemoryFit, ...] = ()
        self._left: Mapping[str, str] = {}
        self._devices: tuple[BenchDevice, ...] = ()
        self._earlier = self._ready = False
        super().__init__(" ")
        self.rows: dict[FitVariant, StackRow] = {}
        self.answer, self.free, self.notes = label("strong"), label("small"), label("small")
        self._rows, self._left_out = QVBoxLayout(), QVBoxLayout()
        self._rows.setSpacing(8)
        self.column.addWidget(self.answer)
        self.column.addWidget(self.free)
        self.column.addLayout(self._rows)
        self.column.addLayout(self._left_out)
        self.column.addWidget(self.notes)
        self._ready = True
        self.retranslate()

    def show_fits(
        self,
        fits: Sequence[MemoryFit],
        left_out: Mapping[str, str],
        devices: tuple[BenchDevice, ...],
        *,
        earlier: bool = False,
    ) -> None:
        """What was measured so far, what was left out with the key of its text, the devices that there are.

        `earlier`: by the run before this one, which has brought nothing yet.
        """
        self._fits, self._left, self._devices, self._earlier = tuple(fits), left_out, devices, earlier
        self.retranslate()

    def retranslate(self) -> None:
        """All words and bars. A row that is there already stays, and with it the keyboard."""
        if not self._ready:
            return
        fits = self._fits
        self.setVisible(bool(fits))
        if self.rows and [*self.rows] != [fit.variant for fit in fits[: len(self.rows)]]:
            emptied(self._rows)
            self.rows.clear()
        emptied(self._left_out)
        if not fits:
            return
        first, scale = fits[0], max(fit.peak for fit in fits)
        title = self.tr("{model}: one step with a batch of {batch}, on {device}").format(
            model=fit_words.model_name(first.model),
            batch=first.batch,
            device=fit_words.gpu_name(first.device, self._devices),
        )
        self.set_title(self.tr("The earlier result: {title}").format(title=title) if self._earlier else title)
        plain = next((fit for fit in fits if fit.variant == "plain"), None)
        self.answer.setText(fit_words.answer(fits))
        self.answer.setVisible(bool(self.answer.text()))
        self.answer.set_tone(fit_words.largest_colour(first))
        self.free.setText(fit_words.room(first, scale))
        self.free.setVisible(bool(self.free.text()))
        for fit in fits:
            if fit.variant in self.rows:
                self.rows[fit.variant].show_fit(fit, plain, scale)
            else:
                self._add(StackRow(fit, plain, scale), fit.variant)
        for variant, why in self._left.items():
            name = next((fit_words.variant_name(each) for each in fit_words.VARIANTS if each == variant), variant)
            self._left_out.addWidget(label("small", labelled(name, scores.why(why), language.texts().language)))
        notes = [self.tr("1 GB of memory is 1,024 MB, as cards are sold. PyTorch writes GiB and MiB for the same.")]
        if first.device == "cpu":
            notes.insert(
                0,
                self.tr(
                    "Only what the training itself needs is counted; PyTorch's own libraries take some hundred MB more."
                ),
            )
        if any(0 < fit.gradients < fit.parameters for fit in fits):
            notes.insert(
                0, self.tr("A bar is the moment in which most memory is needed; not all gradients are there by then.")
            )
        if not all(fit.exact for fit in fits):
            notes.insert(0, self.tr("Projected from small steps that were not quite alike: take it as about."))
        if any(fit.gradients == 0 for fit in fits):
            notes.insert(
                0, self.tr("Where a bar has no gradients, most memory is needed before the first of them is there.")
            )
        self.notes.setText(closed_up(" ".join(notes)))

    def _add(self, row: StackRow, variant: FitVariant) -> None:
        """One more, to be reached after the one above it: Qt would put what comes later behind the whole window."""
        above = next(reversed(self.rows.values()), self._before)
        self.rows[variant] = row
        self._rows.addWidget(row)
        row.show()
        QWidget.setTabOrder(above, row)
