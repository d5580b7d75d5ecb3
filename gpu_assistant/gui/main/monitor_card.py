"""Settings' card about the cards: notifications, the icon, what was silenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from .. import language
from ..components import Button, Segments
from .choice_card import ChoiceCard
from .saving import SettingsSaver

if TYPE_CHECKING:
    from ...app import App

ON, OFF = range(2)


class MonitorCard(ChoiceCard):
    """`changed` comes after each choice."""

    changed = Signal()

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.alarms, self.tray = Segments(["", ""]), Segments(["", ""])
        self.again = Button()
        super().__init__(app, saver, (self.alarms, self.tray, self.again))
        self.questions[2].set_tone("soft")
        self.alarms.chosen.connect(lambda index: self._keep(alarms=index == ON))
        self.tray.chosen.connect(lambda index: self._keep(tray=index == ON))
        self.again.clicked.connect(lambda: self._keep(silenced=()))

    def say(self) -> None:
        """All words, and what holds."""
        settings, texts = self._app.settings, language.texts()
        self.set_title(self.tr("Your graphics card"))
        questions = (
            self.tr("Tell me when something is wrong with it, also while I look elsewhere"),
            self.tr("Show its temperature as an icon beside the clock"),
        )
        for words, control, text, on in zip(
            self.questions, (self.alarms, self.tray), questions, (settings.alarms, settings.tray), strict=False
        ):
            words.setText(text)
            control.set_options([self.tr("On"), self.tr("Off")])
            control.set_current(ON if on else OFF)
            control.setAccessibleName(text)
        names = [texts.say(f"health.{each}.title") for each in settings.silenced if texts.has(f"health.{each}.title")]
        self.questions[2].setText(self.tr("Not told: {alarms}").format(alarms=self.tr(", ").join(names)))
        self.again.setText(self.tr("Tell all again"))
        for part in (self.questions[2], self.again):
            part.setVisible(bool(names))

    def _keep(self, **changes: object) -> None:
        self._saver.keep(**changes)
        self.retranslate()
        self.changed.emit()
