"""The answer to what fits in memory: a bar for each way of training, what is free, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ....core.results import BenchDevice, FitVariant, MemoryFit
from ....texts.benchmark import with_label
from ....texts.translate import remove_cjk_gaps
from ... import language
from ...widgets.cards import Card
from ...widgets.layouts import clear_layout
from ...widgets.text import label
from .. import messages as bench_messages
from ..result.charts import StackedBarRow
from . import messages


class MemoryFitBars(Card):
    """`rows` in the order in which they were measured; the keyboard gets to them after the widget `before`."""

    def __init__(self, previous_widget: QWidget) -> None:
        self._previous_widget = previous_widget
        self._fits: tuple[MemoryFit, ...] = ()
        self._omissions: Mapping[str, str] = {}
        self._devices: tuple[BenchDevice, ...] = ()
        self._from_previous_run = self._ready = False
        super().__init__(" ")
        self.rows: dict[FitVariant, StackedBarRow] = {}
        self.answer_label, self.free_label, self.notes_label = label("strong"), label("small"), label("small")
        self._rows_layout, self._omissions_layout = QVBoxLayout(), QVBoxLayout()
        self._rows_layout.setSpacing(8)
        self.column.addWidget(self.answer_label)
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
        """What was measured so far, what was left out with the key of its text, the devices that there are.

        `earlier`: by the run before this one, which has brought nothing yet.
        """
        self._fits, self._omissions, self._devices, self._from_previous_run = (
            tuple(fits),
            omissions,
            devices,
            from_previous_run,
        )
        self.retranslate()

    def retranslate(self) -> None:
        """All words and bars. A row that is there already stays, and with it the keyboard."""
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
        self.answer_label.setText(messages.fit_summary(fits))
        self.answer_label.setVisible(bool(self.answer_label.text()))
        self.answer_label.set_tone(messages.fit_colour(first))
        self.free_label.setText(messages.free_memory_text(first, scale))
        self.free_label.setVisible(bool(self.free_label.text()))
        for fit in fits:
            if fit.variant in self.rows:
                self.rows[fit.variant].show_fit(fit, baseline, scale)
            else:
                self._add_row(StackedBarRow(fit, baseline, scale), fit.variant)
        for variant, reason in self._omissions.items():
            name = next((messages.variant_name(each) for each in messages.FIT_VARIANTS if each == variant), variant)
            self._omissions_layout.addWidget(
                label("small", with_label(name, bench_messages.omission_reason(reason), language.texts().language))
            )
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
        self.notes_label.setText(remove_cjk_gaps(" ".join(notes)))

    def _add_row(self, row: StackedBarRow, variant: FitVariant) -> None:
        """One more, to be reached after the one above it: Qt would put what comes later behind the whole window."""
        previous = next(reversed(self.rows.values()), self._previous_widget)
        self.rows[variant] = row
        self._rows_layout.addWidget(row)
        row.show()
        QWidget.setTabOrder(previous, row)
