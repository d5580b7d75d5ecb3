"""What fits in memory: which model, which batch, where; what each way of training needs; the code for it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...bench.fit import FitModel
from ...bench.snippet import snippet
from ...core.errors import AppError
from ...core.jobs import Later
from ...core.results import DType, FitVariant, MemoryFit, MemoryFits
from ...texts.format import memory
from .. import language
from ..components import Button, Card, CommandBox, Live, ProgressBar, Segments, label
from ..components.picker import Entry, Picker
from ..main.facts import Installed
from ..worker import JobRunner
from . import fit_words
from .fit_words import BATCHES, MODELS, PARTS, VARIANTS
from .layouts import emptied
from .stack_row import Legend, StackRow

if TYPE_CHECKING:
    from ...app import App

# The codes to copy: each way alone, then all of them together.
CODES: tuple[tuple[FitVariant, ...], ...] = (
    *((each,) for each in VARIANTS),
    ("mixed", "checkpointing", "accumulation"),
)


class FitView(Live, QWidget):
    """`busy_changed` comes when it begins to measure and when it has ended."""

    busy_changed = Signal(bool)

    def __init__(self, app: App) -> None:
        self._app = app
        self._installed: Installed | None = None
        self._model: FitModel = MODELS[0]
        self._batch = 16
        self._fits: tuple[MemoryFit, ...] = ()
        self._left: dict[str, str] = {}
        self._error: AppError | None = None
        self._ready = False
        super().__init__()
        self.model, self.batch = Picker(), Picker()
        self.device = Segments(("GPU", "CPU"))
        self.start, self.cancel = Button(kind="primary", icon="play"), Button(icon="cross")
        self._note, self.bar = label("small"), ProgressBar()
        self.ask, self.bars, self.code = Card(" "), Card(" "), Card(" ")
        self.free, self.legend = label("small"), Legend()
        self.codes, self.snippet = Segments([""] * len(CODES)), CommandBox()
        self._runner = JobRunner(self)
        self._lay_out()
        self._connect()
        self._ready = True
        self.follow()

    def _lay_out(self) -> None:
        choices = QHBoxLayout()
        choices.setSpacing(10)
        for widget in (self.model, self.batch, self.device):
            choices.addWidget(widget)
        choices.addStretch(1)
        choices.addWidget(self.cancel)
        choices.addWidget(self.start)
        self.ask.column.addLayout(choices)
        self.ask.column.addWidget(self._note)
        self.ask.column.addWidget(self.bar)
        self._rows, self._left_out = QVBoxLayout(), QVBoxLayout()
        self._rows.setSpacing(12)
        self.bars.column.addWidget(self.free)
        self.bars.column.addLayout(self._rows)
        self.bars.column.addLayout(self._left_out)
        self.bars.column.addWidget(self.legend)
        self.code.column.addWidget(self.codes, 0, Qt.AlignmentFlag.AlignLeft)
        self.code.column.addWidget(self.snippet)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for card in (self.ask, self.bars, self.code):
            column.addWidget(card)
        column.addStretch(1)

    def _connect(self) -> None:
        self.model.chosen.connect(self._choose_model)
        self.batch.chosen.connect(self._choose_batch)
        self.device.chosen.connect(lambda _: self._forget())
        self.codes.chosen.connect(lambda _: self._show_code())
        self.start.clicked.connect(self.measure)
        self.cancel.clicked.connect(self.stop)
        self._runner.news.connect(self._heard)
        self._runner.done.connect(self._done)
        self._runner.failed.connect(self._failed)
        self._runner.finished.connect(self._ended)

    @property
    def busy(self) -> bool:
        """Whether it measures."""
        return self._runner.running

    def set_environment(self, installed: Installed | None) -> None:
        """The environment to measure in; None: there is nothing to measure."""
        if self._installed != installed:
            self._installed = installed
            self._forget()

    def measure(self) -> None:
        """Measure small steps; the bars come one by one."""
        if self.busy or self._installed is None:
            return
        self._fits, self._left, self._error = (), {}, None
        fit = partial(self._app.fit, self._installed.folder, model=self._model, batch=self._batch, device=self._where())
        self._runner.start(Later(fit))
        self.retranslate()
        self.cancel.setFocus()
        self.busy_changed.emit(True)

    def stop(self) -> None:
        """Ask it to stop."""
        if self.busy:
            self._runner.cancel()
            self.cancel.setEnabled(False)
            self.cancel.setText(self.tr("Stopping…"))

    def _has_gpu(self) -> bool:
        return self._installed is not None and self._installed.variant != "cpu"

    def _where(self) -> str:
        return "cuda:0" if self._has_gpu() and self.device.current() == 0 else "cpu"

    def _choose_model(self, model: FitModel) -> None:
        self._model = model
        self._forget()

    def _choose_batch(self, batch: int) -> None:
        self._batch = batch
        self._forget()

    def _forget(self) -> None:
        """Another question: the answer to the last one would mislead."""
        if not self.busy:
            self._fits, self._left, self._error = (), {}, None
        self.retranslate()

    def _heard(self, news: MemoryFit) -> None:
        self._fits = (*self._fits, news)
        self.retranslate()

    def _done(self, found: MemoryFits) -> None:
        self._fits, self._left = found.fits, found.left_out

    def _failed(self, error: AppError) -> None:
        self._error = error

    def _ended(self) -> None:
        self.retranslate()
        self.busy_changed.emit(False)

    # Words

    def retranslate(self) -> None:
        """All words and bars."""
        if not self._ready:
            return
        busy, able = self.busy, self._installed is not None
        self.ask.set_title(self.tr("What fits in memory?"))
        name = fit_words.model_name(self._model)
        self.model.set(
            [Entry(value=m, text=fit_words.model_name(m), detail=fit_words.model_detail(m)) for m in MODELS],
            self._model,
            name,
            self.tr("Model"),
        )
        self.batch.set(
            [Entry(value=count, text=self._batch_words(count)) for count in BATCHES],
            self._batch,
            self._batch_words(self._batch),
            self.tr("Batch"),
        )
        self.device.setAccessibleName(self.tr("Where"))
        self.device.setVisible(self._has_gpu())
        self.start.setText(self.tr("Work it out"))
        self.cancel.setText(self.tr("Cancel"))
        self.cancel.setEnabled(busy)
        for control in (self.model, self.batch, self.device, self.start):
            control.setEnabled(able and not busy)
        self.cancel.setVisible(busy)
        self.start.setVisible(not busy)
        self.bar.setVisible(busy)
        self.bar.set_fraction(len(self._fits) / len(VARIANTS) if busy and self._fits else None)
        self._note.setText(self._notes(busy))
        self._note.setVisible(bool(self._note.text()))
        self._show_bars()
        self.code.set_title(self.tr("The code for it"))
        together = self.tr("All together")
        self.codes.set_options([*(fit_words.variant_name(each) for each in VARIANTS), together])
        self.codes.setAccessibleName(self.tr("Way of training"))
        self._show_code()

    def _batch_words(self, batch: int) -> str:
        return self.tr("batch of {count}").format(count=batch)

    def _notes(self, busy: bool) -> str:
        if self._error is not None:
            return language.texts().error(self._error)
        if busy:
            said = self.tr("Measuring small steps of {model}, {n} of {of} done.")
            return said.format(model=fit_words.model_name(self._model), n=len(self._fits), of=len(VARIANTS))
        if self._fits:
            exact = all(fit.exact for fit in self._fits)
            return "" if exact else self.tr("Projected from small steps that were not quite alike: take it as about.")
        return self.tr(
            "Measures steps with 1 and 2 examples and projects them to your batch. On a GPU about a minute, on a "
            "CPU some minutes."
        )

    def _show_bars(self) -> None:
        emptied(self._rows)
        emptied(self._left_out)
        self.bars.setVisible(bool(self._fits))
        self.code.setVisible(bool(self._fits))
        if not self._fits:
            return
        model = fit_words.model_name(self._fits[0].model)
        self.bars.set_title(
            self.tr("One step of {model}, batch of {batch}").format(model=model, batch=self._fits[0].batch)
        )
        plain = next((fit for fit in self._fits if fit.variant == "plain"), None)
        capacity = next((fit.capacity for fit in self._fits if fit.capacity is not None), None)
        scale = max(fit.peak for fit in self._fits)
        self.free.setVisible(capacity is not None)
        if capacity is not None:
            said = (
                self.tr("Free just now: {size}")
                if capacity >= scale
                else self.tr("Free just now: {size}, the dashed line")
            )
            self.free.setText(said.format(size=memory(capacity)))
        for fit in self._fits:
            self._rows.addWidget(StackRow(fit, plain, scale))
        texts = language.texts()
        for variant, why in self._left.items():
            name = next((fit_words.variant_name(each) for each in VARIANTS if each == variant), variant)
            self._left_out.addWidget(label("small", f"{name}: {texts.say(why)}"))
        used = {part for fit in self._fits for part, _, _ in fit_words.parts_of(fit)}
        self.legend.set_parts(tuple((part, colour) for part, colour in PARTS if part in used))

    def _show_code(self) -> None:
        wanted = frozenset(CODES[self.codes.current()])
        mixed: DType = next((fit.dtype for fit in self._fits if fit.variant == "mixed"), "mixed-bfloat16")
        model = self._fits[0].model if self._fits else "resnet50"
        self.snippet.set_text(snippet(self._where(), wanted, model=model, mixed=mixed).rstrip())
