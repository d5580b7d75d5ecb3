"""The dialog of the health test: level, GPU and duration; progress, checks, verdict.

What flows here, with the modules:

    open ──► HealthTestEnvironmentJob (worker thread) ──► HealthTestEnvironment: what there is to test with
    Start ──► HealthTestJob ──► app.monitoring.health_test, with a sampler of its own
                            ├─► reports: HealthProgress ──► progress bar, Check ──► result.HealthResultView
                            └─► Checks ──► verdict, GPU curves and scope in result.HealthResultView
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from ...core.errors import AppError
from ...core.jobs import JobContext
from ...core.results import Check, Checks, GpuSample
from ...core.types import device_name
from ...health.child_protocol import HealthProgress
from ...texts.format import format_duration
from .. import language, theme
from ..help import add_help_shortcut
from ..machine_facts import current_environment
from ..widgets.base import announce
from ..widgets.buttons import Button, SegmentedControl
from ..widgets.cards import Banner
from ..widgets.dialogs import ConfirmDialog
from ..widgets.inputs import Dropdown, DropdownEntry
from ..widgets.progress import ProgressBar
from ..widgets.text import label
from ..worker import JobRunner
from .result import HealthResultView

if TYPE_CHECKING:
    from ...app import App


DIALOG_SIZE = 680, 600  # pixels at 100 % text that the list of checks needs
LOAD_LEVEL = 3  # the level that loads the GPUs
LOAD_MINUTES = (10, 20, 30, 60)
translate = QCoreApplication.translate


class HealthDialogOptions(Struct, frozen=True, kw_only=True):
    """What the dialog opens with: the selected level and GPU index (None: all) among `gpus`.

    `busy`: a benchmark is running, so that a test could not be trusted.
    """

    level: int = 1
    gpu: int | None = None
    gpus: tuple[GpuSample, ...] = ()
    busy: bool = False


class HealthDialog(QDialog):
    """Closes only after a running test has ended; asks before it cancels one of level 2 or 3."""

    def __init__(self, app: App, parent: QWidget, options: HealthDialogOptions) -> None:
        super().__init__(parent)
        self._app, self._busy = app, options.busy
        self._environment: HealthTestEnvironment | None = None
        self._closing = False
        self._running_level = options.level
        self.setWindowTitle(translate("Health", "Health test"))
        self.levels = SegmentedControl(level_names(), options.level - 1, name=translate("Health", "How thorough"))
        self.test_options = HealthTestOptions(options.gpus, options.gpu, self)
        self.level_label, self.progress_label = label("body"), label("body")
        self.progress_bar = ProgressBar()
        self.message_banner, self.cpu_only_banner = Banner("warn"), Banner("warn")
        self.result_view = HealthResultView(self.level_label)
        self.start_button = Button(translate("Health", "Start the test"), "primary", "play")
        self.copy_button = Button(translate("Health", "Copy the result"), "ghost", "copy")
        self.cancel_button = Button(translate("Health", "Cancel"), icon_name="cross")
        self.close_button = Button(translate("Health", "Close"))
        self.environment_runner, self.test_runner = JobRunner(self), JobRunner(self)
        self._build_layout()
        self._connect_signals()
        self._update_state()
        add_help_shortcut(self, app, "health")
        self.environment_runner.start(HealthTestEnvironmentJob(app))

    def _build_layout(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(12)
        column.addWidget(label("title", translate("Health", "Is the card sound?")))
        column.addWidget(self.levels, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (
            self.test_options,
            self.cpu_only_banner,
            self.message_banner,
            self.progress_label,
            self.progress_bar,
        ):
            column.addWidget(widget)
        column.addWidget(self.result_view, 1)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.copy_button)
        row.addStretch(1)
        for button in (self.start_button, self.cancel_button, self.close_button):
            row.addWidget(button)
        column.addLayout(row)
        available = self.screen().availableGeometry()
        self.resize(
            min(theme.px(DIALOG_SIZE[0]), available.width() - 80),
            min(theme.px(DIALOG_SIZE[1]), available.height() - 80),
        )

    def _connect_signals(self) -> None:
        self.levels.chosen.connect(lambda _: self._update_state())
        self.test_options.changed.connect(self._update_state)
        self.start_button.clicked.connect(self.start_test)
        self.copy_button.clicked.connect(self._copy_result)
        self.cancel_button.clicked.connect(self.stop_test)
        self.close_button.clicked.connect(self.reject)
        self.environment_runner.done.connect(self.set_environment)
        self.environment_runner.failed.connect(self._on_failed)
        self.environment_runner.finished.connect(self._close_when_idle)
        self.test_runner.reported.connect(self._on_report)
        self.test_runner.done.connect(self._on_done)
        self.test_runner.failed.connect(self._on_failed)
        self.test_runner.cancelled.connect(self._on_cancelled)
        self.test_runner.finished.connect(self._on_finished)

    @classmethod
    def show_dialog(cls, app: App, parent: QWidget, options: HealthDialogOptions) -> HealthDialog:
        """Open the dialog above `parent`; it is deleted when closed."""
        dialog = cls(app, parent, options)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    @property
    def level(self) -> int:
        """The selected level, from 1."""
        return self.levels.current() + 1

    # The test

    def start_test(self) -> None:
        """Start a test; does nothing while one runs or where none can."""
        if self._unavailable_reason() or self._environment is None or self.test_runner.running:
            return
        self.result_view.clear()
        self._show_message(None)
        self.progress_label.setText(translate("Health", "Starting…"))
        self.progress_bar.set_fraction(None)
        self._running_level = self.level
        options = self.test_options
        self.test_runner.start(
            HealthTestJob(
                self._app,
                self._environment.environment,
                self.level,
                device=options.device,
                load_seconds=options.load_seconds,
            )
        )
        self._update_state()
        self.cancel_button.setFocus()

    def stop_test(self) -> None:
        """Cancel the test."""
        if self.test_runner.running:
            self.test_runner.cancel()
            self.progress_label.setText(translate("Health", "Stopping…"))
            self.cancel_button.setEnabled(False)

    def reject(self) -> None:
        """Close, by Esc or button; a running test is cancelled first, a long one after a question."""
        if self._closing or (self.test_runner.running and self._running_level > 1 and not self._confirm_stop()):
            return
        self._closing = True
        self.environment_runner.cancel()
        self.stop_test()
        self._close_when_idle()

    def _confirm_stop(self) -> bool:
        return ConfirmDialog.ask(
            self,
            translate("Health", "Stop the test?"),
            translate("Health", "It ends without a verdict, and what it found so far is not kept."),
            accept_text=translate("Health", "Stop"),
            reject_text=translate("Health", "Go on"),
            dismiss_signal=self.test_runner.finished,
        )

    def _close_when_idle(self) -> None:
        if self._closing and not (self.environment_runner.running or self.test_runner.running):
            super().reject()

    def set_environment(self, environment: HealthTestEnvironment) -> None:
        """Use this environment for the test."""
        self._environment = environment
        self._update_state()
        self.start_button.setFocus()

    def _on_report(self, report: HealthProgress | Check) -> None:
        if isinstance(report, Check):
            self.result_view.add_check(report)
        elif self.cancel_button.isEnabled():
            self.progress_label.setText(progress_text(report))
            self.progress_bar.set_fraction(report.done)

    def _on_done(self, checks: Checks) -> None:
        self.result_view.show_result(checks)
        announce(self.result_view.verdict, self.result_view.verdict.label.text())

    def _copy_result(self) -> None:
        QGuiApplication.clipboard().setText(self.result_view.as_text())
        text = translate("Health", "Copied")
        self.copy_button.setText(text)
        announce(self.copy_button, text)

    def _on_failed(self, error: AppError) -> None:
        self._show_message(language.texts().error_text(error))

    def _on_cancelled(self) -> None:
        self._show_message(
            translate("Health", "Stopped. What was tested until then stands below, without a verdict.")
            if self.result_view.rows
            else translate("Health", "Stopped. Nothing was tested yet.")
        )

    def _on_finished(self) -> None:
        self._update_state()
        self.close_button.setFocus()
        self._close_when_idle()

    # State

    def _unavailable_reason(self) -> str:
        """Why no test can be started; "" where one can."""
        environment = self._environment
        if self._app.simulated:
            return translate("Health", "A simulated machine cannot be tested: nothing is executed for it.")
        if self._busy:
            return translate("Health", "The benchmark is running on the card. Test it when the benchmark is done.")
        if environment is not None and environment.environment is None and self.level > 1:
            return translate(
                "Health", "This level computes with PyTorch, which is not set up yet. Level 1 works without it."
            )
        return ""

    def _show_message(self, text: str | None) -> None:
        self.message_banner.setVisible(text is not None)
        if text is not None:
            self.message_banner.set("warn", text)

    def _update_state(self) -> None:
        """Update texts, and which controls are shown and enabled."""
        running, environment, unavailable_reason = (
            self.test_runner.running,
            self._environment,
            self._unavailable_reason(),
        )
        self.levels.setEnabled(not running)
        self.test_options.setEnabled(not running)
        self.test_options.show_for_level(has_load=self.level == LOAD_LEVEL)
        description = (
            level_description(self.level, environment, self.test_options.load_seconds)
            if environment is not None
            else ""
        )
        self.level_label.setText(unavailable_reason or description)
        self.cpu_only_banner.setVisible(
            not running
            and not unavailable_reason
            and environment is not None
            and environment.cpu_only
            and self.level > 1
        )
        self.cpu_only_banner.set(
            "warn",
            translate(
                "Health",
                "The PyTorch that is set up cannot use the card: this level would load and test the processor only. "
                "To test the card, set PyTorch up again with CUDA.",
            ),
        )
        self.progress_label.setVisible(running)
        self.progress_bar.setVisible(running)
        self.copy_button.setText(translate("Health", "Copy the result"))
        self.copy_button.setVisible(bool(self.result_view.rows) and not running)
        self.start_button.setVisible(not running)
        self.start_button.setEnabled(self._environment is not None and not unavailable_reason)
        self.cancel_button.setVisible(running)
        self.cancel_button.setEnabled(True)
        if not running and not self.message_banner.label.text():
            self.message_banner.hide()


class HealthTestOptions(QWidget):
    """Which GPU, where there are several; how many minutes of load, where the level has load. `changed` by the user."""

    changed = Signal()

    def __init__(self, gpus: Sequence[GpuSample], gpu: int | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._gpus, self._has_load = tuple(gpus), False
        self._gpu = gpu if len(gpus) > 1 else None
        self.gpu_dropdown = Dropdown()
        self.load_label = label("body", translate("Health", "Full load for"))
        minute_labels = [translate("Health", "{count} min").format(count=minutes) for minutes in LOAD_MINUTES]
        self.minutes = SegmentedControl(minute_labels, name=translate("Health", "Full load for"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for widget in (self.gpu_dropdown, self.load_label, self.minutes):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        self.gpu_dropdown.chosen.connect(self._set_gpu)
        self.minutes.chosen.connect(lambda _: self.changed.emit())
        self._update_text()
        self.show_for_level(has_load=False)

    @property
    def device(self) -> str | None:
        """The device id for the test ("cuda:1"); None for all GPUs."""
        return None if self._gpu is None else f"cuda:{self._gpu}"

    @property
    def load_seconds(self) -> float | None:
        """How long the GPUs are loaded; None for a level without load."""
        return 60.0 * LOAD_MINUTES[self.minutes.current()] if self._has_load else None

    def show_for_level(self, *, has_load: bool) -> None:
        """Show the options of a level with or without load."""
        self._has_load = has_load
        self.gpu_dropdown.setVisible(len(self._gpus) > 1)
        for widget in (self.load_label, self.minutes):
            widget.setVisible(has_load)
        self.setVisible(has_load or len(self._gpus) > 1)

    def _set_gpu(self, gpu: int | None) -> None:
        self._gpu = gpu
        self._update_text()
        self.changed.emit()

    def _update_text(self) -> None:
        all_text = translate("Health", "All cards")
        entries = [DropdownEntry(value=None, text=all_text)]
        entries += [
            DropdownEntry(value=gpu.index, text=f"GPU {gpu.index}", detail=gpu.name or "") for gpu in self._gpus
        ]
        text = all_text if self._gpu is None else f"GPU {self._gpu}"
        self.gpu_dropdown.set_entries(entries, self._gpu, text, translate("Health", "Which card"))


class HealthTestEnvironment(Struct, frozen=True, kw_only=True):
    """What a test runs with: the environment in use (None: only the driver can be tested), whether its PyTorch is a CPU
    build, and the time limit of each level in seconds, without the load of level 3.
    """

    environment: Path | None
    cpu_only: bool
    limits: tuple[float, ...]


class HealthTestEnvironmentJob:
    """Reads the environment in use and the limits from disk."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> HealthTestEnvironment:
        context.check_cancelled()
        installed, tests = current_environment(self._app), self._app.monitoring.health_rules.tests
        return HealthTestEnvironment(
            environment=installed.folder if installed is not None else None,
            cpu_only=installed is not None and installed.variant == "cpu",
            limits=tuple(float(each) for each in tests.limits_seconds),
        )


