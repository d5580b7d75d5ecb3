"""The system ends the program: by a signal, or because the user logs out or shuts the computer down."""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal
from PySide6.QtGui import QGuiApplication

# What logging out, a service manager and a terminal send; not every system has each.
SHUTDOWN_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class ShutdownNotifier(QObject):
    """From `listen` to `ignore`: `told` comes on the window's thread when a signal wants the program to end. `near`
    comes when the session is about to end: on Windows the process may be gone as soon as that was answered, or the
    session may go on.
    """

    shutdown_requested = Signal()
    session_ending = Signal()

    def __init__(self, app: QGuiApplication) -> None:
        super().__init__(app)
        app.commitDataRequest.connect(lambda _: self.session_ending.emit())
        # Qt sleeps in the system's own wait, where Python's handlers would not run: a byte wakes it.
        self._read_socket, self._write_socket = socket.socketpair()
        for side in (self._read_socket, self._write_socket):
            side.setblocking(False)
        self._notifier = QSocketNotifier(self._read_socket.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_socket_readable)
        self._previous_handlers: dict[int, object] = {}
        self._previous_wakeup_fd = -1

    def start(self) -> None:
        """From now on; on the main thread."""
        self._previous_wakeup_fd = signal.set_wakeup_fd(self._write_socket.fileno(), warn_on_full_buffer=False)
        self._previous_handlers = {number: signal.signal(number, _ignore_signal) for number in SHUTDOWN_SIGNALS}

    def stop(self) -> None:
        """No more: the signals do what they did before."""
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
    """The byte tells of it."""
