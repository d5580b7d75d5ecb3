"""What the desktop shows of the program: progress on the task bar, a tray icon, notifications; and which are muted.

    JobRunner ── reported, done, failed ──> DesktopIntegration ──> task bar, notification
    SamplingService ── sampled, health_changed ──> GpuNotifier ──> tray icon, a notification for each alarm

Notifications are shown only while no window of the program is active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QCoreApplication, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from ...core.errors import DRIVER_AWAITED_CODES, AppError, ElevationDenied, RebootRequired
from ...core.results import Alarm, GpuSample, Health
from ...core.settings import MutedAlarm, Settings
from ...core.theme import load_theme_file
from ...monitor.series import gpu_key
from ...texts.format import UNKNOWN_VALUE, format_percent
from .. import language, theme
from ..language import Language
from ..widgets.base import draw_rounded_rect
from ..worker import JobRunner

if TYPE_CHECKING:
    from PySide6.QtWidgets import QSystemTrayIcon

    from ...app import App
    from ...system.base import TaskbarProgress, TaskbarState
    from ..bundle.create import BundleCreator
    from ..monitor.sampling import SamplingService
    from ..widgets.inputs import Menu
    from ..wizard.controller import WizardController


WorkKind = Literal["install", "benchmark", "folder"]


class Notification(Struct, frozen=True, kw_only=True):
    """A title and a text."""

    title: str
    text: str
    is_error: bool = False


def is_own_window_active() -> bool:
    """Whether a window of the program has keyboard focus and is not minimised."""
    window = QApplication.activeWindow()
    return window is not None and not window.isMinimized()


class TaskbarButton(QAbstractNativeEventFilter):
    """Progress on the window's button, shown again on a new button: the system's task bar may come late, or anew.

    Native messages are looked at only while there is something to show.
    """

    def __init__(self, progress: TaskbarProgress) -> None:
        super().__init__()
        self._progress = progress
        self._shown: tuple[TaskbarState, float | None] = ("none", None)

    def show(self, state: TaskbarState, fraction: float | None = None) -> None:
        was_shown, is_shown = self._shown[0] != "none", state != "none"
        self._shown = (state, fraction)
        application = QCoreApplication.instance()
        if application is not None and is_shown != was_shown:
            change_filter = application.installNativeEventFilter if is_shown else application.removeNativeEventFilter
            change_filter(self)
        self._progress.show(state, fraction)

    def close(self) -> None:
        """Remove the progress; called once."""
        self.show("none")
        self._progress.close()

    def nativeEventFilter(
        self,
        event_type: QByteArray | bytes | bytearray | memoryview,  # noqa: ARG002 - Qt's signature
        message: int,
    ) -> object:
        if self._progress.is_new_button(int(message)):
            self._progress.show(*self._shown)
        return False, 0


class DesktopIntegration(QObject):
    """Shows the work of the runners that it watches.

    `window_requested` is emitted when the user clicks the notification or the icon, `quit_requested` by the icon's
    menu. `create_taskbar` gives the progress on the button of the window with that handle, None where there is none;
    `shows_success` whether the end of a work that went well is a notification: what failed always is.
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
        *,
        shows_success: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(window)
        self._shows_success = shows_success
        self._window = window
        self._language = language
        self._create_taskbar = create_taskbar
        self._is_in_front = is_in_front
        self._taskbar: TaskbarButton | None = None
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
        """Show a runner's work; `fraction` gives the progress after a report (0 to 1, None: unknown)."""
        runner.started.connect(lambda: self._set_fraction(kind, None))
        runner.reported.connect(lambda news: self._set_fraction(kind, fraction(news)))
        runner.done.connect(lambda _: self._on_work_ended(kind, self._success_notification(kind)))
        runner.failed.connect(lambda error: self._on_work_ended(kind, self._failure_notification(kind, error)))
        runner.cancelled.connect(lambda: self._on_work_ended(kind, None))

    def watch_wizard(self, controller: WizardController) -> None:
        """Show the wizard's install and benchmark."""

        def install_fraction(_: object) -> float | None:
            return controller.progress.bar_fraction if controller.progress is not None else None

        self.watch_runner(controller.runners.install, "install", install_fraction)
        self.watch_benchmark(controller.runners.benchmark)

    def watch_bundle_creator(self, creator: BundleCreator) -> None:
        self.watch_runner(creator.runner, "folder", lambda _: creator.download_fraction)

    def watch_benchmark(self, runner: JobRunner) -> None:
        def benchmark_fraction(progress: object) -> float | None:
            from ...bench.child_protocol import BenchmarkProgress

            if isinstance(progress, BenchmarkProgress):
                return (progress.index - 1) / max(progress.total, 1)
            return self._fractions.get("benchmark")

        self.watch_runner(runner, "benchmark", benchmark_fraction)

    def close(self) -> None:
        """Remove icon and progress; the window closes."""
        self._tray_permanent = False
        self._hide_tray()
        if self._taskbar is not None:
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
        """Of several jobs, the one that began first is shown."""
        if not self._taskbar_requested:
            self._taskbar_requested = True
            progress = self._create_taskbar(int(self._window.winId()))
            self._taskbar = TaskbarButton(progress) if progress is not None else None
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
        if notification.is_error or self._shows_success():
            self.notify(notification)

    # Notifications

    def notify(self, notification: Notification) -> None:
        """Show a notification, unless a window of the program is active."""
        if not self._is_in_front():
            self._show_notification(notification)

    def set_tray_permanent(self, permanent: bool) -> None:
        """Keep the icon, or show it only with notifications."""
        from PySide6.QtWidgets import QSystemTrayIcon

        self._tray_permanent = permanent and QSystemTrayIcon.isSystemTrayAvailable()
        if self._tray_permanent:
            self._ensure_tray()
        else:
            self._hide_tray()

    def set_tray_appearance(self, icon: QIcon | None, tooltip: str) -> None:
        """Set image and tool tip of the permanent icon; None keeps the image."""
        if self._tray_permanent and self.tray is not None:
            if icon is not None:
                self.tray.setIcon(icon)
            self.tray.setToolTip(tooltip)

    def _ensure_tray(self) -> QSystemTrayIcon:
        from PySide6.QtWidgets import QSystemTrayIcon

        from ..widgets.icons import app_icon
        from ..widgets.inputs import Menu

        if self.tray is None:
            # A message needs an icon: without one neither Windows nor Linux shows it.
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
        """The context click opens the menu, and not the window too."""
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
                title=self.tr("Installation finished"), text=self.tr("Open the window to see the proof that it works.")
            )
        if kind == "folder":
            text = self.tr("The window shows what to do with it on the computer without internet.")
            return Notification(title=self.tr("The offline folder is ready"), text=text)
        return Notification(title=self.tr("Benchmark finished"), text=self.tr("The results are in the window."))

    def _failure_notification(self, kind: WorkKind, error: AppError) -> Notification:
        from .. import messages

        text = messages.error_text(self._language.texts(), error)
        if isinstance(error, RebootRequired):
            is_driver_awaited = error.code in DRIVER_AWAITED_CODES
            title = self.tr("Now install the driver") if is_driver_awaited else self.tr("A restart is needed")
            return Notification(title=title, text=text)
        if isinstance(error, ElevationDenied):
            title = self.tr("Done, except for what needs your permission")
            return Notification(title=title, text=self.tr("Open the window to see what was skipped."))
        titles: dict[WorkKind, str] = {
            "install": self.tr("Installation stopped"),
            "benchmark": self.tr("The benchmark stopped"),
            "folder": self.tr("The offline folder is not ready"),
        }
        return Notification(title=titles[kind], text=text, is_error=True)

    def _show_notification(self, notification: Notification) -> None:
        """Ask for attention on the task bar, and show a message where the desktop has a tray."""
        from PySide6.QtWidgets import QSystemTrayIcon

        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            tray = self._ensure_tray()
            if not self._tray_permanent:
                tray.setToolTip(notification.title)
            icon = (
                QSystemTrayIcon.MessageIcon.Critical
                if notification.is_error
                else QSystemTrayIcon.MessageIcon.Information
            )
            tray.showMessage(notification.title, notification.text, icon)
        self.notified.emit(notification)

    def _on_application_state_changed(self, state: Qt.ApplicationState) -> None:
        """The user is back: remove the notification's icon and the red progress."""
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


