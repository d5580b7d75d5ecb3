"""The bytes of one file from its sources onto the disk, in segments, hashed as they come.

    file_download.FileDownload ── a request and what is on the disk already
              │
              v
    Transfer ── asks sources.Sources which source is next, segments.SegmentMap which bytes
              │
              v  next_segment()                         answered(), wrote(), failed(), released()
    connection.Connection ×8 ── http.HttpSession ──> partial_file: `.part`, and a Piece in its PieceJournal
              │
              v  segments.contiguous_end()
    HashWorker ── reads the part behind the connections; `hash_ok` once all of it is there

A transfer ends with the last byte, with an error, or so that all has to start over (`run` returns False).
"""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

from ..core.errors import AppError, Cancelled, NetworkError, storage_error
from .connection import Connection, NotResumable, RetryLater
from .http import connection_error, final_error, is_network_error
from .partial_file import CHUNK, PieceJournal, SourceVersion, hash_rest, part_path
from .request import Digest, DownloadRequest
from .segments import LONGEST, POLL_SECONDS, SHORTEST, UNKNOWN_END, Segment, SegmentMap
from .sources import Source, Sources
from .transfer_state import TransferState

DISK_CHECK_SECONDS = 1.0
# So much silence, or trickling, within a response is odd where other connections have nothing to do.
SILENT_SECONDS = 5.0
HASH_POLL_SECONDS = 0.05


