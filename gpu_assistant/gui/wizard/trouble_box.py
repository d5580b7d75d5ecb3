"""What went wrong, in the place where it happened, with a button for each way out."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...texts import Texts
from ..components import Button, IconWidget, label
from ..components.base import Themed, draw_box, tint_border
from . import words
from .facts import Failure


class ErrorPanel(Themed, QWidget):
    """The sentence and its buttons; `taken` brings an offered alternative, `folder` asks for another folder."""

    alternative_chosen = Signal(object)
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 14, 16, 12)
        row.setSpacing(14)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        self.message_label = label("body")
        self._column.addWidget(self.message_label)
        row.addWidget(IconWidget("error", "error", 22), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._column, 1)
        self.buttons: list[Button] = []
        self._button_rows: list[QWidget] = []
        self.apply_theme()

    def set_failure(self, failure: Failure, texts: Texts) -> None:
        """Another trouble, or the same in another language."""
        self.message_label.setText(words.message_text(texts, failure.message))
        self.setAccessibleName(self.message_label.text())
        for widget in self._button_rows:
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.buttons, self._button_rows = [], []
        for alternative in failure.alternatives:
            text, button_text = words.alternative_texts(texts, alternative)
            button = Button(button_text)
            button.clicked.connect(lambda _checked=False, offer=alternative: self.alternative_chosen.emit(offer))
            self._add_button(button, text)
        if "folder" in failure.remedies:
            button = Button(self.tr("Choose another folder"), icon_name="folder")
            button.clicked.connect(self.folder_requested)
            self._add_button(button, "")

    def _add_button(self, button: Button, text: str) -> None:
        row = QWidget()
        layout = QVBoxLayout(row)
        layout.setContentsMargins(0, 2, 0, 2)
        layout.setSpacing(6)
        if text:
            layout.addWidget(label("small", text))
        layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(row)
        row.show()
        self._button_rows.append(row)
        self.buttons.append(button)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The error's soft ground."""
        del event
        draw_box(QPainter(self), QRectF(self.rect()), 8, "error_soft", tint_border("error"))