def is_muted(settings: Settings, alarm: Alarm, gpus: Iterable[GpuSample]) -> bool:
    """Whether notifications of this alarm are muted; `gpus` are the present GPUs."""
    return settings.is_muted(alarm.id, _gpu_key(alarm, gpus))


def muted_settings(settings: Settings, alarm: Alarm, gpus: Iterable[GpuSample], *, muted: bool) -> dict[str, Any]:
    """The settings' fields with this alarm muted or unmuted for its GPU."""
    gpu_key = _gpu_key(alarm, gpus)
    rules = tuple(each for each in settings.muted_alarms if each != alarm.id)
    gpu_alarms = tuple(each for each in settings.muted_gpu_alarms if (each.alarm, each.card) != (alarm.id, gpu_key))
    if muted and gpu_key is None:
        rules = (*rules, alarm.id)
    elif muted and gpu_key is not None:
        name = alarm.data.get("name")
        gpu_alarms = (*gpu_alarms, MutedAlarm(alarm=alarm.id, card=gpu_key, name=str(name) if name else None))
    return {"muted_alarms": rules, "muted_gpu_alarms": gpu_alarms}


def _gpu_key(alarm: Alarm, gpus: Iterable[GpuSample]) -> str | None:
    """The key of the alarm's GPU, the same in another slot; None for the whole computer."""
    if alarm.gpu is None:
        return None
    return gpu_key(next((gpu for gpu in gpus if gpu.index == alarm.gpu), GpuSample(index=alarm.gpu)))


ICON_SIZE = 64  # desktops scale it down
ICON_THEME = "light"  # light figures on its dark tokens are legible on a bar of any colour
MAX_TOOLTIP_GPUS = 4  # Windows shows 127 characters
COLOR_OF_STATE = {"warn": "warn", "error": "error"}


