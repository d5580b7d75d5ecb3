"""The memory estimate: model, batch, device; what each way of training needs; the code for it.

What flows here, with the modules:

    showEvent ──► EstimateModelsJob (worker thread) ──► ModelFits ──► model_table.ModelFitCard
    set_environment ──► FitInputsJob (worker thread) ──► FitInputs: devices, missing packages, known durations
    measure ──► app.monitoring.estimate_memory (JobRunner) ──► reports ──► running.RunningView, bars.MemoryFitBars
                                                            └─► MemoryFits ──► cached by (model, device)
    another batch ──► bench.memory_fit.project_memory on the cached steps, without a run ──► bars.MemoryFitBars
    a way of training ──► bench.training_snippet ──► code box
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ....bench.child_protocol import ChildStart, MemoryFitProgress, TorchLoading
from ....bench.memory_fit import LARGEST_GPU_DEVICE, TIME_LIMIT_S, FitModel, project_memory
from ....bench.training_snippet import EXAMPLE_MODELS, training_snippet
from ....catalog.estimates import MemoryPlanningCatalog, PlanningDuration, load_memory_planning
from ....core.errors import AppError
from ....core.jobs import JobContext, LazyJob
from ....core.results import BenchDevice, FitVariant, MemoryFit, MemoryFits
from ....texts.format import format_duration
from ....texts.terminal import Terminal
from ... import language
from ...machine_facts import InstalledEnvironment
from ...widgets.base import Themed
from ...widgets.buttons import Button
from ...widgets.cards import Banner, Card
from ...widgets.console import CommandBox
from ...widgets.inputs import CaptionedField, Dropdown, DropdownEntry, SpinBox
from ...widgets.layouts import FlowLayout
from ...widgets.text import label
from ...worker import JobRunner
from ..running import RunningView, scroll_to, scroll_to_top
from . import messages
from .messages import FIT_MODELS
from .model_table import EstimateModelsJob, ModelFitCard
from .stacked_bars import MemoryFitBars

if TYPE_CHECKING:
    from ....app import App


DEFAULT_BATCH, MAX_BATCH = 16, 4096
ENVIRONMENT_MISSING = "environment-missing"


class MemoryFitView(Themed, QWidget):
    """`busy_changed` is emitted when a run starts and ends, `environment_missing` when a run did not find the
    environment.
    """

    busy_changed = Signal(bool)
    environment_missing = Signal()

    def __init__(self, app: App) -> None:
        self._app = app
        self._installed: InstalledEnvironment | None = None
        self._inputs = FitInputs()
        self._devices: tuple[BenchDevice, ...] = ()
        self._model: FitModel = FIT_MODELS[0]
        self._batch = DEFAULT_BATCH
        self._device = LARGEST_GPU_DEVICE
        self._variant: FitVariant = "plain"
        self._fits: tuple[MemoryFit, ...] = ()
        self._omissions: dict[str, str] = {}
        self._cache: dict[tuple[str, str], MemoryFits] = {}  # by model and device
        self._error: AppError | None = None
        self._blocked_reason = ""
        self._stopped = self._from_previous_run = self._has_measured = self._ready = False
        self._focus_reason = Qt.FocusReason.OtherFocusReason
        super().__init__()
        self.model_dropdown, self.device_dropdown, self.variant_dropdown = Dropdown(), Dropdown(), Dropdown()
        self.batch_box = BatchSizeBox()
        self._model_field, self._batch_field = CaptionedField(self.model_dropdown), CaptionedField(self.batch_box)
        self._device_field = CaptionedField(self.device_dropdown)
        self.measure_button = Button(kind="primary", icon_name="play")
        self.description_label, self.note_label, self.package_label = label("body"), label("small"), label("small")
        self.message_banner = Banner("error", inset=True)
        self.running_view = RunningView(messages.fit_activity, level="strong")
        self.cancel_button = self.running_view.cancel_button
        self.bars = MemoryFitBars()
        self.options_card, self.code_card = Card(" "), Card(" ")
        self.code_box, self.install_command_box = CommandBox(), CommandBox()
        self.model_card = ModelFitCard()
        self._inputs_runner, self._runner, self._models_runner = JobRunner(self), JobRunner(self), JobRunner(self)
        self._models_read = False
        self._build_layout()
        self.batch_box.setValue(self._batch)
        self._connect_signals()
        self._ready = True
        self.apply_theme()

    def _build_layout(self) -> None:
        options = FlowLayout(spacing=10, line_spacing=10, at_bottom=True)
        for widget in (self._model_field, self._batch_field, self._device_field, self.measure_button):
            options.addWidget(widget)
        self.options_card.column.addWidget(self.description_label)
        self.options_card.column.addLayout(options)
        for child in (self.message_banner, self.running_view, self.note_label):
            self.options_card.column.addWidget(child)
        self.code_card.column.addWidget(self.variant_dropdown, 0, Qt.AlignmentFlag.AlignLeft)
        self.code_card.column.addWidget(self.code_box)
        self.code_card.column.addWidget(self.package_label)
        self.code_card.column.addWidget(self.install_command_box)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)
        for card in (self.model_card, self.options_card, self.bars, self.code_card):
            self._column.addWidget(card)
        self._column.addStretch(1)

    def _connect_signals(self) -> None:
        self.model_dropdown.chosen.connect(self._set_model)
        self.batch_box.valueChanged.connect(self._set_batch)
        self.device_dropdown.chosen.connect(self._set_device)
        self.variant_dropdown.chosen.connect(self._set_variant)
        self.measure_button.clicked.connect(self.measure)
        self.bars.remedy_chosen.connect(self._take_remedy)
        self.running_view.stop_requested.connect(self.stop)
        self._inputs_runner.done.connect(self._on_inputs_read)
        self._models_runner.done.connect(self.model_card.show_fits)
        self._runner.reported.connect(self._on_report)
        self._runner.done.connect(self._on_done)
        self._runner.failed.connect(self._on_failed)
        self._runner.cancelled.connect(self._on_cancelled)
        self._runner.finished.connect(self._on_finished)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._models_read and not self._models_runner.running:
            self._models_read = True
            self._models_runner.start(EstimateModelsJob(self._app))

    @property
    def busy(self) -> bool:
        """Whether a run is active."""
        return self._runner.running

    @property
    def has_measured(self) -> bool:
        """Whether a run was started: from then on it stands first, and the table of models last."""
        return self._has_measured

    @property
    def is_reading(self) -> bool:
        """Whether devices and missing packages are being read from disk."""
        return self._inputs_runner.running or self._models_runner.running

    @property
    def installed(self) -> InstalledEnvironment | None:
        """The environment to measure in."""
        return self._installed

    @property
    def fits(self) -> tuple[MemoryFit, ...]:
        """The estimates that are shown, one for each way of training."""
        return self._fits

    def set_environment(self, installed: InstalledEnvironment | None) -> None:
        """Use this environment; None where there is nothing to measure."""
        if self._installed != installed:
            self._installed, self._devices = installed, ()
            self._cache.clear()
            self._show_cached()
        if installed is not None and not self._inputs_runner.running:
            self._inputs_runner.start(FitInputsJob(self._app, installed.folder))

    def set_blocked(self, reason: str) -> None:
        """Measure nothing for this reason; "" for none."""
        if reason != self._blocked_reason:
            self._blocked_reason = reason
            self.retranslate()

    def _on_inputs_read(self, inputs: FitInputs) -> None:
        self._inputs = inputs
        self._devices = self._devices or inputs.devices
        self.retranslate()

    def measure(self) -> None:
        """Start a run; the bars are added one by one."""
        if self.busy or self._installed is None or self._blocked_reason:
            return
        by_keyboard = self.measure_button.shows_focus_ring  # only then the next focus shows its ring, too
        self._focus_reason = Qt.FocusReason.OtherFocusReason if by_keyboard else Qt.FocusReason.MouseFocusReason
        if not self._has_measured:  # from now on the answer to one's own question stands first
            self._has_measured = True
            self._column.removeWidget(self.model_card)
            self._column.insertWidget(self._column.indexOf(self.code_card) + 1, self.model_card)
        # The earlier result stays until the first new one: a run may end without any.
        self._error, self._stopped, self._from_previous_run = None, False, bool(self._fits)
        make_job = partial(
            self._app.monitoring.estimate_memory,
            self._installed.folder,
            model=self._model,
            batch=self._batch,
            device=self._device_id(),
        )
        self._runner.start(LazyJob(make_job))
        self.running_view.start(self._note_text)
        self.retranslate()
        self.running_view.take_focus(self._focus_reason)
        self.busy_changed.emit(True)

    def stop(self) -> None:
        """Cancel the run."""
        if self.busy:
            self._runner.cancel()
            self.running_view.set_stopping()

    def _has_gpu(self) -> bool:
        return self._installed is not None and self._installed.variant != "cpu"

    def _set_model(self, model: FitModel) -> None:
        self._model = model
        self._show_cached()

    def _set_batch(self, batch: int) -> None:
        self._batch = batch
        self._show_cached()

    def _set_device(self, device: str) -> None:
        self._device = device
        self._show_cached()

    def _set_variant(self, variant: FitVariant) -> None:
        self._variant = variant
        self._update_code()

    def _take_remedy(self, remedy: messages.FitRemedy) -> None:
        """Take a batch that fits, or show the code of a way of training with which this one does."""
        by_keyboard = any(button.shows_focus_ring for button in self.bars.remedy_buttons)
        reason = Qt.FocusReason.OtherFocusReason if by_keyboard else Qt.FocusReason.MouseFocusReason
        if remedy.batch is not None:
            self.bars.rows["plain"].setFocus(reason)  # the buttons go with the new answer
            self.batch_box.setValue(remedy.batch)
        elif remedy.variant is not None:
            self._set_variant(remedy.variant)
            self.variant_dropdown.setFocus(reason)
            # The code's new height is known in the next turn.
            QTimer.singleShot(0, self.code_card, lambda: scroll_to(self.code_card))

    def _device_id(self) -> str:
        return self._device if self._has_gpu() else "cpu"

    def _show_cached(self) -> None:
        """Show the estimate for the selected options where model and device were measured, else none.

        The batch is projected from the measured steps.
        """
        if not self.busy:
            cached = self._cache.get((self._model, self._device_id()))
            steps, self._omissions = (cached.steps, cached.left_out) if cached is not None else ((), {})
            self._fits = tuple(project_memory(each, self._batch) for each in steps)
            self._error, self._stopped, self._from_previous_run = None, False, False
        self.retranslate()

    def _on_report(self, report: TorchLoading | MemoryFitProgress | MemoryFit | ChildStart) -> None:
        if isinstance(report, TorchLoading | MemoryFitProgress):
            self.running_view.show_progress(report)
            return
        if isinstance(report, ChildStart):
            self._devices = report.bench_devices
        else:
            self._fits, self._omissions = (*(() if self._from_previous_run else self._fits), report), {}
            self._from_previous_run = False
        self.retranslate()

    def _on_done(self, result: MemoryFits) -> None:
        self._fits, self._omissions, self._from_previous_run = result.fits, result.left_out, False
        self._devices = result.devices or self._devices
        # "The GPU with the most memory" and its index are the same device.
        for device in {self._device_id(), result.fits[0].device}:
            self._cache[self._model, device] = result

    def _on_failed(self, error: AppError) -> None:
        self._error = error

    def _on_cancelled(self) -> None:
        self._stopped = True

    def _on_finished(self) -> None:
        # Not on a button: a late key press meant for "Cancel" must not start the next run.
        had_focus = self.running_view.has_focus_within
        self.retranslate()
        if had_focus:
            first_row = next(iter(self.bars.rows.values()), None) if self._error is None and not self._stopped else None
            (first_row or self).setFocus(self._focus_reason)
            scroll_to_top(self)
        self.busy_changed.emit(False)
        if self._error is not None and self._error.code == ENVIRONMENT_MISSING:
            self.environment_missing.emit()

    # Texts and state

    def retranslate(self) -> None:
        """Update all texts and bars."""
        if not self._ready:
            return
        busy, enabled = self.busy, self._installed is not None
        title = self.tr("Measure on this computer")
        request_title = self.tr("{model}, {batch}").format(
            model=messages.fit_model_name(self._model),
            batch=self.tr("batch size {count}").format(count=self._batch),
        )
        # Above an answer the button says enough, and the first bar stands higher.
        self.options_card.set_title(request_title if busy else "" if self._fits else title)
        self.options_card.setAccessibleName(title)
        self.setAccessibleName(title)
        self._update_options()
        self.measure_button.setText(self.tr("Measure again") if self._fits else self.tr("Measure"))
        for control in (self.model_dropdown, self.batch_box, self.measure_button):
            control.setEnabled(enabled)
        for each in (self._model_field, self._batch_field, self.measure_button):
            each.setVisible(not busy)
        self.measure_button.setEnabled(enabled and not self._blocked_reason)
        self.measure_button.setToolTip(self._blocked_reason)
        self._device_field.setVisible(self._has_gpu() and not busy)
        self.running_view.setVisible(busy)
        self.note_label.setText(self._note_text())
        self.description_label.setText(
            self.tr(
                "Shows before you train whether a model fits in memory and how large the batch can be. "
                "The batch size is how many examples the model learns from at once; a larger one needs "
                "more memory."
            )
        )
        for widget in (self.description_label, self.note_label):
            widget.setVisible(not self._fits and not busy)
        self._update_message()
        self.bars.show_fits(
            self._fits,
            self._omissions,
            self._devices,
            from_previous_run=self._from_previous_run,
            is_running=busy,
        )
        # Filled only until there is an answer: then the way out is, where a batch does not fit.
        self.measure_button.set_kind("secondary" if self._fits else "primary")
        self.code_card.setVisible(bool(self._fits) and not busy)
        self.code_card.set_title(self.tr("Code for this method"))
        self._update_code()

    def _update_options(self) -> None:
        models = [
            DropdownEntry(value=m, text=messages.fit_model_name(m), detail=messages.fit_model_detail(m))
            for m in FIT_MODELS
        ]
        devices = (
            messages.device_entries(self._devices) if self._has_gpu() else [DropdownEntry(value="cpu", text="CPU")]
        )
        if self._has_gpu() and all(self._device != each.value for each in devices):
            self._device = str(devices[0].value)
        for field, dropdown, entries, current, name in (
            (self._model_field, self.model_dropdown, models, self._model, self.tr("Model")),
            (self._device_field, self.device_dropdown, devices, self._device, self.tr("Where")),
        ):
            text = next((each.text for each in entries if each.value == current), "")
            dropdown.set_entries(entries, current, text, name)
            field.set_caption(name)
        self._batch_field.set_caption(self.tr("Batch size"))
        self.batch_box.setAccessibleName(self.tr("Batch size"))

    def _note_text(self) -> str:
        """How the estimate is made, and how long that takes where a duration is known."""
        sentences = [
            self.tr(
                "Measures steps with 1 to 3 examples and projects the result to your batch size. After that, "
                "other batch sizes are calculated instantly."
            )
        ]
        language_code, model = language.texts().language, messages.fit_model_name(self._model)
        cached = self._cache.get((self._model, self._device_id()))
        known = self._inputs.measured_time(self._model) if self._device_id() == "cpu" else None
        if cached is not None and cached.seconds is not None:
            sentences.append(
                self.tr("Last time it took {time} here.").format(time=format_duration(cached.seconds, language_code))
            )
        elif known is not None:
            template = self.tr("Took {time} on a CPU with {cores} cores.")
            sentences.append(
                template.format(model=model, time=format_duration(known.seconds, language_code), cores=known.cores)
            )
        else:
            sentences.append(self.tr("After the first run, you see how long it takes here."))
        sentences.append(self.tr("Takes {time} at most.").format(time=format_duration(TIME_LIMIT_S, language_code)))
        return ("" if language_code == "zh_CN" else " ").join(sentences)

    def _update_message(self) -> None:
        self.message_banner.setVisible(not self.busy and (self._error is not None or self._stopped))
        if self._error is not None:
            self.message_banner.set("error", language.texts().error_text(self._error))
        elif self._stopped:
            text = self.tr("Stopped. The results so far are shown.")
            has_new_results = self._fits and not self._from_previous_run
            self.message_banner.set(
                "warn", text if has_new_results else self.tr("Stopped before anything was measured.")
            )

    def _update_code(self) -> None:
        """The code of the selected way of training; only of one that has a bar."""
        if not self._fits:
            return
        fit = next((each for each in self._fits if each.variant == self._variant), self._fits[0])
        entries = [
            DropdownEntry(
                value=each.variant, text=messages.variant_name(each.variant), detail=messages.variant_detail(each)
            )
            for each in self._fits
        ]
        self.variant_dropdown.set_entries(
            entries, fit.variant, messages.variant_name(fit.variant), self.tr("Training method")
        )
        self.code_box.set_text(training_snippet(fit).rstrip())
        self._update_package_note(EXAMPLE_MODELS[fit.model].package)

    def _update_package_note(self, name: str) -> None:
        """The package that the code imports, where the environment does not have it, and how to install it."""
        is_missing = name in self._inputs.missing
        command = self._inputs.missing.get(name)
        self.package_label.setVisible(is_missing)
        self.install_command_box.setVisible(command is not None)
        if command is not None:
            template = self.tr(
                "Uses the Python package {name}, which this environment does not have yet. This installs it:"
            )
            self.install_command_box.set_text(Terminal(system=self._app.system.name).command_line(command))
        else:
            template = self.tr(
                "Uses the Python package {name}, which this environment does not have. We do not know "
                "which release matches this PyTorch, and with a wrong one neither would load."
            )
        self.package_label.setText(template.format(name=name))


class BatchSizeBox(SpinBox):
    """Any batch size can be typed; the arrows go along the powers of two."""

    def __init__(self) -> None:
        super().__init__()
        self.setRange(1, MAX_BATCH)

    def stepBy(self, steps: int) -> None:
        value = self.value()
        for _ in range(abs(steps)):
            value = 1 << value.bit_length() if steps > 0 else max(1 << (value - 1).bit_length() >> 1, 1)
        self.setValue(value)
        self.selectAll()


class FitInputs(Struct, frozen=True, kw_only=True):
    """What is known before the first run.

    `devices` are those of the newest benchmark with a GPU; `missing` are packages that the environment does not have,
    each with the command that installs it (None: unknown); `planning` has durations measured on other computers.
    """

    planning: MemoryPlanningCatalog | None = None
    devices: tuple[BenchDevice, ...] = ()
    missing: dict[str, tuple[str, ...] | None] = {}

    def measured_time(self, model: str) -> PlanningDuration | None:
        """How long a model took on a CPU; None where that is unknown."""
        return self.planning.find_duration(model) if self.planning is not None else None


class FitInputsJob:
    """Reads catalog, stored benchmarks and the packages of an environment; raises AppError("catalog-broken")."""

    def __init__(self, app: App, environment: Path) -> None:
        self._app = app
        self._environment = environment

    def run(self, context: JobContext[Any]) -> FitInputs:
        context.check_cancelled()
        device_lists = (each.devices for each in reversed(self._app.monitoring.stored_benchmarks().benchmarks))
        devices = next((each for each in device_lists if any(device.id != "cpu" for device in each)), ())
        missing = self._app.monitoring.missing_example_packages(self._environment)
        return FitInputs(planning=load_memory_planning(self._app.catalog), devices=devices, missing=missing)