class HealthTestJob:
    """One test of a level, as `gpu-assistant health` runs it: of one `device` or all, with `load_seconds` of load.

    It has a sampler of its own beside the window's.
    """

    def __init__(
        self,
        app: App,
        environment: Path | None,
        level: int,
        *,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> None:
        self._app, self._environment, self._level = app, environment, level
        self._device, self._load_seconds = device, load_seconds

    def run(self, context: JobContext[Any]) -> Checks:
        """Run the test; raises as the job of `health.job` does."""
        with closing(self._app.monitoring.sampler()) as sampler:
            job = self._app.monitoring.health_test(
                self._environment, sampler, level=self._level, device=self._device, load_seconds=self._load_seconds
            )
            return job.run(context)


def level_names() -> tuple[str, str, str]:
    """The names of the three levels."""
    return (
        translate("Health", "1 · Quick look"),
        translate("Health", "2 · Thorough"),
        translate("Health", "3 · Long full load"),
    )


def level_description(level: int, environment: HealthTestEnvironment, load: float | None) -> str:
    """What a level does and how long it takes; `load` is the part under full load in seconds."""
    code = language.texts().language
    longest_text = format_duration(environment.limits[level - 1] + (load or 0.0), code)
    if environment.environment is None:
        return translate("Health", "Asks the driver about every card, and computes nothing. It takes a few seconds.")
    template = {
        1: translate("Health", "Looks at the card and computes a little. Usually under a minute."),
        2: translate(
            "Health", "Tests copies, computing in each precision and the free memory, bit by bit. Some minutes."
        ),
        3: translate("Health", "All of level 2, then {load} of full load with every result checked."),
    }[level]
    limit_template = translate(
        "Health", "It stops by itself after {longest} at the latest, or when the card gets too hot."
    )
    sentences = template.format(load=format_duration(load or 0.0, code)), limit_template.format(longest=longest_text)
    return ("" if code == "zh_CN" else " ").join(sentences)


def progress_text(report: HealthProgress) -> str:
    """What is being tested, on which device, with progress, temperature, power and errors."""
    texts = language.texts()
    area_key = f"health.area.{report.check}"
    parts = [texts.translate(area_key) if texts.has_text(area_key) else report.check]
    if report.device is not None:
        parts.append(device_name(report.device))
    if report.done is not None:
        parts.append(f"{100 * report.done:.0f} %")
    if report.temp is not None:
        parts.append(f"{report.temp} °C")
    if report.power_w is not None:
        parts.append(f"{report.power_w:.0f} W")
    if report.errors:
        parts.append(translate("Health", "wrong results: {count}").format(count=report.errors))
    text = " · ".join(parts)
    return text[:1].upper() + text[1:]
