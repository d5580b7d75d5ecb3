"""What the user wants no notifications for, each with the button that brings them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from .. import language
from ..components import Button, Themed, TextLabel, label

if TYPE_CHECKING:
    from ...app import App

AlarmKey = tuple[str, str | None]  # the rule's id, the card or None


class MutedAlarmsList(Themed, QWidget):
    """`kept(dict)`: the settings' fields once one of them is told again."""

    settings_changed = Signal(dict)

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app
        self.rows: dict[AlarmKey, tuple[TextLabel, Button]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(0, 1)
        self._heading = label("body")
        self._grid.addWidget(self._heading, 0, 0)
        self.apply_theme()

    def retranslate(self) -> None:
        """What is silent now, in the words of now."""
        muted = self._muted_alarms()
        if list(muted) != list(self.rows):
            self._build_rows(muted)
        self._heading.setText(self.tr("No notifications for:"))
        for key, title in muted.items():
            title_label, unmute_button = self.rows[key]
            title_label.setText(title)
            unmute_button.setText(self.tr("Notify me again"))
            unmute_button.setAccessibleDescription(title)
        self.setVisible(bool(muted))

    def _muted_alarms(self) -> dict[AlarmKey, str]:
        """Alarms of one card by its name; those of before, and of the computer, are of any."""
        settings, texts = self._app.settings, language.texts()
        muted: dict[AlarmKey, str] = {}
        for alarm in settings.silenced:
            if texts.has_text(f"health.{alarm}.title"):
                muted[alarm, None] = texts.translate(f"health.{alarm}.title")
        for each in settings.silenced_cards:
            if texts.has_text(f"health.{each.alarm}.title"):
                title = texts.translate(f"health.{each.alarm}.title")
                muted[each.alarm, each.card] = f"{title} · {each.name or each.card}"
        return muted

    def _build_rows(self, muted: dict[AlarmKey, str]) -> None:
        for row in self.rows.values():
            for widget in row:
                widget.hide()
                self._grid.removeWidget(widget)
                widget.deleteLater()
        self.rows = {}
        for index, key in enumerate(muted, 1):
            title_label, unmute_button = label("body", tone="soft"), Button(small=True)
            unmute_button.clicked.connect(lambda _=False, which=key: self._unmute(which))
            self._grid.addWidget(title_label, index, 0, Qt.AlignmentFlag.AlignVCenter)
            self._grid.addWidget(unmute_button, index, 1, Qt.AlignmentFlag.AlignRight)
            self.rows[key] = title_label, unmute_button

    def _unmute(self, key: AlarmKey) -> None:
        settings = self._app.settings
        changes: dict[str, Any] = {
            "silenced": tuple(each for each in settings.silenced if (each, None) != key),
            "silenced_cards": tuple(each for each in settings.silenced_cards if (each.alarm, each.card) != key),
        }
        self.settings_changed.emit(changes)
        # The keyboard stays where it was, as far as there is a place.
        for _, unmute_button in list(self.rows.values())[:1]:
            unmute_button.setFocus()
