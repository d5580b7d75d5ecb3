"""What the desktop shows of the cards: an icon with temperature and load, a word for each alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from ...core.health import Alarm, Health
from ...core.results import GpuSample
from ...texts.format import UNKNOWN
from .. import language, theme
from ..components.base import rounded
from ..theme.tokens import look
from .desktop import Word
from .silences import is_silent

if TYPE_CHECKING:
    from ...app import App
    from ..monitor.sampling import Sampling
    from .desktop import Desktop

SIDE = 64  # what desktops scale down from
THEME = "light"  # its dark tokens under light figures can be read on a bar of any colour
MOST = 4  # cards in the icon's words: Windows shows 127 characters
GROUNDS = {"warn": "warn", "error": "error"}


class Notices(QObject):
    """Follows the samples for as long as the window lives. Settings decide what is shown (`follow`)."""

    def __init__(self, app: App, sampling: Sampling, desktop: Desktop) -> None:
        super().__init__(desktop)
        self._app, self._sampling, self._desktop = app, sampling, desktop
        self._shown: tuple[str, str, str] | None = None
        # What was said, by alarm and card, until it ends.
        self._said: set[tuple[str, int | None]] = set()
        sampling.sampled.connect(self._draw)
        sampling.judged.connect(self._judge)
        self.follow()

    def follow(self) -> None:
        """Do what the settings say now."""
        self._shown = None
        self._desktop.keep_tray(self._app.settings.tray)
        self._draw()

    def _draw(self) -> None:
        """Another icon only where it would look different."""
        sample, health = self._sampling.history.latest, self._sampling.health
        if not self._app.settings.tray or sample is None:
            return
        cards = [gpu for gpu in sample.gpus if gpu.temp is not None]
        hottest = max(cards, key=lambda gpu: gpu.temp or 0, default=None)
        state = health.state if health is not None else "unknown"
        # A card that is lost has no temperature, and must not look as if nothing were the matter.
        silent = "!" if state in GROUNDS else ""
        figure = silent if hottest is None else str(hottest.temp)
        words = [self.tr("GPU Assistant")] if not sample.gpus else []
        ailing = {alarm.gpu for alarm in health.alarms if alarm.level != "info"} if health is not None else set()
        # Whoever is not well, then the hottest: these have room.
        first = sorted(sample.gpus, key=lambda gpu: (gpu.index not in ailing, -(gpu.temp or 0)))[:MOST]
        for gpu in sorted(first, key=lambda gpu: gpu.index):
            name = gpu.name if len(sample.gpus) == 1 and gpu.name else f"GPU {gpu.index}"
            words.append(f"{name}: {said_of(gpu)}")
        if len(sample.gpus) > MOST:
            words.append(self.tr("and {count} more").format(count=len(sample.gpus) - MOST))
        now = (figure, state, "\n".join(words))
        if now != self._shown:
            before, self._shown = self._shown, now
            icon = icon_of(figure, state) if before is None or before[:2] != now[:2] else None
            self._desktop.dress_tray(icon, now[2])

    def _judge(self, health: Health) -> None:
        ringing = {(alarm.id, alarm.gpu): alarm for alarm in health.alarms if alarm.level != "info"}
        self._said &= set(ringing)
        settings, gpus = self._app.settings, self._sampling.history.gpus()
        for which, alarm in ringing.items():
            if which in self._said:
                continue
            self._said.add(which)
            if settings.alarms and not is_silent(settings, alarm, gpus):
                self._desktop.tell(word_of(alarm))


def said_of(gpu: GpuSample) -> str:
    """Temperature and load, or why there are none."""
    temp = None if gpu.temp is None else f"{gpu.temp} °C"
    load = None if gpu.util is None else f"{gpu.util} %"
    texts, code = language.texts(), f"monitor.gpu.{gpu.state}"
    return " · ".join(part for part in (temp, load) if part) or (texts.say(code) if texts.has(code) else UNKNOWN)


def word_of(alarm: Alarm) -> Word:
    """What is said of an alarm: its title, then the evidence and what to do."""
    said = language.texts().alarm(alarm)
    return Word(title=said.title or "", text=f"{said.evidence}\n{said.fix}", bad=alarm.level == "error")


def icon_of(figure: str, state: str) -> QIcon:
    """The temperature on a ground whose colour says how the cards are; without one, our own mark."""
    from ..icons import app_icon

    if not figure:
        return app_icon()
    picture = QPixmap(SIDE, SIDE)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    tokens = look().themes[THEME]
    rounded(painter, QRectF(0, 0, SIDE, SIDE), 14, QColor(getattr(tokens, GROUNDS.get(state, "text"))))
    font = theme.font("figure")
    font.setPixelSize(44 if len(figure) < 3 else 34)
    painter.setFont(font)
    painter.setPen(QColor(tokens.card))
    painter.drawText(QRectF(0, 0, SIDE, SIDE), int(Qt.AlignmentFlag.AlignCenter), figure)
    painter.end()
    return QIcon(picture)
