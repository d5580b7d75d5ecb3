"""One file: fetched over several connections and sources, taken up again, checked, and only then given its name."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from ..core.errors import AppError, Cancelled, UsageError, is_name_too_long
from ..core.json import storage_error
from ..core.plan import Bottleneck
from ..system.locks import file_lock
from . import local, part
from .board import Board
from .mend import Mending
from .round import Common, Round
from .source import Sources
from .wanted import Wanted

# A disk that so often gave back other bytes than were written would do so for ever.
DISK_FAULTS = 3

Look = Callable[[Wanted, threading.Event, Callable[[int], None]], bool]


class Download:
    """Fetches one file; `run` stays on the calling thread. Other threads may read the figures.

    `total` is None while unknown; `reused` bytes were here before, `fetched` came now; `checking` tells that bytes
    on disk are being read again, `waiting` that another download writes the file just now.
    """

    def __init__(self, wanted: Wanted, common: Common) -> None:
        self.wanted = wanted
        self.reused = 0
        self.checking = False
        self.waiting = False
        self._total = wanted.bytes
        self._there = 0
        self._common = common
        self._sources = Sources(wanted, common.limits)
        self._round: Round | None = None
        self._mending: Mending | None = None
        self._fetching: list[Round | Mending] = []
        self._done = False
        self._thrown = False

    @property
    def total(self) -> int | None:
        """The file's size."""
        work = self._round
        return self._total if work is None or work.board.total is None else work.board.total

    @property
    def have(self) -> int:
        """Bytes on disk."""
        work = self._round
        return self._there if work is None else work.have

    @property
    def fetched(self) -> int:
        """Bytes that came over the network."""
        return sum(work.fetched for work in tuple(self._fetching))

    def slow_now(self) -> Bottleneck:
        """What the rest is waiting for."""
        work = self._round
        if self.waiting:
            return "elsewhere"
        if self._mending is not None:
            return "mending"
        if self.checking or (work is not None and work.board.whole and not self._done):
            return "checking"
        if work is not None and self._sources.waiting and not work.board.active:
            return "source"
        return "disk" if work is not None and work.disk_bound else "network"

    def run(self) -> Path:
        """Get the file; raises AppError (of any kind). What has come stays for the next time."""
        path = self.wanted.path
        busy = AppError("download-elsewhere", name=path.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # What is whole needs no lock, which cannot be written everywhere.
            if self._already_there(local.stands):
                return path
            self._refuse_other()
            with file_lock(part.lock_path(path), busy, self._given_up if self.wanted.patient else None):
                self.waiting = False
                self._make()
        except AppError as error:
            if error is busy and self.wanted.patient:
                raise Cancelled from error
            raise
        except OSError as error:
            raise storage_error(error, path if is_name_too_long(error, path) else path.parent) from error
        self._done = True
        return path

    def _given_up(self) -> bool:
        """Asked while another download writes the file: whether nobody wants it any more."""
        self.waiting = True
        return self._common.stopped.is_set()

    def _make(self) -> None:
        path = self.wanted.path
        try:
            # Who held the lock before us may have brought it.
            if self._already_there(local.here):
                return
            if not self.wanted.replace and part.strange(path):
                raise UsageError("download-exists", path=str(part.part_path(path)))
            self._get()
            _flush(part.part_path(path))
            self._refuse_other()
            part.part_path(path).replace(path)
            part.state_path(path).unlink(missing_ok=True)
        except AppError:
            if self._thrown:
                part.drop(path)
            part.drop_empty(path)
            raise
        except OSError:
            part.drop_empty(path)
            raise

    def _refuse_other(self) -> None:
        path = self.wanted.path
        if not self.wanted.replace and os.path.lexists(path):
            raise UsageError("download-exists", path=str(path))

    def _already_there(self, look: Look) -> bool:
        self.checking = True
        there = look(self.wanted, self._common.stopped, self.count_here)
        self.checking = False
        if there:
            self._total = self._there
        else:
            self._there = self.reused = 0
        return there

    def count_here(self, count: int) -> None:
        """Bytes that were on this computer already."""
        self._there += count
        self.reused += count

    def _get(self) -> None:
        kept, faults = self._take_up(), 0
        while True:
            work = self._work(kept)
            if work is None:
                kept = self._nothing()
            elif work.right is not False:
                return
            elif (sound := self._sound(work.state.kept)) != work.state.kept.pieces:
                # The disk gave back other bytes than were written.
                faults += 1
                if faults > DISK_FAULTS:
                    raise AppError("disk-changes-bytes", path=str(self.wanted.path.parent))
                kept = part.Kept(head=work.state.kept.head, versions=work.state.kept.versions, pieces=sound)
            elif self._mend(work):
                return
            elif self.reused:
                # The old bytes may have been another version's: once more, all of it.
                kept = self._nothing()
            elif self._sources.take_others({piece.url for piece in work.state.kept.pieces}):
                kept = self._nothing()
            else:
                official = self._sources.all[0]
                code = "source-changed" if official.changed else "hash-mismatch"
                self._thrown = True
                raise AppError(code, name=self.wanted.path.name, host=official.host)

    def _work(self, kept: part.Kept) -> Round | None:
        """One round; None if all has to begin anew."""
        best = self._round.best if self._round is not None else 0
        state = part.State(self.wanted.path, kept)
        here = [(piece.start, piece.end) for piece in kept.pieces]
        total = self.wanted.bytes if self.wanted.bytes is not None else kept.head.total
        board = Board(here, total, self._common.limits.least_share)
        work = Round(self.wanted, self._common, self._sources, state, board=board, best=best)
        self._round = work
        self._fetching.append(work)
        try:
            return work if work.run() else None
        finally:
            state.close()

    def _take_up(self) -> part.Kept:
        """Go on from the part on disk if it belongs to this file and holds what its state says."""
        path = self.wanted.path
        kept = part.read(path)
        if kept is None or not part.part_path(path).is_file() or not part.continues(kept, self.wanted):
            return self._nothing()
        self.checking = True
        kept.pieces = part.sound(path, kept.pieces, self._common.stopped, self.count_here)
        self.checking = False
        return kept

    def _sound(self, kept: part.Kept) -> list[part.Piece]:
        self.checking = True
        found = part.sound(self.wanted.path, kept.pieces, self._common.stopped)
        kept.pieces.sort(key=lambda piece: piece.start)
        self.checking = False
        return found

    def _mend(self, work: Round) -> bool:
        """Whether the wrong bytes were found; raises NetworkError where the network alone stood in the way of it."""
        self._mending = mending = Mending(self.wanted, self._common, self._sources, work.state.kept.pieces)
        self._fetching.append(mending)
        mended = False
        try:
            mended = mending.run()
        finally:
            self._mending = None
            if not mended:
                work.state.kept.pieces = mending.pieces
                part.State(self.wanted.path, work.state.kept).close()
        # What came in an earlier run may be another version's: with that the next try must not end here as well.
        if not mended and mending.lost is not None and not (self.reused and mending.given()):
            raise mending.lost
        return mended

    def _nothing(self) -> part.Kept:
        with part.part_path(self.wanted.path).open("wb"):
            self._there = self.reused = 0
        head = part.Head(url=self.wanted.url, digest=self.wanted.check)
        return part.Kept(head=head, versions={}, pieces=[])


def _flush(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())
