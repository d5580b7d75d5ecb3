"""Creates Qt's classes on the window's thread before another thread imports code that uses them.

PySide creates each class at first access. Two threads that do so at the same time can crash the process; pyqtgraph
accesses every class when it is imported, on another thread than the window's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6 import QtCore, QtGui, QtSvg, QtWidgets
from PySide6.QtCore import QObject, QTimer, Signal

MODULES = (QtCore, QtGui, QtWidgets, QtSvg)
SLICE_SECONDS = 0.005
PAUSE_MS = 5


class QtClassLoader(QObject):
    """Creates some classes in each turn of the event loop; `loaded` is emitted after each `start`, when all exist."""

    loaded = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pending: Iterator[tuple[object, str]] = iter(())
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._load_some)

    def start(self) -> None:
        """Start, unless it is running."""
        if not self._timer.isActive():
            self._pending = iter([(module, name) for module in MODULES for name in dir(module)])
            self._timer.start()

    def stop(self) -> None:
        """Leave the rest; `loaded` is not emitted."""
        self._timer.stop()

    def _load_some(self) -> None:
        deadline = time.perf_counter() + SLICE_SECONDS
        for module, name in self._pending:
            getattr(module, name)
            if time.perf_counter() > deadline:
                self._timer.start()
                return
        self.loaded.emit()
