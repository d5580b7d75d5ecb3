"""The health test: how thorough, how long that takes, what it does now, what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from ...core.errors import AppError
from ...core.results import Check, Checks, GpuSample
from ...health.listening import HealthProgress
from .. import language, theme
from ..components import Banner, Button, ConfirmDialog, ProgressBar, SegmentedControl, announce, label
from ..worker import JobRunner
from . import words
from .choices import HealthTestOptions
from .job import HealthTestJob, HealthTestEnvironment, HealthTestEnvironmentJob
from .result import HealthResultView

if TYPE_CHECKING:
    from ...app import App

DIALOG_SIZE = 680, 600  # what the list of checks wants, at 100 % text
LOAD_LEVEL = 3  # the level that loads the cards


class HealthDialogOptions(Struct, frozen=True, kw_only=True):
    """What the dialog opens with: the level that is chosen first, and the index of the card (None: all of them) among
    those to choose from. `busy`: something else computes on the card just now, so that a test would be wrong.
    """

    level: int = 1
    gpu: int | None = None
    gpus: tuple[GpuSample, ...] = ()
    busy: bool = False


class HealthDialog(QDialog):
    """A test that runs is stopped, and waited for, before it closes."""

    def __init__(self, app: App, parent: QWidget, options: HealthDialogOptions) -> None:
        super().__init__(parent)
        translate = QCoreApplication.translate
        self._app, self._busy = app, options.busy
        self._environment: HealthTestEnvironment | None = None
        self._closing = False
        self._running_level = options.level
        self.setWindowTitle(translate("Health", "Health test"))
        self.levels = SegmentedControl(words.level_names(), options.level - 1, name=translate("Health", "How thorough"))
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
        self.environment_runner.start(HealthTestEnvironmentJob(app))

    def _build_layout(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(12)
        column.addWidget(label("title", QCoreApplication.translate("Health", "Is the card sound?")))
        column.addWidget(self.levels, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self.test_options, self.cpu_only_banner, self.message_banner, self.progress_label, self.progress_bar):
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
        self.resize(min(theme.px(DIALOG_SIZE[0]), available.width() - 80), min(theme.px(DIALOG_SIZE[1]), available.height() - 80))

    def _connect_signals(self) -> None:
        self.levels.chosen.connect(lambda _: self._update_state())
        self.test_options.changed.connect(self._update_state)
        self.start_button.clicked.connect(self.start_test)
        self.copy_button.clicked.connect(self._copy_result)
        self.cancel_button.clicked.connect(self.stop_test)
        self.close_button.clicked.connect(self.reject)
        self.environment_runner.done.connect(self._on_environment_read)
        self.environment_runner.failed.connect(self._on_failed)
        self.environment_runner.finished.connect(self._close_when_idle)
        self.test_runner.reported.connect(self._on_report)
        self.test_runner.done.connect(self._on_done)
        self.test_runner.failed.connect(self._on_failed)
        self.test_runner.cancelled.connect(self._on_cancelled)
        self.test_runner.finished.connect(self._on_finished)

    @classmethod
    def show_dialog(cls, app: App, parent: QWidget, options: HealthDialogOptions) -> HealthDialog:
        """Show it above `parent` and let it go when closed."""
        dialog = cls(app, parent, options)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    @property
    def level(self) -> int:
        """The level that is chosen."""
        return self.levels.current() + 1

    # The test

    def start_test(self) -> None:
        """Start; what it finds comes by itself."""
        if self._unavailable_reason() or self._environment is None or self.test_runner.running:
            return
        self.result_view.clear()
        self._show_message(None)
        self.progress_label.setText(QCoreApplication.translate("Health", "Starting…"))
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
        """Ask it to stop."""
        if self.test_runner.running:
            self.test_runner.cancel()
            self.progress_label.setText(QCoreApplication.translate("Health", "Stopping…"))
            self.cancel_button.setEnabled(False)

    def reject(self) -> None:
        """Esc and Close: a test that runs is stopped first; one that took minutes is not lost by a slip."""
        if self._closing or (self.test_runner.running and self._running_level > 1 and not self._confirm_stop()):
            return
        self._closing = True
        self.environment_runner.cancel()
        self.stop_test()
        self._close_when_idle()

    def _confirm_stop(self) -> bool:
        translate = QCoreApplication.translate
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

    def _on_environment_read(self, environment: HealthTestEnvironment) -> None:
        self._environment = environment
        self._update_state()
        self.start_button.setFocus()

    def _on_report(self, report: HealthProgress | Check) -> None:
        if isinstance(report, Check):
            self.result_view.add_check(report)
        elif self.cancel_button.isEnabled():
            self.progress_label.setText(words.progress_text(report))
            self.progress_bar.set_fraction(report.done)

    def _on_done(self, checks: Checks) -> None:
        self.result_view.show_result(checks)
        announce(self.result_view.verdict, self.result_view.verdict.label.text())

    def _copy_result(self) -> None:
        """For a mail or a forum."""
        QGuiApplication.clipboard().setText(self.result_view.as_text())
        text = QCoreApplication.translate("Health", "Copied")
        self.copy_button.setText(text)
        announce(self.copy_button, text)

    def _on_failed(self, error: AppError) -> None:
        self._show_message(language.texts().error_text(error))

    def _on_cancelled(self) -> None:
        translate = QCoreApplication.translate
        self._show_message(
            translate("Health", "Stopped. What was tested until then stands below, without a verdict.")
            if self.result_view.rows
            else translate("Health", "Stopped. Nothing was tested yet.")
        )

    def _on_finished(self) -> None:
        self._update_state()
        self.close_button.setFocus()
        self._close_when_idle()

    # What is shown

    def _unavailable_reason(self) -> str:
        """Why nothing can be tested just now; empty where it can."""
        translate, environment = QCoreApplication.translate, self._environment
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
        """What fits the state of now."""
        running, unavailable_reason, environment = self.test_runner.running, self._unavailable_reason(), self._environment
        self.levels.setEnabled(not running)
        self.test_options.setEnabled(not running)
        self.test_options.show_for_level(has_load=self.level == LOAD_LEVEL)
        description = words.level_description(self.level, environment, self.test_options.load_seconds) if environment is not None else ""
        self.level_label.setText(unavailable_reason or description)
        self.cpu_only_banner.setVisible(not running and not unavailable_reason and environment is not None and environment.cpu_only and self.level > 1)
        self.cpu_only_banner.set(
            "warn",
            QCoreApplication.translate(
                "Health",
                "The PyTorch that is set up cannot use the card: this level would load and test the processor only. "
                "To test the card, set PyTorch up again with CUDA.",
            ),
        )
        self.progress_label.setVisible(running)
        self.progress_bar.setVisible(running)
        self.copy_button.setText(QCoreApplication.translate("Health", "Copy the result"))
        self.copy_button.setVisible(bool(self.result_view.rows) and not running)
        self.start_button.setVisible(not running)
        self.start_button.setEnabled(self._environment is not None and not unavailable_reason)
        self.cancel_button.setVisible(running)
        self.cancel_button.setEnabled(True)
        if not running and not self.message_banner.label.text():
            self.message_banner.hide()
