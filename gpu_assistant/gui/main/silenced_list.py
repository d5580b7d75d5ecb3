"""What the user wants no notifications for, each with the button that brings them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from .. import language
from ..components import Button, Live, Text, label

if TYPE_CHECKING:
    from ...app import App

Which = tuple[str, str | None]  # the rule's id, the card or None


class SilencedList(Live, QWidget):
    """`kept(dict)`: the settings' fields once one of them is told again."""

    kept = Signal(dict)

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app
        self.rows: dict[Which, tuple[Text, Button]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(0, 1)
        self._head = label("body")
        self._grid.addWidget(self._head, 0, 0)
        self.follow()

    def retranslate(self) -> None:
        """What is silent now, in the words of now."""
        found = self._found()
        if list(found) != list(self.rows):
            self._build(found)
        self._head.setText(self.tr("No notifications for:"))
        for which, words in found.items():
            said, again = self.rows[which]
            said.setText(words)
            again.setText(self.tr("Notify me again"))
            again.setAccessibleDescription(words)
        self.setVisible(bool(found))

    def _found(self) -> dict[Which, str]:
        """Alarms of one card by its name; those of before, and of the computer, are of any."""
        settings, texts = self._app.settings, language.texts()
        found: dict[Which, str] = {}
        for alarm in settings.silenced:
            if texts.has(f"health.{alarm}.title"):
                found[alarm, None] = texts.say(f"health.{alarm}.title")
        for each in settings.silenced_cards:
            if texts.has(f"health.{each.alarm}.title"):
                title = texts.say(f"health.{each.alarm}.title")
                found[each.alarm, each.card] = f"{title} · {each.name or each.card}"
        return found

    def _build(self, found: dict[Which, str]) -> None:
        for row in self.rows.values():
            for gone in row:
                gone.hide()
                self._grid.removeWidget(gone)
                gone.deleteLater()
        self.rows = {}
        for place, which in enumerate(found, 1):
            said, again = label("body", tone="soft"), Button(small=True)
            again.clicked.connect(lambda _=False, which=which: self._tell_again(which))
            self._grid.addWidget(said, place, 0, Qt.AlignmentFlag.AlignVCenter)
            self._grid.addWidget(again, place, 1, Qt.AlignmentFlag.AlignRight)
            self.rows[which] = said, again

    def _tell_again(self, which: Which) -> None:
        settings = self._app.settings
        changes: dict[str, Any] = {
            "silenced": tuple(each for each in settings.silenced if (each, None) != which),
            "silenced_cards": tuple(each for each in settings.silenced_cards if (each.alarm, each.card) != which),
        }
        self.kept.emit(changes)
        # The keyboard stays where it was, as far as there is a place.
        for _, again in list(self.rows.values())[:1]:
            again.setFocus()
