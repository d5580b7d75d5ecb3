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
        self, parent: QWidget | None, question: str, consequence: str, accept_text: str, reject_text: str, *, details: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(question)
        self.setAccessibleName(question)
        self.setAccessibleDescription(consequence)
        self.setModal(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(10)
        column.addWidget(label("verdict", question))
        column.addWidget(label("body", consequence, "soft"))
        if details is not None:
            column.addWidget(details, 1)
        column.addSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addStretch(1)
        self.accept_button, self.reject_button = Button(accept_text), Button(reject_text, "primary")
        for button in (self.accept_button, self.reject_button):
            row.addWidget(button)
        column.addLayout(row)
        self.accept_button.clicked.connect(self.accept)
        self.reject_button.clicked.connect(self.reject)
        self.reject_button.setDefault(True)
        self.reject_button.setFocus(Qt.FocusReason.OtherFocusReason)
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
        consequence: str,
        accept_text: str,
        reject_text: str,
        *,
        dismiss_signal: SignalInstance | None = None,
    ) -> bool:
        """Ask and wait; True only if the user pressed `go`. `until` comes when there is nothing to ask any more: the
        question goes by itself, and everything stays.
        """
        dialog = cls(parent, question, consequence, accept_text, reject_text)
        if dismiss_signal is not None:
            dismiss_signal.connect(dialog.reject)
        try:
            return dialog.exec() == QDialog.DialogCode.Accepted
        finally:
            dialog.deleteLater()
