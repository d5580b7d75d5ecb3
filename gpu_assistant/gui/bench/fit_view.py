"""What fits in memory: which model, which batch, where; what each way of training needs; the code for it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...bench.fit import LARGEST_GPU, LIMIT_S, FitModel
from ...bench.lines import FitProgress, Loading, Start
from ...bench.projection import projected
from ...bench.snippet import EXAMPLES, snippet
from ...core.errors import AppError
from ...core.jobs import Later
from ...core.memory import FitVariant, MemoryFit, MemoryFits
from ...core.results import BenchDevice
from ...texts.format import duration
from ...texts.terminal import Terminal
from .. import language
from ..components import Banner, Button, Card, CommandBox, Flow, Live, label
from ..components.picker import Entry, Picker
from ..main.facts import Installed
from ..worker import JobRunner
from . import fit_words
from .batch_box import BatchBox
from .fit_bars import FitBars
from .fit_known import FitKnown, FitKnownJob
from .fit_words import MODELS
from .working import Working, to_top

if TYPE_CHECKING:
    from ...app import App


class FitView(Live, QWidget):
    """`busy_changed` comes when it begins to measure and when it has ended, `environment_missed` where the environment
    is not there any more.
    """

    busy_changed = Signal(bool)
    environment_missed = Signal()

    def __init__(self, app: App) -> None:
        self._app = app
        self._installed: Installed | None = None
        self._known = FitKnown()
        self._devices: tuple[BenchDevice, ...] = ()
        self._model: FitModel = MODELS[0]
        self._batch = 16
        self._where = LARGEST_GPU
        self._way: FitVariant = "plain"
        self._fits: tuple[MemoryFit, ...] = ()
        self._left: dict[str, str] = {}
        self._answers: dict[tuple[str, str], MemoryFits] = {}  # by model and where
        self._error: AppError | None = None
        self._stopped = self._earlier = self._ready = False
        self._how = Qt.FocusReason.OtherFocusReason
        super().__init__()
        self.model, self.batch, self.device, self.way = Picker(), BatchBox(), Picker(), Picker()
        self.start = Button(kind="primary", icon="play")
        self.about, self.note, self.needs, self.trouble = label("body"), label("small"), label("small"), Banner("error")
        self.running = Working(fit_words.running, level="strong")
        self.cancel = self.running.cancel
        self.bars = FitBars(self.cancel)
        self.ask, self.code, self.snippet, self.bring = Card(" "), Card(" "), CommandBox(), CommandBox()
        self._reader, self._runner = JobRunner(self), JobRunner(self)
        self._lay_out()
        self.batch.setValue(self._batch)
        self._connect()
        self._ready = True
        self.follow()

    def _lay_out(self) -> None:
        choices = Flow(spacing=10)
        for widget in (self.model, self.batch, self.device, self.start):
            choices.addWidget(widget)
        self.ask.column.addWidget(self.about)
        self.ask.column.addLayout(choices)
        for part in (self.trouble, self.running, self.note):
            self.ask.column.addWidget(part)
        self.code.column.addWidget(self.way, 0, Qt.AlignmentFlag.AlignLeft)
        self.code.column.addWidget(self.snippet)
        self.code.column.addWidget(self.needs)
        self.code.column.addWidget(self.bring)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for card in (self.ask, self.bars, self.code):
            column.addWidget(card)
        column.addStretch(1)

    def _connect(self) -> None:
        self.model.chosen.connect(partial(self._choose, "_model"))
        self.batch.valueChanged.connect(partial(self._choose, "_batch"))
        self.device.chosen.connect(partial(self._choose, "_where"))
        self.way.chosen.connect(self._choose_way)
        self.start.clicked.connect(self.measure)
        self.running.stop_wanted.connect(self.stop)
        self._reader.done.connect(self._learned)
        self._runner.news.connect(self._heard)
        self._runner.done.connect(self._done)
        self._runner.failed.connect(self._failed)
        self._runner.cancelled.connect(self._was_stopped)
        self._runner.finished.connect(self._ended)

    @property
    def busy(self) -> bool:
        """Whether it measures."""
        return self._runner.running

    def set_environment(self, installed: Installed | None) -> None:
        """The environment to measure in; None: there is nothing to measure."""
        if self._installed != installed:
            self._installed, self._devices = installed, ()
            self._answers.clear()
            self._answer()
        if installed is not None and not self._reader.running:
            self._reader.start(FitKnownJob(self._app, installed.folder))

    def _learned(self, known: FitKnown) -> None:
        self._known = known
        self._devices = self._devices or known.devices
        self.retranslate()

    def measure(self) -> None:
        """Measure small steps; the bars come one by one."""
        if self.busy or self._installed is None:
            return
        # Who came with the mouse needs no ring.
        reason = Qt.FocusReason
        self._how = reason.OtherFocusReason if self.start.ringed else reason.MouseFocusReason
        # What is known stays until there is something new: a run may bring nothing.
        self._error, self._stopped, self._earlier = None, False, bool(self._fits)
        fit = partial(self._app.fit, self._installed.folder, model=self._model, batch=self._batch, device=self._place())
        self._runner.start(Later(fit))
        self.running.begin(self._note)
        self.retranslate()
        self.running.take_over(self._how)
        self.busy_changed.emit(True)

    def stop(self) -> None:
        """Ask it to stop."""
        if self.busy:
            self._runner.cancel()
            self.running.set_stopping()

    def _has_gpu(self) -> bool:
        return self._installed is not None and self._installed.variant != "cpu"

    def _choose(self, name: str, value: object) -> None:
        setattr(self, name, value)
        self._answer()

    def _choose_way(self, way: FitVariant) -> None:
        self._way = way
        self._show_code()

    def _place(self) -> str:
        return self._where if self._has_gpu() else "cpu"

    def _answer(self) -> None:
        """Another question: its answer where the steps for it were measured before, else none; the last would mislead.

        The batch is arithmetic on those steps.
        """
        if not self.busy:
            found = self._answers.get((self._model, self._place()))
            steps, self._left = (found.steps, found.left_out) if found is not None else ((), {})
            self._fits = tuple(projected(each, self._batch) for each in steps)
            self._error, self._stopped, self._earlier = None, False, False
        self.retranslate()

    def _heard(self, news: Loading | FitProgress | MemoryFit | Start) -> None:
        if isinstance(news, Loading | FitProgress):
            self.running.show_progress(news)
            return
        if isinstance(news, Start):
            self._devices = news.devices
        else:
            self._fits, self._left = (*(() if self._earlier else self._fits), news), {}
            self._earlier = False
        self.retranslate()

    def _done(self, found: MemoryFits) -> None:
        self._fits, self._left, self._earlier = found.fits, found.left_out, False
        self._devices = found.devices or self._devices
        # Who asks for the card with the most memory may ask for the same one by its number.
        for where in {self._place(), found.fits[0].device}:
            self._answers[self._model, where] = found

    def _failed(self, error: AppError) -> None:
        self._error = error

    def _was_stopped(self) -> None:
        self._stopped = True

    def _ended(self) -> None:
        # Not on a button: a key meant for "Cancel" that comes a moment late must not start it again.
        held = self.running.held
        self.retranslate()
        if held:
            read = next(iter(self.bars.rows.values()), None) if self._error is None and not self._stopped else None
            (read or self).setFocus(self._how)
            to_top(self)
        self.busy_changed.emit(False)
        if self._error is not None and self._error.code == "environment-missing":
            self.environment_missed.emit()

    # Words

    def retranslate(self) -> None:
        """All words and bars."""
        if not self._ready:
            return
        busy, able = self.busy, self._installed is not None
        title = self.tr("What fits in memory?")
        asked = self.tr("{model}, {batch}").format(
            model=fit_words.model_name(self._model), batch=self._batch_words().format(count=self._batch)
        )
        self.ask.set_title(asked if busy else title)
        self.setAccessibleName(title)
        self._show_choices()
        self.start.setText(self.tr("Measure again") if self._fits else self.tr("Work it out"))
        for control in (self.model, self.batch, self.start):
            control.setEnabled(able)
            control.setVisible(not busy)
        self.device.setVisible(self._has_gpu() and not busy)
        self.running.setVisible(busy)
        self.note.setText(self._note())
        self.about.setText(
            self.tr(
                "Says before you train whether it fits into the memory, and how large the batch can be. A batch is how "
                "many examples the model learns from at once; a larger one needs more memory."
            )
        )
        for words in (self.about, self.note):
            words.setVisible(not self._fits and not busy)
        self._show_trouble()
        self.bars.show_fits(self._fits, self._left, self._devices, earlier=self._earlier)
        self.code.setVisible(bool(self._fits) and not busy)
        self.code.set_title(self.tr("The code for it"))
        self._show_code()

    def _show_choices(self) -> None:
        models = [Entry(value=m, text=fit_words.model_name(m), detail=fit_words.model_detail(m)) for m in MODELS]
        places = fit_words.places(self._devices) if self._has_gpu() else [Entry(value="cpu", text="CPU")]
        if self._has_gpu() and all(self._where != each.value for each in places):
            self._where = str(places[0].value)
        for picker, entries, chosen, name in (
            (self.model, models, self._model, self.tr("Model")),
            (self.device, places, self._where, self.tr("Where")),
        ):
            words = next((each.text for each in entries if each.value == chosen), "")
            picker.set(entries, chosen, words, name)
        self.batch.set_words(self._batch_words(), self.tr("Batch"))

    def _batch_words(self) -> str:
        return self.tr("batch of {count}")

    def _note(self) -> str:
        """How it is done and how long it takes, as far as somebody measured that."""
        said = [
            self.tr(
                "Measures steps with 1 to 3 examples and projects them to your batch. Another batch is answered at "
                "once afterwards."
            )
        ]
        speak, model = language.texts().language, fit_words.model_name(self._model)
        last = self._answers.get((self._model, self._place()))
        known = self._known.took(self._model) if self._place() == "cpu" else None
        if last is not None and last.seconds is not None:
            said.append(self.tr("Last time it took {time} here.").format(time=duration(last.seconds, speak)))
        elif known is not None:
            took = self.tr("{model} took {time} on a CPU with {cores} cores beside much other work.")
            said.append(took.format(model=model, time=duration(known.seconds, speak), cores=known.cores))
        else:
            said.append(self.tr("How long that takes here is known after the first run."))
        said.append(self.tr("After {time} at the latest it ends.").format(time=duration(LIMIT_S, speak)))
        return ("" if speak == "zh_CN" else " ").join(said)

    def _show_trouble(self) -> None:
        self.trouble.setVisible(not self.busy and (self._error is not None or self._stopped))
        if self._error is not None:
            self.trouble.set("error", language.texts().error(self._error))
        elif self._stopped:
            rest = self.tr("Stopped. What was measured until then is shown.")
            new = self._fits and not self._earlier
            self.trouble.set("warn", rest if new else self.tr("Stopped before anything was measured."))

    def _show_code(self) -> None:
        """The code of what has a bar, and of nothing else."""
        shown = next((fit for fit in self._fits if fit.variant == self._way), None)
        shown = shown or next(iter(self._fits), None)
        if shown is None:
            return
        ways = [
            Entry(value=fit.variant, text=fit_words.variant_name(fit.variant), detail=fit_words.variant_detail(fit))
            for fit in self._fits
        ]
        self.way.set(ways, shown.variant, fit_words.variant_name(shown.variant), self.tr("Way of training"))
        self.snippet.set_text(snippet(shown).rstrip())
        self._show_needs(EXAMPLES[shown.model].needs)

    def _show_needs(self, name: str) -> None:
        """What the program needs and the environment has not; nothing where it has it."""
        lacking = name in self._known.lacking
        command = self._known.lacking.get(name)
        self.needs.setVisible(lacking)
        self.bring.setVisible(command is not None)
        if command is not None:
            said = self.tr("Uses the Python package {name}, which this environment does not have yet. This brings it:")
            self.bring.set_text(Terminal(system=self._app.system.name).line(command))
        else:
            said = self.tr(
                "Uses the Python package {name}, which this environment does not have. Which release of it belongs to "
                "this PyTorch is not known here, and with another one neither of them would load."
            )
        self.needs.setText(said.format(name=name))
