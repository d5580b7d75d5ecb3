"""The system ends the program: by a signal, or because the user logs out or shuts the computer down."""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal
from PySide6.QtGui import QGuiApplication

# What logging out, a service manager and a terminal send; not every system has each.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ending(QObject):
    """From `listen` to `ignore`: `told` comes on the window's thread when a signal wants the program to end. `near`
    comes when the session is about to end: on Windows the process may be gone as soon as that was answered, or the
    session may go on.
    """

    told = Signal()
    near = Signal()

    def __init__(self, qt: QGuiApplication) -> None:
        super().__init__(qt)
        qt.commitDataRequest.connect(lambda _: self.near.emit())
        # Qt sleeps in the system's own wait, where Python's handlers would not run: a byte wakes it.
        self._ears, self._mouth = socket.socketpair()
        for end in (self._ears, self._mouth):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._ears.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._heard)
        self._before: dict[int, object] = {}
        self._woke_before = -1

    def listen(self) -> None:
        """From now on; on the main thread."""
        self._woke_before = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _nothing) for number in SIGNALS}

    def ignore(self) -> None:
        """No more: the signals do what they did before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}
        signal.set_wakeup_fd(self._woke_before)
        self._notifier.setEnabled(False)
        for end in (self._ears, self._mouth):
            end.close()

    def _heard(self) -> None:
        if set(self._ears.recv(64)) & set(SIGNALS):
            self.told.emit()


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """The byte tells of it."""
