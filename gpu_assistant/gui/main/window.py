"""The window: the wizard and the main area in one stack, and how it closes.

    first start, resumed install, simulated computer ──> Wizard ── finished, skipped ──> MainArea
    a page of the main area ── setup_requested ──> a new Wizard
    Wizard ── settings_requested ──> SettingsOverlay ── closed ──> the same Wizard

    close ── jobs run? ── no ──> shut down: geometry, tray, sampling thread
                          └ yes ─> confirm, cancel them, wait for `finished` (15 s at most) ──> shut down

Imports at the top are what the first paint needs; each Qt class costs its enums when it is used first, and the
namespace Qt alone costs more than this file.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QMainWindow

from ...core import filesystem, json
from ...core.errors import AppError

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QShowEvent
    from PySide6.QtWidgets import QStackedWidget, QVBoxLayout

    from ...app import App
    from ...system.base import TaskbarProgress
    from ..event_loop import IncrementalQueue
    from ..language import Language
    from ..saving import SettingsSaver
    from ..widgets.cards import Banner, BannerKind
    from ..wizard.wizard import SidePageName, Wizard
    from ..worker import JobRunner
    from .main_area import MainArea
    from .settings.page import SettingsOverlay, SettingsPage
    from .tray import DesktopIntegration
    from .updates import UpdateController


DEFAULT_SIZE = (1180, 760)
MINIMUM_SIZE = (880, 520)
FRAME_SIZE = QSize(16, 48)  # the widest usual frame: nobody knows the real one before the window is shown
STOP_TIMEOUT_MS = 15_000  # then a job that does not stop is abandoned
SAVE_TIMEOUT_S = 2.0  # Windows grants five seconds at the end of a session
log = logging.getLogger(__name__)


class MainWindow(QMainWindow):
    """At first only a frame in the theme's colour, so that it is on the screen at once; `build` adds the contents.

    `painted` is emitted once, after the first paint.
    """

    painted = Signal()

    wizard: Wizard | None = None
    main_area: MainArea | None = None
    settings_overlay: SettingsOverlay | None = None
    data_removed = False
    environments_kept = False  # when the data was removed
    _writes_state = True
    language: Language
    saver: SettingsSaver
    desktop_integration: DesktopIntegration
    _steps: IncrementalQueue
    _stack: QStackedWidget
    _column: QVBoxLayout
    _banner: Banner | None = None
    _closing = False
    jobs_abandoned = False
    _stop_confirmed = False
    _is_built = False
    _is_first_show = True

    def __init__(self, app: App, background: str | None = None) -> None:
        super().__init__()
        self.app = app
        self._geometry_file = app.data.state / "window.geometry"
        self._stop_timer = QTimer(self, singleShot=True, interval=STOP_TIMEOUT_MS)
        self._stop_timer.timeout.connect(self._abandon_jobs)
        if background is not None:
            # Not painted: the painter's overloads would load the namespace Qt.
            palette = self.palette()
            palette.setColor(QPalette.ColorRole.Window, QColor(background))
            self.setPalette(palette)
        self.setWindowTitle("GPU Assistant")
        self._fit_minimum()
        self._restore_geometry()

    def build(self, language: Language) -> None:
        """Show the wizard or the main area."""
        from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

        from ..event_loop import IncrementalQueue
        from ..saving import SettingsSaver
        from .tray import DesktopIntegration

        self.setPalette(QPalette())  # from now on the theme's
        self.language = language
        self._steps = IncrementalQueue(self)
        self.saver = SettingsSaver(self.app, self)
        self.saver.failed.connect(self._on_save_failed)
        self.desktop_integration = DesktopIntegration(
            self, language, self._taskbar, shows_success=lambda: self.app.settings.finish_notices
        )
        self.desktop_integration.window_requested.connect(self.bring_to_front)
        self.desktop_integration.quit_requested.connect(self._close_from_tray)
        self._stack = QStackedWidget()
        holder = QWidget()
        self._column = QVBoxLayout(holder)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._stack)
        self._retranslate_title()
        language.changed.connect(self._retranslate_title)
        if self.app.settings.opens_home and not (self.app.simulated or self.app.resuming):
            self.show_main()
        else:
            self.show_wizard()
        self.setCentralWidget(holder)
        self._is_built = True

    # Wizard and main area

    def show_wizard(self) -> Wizard:
        """Show the wizard; a new one starts at its first page."""
        from ..wizard.wizard import Wizard

        self._steps.stop()
        if self.wizard is None:
            self.wizard = Wizard(self.app, self.language, self.saver)
            self.wizard.finished.connect(self._on_setup_finished)
            self.wizard.benchmark_requested.connect(self._open_benchmark)
            self.wizard.main_area_requested.connect(self._on_setup_skipped)
            self.wizard.settings_requested.connect(self.show_settings)
            self.wizard.controller.page_changed.connect(self._show_step_beside_settings)
            if not self.app.simulated:
                self.desktop_integration.watch_wizard(self.wizard.controller)
                self.wizard.side_pages.bundle_creator_created.connect(self.desktop_integration.watch_bundle_creator)
            self._stack.addWidget(self.wizard)
        self._stack.setCurrentWidget(self.wizard)
        log.info("wizard shown")
        return self.wizard

    def show_settings(self) -> None:
        """Show the settings over the wizard, which goes on below."""
        from .settings.page import SettingsOverlay

        if self.settings_overlay is None:
            self.settings_overlay = SettingsOverlay(self.app, self.language, self.saver, self.updates)
            self.settings_overlay.closed.connect(self._close_settings)
            self.settings_overlay.step_chosen.connect(self._leave_settings_for_step)
            self.settings_overlay.page.offline_card.side_page_requested.connect(self._open_side_page_over_wizard)
            self._watch_settings(self.settings_overlay.page)
            self._stack.addWidget(self.settings_overlay)
        # An offline folder is not begun beside an install.
        self.settings_overlay.page.offline_card.setEnabled(self.wizard is not None and not self.wizard.flow.is_locked)
        self._show_step_beside_settings()
        self._stack.setCurrentWidget(self.settings_overlay)
        self.settings_overlay.back_button.setFocus()
        log.info("settings shown over the wizard")

    @cached_property
    def updates(self) -> UpdateController:
        """Checks for newer versions and what came of it, the same for the wizard's settings and the main area."""
        from .updates import UpdateController

        updates = UpdateController(self.app, self)
        updates.close_consent_requested.connect(self._confirm_update_handover)
        updates.quit_requested.connect(self._close_for_update)
        return updates

    def _open_side_page_over_wizard(self, name: SidePageName) -> None:
        """A page about offline folders; closing it leads back to the wizard's page."""
        if self.wizard is not None:
            self._close_settings()
            self.wizard.side_pages.open(name)

    def _show_step_beside_settings(self) -> None:
        """The wizard may go on below the settings."""
        from ..wizard.flow import PAGES

        if self.wizard is not None and self.settings_overlay is not None:
            flow = self.wizard.flow
            self.settings_overlay.show_step(PAGES.index(flow.page), reachable=not flow.is_locked)

    def _leave_settings_for_step(self, number: int) -> None:
        from ..wizard.flow import PAGES

        self._close_settings()
        if self.wizard is not None:
            self.wizard.controller.go_to(PAGES[number])

    def _close_settings(self) -> None:
        if self.wizard is not None:
            self._stack.setCurrentWidget(self.wizard)
            self.wizard.settings_button.setFocus()

    def _watch_settings(self, page: SettingsPage) -> None:
        page.removal_card.started.connect(self._stop_writing)
        page.removal_card.removed.connect(self._on_data_removed)

    def _stop_writing(self) -> None:
        """The data folder is about to be removed."""
        self._writes_state = False
        if self.main_area is not None:
            self.main_area.stop()

    def _on_data_removed(self, environments_kept: bool) -> None:
        from ..widgets.dialogs import show_message_dialog

        self.data_removed, self.environments_kept = True, environments_kept
        show_message_dialog(
            self,
            self.tr("Removed"),
            self.tr("GPU Assistant closes now. Remove the program itself like any other program."),
        )
        self._stop_confirmed = True
        self.close()

    def show_main(self) -> None:
        """Show the main area; the wizard stays visible until Home is created, in a later turn of the event loop."""
        from .main_area import HOME, MainArea

        if self.main_area is None:
            self.main_area = MainArea(self.app, self.language, self.saver, self.updates)
            self.main_area.sampling.failed.connect(self._on_sampling_failed)
            self.main_area.setup_requested.connect(self._open_setup)
            self.main_area.side_page_requested.connect(self._open_side_page)
            self.main_area.environment_requested.connect(self._open_environment_setup)
            self.main_area.settings_created.connect(self._watch_settings)
            self.main_area.benchmark_runner_created.connect(self.desktop_integration.watch_benchmark)
            if not self.app.simulated:
                QTimer.singleShot(0, self.main_area, self._start_gpu_notifier)
            QTimer.singleShot(0, self.main_area, self.main_area.preload_monitor)
            self._stack.addWidget(self.main_area)
        open_home, show_area = (
            partial(self.main_area.open_page, HOME),
            partial(self._stack.setCurrentWidget, self.main_area),
        )
        if HOME in self.main_area.pages:
            show_area()
        elif self.wizard is not None:
            self._steps.start((open_home, show_area))
        else:
            open_home()
            show_area()
        log.info("main area shown")

    def _start_gpu_notifier(self) -> None:
        from .tray import GpuNotifier

        if self.main_area is not None:
            notifier = GpuNotifier(self.app, self.main_area.sampling, self.desktop_integration)
            self.main_area.monitoring_changed.connect(notifier.apply_settings)
            self.main_area.update_gpu_watching()

    def show_minimized(self) -> None:
        """Show it in the task bar alone. It is filled without a first paint, which a minimised window never has."""
        self.showMinimized()
        handle = self.windowHandle()
        if handle is not None:
            handle.removeEventFilter(self)
        QTimer.singleShot(0, self, self.painted.emit)

    def bring_to_front(self) -> None:
        """Show the window above others, also when it is minimised."""
        from PySide6.QtCore import Qt

        self.setWindowState((self.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        self.show()
        self.raise_()
        self.activateWindow()

    def _on_setup_finished(self) -> None:
        """Remember that the setup is done, and show Home."""
        if not self.app.simulated and not self.app.settings.setup_done:
            self.saver.save(setup_done=True)
        self.show_main()
        if self.main_area is not None:
            self.main_area.refresh_pages()

    def _open_benchmark(self) -> None:
        """The setup is done, and its speed is to be measured in full."""
        from .main_area import BENCHMARK

        self._on_setup_finished()
        if self.main_area is not None:
            self.main_area.go_to_page(BENCHMARK)

    def _on_setup_skipped(self) -> None:
        """The user wants no setup now: Home opens from now on, and offers it."""
        if not self.app.settings.setup_skipped:
            self.saver.save(setup_skipped=True)
        self.show_main()

    def _open_setup(self) -> Wizard:
        """Show a new wizard, or the present one while it works."""
        if self.wizard is not None and not self._running_jobs(self.wizard):
            self._stack.removeWidget(self.wizard)
            self.wizard.deleteLater()
            self.wizard = None
        return self.show_wizard()

    def _open_environment_setup(self, folder: str) -> None:
        """The wizard for the environment in this folder, new or not."""
        wizard = self._open_setup()
        if wizard.flow.is_locked:
            return
        if folder:
            wizard.flow.change_options(environment=folder)
        wizard.controller.go_to("computer")  # what the welcome asks has been answered on Home

    def _open_side_page(self, name: SidePageName) -> None:
        self._open_setup().side_pages.open_from_main_area(name)

    # Closing

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close at once if nothing runs; else confirm, cancel the jobs, and close when they ended."""
        running = self._running_jobs(self) if self._is_built else []
        if not running or self.jobs_abandoned:
            self._shut_down()
            event.accept()
            return
        event.ignore()
        if self._closing or not (self._stop_confirmed or self._confirm_stop()):
            return
        self._closing = True
        self._stopping_runners: list[JobRunner] = []
        self._stop_jobs(running)
        self._show_banner("warn", self.tr("Stopping… The window closes by itself in a moment."))
        self._stop_timer.start()

    def end_session(self) -> None:
        """The session ends: cancel all jobs without asking, and close."""
        self.save_state(0.0)
        self._stop_confirmed = True
        self.close()

    def save_state(self, timeout_s: float = SAVE_TIMEOUT_S) -> None:
        """Write what a sudden end would lose; waits at most `timeout_s` seconds."""
        if self.main_area is not None:
            self.main_area.sampling.flush(timeout_s)

    def _close_from_tray(self) -> None:
        """Close; a question about running jobs must be visible."""
        if self._running_jobs(self):
            self.bring_to_front()
        self.close()

    def _confirm_update_handover(self) -> None:
        """Ask what closing will ask before the installer is started, which then closes the window."""
        if self._confirm_stop():
            self.updates.start_handover()

    def _close_for_update(self) -> None:
        self._stop_confirmed = True
        self.close()

    def _confirm_stop(self) -> bool:
        """Whether running jobs may be stopped; asks only about jobs that the user waits for."""
        from ..widgets.dialogs import ConfirmDialog

        if self.wizard is not None and self.wizard.flow.state.stage == "stopping":
            return True  # the user has agreed to that already
        if self.wizard is not None and (self.wizard.flow.is_locked or self.wizard.side_pages.is_creating_bundle):
            return ConfirmDialog.ask(
                self,
                self.tr("Stop here?"),
                self.wizard.kept_work_text,
                accept_text=self.tr("Stop"),
                reject_text=self.tr("Continue"),
                dismiss_signal=self.wizard.work_finished,
            )
        if self.main_area is not None and self.main_area.is_benchmarking:
            return ConfirmDialog.ask(
                self,
                self.tr("Stop the benchmark?"),
                self.tr("An unfinished benchmark is not kept."),
                accept_text=self.tr("Stop"),
                reject_text=self.tr("Continue"),
                dismiss_signal=self.main_area.benchmark_finished,
            )
        if self.main_area is not None and self.main_area.is_testing:
            return ConfirmDialog.ask(
                self,
                self.tr("Stop the health test?"),
                self.tr("The test ends without a verdict, and its results so far are not kept."),
                accept_text=self.tr("Stop"),
                reject_text=self.tr("Continue"),
                dismiss_signal=self.main_area.test_finished,
            )
        return True

    def _running_jobs(self, parent: QObject) -> list[JobRunner]:
        from ..worker import JobRunner

        return [runner for runner in parent.findChildren(JobRunner) if runner.running]

    def _close_when_idle(self) -> None:
        # `finished` is emitted after the runner is free, and the page's own handlers run before this one.
        if not self._closing:
            return
        running = self._running_jobs(self)
        # Those handlers may have started another job.
        self._stop_jobs(running)
        if not running:
            self.close()

    def _stop_jobs(self, running: list[JobRunner]) -> None:
        for runner in running:
            if runner not in self._stopping_runners:
                self._stopping_runners.append(runner)
                runner.finished.connect(self._close_when_idle)
            runner.cancel()

    def _abandon_jobs(self) -> None:
        """A job did not stop in time: close without it. Child processes end with this one."""
        self.jobs_abandoned = True
        self.close()

    def wait_for_jobs(self) -> None:
        """Stop the jobs that were started while the window closed; those that do not end in time are abandoned.

        What a page does at a job's end may start another.
        """
        from PySide6.QtCore import QDeadlineTimer

        deadline = QDeadlineTimer(STOP_TIMEOUT_MS)
        while not self.jobs_abandoned and (running := self._running_jobs(self)):
            for runner in running:
                runner.cancel()
            self.jobs_abandoned = not all(runner.wait(deadline.remainingTime()) for runner in running)

    def _shut_down(self) -> None:
        log.info("window closed")
        self._stop_timer.stop()
        geometry = bytes(self.saveGeometry().data())
        # The rest writes to the disk and waits for the sampling thread.
        self.hide()
        if self._writes_state:
            with suppress(AppError):  # where it cannot be written, the next start has the default size
                json.write_file(self._geometry_file, geometry)
        if self._is_built:
            self.desktop_integration.close()
        if self.main_area is not None:
            self.main_area.stop()
        QCoreApplication.quit()

    # Notices and the first paint

    def _restore_geometry(self) -> None:
        """Where the window was when it closed; Qt moves it onto a screen that exists."""
        with suppress(OSError):
            if self.restoreGeometry(filesystem.read_bytes(self._geometry_file)):
                return
        self.resize(QSize(*DEFAULT_SIZE).boundedTo(self._largest_size))

    @property
    def _largest_size(self) -> QSize:
        """What the screen leaves inside the window's frame."""
        return self.screen().availableSize() - FRAME_SIZE

    def _fit_minimum(self) -> None:
        """Let the window become as small as its screen: Full HD at 200 % is lower than the usual minimum."""
        self.setMinimumSize(QSize(*MINIMUM_SIZE).boundedTo(self._largest_size))

    def show_crash_notice(self, report: Path) -> None:
        """Say that the last run crashed, and where its report is."""
        self._show_banner(
            "neutral",
            self.tr("GPU Assistant closed unexpectedly last time. Details are in {path}").format(path=report),
            button_text=self.tr("OK"),
        )

    def _taskbar(self, handle: int) -> TaskbarProgress | None:
        return self.app.system.taskbar(handle)

    def _on_save_failed(self, error: AppError) -> None:
        self._show_banner("warn", self.language.texts().error_text(error))

    def _on_sampling_failed(self, error: AppError) -> None:
        if error.code == "history-damaged":  # nothing can be done about it
            self._show_banner("neutral", self.language.texts().error_text(error), button_text=self.tr("OK"))
        else:
            self._on_save_failed(error)

    def _show_banner(self, kind: BannerKind, text: str, button_text: str = "") -> None:
        """Show one line above everything; a button with `button_text` hides it."""
        from ..widgets.cards import Banner

        if self._banner is None:
            self._banner = Banner()
            self._banner.setObjectName("statusBanner")
            self._banner.button.clicked.connect(self._banner.hide)
            self._column.insertWidget(0, self._banner)
        self._banner.set(kind, text)
        self._banner.button.setText(button_text)
        self._banner.button.setVisible(bool(button_text))
        self._banner.show()

    def _retranslate_title(self) -> None:
        self.setWindowTitle(self.tr("GPU Assistant"))

    def showEvent(self, event: QShowEvent) -> None:
        """Watch for the first paint."""
        super().showEvent(event)
        handle = self.windowHandle()
        if self._is_first_show and handle is not None:
            self._is_first_show = False
            handle.installEventFilter(self)
            handle.screenChanged.connect(self._fit_minimum)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The first exposure of the native window paints everything; `painted` follows."""
        if event.type() == QEvent.Type.Expose:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self.painted.emit)
        return False
