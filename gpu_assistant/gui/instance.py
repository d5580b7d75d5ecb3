"""One window for one data folder: a second start brings the first to the front."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCryptographicHash, QLockFile, QObject

from ..core import json

# A first start that has the lock but does not listen yet needs a moment.
CONNECT_TIMEOUT_S = 3.0


class SingleInstance(QObject):
    """Holds the data folder's lock while the window lives, and listens for later starts.

    The lock is a file in the data folder; Qt clears it when the process that held it is gone. The socket's
    name comes from the folder's path: a socket inside the folder would break where paths are long.
    """

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise json.storage_error(error, folder) from error
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)
        digest = QCryptographicHash.hash(str(folder.resolve()).encode(), QCryptographicHash.Algorithm.Sha256)
        self._server_name = f"gpu-assistant-{bytes(digest.data()).hex()[:24]}"

    def try_lock(self) -> bool:
        """Whether we are the only window of this folder; raises AppError when the folder cannot be written."""
        if self._lock.tryLock(0):
            return True
        if self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        raise json.storage_error(PermissionError(13, "lock"), self._folder)

    def activate_running(self, timeout_s: float = CONNECT_TIMEOUT_S) -> bool:
        """Ask the first window to come to the front; whether it heard us."""
        from PySide6.QtNetwork import QLocalSocket

        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            socket = QLocalSocket()
            socket.connectToServer(self._server_name)
            if socket.waitForConnected(200):
                # The connection itself is the message; the first window closes it.
                socket.waitForDisconnected(500)
                return True
            time.sleep(0.05)
        return False

    def listen(self, on_activate: Callable[[], None]) -> None:
        """Tell `called` whenever another start asks for us."""
        from PySide6.QtNetwork import QLocalServer

        # We hold the lock, so a socket of this name is a dead process's.
        QLocalServer.removeServer(self._server_name)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)

        def accept_connections() -> None:
            while (socket := server.nextPendingConnection()) is not None:
                socket.disconnectFromServer()
                socket.deleteLater()
                on_activate()

        server.newConnection.connect(accept_connections)
        server.listen(self._server_name)

    def release(self) -> None:
        """Let go of the lock."""
        self._lock.unlock()
