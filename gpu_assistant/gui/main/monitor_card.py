"""Settings' card about the cards: notifications, the icon, what was silenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout

from .. import language
from ..components import Button, Card, Segments, label
from .saving import SettingsSaver

if TYPE_CHECKING:
    from ...app import App

ON, OFF = range(2)


class MonitorCard(Card):
    """`changed` comes after each choice."""

    changed = Signal()

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self._app, self._saver = app, saver
        self._ready = False
        super().__init__(" ")
        self.alarms, self.tray = Segments(["", ""]), Segments(["", ""])
        self.again = Button()
        self._questions = (label("body"), label("body"), label("body", "", "soft"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        for row, (words, control) in enumerate(zip(self._questions, (self.alarms, self.tray, self.again), strict=True)):
            grid.addWidget(words, row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignRight)
        self.column.addLayout(grid)
        self.alarms.chosen.connect(lambda index: self._keep(alarms=index == ON))
        self.tray.chosen.connect(lambda index: self._keep(tray=index == ON))
        self.again.clicked.connect(lambda: self._keep(silenced=()))
        self._ready = True
        self.retranslate()

    def showEvent(self, event: QShowEvent) -> None:
        """An alarm may have been silenced on another page."""
        super().showEvent(event)
        self.retranslate()

    def retranslate(self) -> None:
        """All words, and what holds."""
        if not self._ready:
            return
        settings, texts = self._app.settings, language.texts()
        self.set_title(self.tr("Your graphics card"))
        questions = (
            self.tr("Tell me when something is wrong with it, also while I look elsewhere"),
            self.tr("Show its temperature as an icon beside the clock"),
        )
        for words, control, text, on in zip(
            self._questions, (self.alarms, self.tray), questions, (settings.alarms, settings.tray), strict=False
        ):
            words.setText(text)
            control.set_options([self.tr("On"), self.tr("Off")])
            control.set_current(ON if on else OFF)
            control.setAccessibleName(text)
        names = [texts.say(f"health.{each}.title") for each in settings.silenced if texts.has(f"health.{each}.title")]
        self._questions[2].setText(self.tr("Not told: {alarms}").format(alarms=self.tr(", ").join(names)))
        self.again.setText(self.tr("Tell all again"))
        for part in (self._questions[2], self.again):
            part.setVisible(bool(names))

    def _keep(self, **changes: object) -> None:
        self._saver.keep(**changes)
        self.retranslate()
        self.changed.emit()
