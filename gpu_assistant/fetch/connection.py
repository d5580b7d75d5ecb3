"""One connection of a download: requests segments, checks the responses, writes their bytes where they belong."""

from __future__ import annotations

import threading
import time
import zlib
from contextlib import suppress
from typing import Protocol

import requests
import urllib3

from ..core.errors import NetworkError
from . import http
from .http import HttpSession
from .partial_file import Piece, PieceJournal, SourceVersion, part_path
from .request import DownloadRequest
from .segments import UNKNOWN_END, Segment, SegmentMap
from .sources import Source
from .transfer_state import TransferState

READ = 1 << 19
# How much a kill may cost each connection: after so many bytes or seconds the journal has what came.
RECORD = 1 << 19
RECORD_SECONDS = 1.0


class RetryLater(Exception):
    """The connection broke or the server asks for a later retry; `retry_after` in seconds."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class NotResumable(Exception):
    """The source does not give the bytes that the part began with, or no ranges at all."""


class SegmentProvider(Protocol):
    """What a connection works for: `transfer.Transfer`. Every method may be called from any thread."""

    request: DownloadRequest
    state: TransferState
    segments: SegmentMap
    journal: PieceJournal

    def next_segment(self) -> tuple[Source, Segment] | None:
        """Work for a connection; blocks until there is some. None if there will be none."""

    def answered(self, source: Source, total: int | None, version: SourceVersion | None) -> None:
        """A source says what its file is; raises AppError or NotResumable where it is another one."""

    def wrote(self, source: Source, segment: Segment, count: int, started: float) -> None:
        """Bytes were written; writing them `started` then (monotonic)."""

    def ended(self, source: Source, segment: Segment, *, is_cut: bool) -> None:
        """A response ended inside its segment, and if it `is_cut`, before its own end; raises RetryLater or AppError
        unless that is the file's end.
        """

    def failed(self, source: Source, segment: Segment, error: Exception) -> None:
        """A request came to nothing, or to less than was asked for; raises what is no network error."""

    def released(self, source: Source, segment: Segment) -> None:
        """A connection has left its segment."""

    def stop(self, error: BaseException) -> None:
        """Nothing more can be done."""


class Connection:
    """A thread that fetches segments for a transfer until none is left."""

    def __init__(self, transfer: SegmentProvider) -> None:
        self._transfer = transfer
        self._part = part_path(transfer.request.path)
        self._name = transfer.request.name
        self.session: HttpSession | None = None
        self.segment: Segment | None = None
        self._thread = threading.Thread(target=self._run, name="fetches", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Wait for the thread for at most `seconds`; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def interrupt(self) -> None:
        """Wake it where it waits for the network."""
        session = self.session
        if session is not None:
            session.interrupt()

    def _run(self) -> None:
        transfer, pool = self._transfer, self._transfer.state.sessions
        try:
            while (work := transfer.next_segment()) is not None:
                source, segment = work
                self.segment = segment
                self.session = session = pool.take()
                reusable = False
                try:
                    reusable = self._fetch(session, source, segment)
                except Exception as error:  # noqa: BLE001 - raised again if it is not the network's
                    transfer.failed(source, segment, error)
                finally:
                    self.session = None
                    if reusable and not segment.cancelled:
                        pool.give_back(session)
                    else:
                        session.close()
                    transfer.released(source, segment)
        except BaseException as error:  # noqa: BLE001 - raised again on the thread that waits
            transfer.stop(error)

    def _stopping(self, segment: Segment) -> bool:
        return segment.cancelled or self._transfer.segments.closed

    def _fetch(self, session: HttpSession, source: Source, segment: Segment) -> bool:
        """Get the segment or as much of it as comes; True if the connection can be used again."""
        segments, limits = self._transfer.segments, self._transfer.state.limits
        headers = {}
        version = self._transfer.journal.record.versions.get(source.url)
        whole_file = segment.start == 0 and segments.total == segment.end
        if source.has_ranges is not False and not whole_file:
            last = "" if segment.end in (UNKNOWN_END, segments.total) else str(segment.end - 1)
            headers["Range"] = f"bytes={segment.start}-{last}"
            if version is not None and version.validator is not None:
                headers["If-Range"] = version.validator
        sent = time.monotonic()
        timeout = (limits.connect_seconds, limits.stall_seconds)
        with session.get(source.url, headers=headers, stream=True, timeout=timeout) as response:
            if self._stopping(segment):
                return False
            source.first_byte_seconds = time.monotonic() - sent
            end = self._check(response, source, segment, ranged="Range" in headers)
            return self._read(response, source, segment, end)

    # The response's head

    def _check(self, response: requests.Response, source: Source, segment: Segment, *, ranged: bool) -> int:
        """See that the response is what was asked for; returns up to where the file's bytes are in it.

        Raises RetryLater, NotResumable or NetworkError.
        """
        status = response.status_code
        if status not in (200, 206):
            self._check_without_bytes(response, source, segment, ranged=ranged)
            return segment.position
        source.last_status = None
        if not http.has_valid_length(response.headers):
            raise RetryLater("a length that is none")
        if http.is_html_page(response.headers, self._name):
            raise NetworkError("page-instead", name=self._name, host=source.host)
        if http.is_encoded(response.headers, self._name):
            raise NetworkError("source-packed", name=self._name, host=source.host)
        version = _version(response, source)
        source.changed = source.changed or _differ(self._known_version(source), version)
        total, end = None, UNKNOWN_END
        if status == 206:
            sent = self._check_range(response, source, segment, version)
            total, end = sent.total, sent.end
        else:
            if segment.start or (ranged and not self._transfer.segments.empty):
                self._retry_ignored_range(source, version)
                source.has_ranges = False
                raise NotResumable
            if ranged:
                source.has_ranges = False
                self._transfer.segments.assign_all(segment)
            total = http.content_length(response.headers)
        self._transfer.answered(source, total, version)
        return end

    def _known_version(self, source: Source) -> SourceVersion | None:
        return self._transfer.journal.record.versions.get(source.url)

    def _retry_ignored_range(self, source: Source, version: SourceVersion) -> None:
        """Raise RetryLater the first time: one of many servers behind an address may ignore a range, and the file need
        not begin anew for it.
        """
        transfer = self._transfer
        much = source.has_ranges is True or transfer.segments.received >= transfer.state.limits.min_segment_bytes
        same_version = transfer.request.expected is not None and not _differ(self._known_version(source), version)
        if much and same_version and not source.ignored_range:
            source.ignored_range = True
            raise RetryLater("ignored the range")

    def _check_without_bytes(
        self, response: requests.Response, source: Source, segment: Segment, *, ranged: bool
    ) -> None:
        """A status other than 200 and 206: fine for an empty file; else raises what it means."""
        status, transfer = response.status_code, self._transfer
        if status == requests.codes.proxy_authentication_required:
            raise NetworkError("proxy-credentials", host=source.host)
        if status == requests.codes.network_authentication_required:
            raise NetworkError("page-instead", name=self._name, host=source.host)
        if status in http.RETRYABLE:
            if status == 429:
                source.max_connections = 1
            raise self._retry_error(source, status, http.retry_after(response.headers))
        length = http.unsatisfied_length(response.headers)
        ends_before = length is not None and length <= segment.start and transfer.segments.total in (None, length)
        if status == 416 and (ends_before or length == segment.start == 0):
            # An empty file, or one of which nobody had said how long it is.
            transfer.answered(source, length, None)
            return
        if status == 416 and ranged:
            if segment.start == 0:
                # It refuses every range: perhaps it gives the whole file.
                source.has_ranges = False
            raise NotResumable
        if status == 403 and (len(source.active) > 1 or (source.received and source.max_connections > 1)):
            # Many servers say so where they mean "too many at once".
            source.max_connections = 1
            raise RetryLater("too many connections")
        raise NetworkError("source-refused", name=self._name, host=source.host, status=status)

    def _retry_error(self, source: Source, status: int, seconds: float | None) -> Exception:
        """RetryLater; a NetworkError where the server wants a later retry than any of ours would be."""
        limits = self._transfer.state.limits
        source.last_status = status
        if seconds is not None and seconds > limits.tries * limits.max_backoff_seconds:
            until = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + seconds))
            return NetworkError("source-asks-to-wait", name=self._name, host=source.host, status=status, until=until)
        return RetryLater(f"status {status}", seconds)

    def _check_range(
        self, response: requests.Response, source: Source, segment: Segment, version: SourceVersion
    ) -> http.ContentRange:
        """What a response 206 holds; raises NotResumable where it is another range or version."""
        sent = http.content_range(response.headers)
        length = http.content_length(response.headers)
        request, segments = self._transfer.request, self._transfer.segments
        size = request.file.bytes
        consistent = (
            sent is not None
            and sent.start == segment.start
            and (size is None or sent.total in (None, size))
            and length in (None, sent.end - sent.start)
        )
        if sent is None or not consistent:
            # It does not say what it sends: it may still give the whole file.
            source.has_ranges = False
            raise NotResumable
        known = self._known_version(source)
        if known is not None and None not in (known.etag, version.etag) and known.etag != version.etag:
            raise NotResumable
        if request.expected is None:
            # Only the same strong validator makes one file of several responses (RFC 9110, 15.3.7.3).
            if _differ(known, version):
                raise NotResumable
            if version.validator is None and (known is None or known.validator is None):
                source.has_ranges = False
                if not (segment.start == 0 and segments.empty and sent.end == sent.total):
                    raise NotResumable
                segments.assign_all(segment)
                return sent
        source.has_ranges = True
        return sent

    # The response's body

    def _read(self, response: requests.Response, source: Source, segment: Segment, end: int) -> bool:
        """Write what comes into the part, up to the `end` of what the response says to hold, which may be less than was
        asked for; True if it ended there or where the segment does.
        """
        transfer, rate, stopped = self._transfer, self._transfer.state.rate, self._transfer.state.stopped
        crc, recorded, recorded_at, overran = 0, segment.position, time.monotonic(), False

        def record() -> None:
            piece = Piece(start=recorded, end=segment.position, crc=crc, url=source.url)
            transfer.journal.add_piece(piece)

        with self._part.open("r+b", buffering=0) as file:
            file.seek(segment.position)
            try:
                while (left := min(segment.end, end) - segment.position) > 0:
                    chunk = _read_chunk(response, rate.chunk_size(READ))
                    if self._stopping(segment):
                        return False
                    if not chunk:
                        transfer.ended(source, segment, is_cut=chunk is None or end != UNKNOWN_END)
                        break
                    overran = len(chunk) > left
                    chunk = chunk[:left]
                    started = time.monotonic()
                    _write_all(file, chunk)
                    crc = zlib.crc32(chunk, crc)
                    transfer.wrote(source, segment, len(chunk), started)
                    if segment.position - recorded >= RECORD or started - recorded_at > RECORD_SECONDS:
                        record()
                        crc, recorded, recorded_at = 0, segment.position, started
                        transfer.segments.notify()
                    rate.throttle(len(chunk), stopped)
                    if rate.paused:
                        segment.cancelled = True
            finally:
                if segment.position > recorded:
                    with suppress(OSError):
                        record()
        return self._at_end(response, source, segment, overran=overran)

    def _at_end(self, response: requests.Response, source: Source, segment: Segment, *, overran: bool) -> bool:
        """Whether the response ends where the segment does; one whose segment was cut goes on, and is closed.

        `overran`: its last bytes went beyond the segment. Raises NetworkError where the file is longer than it may be.
        """
        if response.raw.length_remaining == 0:
            return True
        whole_file = response.status_code == 200 and segment.end == self._transfer.segments.total
        if whole_file and response.raw.length_remaining is None and (overran or response.raw.read1(1)):
            raise NetworkError("source-too-long", name=self._name, host=source.host)
        return False


def _read_chunk(response: requests.Response, largest: int) -> bytes | None:
    """The next bytes; none at the end, and None where the connection was closed in good order before the announced
    end.
    """
    try:
        return bytes(response.raw.read1(largest, decode_content=False))
    except urllib3.exceptions.ProtocolError as error:
        if isinstance(error.__cause__, urllib3.exceptions.IncompleteRead):
            return None
        raise


def _write_all(file: object, chunk: bytes) -> None:
    left = memoryview(chunk)
    while left:
        left = left[file.write(left) :]  # type: ignore[attr-defined]


def _version(response: requests.Response, source: Source) -> SourceVersion:
    return SourceVersion(
        url=source.url,
        etag=http.strong_etag(response.headers),
        last_modified=response.headers.get("Last-Modified"),
        is_date_strong=http.strong_date(response.headers) is not None,
    )


def _differ(known: SourceVersion | None, new: SourceVersion) -> bool:
    """Whether two responses name different bytes, as far as both name any."""
    if known is None:
        return False
    if None not in (known.etag, new.etag):
        return known.etag != new.etag
    return None not in (known.last_modified, new.last_modified) and known.last_modified != new.last_modified
