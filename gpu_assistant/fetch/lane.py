"""One connection of a download: asks a source for a span, judges the answer, writes what comes where it belongs."""

from __future__ import annotations

import threading
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import requests
import urllib3

from ..core.errors import AppError, NetworkError
from . import answers
from .board import OPEN, Span
from .part import Piece, Version
from .session import InsecureRedirect, Session, StrayRedirect
from .source import Changed, Drop, Source
from .trouble import trouble

if TYPE_CHECKING:
    from .round import Round


READ = 1 << 19
# How much a kill may cost each connection: it is noted so often what has come.
RECORD = 1 << 19
RECORD_SECONDS = 1.0
BEAT = 0.1
# A span is so long that asking for it costs about one percent of the time it takes at 10 MB/s and more.
SHORTEST, LONGEST = 4 << 20, 64 << 20


class Lane:
    """A thread that works for a round until nothing is left for it."""

    def __init__(self, work: Round, part: Path) -> None:
        self._round, self._part = work, part
        self.session: Session | None = None
        self.span: Span | None = None
        self._thread = threading.Thread(target=self._run, name="fetches", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def interrupt(self) -> None:
        """Wake it where it waits for the network."""
        session = self.session
        if session is not None:
            session.interrupt()

    def _run(self) -> None:
        work = self._round
        try:
            while (found := work.next()) is not None:
                source, span = found
                self.span = span
                self.session = session = work.sessions.take()
                clean = False
                try:
                    clean = self._fetch(session, source, span)
                finally:
                    self.session = None
                    if clean and not span.left:
                        work.sessions.give(session)
                    else:
                        session.close()
                    work.done_with(source, span)
        except BaseException as error:  # noqa: BLE001 - raised again on the thread that waits
            work.fail(error)

    def _fetch(self, session: Session, source: Source, span: Span) -> bool:
        """Get the span or as much of it as comes; True if the connection can be used again."""
        work = self._round
        try:
            return self._ask(session, source, span)
        except Changed:
            work.changed_at(source)
        except (Drop, requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            if isinstance(error, OSError) and not isinstance(error, requests.RequestException | TimeoutError):
                if span.left or work.board.closed:
                    return False
                if error.errno is not None and not isinstance(error, ConnectionError):
                    raise  # the disk, not the network
            if not (span.left or work.board.closed):
                refusal = _refusal(error, work.name, source.host)
                if refusal is not None:
                    work.refuse(source, refusal)
                else:
                    source.trouble = trouble(error)
                    work.broke(source, span, error.after if isinstance(error, Drop) else None)
        except (ValueError, AttributeError):
            # What the libraries fall over where another thread has closed their connection.
            if not (span.left or work.board.closed):
                raise
        except AppError as error:
            work.refuse(source, error)
        return False

    def _ask(self, session: Session, source: Source, span: Span) -> bool:
        work = self._round
        headers = {}
        version = work.versions.get(source.url)
        whole = span.start == 0 and work.board.total == span.end
        if source.ranges is not False and not whole:
            last = "" if span.end in (OPEN, work.board.total) else str(span.end - 1)
            headers["Range"] = f"bytes={span.start}-{last}"
            tag = version and (version.etag or version.last_modified)
            if tag:
                headers["If-Range"] = tag
        asked = time.monotonic()
        timeout = (work.limits.connect_seconds, work.limits.stall_seconds)
        with session.get(source.url, headers=headers, stream=True, timeout=timeout) as response:
            if work.board.closed or span.left:
                return False
            source.first_byte = time.monotonic() - asked
            self._judge(response, source, span, ranged="Range" in headers)
            return self._read(response, source, span)

    def _judge(self, response: requests.Response, source: Source, span: Span, *, ranged: bool) -> None:
        """See that the answer is what was asked for; raises Drop, Changed or NetworkError."""
        work, status = self._round, response.status_code
        if status not in (200, 206):
            self._without_bytes(response, source, span, ranged=ranged)
            return
        source.said = None
        if answers.is_page(response.headers, work.name):
            raise NetworkError("page-instead", name=work.name, host=source.host)
        if answers.is_packed(response.headers, work.name):
            raise NetworkError("source-packed", name=work.name, host=source.host)
        new = _version(response, source)
        source.changed = source.changed or _differ(work.versions.get(source.url), new)
        total = self._part_of_file(response, source, span) if status == 206 else None
        if status == 200:
            if span.start or (ranged and not work.board.empty):
                self._ask_once_more(source, new)
                source.ranges = False
                raise Changed
            if ranged:
                source.ranges = False
                work.board.take_all(span)
            total = answers.content_length(response.headers)
        work.learn(source, total, new)

    def _ask_once_more(self, source: Source, new: Version) -> None:
        """One answer that ignores the range, of one server of many behind an address, is no reason to begin anew;
        raises Drop.
        """
        work = self._round
        worth = source.ranges is True or work.board.have >= work.limits.least_share
        same = work.wanted.check is not None and not _differ(work.versions.get(source.url), new)
        if worth and same and not source.ignored_range:
            source.ignored_range = True
            raise Drop("ignored the range")

    def _without_bytes(self, response: requests.Response, source: Source, span: Span, *, ranged: bool) -> None:
        """An answer that holds nothing of the file: an empty one is that; else raises what it means."""
        work, status = self._round, response.status_code
        if status in answers.PASSING:
            if status == 429:
                source.most = 1
            raise self._asked_for_patience(source, status, answers.retry_after(response.headers))
        if status == 416 and span.start == 0 and answers.empty_file(response.headers):
            work.learn(source, 0, None)
            return
        if status == 416 and ranged:
            if span.start == 0:
                # It refuses every part: perhaps it gives all of the file at once.
                source.ranges = False
            raise Changed
        if status == 403 and (len(source.active) > 1 or (source.given and source.most > 1)):
            # Many servers say so where they mean "too many at once".
            source.most = 1
            raise Drop("too many connections", None)
        raise NetworkError("source-refused", name=work.name, host=source.host, status=status)

    def _asked_for_patience(self, source: Source, status: int, after: float | None) -> Exception:
        """Another try will do; where it would have to be later than all of ours, that is said instead."""
        work, limits = self._round, self._round.limits
        source.said = status
        if after is not None and after > limits.tries * limits.longest_pause_seconds:
            until = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + after))
            return NetworkError("source-asks-to-wait", name=work.name, host=source.host, status=status, until=until)
        return Drop(f"status {status}", after)

    def _part_of_file(self, response: requests.Response, source: Source, span: Span) -> int | None:
        sent = answers.content_range(response.headers)
        length = answers.content_length(response.headers)
        wanted = self._round.wanted.bytes
        wrong = sent is None or sent.start != span.start or (wanted is not None and sent.total not in (None, wanted))
        if sent is None or wrong or (length is not None and length != sent.end - sent.start):
            # It does not know what it says: it may still give all of the file at once.
            source.ranges = False
            raise Changed
        old, new = self._round.versions.get(source.url), answers.strong_etag(response.headers)
        if old is not None and None not in (old.etag, new) and old.etag != new:
            raise Changed
        source.ranges = True
        return sent.total

    def _read(self, response: requests.Response, source: Source, span: Span) -> bool:
        work, board = self._round, self._round.board
        crc, noted, when, more = 0, span.at, time.monotonic(), False
        with self._part.open("r+b", buffering=0) as file:
            file.seek(span.at)
            try:
                while span.at < span.end:
                    chunk = _more(response, work.pace.portion(READ))
                    if board.closed or span.left:
                        return False
                    if not chunk:
                        work.ended(source, span)
                        break
                    more = len(chunk) > span.end - span.at
                    chunk = chunk[: span.end - span.at]
                    began = time.monotonic()
                    _write(file, chunk)
                    crc = zlib.crc32(chunk, crc)
                    work.came(source, span, len(chunk), began)
                    if span.at - noted >= RECORD or began - when > RECORD_SECONDS:
                        work.state.piece(Piece(start=noted, end=span.at, crc=crc, url=source.url))
                        crc, noted, when = 0, span.at, began
                        board.tell()
                    work.pace.wait(len(chunk), work.stopped)
                    if work.pace.paused:
                        span.left = True
            finally:
                if span.at > noted:
                    with suppress(OSError):
                        work.state.piece(Piece(start=noted, end=span.at, crc=crc, url=source.url))
        return self._nothing_more(response, source, span, more=more)

    def _nothing_more(self, response: requests.Response, source: Source, span: Span, *, more: bool) -> bool:
        """Whether the answer ends where the span does; one that was cut for another lane goes on, and is closed.

        `more`: its last bytes went beyond the span.
        """
        if response.raw.length_remaining == 0:
            return True
        all_of_it = response.status_code == 200 and span.end == self._round.board.total
        if all_of_it and response.raw.length_remaining is None and (more or response.raw.read1(1)):
            raise NetworkError("source-too-long", name=self._round.name, host=source.host)
        return False


