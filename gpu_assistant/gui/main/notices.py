"""What the desktop shows of the cards: an icon with temperature and load, a word for each alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from ...core.health import Alarm, Health
from ...core.results import GpuSample
from ...texts.format import UNKNOWN_VALUE
from .. import language, theme
from ..components.base import draw_rounded_rect
from ..theme.tokens import load_theme_file
from .desktop import Notification
from .silences import is_muted

if TYPE_CHECKING:
    from ...app import App
    from ..monitor.sampling import SamplingService
    from .desktop import DesktopIntegration

ICON_SIZE = 64  # what desktops scale down from
ICON_THEME = "light"  # its dark tokens under light figures can be read on a bar of any colour
MAX_TOOLTIP_GPUS = 4  # cards in the icon's words: Windows shows 127 characters
COLOR_OF_STATE = {"warn": "warn", "error": "error"}


class GpuNotifier(QObject):
    """Follows the samples for as long as the window lives. Settings decide what is shown (`follow`)."""

    def __init__(self, app: App, sampling: SamplingService, desktop: DesktopIntegration) -> None:
        super().__init__(desktop)
        self._app, self._sampling, self._desktop = app, sampling, desktop
        self._shown_tray_state: tuple[str, str, str] | None = None
        # What was said, by alarm and card, until it ends.
        self._notified_alarms: set[tuple[str, int | None]] = set()
        sampling.sampled.connect(self._update_tray)
        sampling.health_changed.connect(self._notify_alarms)
        self.apply_settings()

    def apply_settings(self) -> None:
        """Do what the settings say now."""
        self._shown_tray_state = None
        self._desktop.set_tray_permanent(self._app.settings.tray)
        self._update_tray()

    def _update_tray(self) -> None:
        """Another icon only where it would look different."""
        sample, health = self._sampling.history.latest, self._sampling.health
        if not self._app.settings.tray or sample is None:
            return
        gpus_with_temperature = [gpu for gpu in sample.gpus if gpu.temp is not None]
        hottest = max(gpus_with_temperature, key=lambda gpu: gpu.temp or 0, default=None)
        state = health.state if health is not None else "unknown"
        # A card that is lost has no temperature, and must not look as if nothing were the matter.
        no_temperature = "!" if state in COLOR_OF_STATE else ""
        figure = no_temperature if hottest is None else str(hottest.temp)
        lines = [self.tr("GPU Assistant")] if not sample.gpus else []
        alarm_gpus = {alarm.gpu for alarm in health.alarms if alarm.level != "info"} if health is not None else set()
        # Whoever is not well, then the hottest: these have room.
        listed_gpus = sorted(sample.gpus, key=lambda gpu: (gpu.index not in alarm_gpus, -(gpu.temp or 0)))[:MAX_TOOLTIP_GPUS]
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
    utilization = None if gpu.util is None else f"{gpu.util} %"
    texts, code = language.texts(), f"monitor.gpu.{gpu.state}"
    return " · ".join(part for part in (temp, utilization) if part) or (texts.translate(code) if texts.has_text(code) else UNKNOWN_VALUE)


def alarm_notification(alarm: Alarm) -> Notification:
    """What is said of an alarm: its title, then the evidence and what to do."""
    localized = language.texts().localize_alarm(alarm)
    return Notification(title=localized.title or "", text=f"{localized.evidence}\n{localized.fix}", is_error=alarm.level == "error")


def temperature_icon(figure: str, state: str) -> QIcon:
    """The temperature on a ground whose colour says how the cards are; without one, our own mark."""
    from ..icons import app_icon

    if not figure:
        return app_icon()
    pixmap = QPixmap(ICON_SIZE, ICON_SIZE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    tokens = load_theme_file().themes[ICON_THEME]
    draw_rounded_rect(painter, QRectF(0, 0, ICON_SIZE, ICON_SIZE), 14, QColor(getattr(tokens, COLOR_OF_STATE.get(state, "text"))))
    font = theme.font("figure")
    font.setPixelSize(44 if len(figure) < 3 else 34)
    painter.setFont(font)
    painter.setPen(QColor(tokens.card))
    painter.drawText(QRectF(0, 0, ICON_SIZE, ICON_SIZE), int(Qt.AlignmentFlag.AlignCenter), figure)
    painter.end()
    return QIcon(pixmap)
