"""Deletes windows that were closed."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget


def delete_window(window: QWidget) -> None:
    """Delete a window whose jobs have ended: without `exec` Qt does so only when it is told."""
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
