"""The dialog for an environment's name. The folder keeps its own: the programs in it contain its path."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from ... import theme
from ...widgets.buttons import Button
from ...widgets.inputs import TextField
from ...widgets.text import label

MAX_LENGTH = 60  # letters, as in core/settings.py
translate = QCoreApplication.translate


class RenameDialog(QDialog):
    """`name` is what was entered; "" gives the folder's name back."""

    def __init__(self, parent: QWidget, name: str, folder: str) -> None:
        super().__init__(parent)
        title = translate("RenameDialog", "Rename environment")
        self.setWindowTitle(title)
        self.setModal(True)
        self.name_field = TextField()
        self.name_field.setMaxLength(MAX_LENGTH)
        self.name_field.setText(name)
        self.name_field.selectAll()
        self.name_field.setAccessibleName(translate("RenameDialog", "Name"))
        note = translate("RenameDialog", "Only the name here changes. Its folder stays: {folder}").format(folder=folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(10)
        for widget in (label("verdict", title), self.name_field, label("small", note)):
            column.addWidget(widget)
        column.addSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addStretch(1)
        self.cancel_button = Button(translate("RenameDialog", "Cancel"))
        self.rename_button = Button(translate("RenameDialog", "Rename"), "primary")
        for button in (self.cancel_button, self.rename_button):
            row.addWidget(button)
        column.addLayout(row)
        self.rename_button.setDefault(True)
        self.rename_button.clicked.connect(self.accept)
        self.cancel_button.clicked.connect(self.reject)
        self.setMinimumWidth(theme.px(440))
        self.name_field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def name(self) -> str:
        """The name in one line, without spaces at its ends."""
        return " ".join(self.name_field.text().split())
