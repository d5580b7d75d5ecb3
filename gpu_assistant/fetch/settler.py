"""Has the system write what has come to the disk while the rest is still on its way, on a thread of its own.

Without it all of a file waits in memory for the one flush before it gets its name: seconds after the last byte.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from .board import Board

STRIDE = 32 << 20
# What comes faster than a stride in this time keeps the disk busy by itself; to flush then would hold the network up.
CALM_SECONDS = 0.25


class Settler:
    """Flushes the part each time `STRIDE` more bytes of the board have come, until it closes or is whole; leaves it
    out where they came in less than `calm` seconds.
    """

    def __init__(self, part: Path, board: Board, calm: float = CALM_SECONDS) -> None:
        self._calm, self._since = calm, time.monotonic()
        self._part, self._board, self._settled = part, board, board.have
        self._thread = threading.Thread(target=self._run, name="settles", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it may still hold the file."""
        return self._thread.is_alive()

    def end(self, seconds: float | None) -> None:
        """Wait until it has let go of the file, at most so long (None: as long as it takes); close the board first."""
        self._thread.join(seconds)

    def _run(self) -> None:
        board = self._board
        # Only haste is lost where this fails: the flush before the file gets its name tells what is wrong.
        with suppress(OSError), self._part.open("r+b", buffering=0) as file:
            while True:
                with board.changed:
                    board.changed.wait_for(self._due)
                    if board.closed or board.whole:
                        return
                    self._settled = board.have
                if time.monotonic() - self._since >= self._calm:
                    os.fsync(file.fileno())
                self._since = time.monotonic()

    def _due(self) -> bool:
        board = self._board
        return board.closed or board.whole or board.have - self._settled >= STRIDE
