"""One plain sentence in a dialog, with one button."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from ..components import ConfirmDialog


def show_message_dialog(parent: QWidget | None, title: str, text: str) -> None:
    """Say it and wait until it was read."""
    dialog = ConfirmDialog(parent, title, text, "", QCoreApplication.translate("Tell", "Close"))
    dialog.accept_button.hide()
    try:
        dialog.exec()
    finally:
        dialog.deleteLater()
