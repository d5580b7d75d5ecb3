"""Signals that end the program, and the end of the session, as Qt signals."""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal
from PySide6.QtGui import QGuiApplication

# Logout, service managers and terminals send these; not every system has each.
SHUTDOWN_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class ShutdownNotifier(QObject):
    """Emits on the window's thread `shutdown_requested` for a signal that ends the program, from `start` to `stop`.

    `session_ending` is emitted before the session ends: on Windows the process may be killed as soon as its handlers
    return, or the session may go on.
    """

    shutdown_requested = Signal()
    session_ending = Signal()

    def __init__(self, app: QGuiApplication) -> None:
        super().__init__(app)
        app.commitDataRequest.connect(lambda _: self.session_ending.emit())
        # While Qt waits for the system, Python's handlers do not run: a byte on the socket wakes it.
        self._read_socket, self._write_socket = socket.socketpair()
        for side in (self._read_socket, self._write_socket):
            side.setblocking(False)
        self._notifier = QSocketNotifier(self._read_socket.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_socket_readable)
        self._previous_handlers: dict[int, object] = {}
        self._previous_wakeup_fd = -1

    def start(self) -> None:
        """Install the signal handlers; on the main thread."""
        self._previous_wakeup_fd = signal.set_wakeup_fd(self._write_socket.fileno(), warn_on_full_buffer=False)
        self._previous_handlers = {number: signal.signal(number, _ignore_signal) for number in SHUTDOWN_SIGNALS}

    def stop(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._previous_handlers = {}
        signal.set_wakeup_fd(self._previous_wakeup_fd)
        self._notifier.setEnabled(False)
        for side in (self._read_socket, self._write_socket):
            side.close()

    def _on_socket_readable(self) -> None:
        if set(self._read_socket.recv(64)) & set(SHUTDOWN_SIGNALS):
            self.shutdown_requested.emit()


def _ignore_signal(_number: int, _frame: FrameType | None) -> None:
    """The byte on the socket reports the signal."""
