"""A whole file with a wrong checksum, and several sources: which bytes are wrong, without fetching all of them again.

A checksum of the whole does not say where a fault is, so range for range is compared with what another source than
its giver has, beginning with the source that gave least. Where two differ, the other's bytes go in and the file is
hashed again from there; among the first few such ranges every mixture is tried, in case each source has a fault of
its own. In the end, source for source, the file is filled with the bytes of that one alone. It ends at the first
right hash. It costs at most two more files over the network, and no space.
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
# Of so many differing ranges all mixtures are tried; of more, only whether the other source is right in all.
MOST_MIXED = 4


# A source that gives a range so often not is asked for no other.
TRIES = 2


class _Range(Struct):
    """Bytes that one source gave; `held` by these sources just as they are in the file now."""

    start: int
    end: int
    giver: str
    held: set[str]

    @property
    def size(self) -> int:
        """In bytes."""
        return self.end - self.start


class _Doubt(Struct):
    """One range of which two versions are known."""

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
        self._silent: list[Source] = []

    def run(self) -> bool:
        """Compare and mend; raises Cancelled, OSError."""
        check, usable = self._wanted.check, [s for s in self._sources.usable if s.ranges is not False]
        ranges = self._ranges()
        if check is None or all(source.url == span.giver for source in usable for span in ranges):
            return False
        hashes = _Hashes(self._part, check, self._total)
        return self._compared(ranges, usable, hashes) or self._from_one(ranges, usable, hashes)

    def _compared(self, ranges: list[_Range], usable: list[Source], hashes: _Hashes) -> bool:
        """Whether other sources' bytes mend it, range for range; those of the source that gave least come first."""
        given: Counter[str] = Counter()
        for span in ranges:
            given[span.giver] += span.size
        doubts: list[_Doubt] = []
        for span in sorted(ranges, key=lambda span: (given[span.giver], span.giver, span.start)):
            others = (source for source in usable if source.url != span.giver)
            ours = self._read(span)
            theirs = next((found for source in others if (found := self._exchanged(span, source)) is not None), None)
            if theirs is None or theirs == ours:
                continue
            if hashes.right_from(span.start, self._common):
                return True
            if len(doubts) < MOST_MIXED:
                doubts.append(_Doubt(start=span.start, first=ours, other=theirs))
                if self._mixed(doubts, hashes):
                    return True
        return False

    def _from_one(self, ranges: list[_Range], usable: list[Source], hashes: _Hashes) -> bool:
        """Whether all of it from one source is right; who is known to hold most of what is here comes first."""
        budget, left = self._total, list(usable)
        while left:
            lacking = {source.url: [span for span in ranges if source.url not in span.held] for source in left}
            source = min(left, key=lambda source: sum(span.size for span in lacking[source.url]))
            left.remove(source)
            spans = lacking[source.url]
            budget -= sum(span.size for span in spans)
            if budget < 0:
                return False
            # With nothing lacking it is the mixture that was wrong a moment ago.
            if not spans:
                continue
            start = min(span.start for span in spans)
            given = all(self._exchanged(span, source) is not None for span in spans)
            if given and hashes.right_from(start, self._common):
                return True
            hashes.forget(start)
        return False

    def _ranges(self) -> list[_Range]:
        """All of the file, cut where the giver changes and at every block."""
        found: list[_Range] = []
        for piece in self._pieces:
            start = piece.start
            while start < piece.end:
                end = min(piece.end, (start // BLOCK + 1) * BLOCK)
                if found and start % BLOCK and found[-1].giver == piece.url:
                    found[-1].end = end
                else:
                    found.append(_Range(start=start, end=end, giver=piece.url, held={piece.url}))
                start = end
        return found

    def _exchanged(self, span: _Range, source: Source) -> bytes | None:
        """A range as a source has it, which then is in the file; None if it does not give it."""
        if source in self._silent:
            return None
        theirs = next((found for _ in range(TRIES) if (found := self._ask(source, span)) is not None), None)
        if theirs is None:
            self._silent.append(source)
        elif theirs == self._read(span):
            span.held.add(source.url)
        else:
            self._write(span.start, theirs)
            span.held = {source.url}
        return theirs

    def _mixed(self, doubts: list[_Doubt], hashes: _Hashes) -> bool:
        """Try the mixtures with the newest doubt; leaves the other sources' bytes in the file if none is right."""
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

    def _ask(self, source: Source, span: _Range) -> bytes | None:
        """A range from a source; None if it does not give it."""
        start, end, limits = span.start, span.end, self._common.limits
        session = self._common.sessions.take()
        found = bytearray()
        try:
            headers = {"Range": f"bytes={start}-{end - 1}"}
            timeout = (limits.connect_seconds, limits.stall_seconds)
            with session.get(source.url, headers=headers, stream=True, timeout=timeout) as response:
                sent = answers.content_range(response.headers)
                if response.status_code == 200:
                    source.ranges = False
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

    def _read(self, span: _Range) -> bytes:
        with self._part.open("rb") as file:
            file.seek(span.start)
            return file.read(span.size)

    def _write(self, start: int, found: bytes) -> None:
        with self._part.open("r+b") as file:
            file.seek(start)
            file.write(found)


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
