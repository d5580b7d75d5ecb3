"""What to do about the alarms, below the sentence that names the gravest: folded, so that the figures stay in sight."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...core.health import Alarm, Health
from ..components import Button, Live
from .alarms_card import AlarmsCard


class AdviceFold(Live, QWidget):
    """A button, to be seen while there is an alarm, and below it the alarms once it was pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._open = False
        self.button = Button(kind="ghost", small=True)
        self.alarms = AlarmsCard(infos=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self._below = QWidget()
        below = QVBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        below.addWidget(self.alarms)
        column.addWidget(self._below)
        self._below.hide()
        self.button.clicked.connect(self._turn_over)
        self.hide()
        self.follow()

    def show_health(self, health: Health | None, silent: Callable[[Alarm], bool]) -> None:
        """Follow the state of now."""
        self.alarms.show_health(health, silent)
        there = bool(self.alarms.rows)
        if self._open and not there:
            self._turn_over()
        self.setVisible(there)

    def retranslate(self) -> None:
        """The button's words."""
        self.button.setText(self.tr("What to do"))
        self.button.set_icon(after="up" if self._open else "down")

    def _turn_over(self) -> None:
        self._open = not self._open
        self._below.setVisible(self._open)
        self.retranslate()
