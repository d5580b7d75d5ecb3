"""What to do about the alarms, below the sentence that names the gravest: folded, so that the figures stay in sight."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...core.health import Alarm, Health
from ..components import Button, Themed
from .alarms_card import AlarmsCard


class AlarmAdvicePanel(Themed, QWidget):
    """A button, to be seen while there is an alarm, and below it the alarms once it was pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._is_open = False
        self.toggle_button = Button(kind="ghost", small=True)
        self.alarms_card = AlarmsCard(include_info=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.toggle_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._container = QWidget()
        container_layout = QVBoxLayout(self._container)
        container_layout.setContentsMargins(0, 0, 0, 0)
        container_layout.addWidget(self.alarms_card)
        column.addWidget(self._container)
        self._container.hide()
        self.toggle_button.clicked.connect(self._toggle)
        self.hide()
        self.apply_theme()

    def show_health(self, health: Health | None, is_muted: Callable[[Alarm], bool]) -> None:
        """Follow the state of now."""
        self.alarms_card.show_health(health, is_muted)
        has_alarms = bool(self.alarms_card.rows)
        if self._is_open and not has_alarms:
            self._toggle()
        self.setVisible(has_alarms)

    def retranslate(self) -> None:
        """The button's words."""
        self.toggle_button.setText(self.tr("What to do"))
        self.toggle_button.set_icon(trailing_icon="up" if self._is_open else "down")

    def _toggle(self) -> None:
        self._is_open = not self._is_open
        self._container.setVisible(self._is_open)
        self.retranslate()
