"""What went wrong, in the place where it happened, with a button for each way out."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...texts import Texts
from ..components import Button, Icon, label
from ..components.base import Live, boxed, soft_edge
from . import words
from .facts import Trouble


class TroubleBox(Live, QWidget):
    """The sentence and its buttons; `taken` brings an offered alternative, `folder` asks for another folder."""

    taken = Signal(object)
    folder = Signal()

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 14, 16, 12)
        row.setSpacing(14)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        self.sentence = label("body")
        self._column.addWidget(self.sentence)
        row.addWidget(Icon("error", "error", 22), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._column, 1)
        self.buttons: list[Button] = []
        self._rows: list[QWidget] = []
        self.follow()

    def set(self, trouble: Trouble, texts: Texts) -> None:
        """Another trouble, or the same in another language."""
        self.sentence.setText(words.say(texts, trouble.message))
        self.setAccessibleName(self.sentence.text())
        for widget in self._rows:
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.buttons, self._rows = [], []
        for offer in trouble.offers:
            text, choose = words.offer(texts, offer)
            button = Button(choose)
            button.clicked.connect(lambda _checked=False, offer=offer: self.taken.emit(offer))
            self._add(button, text)
        if "folder" in trouble.ways:
            button = Button(self.tr("Choose another folder"), icon="folder")
            button.clicked.connect(self.folder)
            self._add(button, "")

    def _add(self, button: Button, text: str) -> None:
        row = QWidget()
        line = QVBoxLayout(row)
        line.setContentsMargins(0, 2, 0, 2)
        line.setSpacing(6)
        if text:
            line.addWidget(label("small", text))
        line.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(row)
        row.show()
        self._rows.append(row)
        self.buttons.append(button)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The error's soft ground."""
        del event
        boxed(QPainter(self), QRectF(self.rect()), 8, "error_soft", soft_edge("error"))