class Transfer:
    """`run` returns True once every byte is here, False if all has to start over; raises AppError, Cancelled.

    `fetched` bytes came over the network; `hash_ok` tells after `run` whether they have the expected checksum, None
    where none is known. `most_received` is the most that this or an earlier transfer of the file had at once: only a
    byte beyond it is progress. The methods from `next_segment` on are `connection.SegmentProvider`.
    """

    def __init__(
        self,
        request: DownloadRequest,
        state: TransferState,
        sources: Sources,
        journal: PieceJournal,
        *,
        segments: SegmentMap,
        most_received: int,
    ) -> None:
        self.request, self.state, self.sources = request, state, sources
        self.journal, self.segments = journal, segments
        self.most_received = most_received
        self.fetched = 0
        self.hash_ok: bool | None = None
        self.disk_bound = False
        self._limits = state.limits
        self._connections: list[Connection] = []
        self._error: BaseException | None = None
        self._start_over = False
        self._disk_checked = 0.0
        self._writing_seconds = 0.0
        self._writing_before = (time.monotonic(), 0.0)
        expected = request.expected
        self._hash_worker = HashWorker(part_path(request.path), expected, segments) if expected is not None else None

    @property
    def received(self) -> int:
        """Bytes on disk."""
        return self.segments.received

    def run(self) -> bool:
        """Work until the end."""
        if self._hash_worker is not None:
            self._hash_worker.start()
        started = time.monotonic()
        segments = self.segments
        try:
            self._add_connection()
            while not (segments.closed or segments.complete):
                with segments.changed:
                    segments.changed.wait(POLL_SECONDS)
                if self.state.stopped.is_set():
                    raise Cancelled
                self._add_connections(time.monotonic() - started)
                self._leave_slow()
                self._watch_disk()
            if self._error is None and not self._start_over:
                self._await_hash()
        finally:
            self._end()
        if self._error is not None:
            raise self._error
        return not self._start_over

    @property
    def _any_ranges(self) -> bool:
        return any(source.has_ranges is not False for source in self.sources.usable)

    def _add_connections(self, seconds: float) -> None:
        """As many as there is work for; a source that does not answer at all is not waited for."""
        segments, limits = self.segments, self._limits
        if segments.answered:
            wanted = -(-segments.unassigned // limits.min_segment_bytes)
            count = min(limits.connections, max(1, len(self._connections), wanted)) if self._any_ranges else 1
        else:
            count = len(self.sources.usable) if seconds >= limits.probe_seconds else 1
        while len(self._connections) < count:
            self._add_connection()

    def _add_connection(self) -> None:
        self._connections.append(Connection(self))

    def _leave_slow(self) -> None:
        """Leave sources that are much slower than another, and connections that have fallen silent."""
        now, segments = time.monotonic(), self.segments
        with segments.changed:
            leave = {segment for source in self.sources.slow() for segment in source.active}
            # A limit that the user chose says nothing of the source.
            is_limited = self.state.rate.limit is not None
            called = 0 if is_limited else self.sources.call_reserve()
            if len(segments.active) > 1:
                # The reserve's sources need connections.
                leave |= set(list(segments.active)[:called])
            if segments.waiting and not segments.unassigned:
                leave |= {
                    segment
                    for segment in segments.active
                    if now - (segment.last_byte if is_limited else segment.last_progress) > SILENT_SECONDS
                }
            for segment in leave:
                segment.cancelled = True
        for connection in self._connections:
            if connection.segment in leave:
                connection.interrupt()

    def _watch_disk(self) -> None:
        """Once a second: is there room, and do the connections spend most of their time writing?"""
        now = time.monotonic()
        if now - self._disk_checked <= DISK_CHECK_SECONDS:
            return
        self._disk_checked = now
        if self.request.file.bytes is not None or self.segments.answered:
            # What a journal alone says of the size is not believed.
            self._check_space(self.segments.total)
        before, writing = self._writing_before
        # Of the time of all connections together.
        available = (now - before) * max(1, len(self.segments.active))
        self.disk_bound = self._writing_seconds - writing > available / 2
        self._writing_before = (now, self._writing_seconds)

    def _check_space(self, total: int | None) -> None:
        if total is None:
            return
        folder = self.request.path.parent
        free, needed = shutil.disk_usage(folder).free, total - self.received
        if needed > 0 and needed + self._limits.reserve_bytes > free:
            raise AppError("disk-too-small", path=str(folder), needed_bytes=needed, free_bytes=free)

    def _await_hash(self) -> None:
        if self._hash_worker is not None:
            while self._hash_worker.running:
                if self.state.stopped.wait(0.01):
                    raise Cancelled
            self.hash_ok = self._hash_worker.ok()

    def _end(self) -> None:
        self.segments.close()
        deadline = time.monotonic() + (0.1 if self.state.stopped.is_set() else 5.0)
        for connection in self._connections:
            if not connection.join(0):
                connection.interrupt()
        for connection in self._connections:
            connection.join(max(0.0, deadline - time.monotonic()))
        if self._hash_worker is not None:
            self._hash_worker.join()

    # What connections call

    def next_segment(self) -> tuple[Source, Segment] | None:
        """A source and a segment of it; blocks until there is work. None if there will be none."""
        segments = self.segments
        while True:
            with segments.changed:
                if segments.closed or segments.complete:
                    return None
                work = None if self.state.rate.paused else self._assign()
                if work is not None or segments.closed:
                    return work
                segments.waiting += 1
                segments.changed.wait(POLL_SECONDS)
                segments.waiting -= 1

    def _assign(self) -> tuple[Source, Segment] | None:
        segments, sources = self.segments, self.sources
        source = sources.select(segments)
        if source is None:
            if not (segments.active or self._any_ranges or segments.empty or sources.waiting):
                self._request_start_over()
            return None
        with self.state.lock:
            if not self.state.hosts.acquire(source.server):
                return None
        size = int(min(max(source.first_byte_seconds * 2**30, SHORTEST), LONGEST))
        segment = segments.claim(size, self._limits.connections)
        if segment is None:
            with self.state.lock:
                self.state.hosts.release(source.server)
            return None
        if source.has_ranges is False:
            segments.assign_all(segment)
        source.first_request = source.first_request or time.monotonic()
        source.active[segment] = time.monotonic()
        return source, segment

    def released(self, source: Source, segment: Segment) -> None:
        """A connection has left its segment."""
        with self.segments.changed:
            source.release(segment, time.monotonic())
            self.segments.release(segment)
        with self.state.lock:
            self.state.hosts.release(source.server)

    def wrote(self, source: Source, segment: Segment, count: int, started: float) -> None:
        """Bytes came and were written; writing them `started` then (monotonic)."""
        now = time.monotonic()
        with self.segments.changed:
            self.segments.advance(segment, count)
            source.count(segment, count, now)
            self.fetched += count
            self._writing_seconds += now - started
            if self.received > self.most_received:
                self.most_received = self.received
                source.failures = 0

    def answered(self, source: Source, total: int | None, version: SourceVersion | None) -> None:
        """What a response says about the file; raises AppError, NotResumable where it is another one."""
        segments = self.segments
        if None not in (total, segments.total) and total != segments.total:
            if self.request.file.bytes is None:
                source.other_size = True
                raise NotResumable
            raise self._hash_mismatch(source)
        if total is not None and segments.total is None and segments.last_present > total:
            source.other_size = True
            raise NotResumable
        self._check_empty(source, total)
        first = not segments.answered
        if first:
            # Before the size is believed: another source may know of a file that fits.
            self._check_space(total)
        # A response 206 need not name the version again.
        if version is not None and (version.validator or version.url not in self.journal.record.versions):
            self.journal.set_version(version)
        segments.set_total(total)
        if first and total is not None:
            self.journal.set_total(total)

    def _hash_mismatch(self, source: Source) -> AppError:
        return AppError("hash-mismatch", name=self.request.name, host=source.host)

    def _check_empty(self, source: Source, total: int | None) -> None:
        expected = self.request.expected
        if total == 0 and expected is not None and expected.new().hexdigest() != expected.hex:
            raise self._hash_mismatch(source)

    def ended(self, source: Source, segment: Segment, *, is_cut: bool) -> None:
        """A response has no more bytes: the file's end, where nobody announced another or the checksum says so. One
        that `is_cut` ended before the end that it announced itself.

        Raises RetryLater; AppError where the file is empty, or the source always ends there.
        """
        segments = self.segments
        if (segment.end == UNKNOWN_END and not is_cut) or self._hash_ok_until(segment):
            self._check_empty(source, segment.position)
            segments.end_at_position(segment)
            self.journal.set_total(segment.position)
            return
        at_end = segment.position > segment.start and segment.end == segments.total
        if at_end and source.always_ends_at(segment.position):
            missing = segment.end - segment.position
            raise NetworkError("source-ends-early", name=self.request.name, host=source.host, lacking_bytes=missing)
        raise RetryLater("ended early")

    def _hash_ok_until(self, segment: Segment) -> bool:
        """Whether what is here is the whole file, though the server announced a longer one."""
        expected, segments = self.request.expected, self.segments
        if expected is None or self.request.file.bytes is not None:
            return False
        if segment.end not in (UNKNOWN_END, segments.total):
            return False
        if segments.contiguous_end(0) != segment.position:
            return False
        with part_path(self.request.path).open("rb", buffering=0) as file:
            hashed = hash_rest(file, expected.new(), self.state.stopped, lambda _count: None)
        return hashed.hexdigest() == expected.hex

    def failed(self, source: Source, segment: Segment, error: Exception) -> None:
        """A request came to nothing, or to less than was asked for; raises what is no network error."""
        interrupted = segment.cancelled or self.segments.closed
        if isinstance(error, NotResumable):
            self._not_resumable(source)
        elif isinstance(error, AppError):
            self._give_up(source, error)
        elif isinstance(error, RetryLater) or is_network_error(error):
            if not interrupted:
                final = final_error(error, self.request.name, source.host)
                if final is not None:
                    self._give_up(source, final)
                else:
                    self._retry(source, segment, error)
        elif not (interrupted and isinstance(error, OSError | ValueError | AttributeError)):
            # Those three are what the libraries raise where another thread has closed their connection.
            raise error

    def stop(self, error: BaseException) -> None:
        """Nothing more can be done."""
        if isinstance(error, OSError):
            error = storage_error(error, self.request.path.parent)
        with self.segments.changed:
            self._error = self._error or error
        self.segments.close()

    # What becomes of a source

    def _retry(self, source: Source, segment: Segment, error: Exception) -> None:
        source.connection_code = connection_error(error)
        seconds = error.retry_after if isinstance(error, RetryLater) else None
        with self.segments.changed:
            if not source.may_retry(segment.started, self._limits, seconds):
                source.unreachable = True
                self._give_up(source, self._unreachable(source))

    def _give_up(self, source: Source, error: AppError) -> None:
        """A source is asked no more; the last one's error is the download's."""
        with self.segments.changed:
            source.error = error
            last = self.sources.error()
            if last is not None:
                self.stop(last)
            elif not self.sources.mixable:
                self._request_start_over()
            for segment in source.active:
                segment.cancelled = True

    def _unreachable(self, source: Source) -> NetworkError:
        """The error to report: the server's status; else why there was no connection, or whether anything came that
        the next start can resume.
        """
        name, host = self.request.name, source.host
        if source.last_status is not None:
            code = "source-trouble" if source.last_status >= 500 else "source-busy"
            return NetworkError(code, name=name, host=host, status=source.last_status)
        if not self.received:
            code = source.connection_code or "download-never-came"
        elif source.has_ranges is False:
            code = "download-broke-off-whole"
        else:
            code = source.connection_code or "download-broke-off"
        return NetworkError(code, name=name, host=host, have_bytes=self.received)

    def _not_resumable(self, source: Source) -> None:
        """A source has another version by now, or gives no ranges: another one goes on, else all starts over."""
        with self.segments.changed:
            others = [each for each in self.sources.usable if each is not source and each.has_ranges is not False]
            if others and self.request.expected is not None:
                if source.has_ranges is not False:
                    self._give_up(source, self._hash_mismatch(source))
            elif source.may_retry(time.monotonic(), self._limits, 0.0):
                self._request_start_over()
            else:
                self._give_up(source, self._unreachable(source))

    def _request_start_over(self) -> None:
        self._start_over = True
        self.segments.close()


class HashWorker:
    """Hashes the part on a thread of its own while bytes come: up to where they are here without a gap."""

    def __init__(self, part: Path, expected: Digest, segments: SegmentMap) -> None:
        self._part, self._expected, self._segments = part, expected, segments
        self._hashed = 0
        self._hash = expected.new()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="hashes", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def ok(self) -> bool:
        """Whether the whole file has the expected checksum; call it once it no longer runs. Raises OSError."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._hashed == self._segments.total and self._hash.hexdigest() == self._expected.hex

    def join(self) -> None:
        """Wait until it has closed the file; close the segment map first."""
        self._thread.join()

    def _run(self) -> None:
        segments = self._segments
        try:
            with self._part.open("rb", buffering=0) as file:
                while not segments.closed:
                    end = segments.contiguous_end(self._hashed)
                    if segments.total is not None:
                        end = min(end, segments.total)
                    if end == self._hashed:
                        with segments.changed:
                            if segments.closed or (segments.complete and self._hashed == segments.total):
                                return
                            segments.changed.wait(HASH_POLL_SECONDS)
                        continue
                    while self._hashed < end and not segments.closed:
                        chunk = file.read(min(CHUNK, end - self._hashed))
                        if not chunk:
                            return
                        self._hash.update(chunk)
                        self._hashed += len(chunk)
        except OSError as error:
            self._error = error
