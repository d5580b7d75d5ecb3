"""Ranges of a file from one source or another, one at a time, as patient and as easy to stop as any other download."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests
import urllib3

from ..core.errors import Cancelled, NetworkError
from . import answers
from .round import Common
from .session import Session
from .source import Drop, Source

READ = 1 << 18
BEAT = 0.05
# What the network brings about; the last two are what the libraries fall over where another thread closes their
# connection.
BROKEN = (Drop, requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError)


class Asker:
    """Asks for ranges of a file of `total` bytes; `fetched` of them came over the network.

    `lost` are the sources that the network took from us; who refuses, or has another file, is not among them.
    """

    def __init__(self, path: Path, total: int, common: Common) -> None:
        self.fetched = 0
        self.lost: dict[Source, NetworkError] = {}
        self._path, self._total, self._common = path, total, common
        self._silent: set[Source] = set()
        self._session: Session | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While this lasts a read that waits for the network ends as soon as all shall stop."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(BEAT):
                session = self._session
                if self._common.stopped.is_set() and session is not None:
                    session.interrupt()

        thread = threading.Thread(target=watch, name="mends", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def range(self, source: Source, start: int, end: int) -> bytes | None:
        """Bytes as a source has them; None if it does not give them, after several tries. Raises Cancelled."""
        while source not in self._silent:
            self._wait(source)
            asked = time.monotonic()
            try:
                found = self._ask(source, start, end)
            except BROKEN as error:
                self._stop()
                self._broke(source, asked, error.after if isinstance(error, Drop) else None)
                continue
            if found is None:
                self._silent.add(source)
            elif found:
                source.fails = 0
                return found
        return None

    def gives(self, source: Source) -> bool:
        """Whether it gives anything just now. Raises Cancelled."""
        if source.ranges is not False:
            return self.range(source, 0, 1) is not None
        seconds = self._common.limits.connect_seconds
        try:
            with (
                Session() as session,
                session.head(source.url, allow_redirects=True, timeout=(seconds, seconds)) as said,
            ):
                return said.ok
        except BROKEN:
            return False

    def _ask(self, source: Source, start: int, end: int) -> bytes | None:
        """None where the source does not give this range; nothing where a pause began. Raises one of BROKEN."""
        common, limits = self._common, self._common.limits
        self._session = session = common.sessions.take()
        clean = False
        try:
            headers = {"Range": f"bytes={start}-{end - 1}"}
            timeout = (limits.connect_seconds, limits.stall_seconds)
            with session.get(source.url, headers=headers, stream=True, timeout=timeout) as response:
                if response.status_code in answers.PASSING:
                    raise Drop(f"status {response.status_code}", answers.retry_after(response.headers))
                sent = answers.content_range(response.headers)
                if response.status_code == requests.codes.ok:
                    source.ranges = False
                if response.status_code != requests.codes.partial or sent is None:
                    return None
                if sent.start != start or sent.total != self._total:
                    return None
                found = self._read(response, end - start)
                clean = response.raw.length_remaining == 0
            return found
        finally:
            self._session = None
            if clean and not common.stopped.is_set():
                common.sessions.give(session)
            else:
                session.close()

    def _read(self, response: requests.Response, size: int) -> bytes:
        common, found = self._common, bytearray()
        while len(found) < size:
            chunk = response.raw.read1(common.pace.portion(min(READ, size - len(found))), decode_content=False)
            if not chunk:
                raise Drop("ended early")
            found += chunk
            self.fetched += len(chunk)
            common.pace.wait(len(chunk), common.stopped)
            self._stop()
            if common.pace.paused:
                return b""
        return bytes(found)

    def _stop(self) -> None:
        if self._common.stopped.is_set():
            raise Cancelled

    def _wait(self, source: Source) -> None:
        """For the end of a pause, and as long as the source wants to be left alone."""
        while self._common.pace.paused or source.not_before > time.monotonic():
            if self._common.stopped.wait(BEAT):
                break
        self._stop()

    def _broke(self, source: Source, asked: float, after: float | None) -> None:
        if not source.failed(asked, self._common.limits, after):
            self._silent.add(source)
            name, host = self._path.name, source.host
            self.lost[source] = NetworkError("download-broke-off", name=name, host=host, have_bytes=self._total)