class GpuNotifier(QObject):
    """Follows the samples: tray icon and alarm notifications, as the settings say."""

    def __init__(self, app: App, sampling: SamplingService, desktop: DesktopIntegration) -> None:
        super().__init__(desktop)
        self._app, self._sampling, self._desktop = app, sampling, desktop
        self._shown_tray_state: tuple[str, str, str] | None = None
        # (alarm, GPU) of notifications shown, until the alarm ends.
        self._notified_alarms: set[tuple[str, int | None]] = set()
        sampling.sampled.connect(self._update_tray)
        sampling.health_changed.connect(self._notify_alarms)
        self.apply_settings()

    def apply_settings(self) -> None:
        self._shown_tray_state = None
        self._desktop.set_tray_permanent(self._app.settings.tray)
        self._update_tray()

    def _update_tray(self) -> None:
        sample, health = self._sampling.history.latest, self._sampling.health
        if not self._app.settings.tray or sample is None:
            return
        gpus_with_temperature = [gpu for gpu in sample.gpus if gpu.temp is not None]
        hottest = max(gpus_with_temperature, key=lambda gpu: gpu.temp or 0, default=None)
        state = health.state if health is not None else "unknown"
        # A lost GPU has no temperature, and must not look as if all were well.
        no_temperature = "!" if state in COLOR_OF_STATE else ""
        figure = no_temperature if hottest is None else str(hottest.temp)
        lines = [self.tr("GPU Assistant")] if not sample.gpus else []
        alarm_gpus = {alarm.gpu for alarm in health.alarms if alarm.level != "info"} if health is not None else set()
        # GPUs with alarms first, then the hottest.
        listed_gpus = sorted(sample.gpus, key=lambda gpu: (gpu.index not in alarm_gpus, -(gpu.temp or 0)))[
            :MAX_TOOLTIP_GPUS
        ]
        for gpu in sorted(listed_gpus, key=lambda gpu: gpu.index):
            name = gpu.name if len(sample.gpus) == 1 and gpu.name else f"GPU {gpu.index}"
            lines.append(f"{name}: {gpu_status_text(gpu)}")
        if len(sample.gpus) > MAX_TOOLTIP_GPUS:
            lines.append(self.tr("and {count} more").format(count=len(sample.gpus) - MAX_TOOLTIP_GPUS))
        tray_state = (figure, state, "\n".join(lines))
        if tray_state != self._shown_tray_state:
            previous, self._shown_tray_state = self._shown_tray_state, tray_state
            icon = temperature_icon(figure, state) if previous is None or previous[:2] != tray_state[:2] else None
            self._desktop.set_tray_appearance(icon, tray_state[2])

    def _notify_alarms(self, health: Health) -> None:
        active_alarms = {(alarm.id, alarm.gpu): alarm for alarm in health.alarms if alarm.level != "info"}
        self._notified_alarms &= set(active_alarms)
        settings, gpus = self._app.settings, self._sampling.history.gpus()
        for key, alarm in active_alarms.items():
            if key in self._notified_alarms:
                continue
            self._notified_alarms.add(key)
            if settings.alarms and not is_muted(settings, alarm, gpus):
                self._desktop.notify(alarm_notification(alarm))


def gpu_status_text(gpu: GpuSample) -> str:
    """Temperature and load, or why there are none."""
    temp = None if gpu.temp is None else f"{gpu.temp} °C"
    texts, code = language.texts(), f"monitor.gpu.{gpu.state}"
    utilization = None if gpu.util is None else format_percent(gpu.util)
    return " · ".join(part for part in (temp, utilization) if part) or (
        texts.translate(code) if texts.has_text(code) else UNKNOWN_VALUE
    )


def alarm_notification(alarm: Alarm) -> Notification:
    """An alarm's title, then its evidence and remedy."""
    localized = language.texts().localize_alarm(alarm)
    return Notification(
        title=localized.title or "", text=f"{localized.evidence}\n{localized.fix}", is_error=alarm.level == "error"
    )


def temperature_icon(figure: str, state: str) -> QIcon:
    """The temperature on a background that shows the state; without one, the program's icon."""
    from ..widgets.icons import app_icon

    if not figure:
        return app_icon()
    pixmap = QPixmap(ICON_SIZE, ICON_SIZE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    tokens = load_theme_file().themes[ICON_THEME]
    draw_rounded_rect(
        painter, QRectF(0, 0, ICON_SIZE, ICON_SIZE), 14, QColor(getattr(tokens, COLOR_OF_STATE.get(state, "text")))
    )
    font = theme.font("figure")
    font.setPixelSize(44 if len(figure) < 3 else 34)
    painter.setFont(font)
    painter.setPen(QColor(tokens.card))
    painter.drawText(QRectF(0, 0, ICON_SIZE, ICON_SIZE), int(Qt.AlignmentFlag.AlignCenter), figure)
    painter.end()
    return QIcon(pixmap)
