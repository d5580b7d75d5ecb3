"""A whole file with a wrong checksum, and several sources: which bytes are wrong, without fetching all of them again.

A checksum of the whole does not say where a fault is, so block for block is compared with what another source than
its giver has, beginning with the source that gave least. Where two differ, the other's block goes in and the file is
hashed again from there; among the first few such blocks every mixture is tried, in case each source has a fault of
its own. It ends at the first right hash. It costs at most one more file over the network, and no space.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from pathlib import Path

import requests
import urllib3
from msgspec import Struct

from ..core.errors import Cancelled
from . import answers
from .part import Piece, part_path
from .round import Common
from .source import Source, Sources
from .wanted import Digest, Wanted

BLOCK = 4 << 20
# Of so many differing blocks all mixtures are tried; of more, only whether the other source is right in all.
MOST_MIXED = 4


class _Doubt(Struct):
    """One block of which two versions are known."""

    start: int
    first: bytes
    other: bytes


class Mending:
    """`run` tells whether the file is right afterwards; `fetched` bytes came over the network."""

    def __init__(self, wanted: Wanted, common: Common, sources: Sources, pieces: list[Piece]) -> None:
        self.fetched = 0
        self._wanted, self._common, self._sources, self._pieces = wanted, common, sources, pieces
        self._part = part_path(wanted.path)
        self._total = max((piece.end for piece in pieces), default=0)

    def run(self) -> bool:
        """Compare and mend; raises Cancelled, OSError."""
        check, usable = self._wanted.check, [s for s in self._sources.usable if s.ranges is not False]
        if check is None or len(usable) < 2:
            return False
        hashes = _Hashes(self._part, check, self._total)
        doubts: list[_Doubt] = []
        for start, giver in self._suspects():
            other = next((source for source in usable if source.url != giver), None)
            theirs = self._block(other, start) if other is not None else None
            ours = self._read(start)
            if theirs is None or theirs == ours:
                continue
            self._write(start, theirs)
            if hashes.right_from(start, self._common):
                return True
            if len(doubts) < MOST_MIXED:
                doubts.append(_Doubt(start=start, first=ours, other=theirs))
                if self._mixed(doubts, hashes):
                    return True
        return False

    def _suspects(self) -> list[tuple[int, str]]:
        """Where each block starts and who gave it; those of the source that gave least come first."""
        given: Counter[str] = Counter()
        givers: dict[int, str] = {}
        for piece in self._pieces:
            given[piece.url] += piece.end - piece.start
            for start in range(piece.start // BLOCK * BLOCK, piece.end, BLOCK):
                # Of a block from two sources the rarer one is the suspect.
                if start not in givers or given[piece.url] < given[givers[start]]:
                    givers[start] = piece.url
        return sorted(givers.items(), key=lambda item: (given[item[1]], item[0]))

    def _mixed(self, doubts: list[_Doubt], hashes: _Hashes) -> bool:
        """Try the mixtures with the newest doubt; leaves the other sources' blocks in the file if none is right."""
        *older, _ = doubts
        if not older:
            return False
        for choice in itertools.product((True, False), repeat=len(older)):
            for doubt, other in zip(older, choice, strict=True):
                self._write(doubt.start, doubt.other if other else doubt.first)
            if not all(choice) and hashes.right_from(min(doubt.start for doubt in older), self._common):
                return True
        for doubt in older:
            self._write(doubt.start, doubt.other)
        hashes.forget(min(doubt.start for doubt in older))
        return False

    def _block(self, source: Source, start: int) -> bytes | None:
        """A block from a source; None if it does not give it."""
        end, limits = min(start + BLOCK, self._total), self._common.limits
        session = self._common.sessions.take()
        found = bytearray()
        try:
            headers = {"Range": f"bytes={start}-{end - 1}"}
            timeout = (limits.connect_seconds, limits.stall_seconds)
            with session.get(source.url, headers=headers, stream=True, timeout=timeout) as response:
                sent = answers.content_range(response.headers)
                if response.status_code != 206 or sent is None or sent.start != start or sent.total != self._total:
                    return None
                while len(found) < end - start and (chunk := response.raw.read1(1 << 18, decode_content=False)):
                    if self._common.stopped.is_set():
                        raise Cancelled
                    found += chunk
                    self.fetched += len(chunk)
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            return None
        finally:
            session.close()
        return bytes(found) if len(found) == end - start else None

    def _read(self, start: int) -> bytes:
        with self._part.open("rb") as file:
            file.seek(start)
            return file.read(min(BLOCK, self._total - start))

    def _write(self, start: int, block: bytes) -> None:
        with self._part.open("r+b") as file:
            file.seek(start)
            file.write(block)


class _Hashes:
    """The file's hash, computed again from a place on: what comes before it is remembered every 16 blocks."""

    EVERY = 16 * BLOCK

    def __init__(self, path: Path, check: Digest, total: int) -> None:
        self._path, self._check, self._total = path, check, total
        self._known: dict[int, hashlib._Hash] = {0: check.new()}

    def forget(self, start: int) -> None:
        """The file was changed from `start` on."""
        self._known = {at: found for at, found in self._known.items() if at <= start}

    def right_from(self, start: int, common: Common) -> bool:
        """Whether the file is right now that it was changed from `start` on."""
        self.forget(start)
        at = max(self._known)
        found = self._known[at].copy()
        with self._path.open("rb", buffering=0) as file:
            file.seek(at)
            while chunk := file.read(min(BLOCK, self._total - at)):
                if common.stopped.is_set():
                    raise Cancelled
                found.update(chunk)
                at += len(chunk)
                if at % self.EVERY == 0:
                    self._known[at] = found.copy()
        return found.hexdigest() == self._check.hex
