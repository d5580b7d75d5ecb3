"""The system's own questions for files and folders, made but not shown: `open()` shows one, `fileSelected` answers."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

StandardLocation = QStandardPaths.StandardLocation
PICTURE_SUFFIXES = frozenset({"png"})  # endings of what belongs among the user's pictures; all else among the documents
# Where the last answer to such a question lay, while the program runs.
_last_folders: dict[StandardLocation, str] = {}


def save_dialog(parent: QWidget, title: str, name_filter: str, name: str) -> QFileDialog:
    """Where a file shall be saved: `kinds` like "PNG (*.png)", `name` what it is called unless the user says else."""
    suffix = name.rpartition(".")[2]
    dialog = _file_dialog(parent, title, StandardLocation.PicturesLocation if suffix in PICTURE_SUFFIXES else StandardLocation.DocumentsLocation)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(name_filter)
    dialog.setDefaultSuffix(suffix)
    dialog.selectFile(name)
    return dialog


def open_dialog(parent: QWidget, title: str, name_filter: str) -> QFileDialog:
    """Which file that is there."""
    dialog = _file_dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilter(name_filter)
    return dialog


def folder_dialog(parent: QWidget, title: str) -> QFileDialog:
    """Which folder."""
    dialog = _file_dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return dialog


def _file_dialog(parent: QWidget, title: str, location: StandardLocation = StandardLocation.DocumentsLocation) -> QFileDialog:
    dialog = QFileDialog(parent, title, _start_folder(location))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda file: _last_folders.update({location: str(Path(file).parent)}))
    return dialog


def _start_folder(location: StandardLocation) -> str:
    """The folder of the last answer, else the user's own for such files, else the home folder."""
    for folder in (_last_folders.get(location), QStandardPaths.writableLocation(location)):
        if folder and Path(folder).is_dir():
            return folder
    return str(Path.home())
