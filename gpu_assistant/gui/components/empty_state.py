"""What a page shows when there is nothing yet."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from .base import Live
from .button import Button, Kind
from .picture import Icon
from .text import label


class EmptyState(Live, QWidget):
    """A disc of 48 px, one sentence, one button (none without words). Signal: `button.clicked`."""

    def __init__(
        self,
        icon: str,
        sentence: str = "",
        button: str = "",
        *,
        kind: Kind = "secondary",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(24, 32, 24, 32)
        column.setSpacing(14)
        self.icon_ = Icon(icon, ground="disc", side=48, size=22)
        self.sentence = label("body", "", "soft")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.button = Button(kind=kind)
        column.addStretch(1)
        column.addWidget(self.icon_, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.sentence)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.set(sentence, button)
        self.follow()

    def add(self, widget: QWidget) -> None:
        """Something more below the button."""
        self._column.insertWidget(self._column.count() - 1, widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def set(self, sentence: str, button: str = "") -> None:
        """Other words."""
        self.sentence.setText(sentence)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(sentence)
