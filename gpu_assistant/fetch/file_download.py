"""One file: resumed, fetched, checked, and only then given its final name.

downloader.Downloader ── one FileDownload for each file
          │
          v
is it here?  partial_file.use_local_copy ── yes ──> done
          │ no: file_lock on `.part.lock`
          v
partial_file.read_record, intact_pieces ── what an earlier run left
          │
          v
transfer.Transfer over sources.Sources ── hash right ──> fsync, rename to the final name
          │ hash wrong
          v
the disk changed bytes?    those pieces again
pieces of several sources? those of the official one stay, it alone gives the rest
all from one source?       the whole file once from the others; then `hash-mismatch`
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import filesystem, json
from ..core.errors import AppError, Cancelled, UsageError, is_name_too_long, storage_error
from ..core.plan import Bottleneck
from ..system.locks import file_lock
from . import partial_file
from .partial_file import FileHeader, Piece, PieceJournal, PieceRecord, part_path
from .request import DownloadRequest
from .segments import SegmentMap
from .sources import Sources
from .transfer_state import TransferState

if TYPE_CHECKING:
    from .transfer import Transfer

# A disk that so often gave back other bytes than were written would do so for ever.
MAX_DISK_FAULTS = 3

Check = Callable[[DownloadRequest, threading.Event, Callable[[int], None]], bool]


class FileDownload:
    """Fetches one file; `run` stays on the calling thread. Other threads may read the figures.

    `total` is None while unknown; `reused` bytes were here before, `fetched` came now; `checking` tells that bytes
    on disk are being read again, `waiting` that another download writes the file just now.
    """

    def __init__(self, request: DownloadRequest, state: TransferState) -> None:
        self.request = request
        self.reused = 0
        self.checking = False
        self.waiting = False
        self._state = state
        self._sources = Sources(request, state.limits)
        self._total = request.file.bytes
        self._resumed: frozenset[Piece] = frozenset()
        self._transfer: Transfer | None = None
        self._transfers: list[Transfer] = []
        self._most_received = 0
        self._refetching = False
        self._whole_file_again = False
        self._done = False
        self._discard = False

    @property
    def total(self) -> int | None:
        """The file's size."""
        transfer = self._transfer
        return self._total if transfer is None or transfer.segments.total is None else transfer.segments.total

    @property
    def received(self) -> int:
        """Bytes on disk."""
        transfer = self._transfer
        return self.reused if transfer is None else transfer.received

    @property
    def fetched(self) -> int:
        """Bytes that came over the network."""
        return sum(transfer.fetched for transfer in tuple(self._transfers))

    def bottleneck(self) -> Bottleneck:
        """What the rest is waiting for."""
        transfer = self._transfer
        if self.waiting:
            return "elsewhere"
        if self.checking or (transfer is not None and transfer.segments.complete and not self._done):
            return "checking"
        if self._refetching:
            return "mending"
        if transfer is not None and self._sources.waiting and not transfer.segments.active:
            return "source"
        return "disk" if transfer is not None and transfer.disk_bound else "network"

    def count_local(self, count: int) -> None:
        """Bytes that were on this computer already."""
        self.reused += count

    def run(self) -> Path:
        """Get the file; raises AppError (of any kind). What has come stays for the next time."""
        path = self.request.path
        locked = AppError("download-elsewhere", name=path.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._discard_leftovers(locked)
            # A complete file needs no lock, which cannot be written everywhere.
            if self._is_here(partial_file.is_complete):
                return path
            self._check_replace()
            with file_lock(partial_file.lock_path(path), locked, self._stop_waiting if self.request.patient else None):
                self.waiting = False
                self._run_locked()
        except AppError as error:
            if error is locked and self.request.patient:
                raise Cancelled from error
            raise
        except OSError as error:
            raise storage_error(error, path if is_name_too_long(error, path) else path.parent) from error
        self._done = True
        return path

    def _discard_leftovers(self, locked: AppError) -> None:
        path = self.request.path
        if partial_file.has_leftovers(path):
            # Under the lock, which takes its own file away: another download may just be at its end.
            with suppress(AppError, OSError), file_lock(partial_file.lock_path(path), locked):
                filesystem.unlink(partial_file.journal_path(path), missing_ok=True)

    def _stop_waiting(self) -> bool:
        """Asked while another download holds the lock."""
        self.waiting = True
        return self._state.stopped.is_set()

    def _run_locked(self) -> None:
        path = self.request.path
        try:
            json.remove_partial_files(path.parent, {partial_file.journal_path(path).name})
            # The lock's last holder may have fetched it.
            if self._is_here(partial_file.use_local_copy):
                return
            if not self.request.replace and partial_file.is_foreign(path):
                raise UsageError("download-exists", path=str(part_path(path)))
            partial_file.discard_what_is_no_file(path)
            self._fetch()
            self._flush()
            self._check_replace()
            filesystem.replace(part_path(path), path)
            filesystem.unlink(partial_file.journal_path(path), missing_ok=True)
        except AppError:
            if self._discard:
                partial_file.discard(path)
            partial_file.discard_empty(path)
            raise
        except OSError:
            partial_file.discard_empty(path)
            raise

    def _check_replace(self) -> None:
        path = self.request.path
        if not self.request.replace and os.path.lexists(path):
            raise UsageError("download-exists", path=str(path))

    def _is_here(self, check: Check) -> bool:
        self.checking = True
        here = check(self.request, self._state.stopped, self.count_local)
        self.checking = False
        if here:
            self._total = self.reused
        else:
            self.reused = 0
        return here

    def _fetch(self) -> None:
        """Bring the part to its last right byte; raises AppError, OSError."""
        record, disk_faults = self._resume(), 0
        while True:
            transfer = self._run_transfer(record)
            if transfer is None:
                record = self._start_over()
                continue
            if transfer.hash_ok is not False:
                return
            # From here on each byte that comes again is progress.
            self._most_received = 0
            record = transfer.journal.record
            record.pieces.sort(key=lambda piece: piece.start)
            intact = self._intact_pieces(record)
            if intact == record.pieces:
                record = self._after_wrong_hash(record)
                continue
            disk_faults += 1
            if disk_faults > MAX_DISK_FAULTS:
                raise AppError("disk-changes-bytes", path=str(self.request.path.parent))
            record = self._keep(record, intact)

    def _run_transfer(self, record: PieceRecord) -> Transfer | None:
        """What a transfer came to; None if all has to start over."""
        from .transfer import Transfer  # loads requests, which a file that is here already does not need

        journal = PieceJournal(self.request.path, record)
        present = [(piece.start, piece.end) for piece in record.pieces]
        size = self.request.file.bytes
        total = size if size is not None else record.header.total
        segments = SegmentMap(present, total, self._state.limits.min_segment_bytes)
        transfer = Transfer(
            self.request, self._state, self._sources, journal, segments=segments, most_received=self._most_received
        )
        self._transfer = transfer
        self._transfers.append(transfer)
        try:
            return transfer if transfer.run() else None
        finally:
            journal.close()
            self._most_received = transfer.most_received

    def _resume(self) -> PieceRecord:
        """Go on from the part on disk if it belongs to this file and holds what its journal says."""
        path = self.request.path
        record = partial_file.read_record(path)
        if record is None or not part_path(path).is_file() or not partial_file.can_resume(record, self.request):
            return self._start_over()
        total = self.request.file.bytes if self.request.file.bytes is not None else record.header.total
        if total is not None and any(piece.end > total for piece in record.pieces):
            return self._start_over()
        record.pieces = self._intact_pieces(record, self.count_local)
        self._resumed = frozenset(record.pieces)
        return record

    def _intact_pieces(self, record: PieceRecord, progress: Callable[[int], None] = lambda _count: None) -> list[Piece]:
        self.checking = True
        intact = partial_file.intact_pieces(self.request.path, record.pieces, self._state.stopped, progress)
        self.checking = False
        return intact

    def _start_over(self) -> PieceRecord:
        with part_path(self.request.path).open("wb"):
            pass
        header = FileHeader(url=self.request.file.url, digest=self.request.expected)
        return self._keep(PieceRecord(header=header, versions={}, pieces=[]), [])

    def _keep(self, record: PieceRecord, pieces: list[Piece]) -> PieceRecord:
        self._resumed &= frozenset(pieces)
        self.reused = sum(piece.size for piece in self._resumed)
        return PieceRecord(header=record.header, versions=record.versions, pieces=pieces)

    def _after_wrong_hash(self, record: PieceRecord) -> PieceRecord:
        """Which pieces stay for the next transfer, and whom it asks; raises AppError where nothing is left to try."""
        self._refetching = True
        source = self._sources.most_trusted()
        if source is None or self._whole_file_again or self._only_mirror_left():
            raise self._hash_error()
        own = [piece for piece in record.pieces if piece.url == source.url]
        if len(own) < len(record.pieces):
            self._sources.ask_only(source)
            return self._keep(record, own) if own else self._start_over()
        if self._resumed:
            # The old bytes may be another version's.
            return self._start_over()
        if self._sources.exclude(source):
            self._whole_file_again = True
            return self._start_over()
        raise self._hash_error()

    def _only_mirror_left(self) -> bool:
        """Whether one source broke off and the other gives wrong bytes: then what came stays for the next start, unless
        it was resumed already, for its old bytes may be another version's.
        """
        sources = self._sources
        return sources.unreachable() is not None and len(sources.usable) == 1 and not self._resumed

    def _hash_error(self) -> AppError:
        """A wrong file, unless a source that might have given the right one was out of reach: then what came stays."""
        unreachable = self._sources.unreachable()
        if unreachable is not None:
            return unreachable
        self._discard = True
        official = self._sources.official
        code = "source-changed" if official.changed else "hash-mismatch"
        return AppError(code, name=self.request.name, host=official.host)

    def _flush(self) -> None:
        """Flush the part, which then ends where the file does: bytes of an earlier run may lie behind it. Raises
        AppError("disk-changes-bytes") where it is shorter.
        """
        path = self.request.path
        with part_path(path).open("r+b") as file:
            size = os.fstat(file.fileno()).st_size
            total = size if self.total is None else self.total
            if size < total:
                raise AppError("disk-changes-bytes", path=str(path.parent))
            if size > total:
                file.truncate(total)
            os.fsync(file.fileno())
