"""What nobody foresaw: it goes to the log, and the user gets one plain sentence instead of a vanished window."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, qInstallMessageHandler

log = logging.getLogger(__name__)

LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class Hooks(QObject):
    """Catches what escapes: Python's exceptions on any thread, and Qt's own messages.

    `show()` is called once, on the window's thread; later surprises only reach the log.
    """

    _struck = Signal()

    def __init__(self, show: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._show = show
        self._shown = False
        # Queued: the dialog opens after the broken handler has returned, and on the window's thread.
        self._struck.connect(self._tell, Qt.ConnectionType.QueuedConnection)
        self._before = (sys.excepthook, threading.excepthook)
        self._qt_before: object = None

    def install(self) -> None:
        """Catch from now on."""
        sys.excepthook = self._python
        threading.excepthook = self._thread
        self._qt_before = qInstallMessageHandler(self._qt)

    def remove(self) -> None:
        """Give the hooks back to who had them."""
        sys.excepthook, threading.excepthook = self._before
        qInstallMessageHandler(self._qt_before)  # type: ignore[arg-type]

    def _python(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        log.error("not foreseen", exc_info=(kind, error, trace))
        self._struck.emit()

    def _thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None:
            return
        where = args.thread.name if args.thread is not None else "?"
        log.error("not foreseen, on thread %s", where, exc_info=args.exc_value)
        self._struck.emit()

    def _qt(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:  # noqa: ARG002
        log.log(LEVELS.get(kind, logging.WARNING), "Qt: %s", text)

    def _tell(self) -> None:
        if not self._shown:
            self._shown = True
            self._show()
