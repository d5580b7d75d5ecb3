"""Reads what has come and hashes it, on a thread of its own, while the rest is still on its way."""

from __future__ import annotations

import threading
from pathlib import Path

from .board import Board
from .wanted import Digest

CHUNK = 1 << 20
BEAT = 0.05


class Checker:
    """Follows the bytes of a board from the file's beginning; `at` is how far. Bytes out of order wait on the disk."""

    def __init__(self, part: Path, digest: Digest, board: Board) -> None:
        self.at = 0
        self._part, self._board, self._digest = part, board, digest
        self._hash = digest.new()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="checks", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether it still reads."""
        return self._thread.is_alive()

    def right(self) -> bool:
        """Whether the whole file is what was expected; call it once it is no longer busy. Raises OSError."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self.at == self._board.total and self._hash.hexdigest() == self._digest.hex

    def end(self) -> None:
        """Wait until it has let go of the file; close the board first."""
        self._thread.join()

    def _run(self) -> None:
        board = self._board
        try:
            with self._part.open("rb", buffering=0) as file:
                while not board.closed:
                    reach = board.reach(self.at)
                    if reach == self.at:
                        with board.changed:
                            if board.closed or (board.whole and self.at == board.total):
                                return
                            board.changed.wait(BEAT)
                        continue
                    while self.at < reach and not board.closed:
                        chunk = file.read(min(CHUNK, reach - self.at))
                        if not chunk:
                            return
                        self._hash.update(chunk)
                        self.at += len(chunk)
        except OSError as error:
            self._error = error
