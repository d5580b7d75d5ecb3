"""The system's own questions for files and folders, made but not shown: `open()` shows one, `fileSelected` answers."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

Place = QStandardPaths.StandardLocation
PICTURES = frozenset({"png"})  # endings of what belongs among the user's pictures; all else among the documents
# Where the last answer to such a question lay, while the program runs.
_last: dict[Place, str] = {}


def save_dialog(parent: QWidget, title: str, kinds: str, name: str) -> QFileDialog:
    """Where a file shall be saved: `kinds` like "PNG (*.png)", `name` what it is called unless the user says else."""
    ending = name.rpartition(".")[2]
    dialog = _dialog(parent, title, Place.PicturesLocation if ending in PICTURES else Place.DocumentsLocation)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(kinds)
    dialog.setDefaultSuffix(ending)
    dialog.selectFile(name)
    return dialog


def open_dialog(parent: QWidget, title: str, kinds: str) -> QFileDialog:
    """Which file that is there."""
    dialog = _dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilter(kinds)
    return dialog


def folder_dialog(parent: QWidget, title: str) -> QFileDialog:
    """Which folder."""
    dialog = _dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return dialog


def _dialog(parent: QWidget, title: str, place: Place = Place.DocumentsLocation) -> QFileDialog:
    dialog = QFileDialog(parent, title, _start(place))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda file: _last.update({place: str(Path(file).parent)}))
    return dialog


def _start(place: Place) -> str:
    """The folder of the last answer, else the user's own for such files, else the home folder."""
    for folder in (_last.get(place), QStandardPaths.writableLocation(place)):
        if folder and Path(folder).is_dir():
            return folder
    return str(Path.home())
