"""The window's side of the system's question about administrator rights: it belongs to our window, which is in front.

A job's thread asks; the window's thread answers.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from ..widgets.dialogs import ConfirmDialog

if TYPE_CHECKING:
    from ...install.elevation.client import ConfirmReason

CANCEL_POLL_S = 0.1


class WindowElevationPrompt(QObject):
    """See `install.elevation.client.ElevationPrompt`. Made on the window's thread; `widget`'s window asks."""

    _asked = Signal(str)
    _withdrawn = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._top_level = widget.window()
        self.window = int(self._top_level.winId())
        self.clicked_at = time.monotonic()
        self._is_answered, self._answer = threading.Event(), False
        self._asked.connect(self._ask)

    def confirm(self, reason: ConfirmReason, cancel: threading.Event) -> bool:
        """Ask the user, from a job's thread; a cancel withdraws the question."""
        self._is_answered.clear()
        self._asked.emit(reason)
        while not self._is_answered.wait(CANCEL_POLL_S):
            if cancel.is_set():
                self._withdrawn.emit()
                return False
        return self._answer

    def _ask(self, reason: str) -> None:
        self._bring_to_front()
        question = self.tr("Ready? The system will ask for permission")
        if reason == "unanswered":
            question = self.tr("The system prompt was not answered in time")
        self._answer = ConfirmDialog.ask(
            self._top_level,
            question,
            self.tr("The next step needs administrator rights. The prompt closes by itself after two minutes."),
            self.tr("Ask now"),
            self.tr("Skip this step"),
            dismiss_signal=self._withdrawn,
        )
        self.clicked_at = time.monotonic()
        self._is_answered.set()

    def _bring_to_front(self) -> None:
        # What belongs to a minimised window is as invisible as that.
        self._top_level.setWindowState(self._top_level.windowState() & ~Qt.WindowState.WindowMinimized)
        self._top_level.show()
        self._top_level.raise_()
        self._top_level.activateWindow()
