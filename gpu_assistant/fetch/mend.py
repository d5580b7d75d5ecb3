"""A whole file with a wrong checksum, and several sources: which bytes are wrong, without fetching all of them again.

A checksum of the whole does not say where a fault is, so range for range is compared with what another source than
its giver has, beginning with the source that gave least. Where two differ, the other's bytes go in and the file is
hashed again from there; among the first few such ranges every mixture is tried, in case each source has a fault of
its own. Where nobody settles it the reserve is called, and asked first for what others disagree on. In the end,
source for source, the file is filled with the bytes of that one alone. It ends at the first right hash. It costs at
most three more files over the network, and no space.
"""

from __future__ import annotations

import hashlib
import itertools
import zlib
from collections import Counter
from pathlib import Path

from msgspec import Struct

from ..core.errors import Cancelled, NetworkError
from .asker import Asker
from .part import Piece, part_path
from .round import Common
from .source import Source, Sources
from .wanted import Digest, Wanted

BLOCK = 4 << 20
# Of so many differing ranges all mixtures are tried; of more, only whether the other source is right in all.
MOST_MIXED = 4
# Of more than these a difference is followed by a hash of the file only each time there are twice as many.
FEW = 8


class _Range(Struct):
    """Bytes that one source gave; `seen` of these sources, `held` by those of them just as they are in the file now."""

    start: int
    end: int
    giver: str
    held: set[str]
    seen: set[str]

    @property
    def size(self) -> int:
        """In bytes."""
        return self.end - self.start

    @property
    def unsettled(self) -> bool:
        """Whether nobody else's bytes are known, or they differ."""
        return len(self.seen) == 1 or self.held != self.seen


class _Doubt(Struct):
    """One range of which two versions are known."""

    start: int
    first: bytes
    other: bytes


class Mending:
    """`run` tells whether the file is right afterwards."""

    def __init__(self, wanted: Wanted, common: Common, sources: Sources, pieces: list[Piece]) -> None:
        self._wanted, self._common, self._sources, self._pieces = wanted, common, sources, pieces
        self._part = part_path(wanted.path)
        self._total = max((piece.end for piece in pieces), default=0)
        self._asker = Asker(wanted.path, self._total, common)
        self._changed: dict[int, Piece] = {}

    @property
    def fetched(self) -> int:
        """Bytes that came over the network."""
        return self._asker.fetched

    @property
    def lost(self) -> NetworkError | None:
        """What the network did to a source that might have mended it; None where each said what it has."""
        return next(iter(self._asker.lost.values()), None)

    @property
    def pieces(self) -> list[Piece]:
        """What is in the file now, for the next time; a piece of which only some bytes were exchanged is left out."""
        new = list(self._changed.values())
        old = [p for p in self._pieces if not any(p.start < piece.end and piece.start < p.end for piece in new)]
        return sorted([*old, *new], key=lambda piece: piece.start)

    def run(self) -> bool:
        """Compare and mend; raises Cancelled, OSError."""
        check, ranges = self._wanted.check, self._ranges()
        if check is None:
            return False
        hashes = _Hashes(self._part, check, self._total)
        with self._asker.at_work():
            if self._compared(ranges, hashes):
                return True
            self._sources.call_all()
            return self._compared(ranges, hashes) or self._from_one(ranges, hashes)

    def given(self) -> bool:
        """Whether any source gives anything just now. Raises Cancelled."""
        with self._asker.at_work():
            return any(self._asker.gives(source) for source in self._sources.usable)

    @property
    def _usable(self) -> list[Source]:
        return [source for source in self._sources.usable if source.ranges is not False]

    def _compared(self, ranges: list[_Range], hashes: _Hashes) -> bool:
        """Whether other sources' bytes mend it, range for range; those of the source that gave least come first."""
        given: Counter[str] = Counter()
        for span in ranges:
            given[span.giver] += span.size
        doubts: list[_Doubt] = []
        differing, hashed = 0, True
        for span in sorted(ranges, key=lambda span: (given[span.giver], span.giver, span.start)):
            if not span.unsettled:
                continue
            others = [source for source in self._usable if source.url not in span.seen]
            ours = self._read(span) if others else None
            theirs = next((found for source in others if (found := self._exchanged(span, source)) is not None), None)
            if ours is None or theirs is None or theirs == ours:
                continue
            hashes.forget(span.start)
            differing += 1
            # To hash the whole after each of hundreds would take far longer than they do.
            hashed = differing <= FEW or differing & (differing - 1) == 0
            if hashed and hashes.right(self._common):
                return True
            if len(doubts) < MOST_MIXED:
                doubts.append(_Doubt(start=span.start, first=ours, other=theirs))
                if self._mixed(doubts, hashes):
                    return True
        return not hashed and hashes.right(self._common)

    def _from_one(self, ranges: list[_Range], hashes: _Hashes) -> bool:
        """Whether all of it from one source is right; who is known to hold most of what is here comes first."""
        budget, left = self._total, self._usable
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
            hashes.forget(start)
            if given and hashes.right(self._common):
                return True
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
                    found.append(_Range(start=start, end=end, giver=piece.url, held={piece.url}, seen={piece.url}))
                start = end
        return found

    def _exchanged(self, span: _Range, source: Source) -> bytes | None:
        """A range as a source has it, which then is in the file; None if it does not give it."""
        theirs = self._asker.range(source, span.start, span.end)
        if theirs is None:
            return None
        span.seen.add(source.url)
        if theirs == self._read(span):
            span.held.add(source.url)
        else:
            self._write(span.start, theirs)
            span.held = {source.url}
            crc = zlib.crc32(theirs)
            self._changed[span.start] = Piece(start=span.start, end=span.end, crc=crc, url=source.url)
        return theirs

    def _mixed(self, doubts: list[_Doubt], hashes: _Hashes) -> bool:
        """Try the mixtures with the newest doubt; leaves the other sources' bytes in the file if none is right."""
        *older, _ = doubts
        if not older:
            return False
        first = min(doubt.start for doubt in older)
        for choice in itertools.product((True, False), repeat=len(older)):
            for doubt, other in zip(older, choice, strict=True):
                self._write(doubt.start, doubt.other if other else doubt.first)
            hashes.forget(first)
            if not all(choice) and hashes.right(self._common):
                return True
        for doubt in older:
            self._write(doubt.start, doubt.other)
        hashes.forget(first)
        return False

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

    def right(self, common: Common) -> bool:
        """Whether the file is right."""
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