def _more(response: requests.Response, most: int) -> bytes:
    """The next bytes; none where the connection was closed in good order, be it before the announced end."""
    try:
        return bytes(response.raw.read1(most, decode_content=False))
    except urllib3.exceptions.ProtocolError as error:
        if isinstance(error.__cause__, urllib3.exceptions.IncompleteRead):
            return b""
        raise


def _write(file: object, chunk: bytes) -> None:
    left = memoryview(chunk)
    while left:
        left = left[file.write(left) :]  # type: ignore[attr-defined]


def _version(response: requests.Response, source: Source) -> Version:
    return Version(
        url=source.url,
        etag=answers.strong_etag(response.headers),
        last_modified=response.headers.get("Last-Modified"),
    )


def _differ(old: Version | None, new: Version) -> bool:
    """Whether two answers name other bytes, as far as both name any."""
    if old is None:
        return False
    if None not in (old.etag, new.etag):
        return old.etag != new.etag
    return None not in (old.last_modified, new.last_modified) and old.last_modified != new.last_modified


def _refusal(error: Exception, name: str, host: str) -> AppError | None:
    """What another try cannot mend."""
    if isinstance(error, requests.exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        return NetworkError("certificate", host=host)
    if isinstance(error, InsecureRedirect):
        return NetworkError("insecure-redirect", host=host)
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return NetworkError("redirect-circle", name=name, host=host)
    if isinstance(error, StrayRedirect | requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema):
        return NetworkError("redirect-stray", name=name, host=host)
    return None
