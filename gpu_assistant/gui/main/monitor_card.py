"""Settings' card about the cards: notifications, the icon, what was silenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from ..components import Segments, label
from .choice_card import ChoiceCard
from .saving import SettingsSaver
from .silenced_list import SilencedList

if TYPE_CHECKING:
    from ...app import App

ON, OFF = range(2)


class MonitorCard(ChoiceCard):
    """`changed` comes after each choice."""

    changed = Signal()

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.alarms, self.tray = Segments(["", ""]), Segments(["", ""])
        self.silenced = SilencedList(app)
        self.sleep = label("small")
        super().__init__(app, saver, (self.alarms, self.tray), self.sleep, self.silenced)
        self.alarms.chosen.connect(lambda index: self._keep(alarms=index == ON))
        self.tray.chosen.connect(lambda index: self._keep(tray=index == ON))
        self.silenced.kept.connect(lambda changes: self._keep(**changes))

    def say(self) -> None:
        """All words, and what holds."""
        settings = self._app.settings
        self.set_title(self.tr("Your graphics card"))
        questions = (
            self.tr("Tell me when something is wrong with it, also while I look elsewhere"),
            self.tr("Show its temperature as an icon beside the clock"),
        )
        for words, control, text, on in zip(
            self.questions, (self.alarms, self.tray), questions, (settings.alarms, settings.tray), strict=True
        ):
            words.setText(text)
            control.set_options([self.tr("On"), self.tr("Off")])
            control.set_current(ON if on else OFF)
            control.setAccessibleName(text)
        self.sleep.setText(self.tr("A laptop's card that sleeps to save power is never woken for this."))
        self.silenced.retranslate()

    def _keep(self, **changes: object) -> None:
        self._saver.keep(**changes)
        self.retranslate()
        self.changed.emit()
