"""Dialogs: a question with two answers, a message, and the system's dialogs for files and folders.

The file dialogs are created but not shown: `open()` shows one, `fileSelected` brings its answer.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QStandardPaths, Qt, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from ...core.paths import home_dir
from .. import theme
from .buttons import Button
from .text import label


class ConfirmDialog(QDialog):
    """A question, its consequence, and two buttons. Rejecting changes nothing: it is the default, and what Esc does.

    `details` is a widget below the consequence, such as a list of what is lost.
    """

    def __init__(
        self,
        parent: QWidget | None,
        question: str,
        consequence: str,
        accept_text: str,
        reject_text: str,
        *,
        details: QWidget | None = None,
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
        """Qt makes a dialog as high as its text is at the preferred width, not at the actual one."""
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
        """Ask and wait; True only if the user accepts. `dismiss_signal` closes the question as rejected."""
        dialog = cls(parent, question, consequence, accept_text, reject_text)
        if dismiss_signal is not None:
            dismiss_signal.connect(dialog.reject)
        try:
            return dialog.exec() == QDialog.DialogCode.Accepted
        finally:
            dialog.deleteLater()


StandardLocation = QStandardPaths.StandardLocation
PICTURE_SUFFIXES = frozenset({"png"})  # saved among the user's pictures; all others among the documents
# The folder of the last answer, until the program ends.
_last_folders: dict[StandardLocation, str] = {}


def save_dialog(parent: QWidget, title: str, name_filter: str, name: str) -> QFileDialog:
    """Asks for a file to save to: `name_filter` like "PNG (*.png)", `name` the proposed name."""
    suffix = name.rpartition(".")[2]
    dialog = _file_dialog(
        parent,
        title,
        StandardLocation.PicturesLocation if suffix in PICTURE_SUFFIXES else StandardLocation.DocumentsLocation,
    )
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(name_filter)
    dialog.setDefaultSuffix(suffix)
    dialog.selectFile(name)
    return dialog


def open_dialog(parent: QWidget, title: str, name_filter: str) -> QFileDialog:
    """Asks for an existing file."""
    dialog = _file_dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilter(name_filter)
    return dialog


def folder_dialog(parent: QWidget, title: str) -> QFileDialog:
    """Asks for a folder."""
    dialog = _file_dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return dialog


def _file_dialog(
    parent: QWidget, title: str, location: StandardLocation = StandardLocation.DocumentsLocation
) -> QFileDialog:
    dialog = QFileDialog(parent, title, _start_folder(location))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda file: _last_folders.update({location: str(Path(file).parent)}))
    return dialog


def documents_folder() -> Path:
    """The user's documents; the home folder where the system names none."""
    return Path(QStandardPaths.writableLocation(StandardLocation.DocumentsLocation) or home_dir())


def _start_folder(location: StandardLocation) -> str:
    """The folder of the last answer, else the user's folder for such files, else the home folder."""
    for folder in (_last_folders.get(location), QStandardPaths.writableLocation(location)):
        if folder and Path(folder).is_dir():
            return folder
    return str(home_dir())


def show_message_dialog(parent: QWidget | None, title: str, text: str) -> None:
    """Show a message and wait until it is closed."""
    dialog = ConfirmDialog(parent, title, text, "", QCoreApplication.translate("ConfirmDialog", "Close"))
    dialog.accept_button.hide()
    try:
        dialog.exec()
    finally:
        dialog.deleteLater()
