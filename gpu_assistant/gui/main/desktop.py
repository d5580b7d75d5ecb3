"""What the rest of the desktop shows of work that takes minutes: progress on the task bar, a word when it ended.

The word comes only while no window of ours is in front: who looks at it needs no second telling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from ...core.errors import AppError, RebootRequired, ElevationDenied
from ..language import Language
from ..worker import JobRunner

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QSystemTrayIcon

    from ...system.services import TaskbarProgress
    from ..bundle.making import BundleCreator
    from ..components.menu import Menu
    from ..wizard.road import WizardController

WorkKind = Literal["install", "benchmark", "folder"]


class Notification(Struct, frozen=True, kw_only=True):
    """What is said at the end of a piece of work."""

    title: str
    text: str
    is_error: bool = False


def is_own_window_active() -> bool:
    """Whether one of our windows has the keyboard and is to be seen."""
    window = QApplication.activeWindow()
    return window is not None and not window.isMinimized()


class DesktopIntegration(QObject):
    """Shows the work of the runners that it is given. `wanted` comes when the user presses the word or the icon,
    `leave_wanted` when its menu's last entry is chosen.

    `taskbar` gives the progress on the button of the window with a handle, or None where there is no such.
    """

    window_requested = Signal()
    quit_requested = Signal()
    notified = Signal(object)

    def __init__(
        self,
        window: QWidget,
        language: Language,
        create_taskbar: Callable[[int], TaskbarProgress | None],
        is_in_front: Callable[[], bool] = is_own_window_active,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._language = language
        self._create_taskbar = create_taskbar
        self._is_in_front = is_in_front
        self._taskbar: TaskbarProgress | None = None
        self._taskbar_requested = False
        self._fractions: dict[WorkKind, float | None] = {}
        self.tray: QSystemTrayIcon | None = None
        self._tray_menu: Menu | None = None
        self._tray_permanent = False
        language.changed.connect(self._retranslate_tray_menu)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(self._on_application_state_changed)

    def watch_runner(
        self,
        runner: JobRunner,
        kind: WorkKind,
        fraction: Callable[[Any], float | None],
    ) -> None:
        """Show what a runner does; `fraction` is the share done after a piece of news (0 to 1, None: unknown)."""
        runner.started.connect(lambda: self._set_fraction(kind, None))
        runner.reported.connect(lambda news: self._set_fraction(kind, fraction(news)))
        runner.done.connect(lambda _: self._on_work_ended(kind, self._success_notification(kind)))
        runner.failed.connect(lambda error: self._on_work_ended(kind, self._failure_notification(kind, error)))
        runner.cancelled.connect(lambda: self._on_work_ended(kind, None))

    def watch_wizard(self, controller: WizardController) -> None:
        """The wizard's install and its benchmark."""

        def install_fraction(_: object) -> float | None:
            return controller.progress.bar_fraction if controller.progress is not None else None

        self.watch_runner(controller.install_runner, "install", install_fraction)
        self.watch_benchmark(controller.benchmark_runner)

    def watch_bundle_creator(self, creator: BundleCreator) -> None:
        """A folder for a computer without internet."""
        self.watch_runner(creator.runner, "folder", lambda _: creator.download_fraction)

    def watch_benchmark(self, runner: JobRunner) -> None:
        """A benchmark."""

        def benchmark_fraction(progress: object) -> float | None:
            from ...bench.parent import BenchmarkProgress

            if isinstance(progress, BenchmarkProgress):
                return (progress.index - 1) / max(progress.total, 1)
            return self._fractions.get("benchmark")

        self.watch_runner(runner, "benchmark", benchmark_fraction)

    def close(self) -> None:
        """The window closes: leave nothing behind."""
        self._tray_permanent = False
        self._hide_tray()
        if self._taskbar is not None:
            self._taskbar.show("none")
            self._taskbar.close()
            self._taskbar = None
        self._taskbar_requested = True

    # Progress

    def _set_fraction(self, kind: WorkKind, fraction: float | None) -> None:
        if self._fractions.get(kind, -1.0) == fraction:
            return
        self._fractions[kind] = fraction
        self._update_taskbar()

    def _update_taskbar(self) -> None:
        """The work that began first stands on the button."""
        if not self._taskbar_requested:
            self._taskbar_requested = True
            self._taskbar = self._create_taskbar(int(self._window.winId()))
        if self._taskbar is None:
            return
        if not self._fractions:
            self._taskbar.show("none")
            return
        fraction = next(iter(self._fractions.values()))
        self._taskbar.show("busy" if fraction is None else "normal", fraction)

    def _on_work_ended(self, kind: WorkKind, notification: Notification | None) -> None:
        self._fractions.pop(kind, None)
        self._update_taskbar()
        if notification is None:
            return
        if notification.is_error and not self._fractions and self._taskbar is not None:
            self._taskbar.show("error")
        self.notify(notification)

    # Words

    def notify(self, notification: Notification) -> None:
        """Say something, unless the user looks at the window anyway."""
        if not self._is_in_front():
            self._show_notification(notification)

    def set_tray_permanent(self, permanent: bool) -> None:
        """An icon that stays, or one only for as long as something was said."""
        from PySide6.QtWidgets import QSystemTrayIcon

        self._tray_permanent = permanent and QSystemTrayIcon.isSystemTrayAvailable()
        if self._tray_permanent:
            self._ensure_tray()
        else:
            self._hide_tray()

    def set_tray_appearance(self, icon: QIcon | None, tooltip: str) -> None:
        """What the icon that stays shows; None keeps its picture."""
        if self._tray_permanent and self.tray is not None:
            if icon is not None:
                self.tray.setIcon(icon)
            self.tray.setToolTip(tooltip)

    def _ensure_tray(self) -> QSystemTrayIcon:
        from PySide6.QtWidgets import QSystemTrayIcon

        from ..components.menu import Menu
        from ..icons import app_icon

        if self.tray is None:
            # A message belongs to an icon; without one Windows and Linux show none.
            self.tray = QSystemTrayIcon(app_icon(), self)
            self.tray.messageClicked.connect(self.window_requested)
            self.tray.activated.connect(self._on_tray_activated)
            self._tray_menu = Menu(self._window)
            for signal in (self.window_requested, self.quit_requested):
                self._tray_menu.addAction("").triggered.connect(signal)
            self._retranslate_tray_menu()
            self.tray.setContextMenu(self._tray_menu)
        self.tray.show()
        return self.tray

    def _on_tray_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        """The other button opens the menu, and not the window too."""
        if reason != reason.Context:
            self.window_requested.emit()

    def _retranslate_tray_menu(self) -> None:
        if self._tray_menu is not None:
            texts = self.tr("Open GPU Assistant"), self.tr("Close GPU Assistant")
            for action, text in zip(self._tray_menu.actions(), texts, strict=True):
                action.setText(text)

    def _success_notification(self, kind: WorkKind) -> Notification:
        if kind == "install":
            return Notification(
                title=self.tr("The install is done"), text=self.tr("Open the window to see the proof that it works.")
            )
        if kind == "folder":
            text = self.tr("The window says what to do with it on the other computer.")
            return Notification(title=self.tr("The offline folder is ready"), text=text)
        return Notification(title=self.tr("The benchmark is done"), text=self.tr("The results are in the window."))

    def _failure_notification(self, kind: WorkKind, error: AppError) -> Notification:
        from ..wizard import words as said

        text = said.error_text(self._language.texts(), error)
        if isinstance(error, RebootRequired):
            return Notification(title=self.tr("A restart is needed"), text=text)
        if isinstance(error, ElevationDenied):
            title = self.tr("Done, but for what needs your consent")
            return Notification(title=title, text=self.tr("Open the window to see what was left out."))
        titles: dict[WorkKind, str] = {
            "install": self.tr("The install stopped"),
            "benchmark": self.tr("The benchmark stopped"),
            "folder": self.tr("The offline folder is not ready"),
        }
        return Notification(title=titles[kind], text=text, is_error=True)

    def _show_notification(self, notification: Notification) -> None:
        """The window's button asks for attention; where the desktop takes messages, there is one too."""
        from PySide6.QtWidgets import QSystemTrayIcon

        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            tray = self._ensure_tray()
            if not self._tray_permanent:
                tray.setToolTip(notification.title)
            icon = QSystemTrayIcon.MessageIcon.Critical if notification.is_error else QSystemTrayIcon.MessageIcon.Information
            tray.showMessage(notification.title, notification.text, icon)
        self.notified.emit(notification)

    def _on_application_state_changed(self, state: Qt.ApplicationState) -> None:
        """The user looks: the word was heard, red has done its work."""
        if state == Qt.ApplicationState.ApplicationActive:
            self._hide_tray()
            if not self._fractions and self._taskbar is not None:
                self._taskbar.show("none")

    def _hide_tray(self) -> None:
        if self.tray is not None and not self._tray_permanent:
            self.tray.hide()
            self.tray.deleteLater()
            self.tray = None
        if self.tray is None and self._tray_menu is not None:
            self._tray_menu.deleteLater()
            self._tray_menu = None
