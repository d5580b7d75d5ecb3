"""Qt's classes are made on the window's thread, all of them, before another thread loads code that is built on them.

PySide makes each class when it is first touched. Two threads that do so at the same time take the process down, seldom
and anywhere; and pyqtgraph touches every class there is when it is loaded, while the window makes its pages.
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
    """`made` comes after each `begin`, once every class is there; a few are made in each turn of the event loop."""

    loaded = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pending: Iterator[tuple[object, str]] = iter(())
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._load_some)

    def start(self) -> None:
        """Make them, unless that is under way."""
        if not self._timer.isActive():
            self._pending = iter([(module, name) for module in MODULES for name in dir(module)])
            self._timer.start()

    def _load_some(self) -> None:
        deadline = time.perf_counter() + SLICE_SECONDS
        for module, name in self._pending:
            getattr(module, name)
            if time.perf_counter() > deadline:
                self._timer.start()
                return
        self.loaded.emit()
