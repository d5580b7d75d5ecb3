"""The system's own questions for files and folders, made but not shown: `open()` shows one, `fileSelected` answers."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def save_dialog(parent: QWidget, title: str, kinds: str, name: str) -> QFileDialog:
    """Where a file shall be saved: `kinds` like "PNG (*.png)", `name` what it is called unless the user says else."""
    dialog = _dialog(parent, title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(kinds)
    dialog.setDefaultSuffix(name.rpartition(".")[2])
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


def _dialog(parent: QWidget, title: str) -> QFileDialog:
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog
