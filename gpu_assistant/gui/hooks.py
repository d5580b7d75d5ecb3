"""What nobody foresaw: it goes to the log, and the user gets one plain sentence instead of a vanished window."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, qInstallMessageHandler

log = logging.getLogger(__name__)

QT_LOG_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class ExceptionHooks(QObject):
    """Catches what escapes: Python's exceptions on any thread, and Qt's own messages.

    `show()` is called once, on the window's thread; later surprises only reach the log.
    """

    _exception_caught = Signal()

    def __init__(self, show: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._show = show
        self._shown = False
        # Queued: the dialog opens after the broken handler has returned, and on the window's thread.
        self._exception_caught.connect(self._show_once, Qt.ConnectionType.QueuedConnection)
        self._previous_hooks = (sys.excepthook, threading.excepthook)
        self._previous_qt_handler: object = None

    def install(self) -> None:
        """Catch from now on."""
        sys.excepthook = self._handle_exception
        threading.excepthook = self._handle_thread_exception
        self._previous_qt_handler = qInstallMessageHandler(self._handle_qt_message)

    def uninstall(self) -> None:
        """Give the hooks back to who had them."""
        sys.excepthook, threading.excepthook = self._previous_hooks
        qInstallMessageHandler(self._previous_qt_handler)  # type: ignore[arg-type]

    def _handle_exception(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._previous_hooks[0](kind, error, traceback)
            return
        log.error("not foreseen", exc_info=(kind, error, traceback))
        self._exception_caught.emit()

    def _handle_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None:
            return
        thread_name = args.thread.name if args.thread is not None else "?"
        log.error("not foreseen, on thread %s", thread_name, exc_info=args.exc_value)
        self._exception_caught.emit()

    def _handle_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:  # noqa: ARG002
        log.log(QT_LOG_LEVELS.get(kind, logging.WARNING), "Qt: %s", text)

    def _show_once(self) -> None:
        if not self._shown:
            self._shown = True
            self._show()
