"""The one dialog: a question, what is lost, two verbs; the safe one is the default, and Esc means safe."""

from __future__ import annotations

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from .. import theme
from .button import Button
from .text import label


class ConfirmDialog(QDialog):
    """`go` does it, `stay` keeps everything as it is; `below` is what there is to read besides."""

    def __init__(
        self, parent: QWidget | None, question: str, lost: str, go: str, stay: str, *, below: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(question)
        self.setAccessibleName(question)
        self.setAccessibleDescription(lost)
        self.setModal(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(10)
        column.addWidget(label("verdict", question))
        column.addWidget(label("body", lost, "soft"))
        if below is not None:
            column.addWidget(below, 1)
        column.addSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addStretch(1)
        self.go, self.stay = Button(go), Button(stay, "primary")
        for button in (self.go, self.stay):
            row.addWidget(button)
        column.addLayout(row)
        self.go.clicked.connect(self.accept)
        self.stay.clicked.connect(self.reject)
        self.stay.setDefault(True)
        self.stay.setFocus(Qt.FocusReason.OtherFocusReason)
        self.setMinimumWidth(theme.px(440))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As high as its words are in this width: Qt makes a dialog as high as they were in its favourite one."""
        super().resizeEvent(event)
        layout = self.layout()
        if layout is not None and layout.hasHeightForWidth():
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))

    @classmethod
    def ask(
        cls,
        parent: QWidget | None,
        question: str,
        lost: str,
        go: str,
        stay: str,
        *,
        until: SignalInstance | None = None,
    ) -> bool:
        """Ask and wait; True only if the user pressed `go`. `until` comes when there is nothing to ask any more: the
        question goes by itself, and everything stays.
        """
        dialog = cls(parent, question, lost, go, stay)
        if until is not None:
            until.connect(dialog.reject)
        try:
            return dialog.exec() == QDialog.DialogCode.Accepted
        finally:
            dialog.deleteLater()
