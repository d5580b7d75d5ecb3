"""What a page shows when there is nothing yet."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from .base import Themed
from .button import Button, ButtonKind
from .picture import IconWidget
from .text import label


class EmptyState(Themed, QWidget):
    """A disc of 48 px, one sentence, one button (none without words). Signal: `button.clicked`."""

    def __init__(
        self,
        icon: str,
        message: str = "",
        button_text: str = "",
        *,
        kind: ButtonKind = "secondary",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(24, 32, 24, 32)
        column.setSpacing(14)
        self.icon_widget = IconWidget(icon, background="disc", background_size=48, size=22)
        self.message_label = label("body", "", "soft")
        self.message_label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.button = Button(kind=kind)
        column.addStretch(1)
        column.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.message_label)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.set(message, button_text)
        self.apply_theme()

    def add_widget(self, widget: QWidget) -> None:
        """Something more below the button."""
        self._column.insertWidget(self._column.count() - 1, widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def set(self, message: str, button_text: str = "") -> None:
        """Other words."""
        self.message_label.setText(message)
        self.button.setText(button_text)
        self.button.setVisible(bool(button_text))
        self.setAccessibleName(message)
