"""One file: fetched, resumed, checked, and only then given its name."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import msgspec
import requests
import urllib3
from msgspec import Struct

from ..core.errors import AppError, Cancelled, NetworkError
from ..core.json import storage_error
from . import answers, part
from .limits import Limits
from .session import InsecureRedirect, Session

READ = 1 << 18


class Wanted(Struct, frozen=True, kw_only=True):
    """A file to get: from where, to where, and what is known of it. `sha256` is lower-case hex."""

    url: str
    path: Path
    sha256: str | None = None
    bytes: int | None = None


class _Drop(Exception):
    """The connection broke or the server asks for patience; `after` in seconds."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


class Download:
    """Fetches one file on the calling thread. Other threads may read the figures and call `stop`.

    `have` bytes are on disk of `total` (None while unknown); `reused` were there before, `fetched` came now;
    `checking` tells that bytes on disk are being read again.
    """

    def __init__(self, wanted: Wanted, session: Session, limits: Limits, stopped: threading.Event) -> None:
        self.wanted = wanted
        self.total = wanted.bytes
        self.have = 0
        self.reused = 0
        self.fetched = 0
        self.checking = False
        self._session = session
        self._limits = limits
        self._stopped = stopped
        self._hash = hashlib.sha256()
        self._state = part.PartState(url=wanted.url, sha256=wanted.sha256)

    def stop(self) -> None:
        """End a read that waits for the network; set the event first."""
        self._session.interrupt()

    def run(self) -> Path:
        """Get the file; raises AppError, NetworkError or Cancelled. What has come stays for the next time."""
        path = self.wanted.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if self._already_there():
                return path
            with part.part_path(path).open("a+b") as file:
                self._take_up(file)
                self._fetch(file)
                if self._broken() and self.reused:
                    # The old bytes may have been another version's: once more, all of it.
                    self._restart(file)
                    self._fetch(file)
                if self._broken():
                    raise self._mismatch()
                os.fsync(file.fileno())
            part.part_path(path).replace(path)
            part.state_path(path).unlink(missing_ok=True)
        except AppError as error:
            if error.code == "hash-mismatch":
                part.drop(path)
            raise
        except OSError as error:
            raise storage_error(error, path.parent) from error
        return path

    @property
    def _host(self) -> str:
        return urlsplit(self.wanted.url).hostname or self.wanted.url

    def _already_there(self) -> bool:
        self.checking = True
        there = part.file_matches(
            self.wanted.path, self.wanted.sha256, self.wanted.bytes, self._stopped, self._count_reused
        )
        self.checking = False
        if not there:
            self.have = self.reused = 0
        else:
            self.total = self.have
        return there

    def _count_reused(self, count: int) -> None:
        self.have += count
        self.reused += count

    def _take_up(self, file: BinaryIO) -> None:
        """Go on from the part on disk if it belongs to this file: its bytes are read again for the hash."""
        state = part.read_state(self.wanted.path)
        if state is None or not state.continues(self.wanted.url, self.wanted.sha256):
            self._restart(file)
            return
        # Another server names the same bytes by another tag; there the hash alone guards.
        same = state.url == self.wanted.url
        self._state = state if same else msgspec.structs.replace(state, etag=None, last_modified=None)
        self.checking = True
        file.seek(0)
        self._hash = part.digest(file, self._stopped, self._count_reused)
        self.checking = False
        self.total = self.total or state.total

    def _restart(self, file: BinaryIO) -> None:
        file.truncate(0)
        self.have = self.reused = 0
        self._hash = hashlib.sha256()
        self._state = part.PartState(url=self.wanted.url, sha256=self.wanted.sha256)

    def _mismatch(self) -> AppError:
        return AppError("hash-mismatch", name=self.wanted.path.name, host=self._host)

    def _broken(self) -> bool:
        return self.wanted.sha256 is not None and self._hash.hexdigest() != self.wanted.sha256

    def _fetch(self, file: BinaryIO) -> None:
        """Ask again after every drop until the file is whole or nothing new comes."""
        if self.have and self.have == self.total:
            return
        best, tries = self.have, 0
        while True:
            try:
                self._attempt(file)
                return
            except (_Drop, requests.RequestException, urllib3.exceptions.HTTPError) as error:
                self._check_stopped()
                _refuse_for_good(error, self._host)
                tries = 1 if self.have > best else tries + 1
                best = max(best, self.have)
                if tries >= self._limits.tries:
                    raise NetworkError(
                        "download-broke-off", name=self.wanted.path.name, host=self._host, have_bytes=self.have
                    ) from error
                self._pause(tries, error.after if isinstance(error, _Drop) else None)

    def _pause(self, tries: int, after: float | None) -> None:
        longest = self._limits.longest_pause_seconds
        wait = after if after is not None else self._limits.pause_seconds * 2 ** (tries - 1)
        if self._stopped.wait(min(wait, longest)):
            raise Cancelled

    def _attempt(self, file: BinaryIO) -> None:
        headers = {}
        if self.have:
            headers["Range"] = f"bytes={self.have}-"
            validator = self._state.etag or self._state.last_modified
            if validator is not None:
                headers["If-Range"] = validator
        timeout = (self._limits.connect_seconds, self._limits.stall_seconds)
        with self._session.get(self.wanted.url, headers=headers, stream=True, timeout=timeout) as response:
            self._check_stopped()
            if self._judge(response, file):
                self._read(response, file)

    def _judge(self, response: requests.Response, file: BinaryIO) -> bool:
        """Make the part fit the answer; False if nothing is left to read. Raises _Drop to ask again."""
        status = response.status_code
        if status in answers.PASSING:
            raise _Drop(f"status {status}", answers.retry_after(response.headers))
        if status == 416:
            if self.total is not None and self.have == self.total:
                return False
            self._restart(file)
            raise _Drop("the part does not fit the file")
        if status not in (200, 206):
            raise NetworkError("source-refused", name=self.wanted.path.name, host=self._host, status=status)
        if status == 206:
            self._judge_range(response, file)
        elif self.have:
            self._restart(file)
        length = answers.content_length(response.headers)
        self._know(response, None if length is None else self.have + length)
        return True

    def _judge_range(self, response: requests.Response, file: BinaryIO) -> None:
        sent = answers.content_range(response.headers)
        etag = answers.strong_etag(response.headers)
        other = etag is not None and self._state.etag is not None and etag != self._state.etag
        resized = sent is not None and None not in (sent.total, self.total) and sent.total != self.total
        if sent is None or sent.start != self.have or other or resized:
            # Another version, or not the part we asked for: two versions are never mixed.
            self._restart(file)
            raise _Drop("the file changed")

    def _know(self, response: requests.Response, total: int | None) -> None:
        """Keep what the answer says about the file, and see that it fits on the disk."""
        if self.wanted.bytes is not None and total is not None and total != self.wanted.bytes:
            raise self._mismatch()
        self.total = total if total is not None else self.total
        self._state = part.PartState(
            url=self.wanted.url,
            sha256=self.wanted.sha256,
            etag=answers.strong_etag(response.headers) or self._state.etag,
            last_modified=response.headers.get("Last-Modified") or self._state.last_modified,
            total=self.total,
        )
        folder = self.wanted.path.parent
        if self.total is not None:
            free = shutil.disk_usage(folder).free
            needed = self.total - self.have
            if needed + self._limits.reserve_bytes > free:
                raise AppError("disk-too-small", path=str(folder), needed_bytes=needed, free_bytes=free)
        part.write_state(self.wanted.path, self._state)

    def _read(self, response: requests.Response, file: BinaryIO) -> None:
        while chunk := response.raw.read1(READ, decode_content=False):
            self._check_stopped()
            file.write(chunk)
            file.flush()
            self._hash.update(chunk)
            self.have += len(chunk)
            self.fetched += len(chunk)
        self._check_stopped()
        if self.total is not None and self.have != self.total:
            raise _Drop("ended early")

    def _check_stopped(self) -> None:
        if self._stopped.is_set():
            raise Cancelled


def _refuse_for_good(error: Exception, host: str) -> None:
    """Raise for what another try cannot mend."""
    if isinstance(error, requests.exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        raise NetworkError("certificate", host=host) from error
    if isinstance(error, InsecureRedirect):
        raise NetworkError("insecure-redirect", host=host) from error
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema):
        raise NetworkError("source-refused", name=host, host=host, status=None) from error
