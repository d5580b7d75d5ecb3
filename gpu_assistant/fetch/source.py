"""The sources of one file: how fast each gives, how patient it wants us to be, and which one is asked next."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ..core.errors import AppError
from .board import Board, Span
from .limits import Limits
from .trouble import Trouble
from .wanted import Wanted

# Beyond this the older half of what was measured no longer counts.
MEMORY_SECONDS = 8.0
# Less than this says nothing about a speed.
ENOUGH_SECONDS = 0.2
ENOUGH_BYTES = 1 << 20
# So long the first byte may take before it counts as slow.
FIRST_SECONDS = 2.0

# Who ends so often at one place, before the end that it announces, will do so again.
SAME_END = 3


class Drop(Exception):
    """The connection broke or the server asks for patience; `after` in seconds."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


class Changed(Exception):
    """The source does not give the bytes that the part began with, or gives no parts at all."""


@dataclass(eq=False)
class Source:
    """One address. `most` connections at once, `widest` so far; whether it gives parts, `ranges`, is shown later;
    `said` is the status by which it asked for patience last, None after any bytes; `trouble` is why the last failure
    had no connection; `changed` where it gave another version of the file than before, `other_size` where its file is
    not as long as the one that comes, `ignored_range` where it gave all of it instead of a part.
    """

    url: str
    most: int
    ranges: bool | None = None
    refused: AppError | None = None
    active: dict[Span, float] = field(default_factory=dict)
    first_byte: float = 0.005
    widest: int = 0
    given: int = 0
    fails: int = 0
    said: int | None = None
    trouble: Trouble | None = None
    changed: bool = False
    other_size: bool = False
    ignored_range: bool = False
    not_before: float = 0.0
    asked: float | None = None
    _ended_at: int = 0
    _ended: int = 0
    _failed: float = 0.0
    _bytes: float = 0.0
    _seconds: float = 0.0

    @property
    def host(self) -> str:
        """Its name for people."""
        return urlsplit(self.url).hostname or self.url

    @property
    def place(self) -> str:
        """Its server, for the number of connections."""
        return urlsplit(self.url).netloc

    def count(self, span: Span, size: int, now: float) -> None:
        """Bytes came over one connection."""
        self._seconds += now - self.active.get(span, now)
        self.active[span] = now
        self.widest = max(self.widest, len(self.active))
        self._bytes += size
        self.given += size
        if self._seconds > MEMORY_SECONDS:
            self._seconds, self._bytes = self._seconds / 2, self._bytes / 2

    def let_go(self, span: Span, now: float) -> None:
        """A connection has ended; its last silence counts."""
        self._seconds += now - self.active.pop(span, now)

    def rate(self, now: float) -> float | None:
        """Bytes per second over one connection, silence included; None before there is enough to tell."""
        silent = [now - last for last in self.active.values()]
        if not self.given and max(silent, default=0.0) < FIRST_SECONDS and self._seconds < FIRST_SECONDS:
            return None
        seconds = self._seconds + sum(silent)
        if seconds < ENOUGH_SECONDS and self._bytes < ENOUGH_BYTES:
            return None
        return self._bytes / max(seconds, 1e-6)

    def ended(self, at: int) -> bool:
        """An answer ended before its time; whether it does so at this place again and again."""
        self._ended = self._ended + 1 if at == self._ended_at else 1
        self._ended_at = at
        return self._ended >= SAME_END

    def failed(self, asked: float, limits: Limits, after: float | None) -> bool:
        """A request came to nothing; False if it has failed too often. What fails together counts once."""
        now = time.monotonic()
        if asked >= self._failed:
            self._failed = now
            self.fails += 1
            wait = limits.pause_seconds * 2 ** (self.fails - 1) if after is None else after
            self.not_before = now + min(wait, limits.longest_pause_seconds)
        return self.fails < limits.tries


class Sources:
    """All sources of one file, the official one first. The board's `changed` guards it.

    A reserve is asked only when `call_reserve` has found reason. They are `mixed` only where a checksum tells in the
    end whether they gave the same bytes.
    """

    def __init__(self, wanted: Wanted, limits: Limits) -> None:
        self.mixed = wanted.check is not None
        urls = (wanted.url, *wanted.mirrors, *wanted.reserve)
        self.all = [Source(url, limits.connections) for url in dict.fromkeys(urls)]
        self._near = {wanted.url, *wanted.mirrors}
        self._called = self._near.issuperset(urls)
        self._slow_bytes, self._mirrors_first = wanted.slow_bytes, wanted.mirrors_first
        self._limits, self._name = limits, wanted.path.name

    @property
    def usable(self) -> list[Source]:
        """Those that have not been given up and may be asked, in the order in which they are."""
        found = [source for source in self.all if source.refused is None]
        if not self.mixed:
            return found[:1]
        if not self._called:
            found = [source for source in found if source.url in self._near] or found
        # Sorting keeps the order of the rest.
        return sorted(found, key=lambda source: source is self.all[0]) if self._mirrors_first else found

    def call_reserve(self) -> int:
        """Ask the reserve, too, once the others are slow, silent or failing; how many sources came with it."""
        if self._called:
            return 0
        now = time.monotonic()
        at_work = [source for source in self.all if source.url in self._near and source.asked is not None]
        rates = [source.rate(now) for source in at_work]
        if not at_work or (None in rates and not any(source.fails for source in at_work)):
            return 0
        tried = now - min(source.asked or now for source in at_work) >= self._limits.probe_seconds
        # With all connections that it had at once: towards the end of a file few are left, and that is not slow.
        given = sum((rate or 0.0) * max(1, source.widest) for source, rate in zip(at_work, rates, strict=True))
        if not any(source.fails for source in at_work) and (not tried or given >= self._slow_bytes):
            return 0
        self.call_all()
        return len(self.all) - len(self._near)

    def call_all(self) -> None:
        """Ask the reserve, too, from now on."""
        self._called = True

    def take_others(self, givers: set[str]) -> bool:
        """What the givers gave is wrong, and mending did not help: leave it all to those who had no part in either, as
        their file has another size or they give no parts. Whether there are any.
        """
        left = [source for source in self.all if source.other_size and source.refused is not None]
        others = left + [s for s in self.usable if s.ranges is False and s.url not in givers]
        if others:
            for source in self.usable:
                if source not in others:
                    source.refused = AppError("hash-mismatch", name=self._name, host=source.host)
            for source in left:
                source.refused, source.other_size = None, False
        return bool(others)

    @property
    def waiting(self) -> bool:
        """Whether every source has asked us to wait, or failed just now."""
        now = time.monotonic()
        return all(source.not_before > now for source in self.usable)

    def error(self) -> AppError | None:
        """Why none is left: what the official one said, if not that no disk holds what any announced; None while there
        is one.
        """
        if self.usable:
            return None
        refusals = [source.refused for source in self.all if source.refused is not None]
        too_large = [error for error in refusals if error.code == "disk-too-small"]
        return too_large[0] if too_large and not any(source.given for source in self.all) else self.all[0].refused

    def pick(self, board: Board) -> Source | None:
        """Whom to ask now; None if everybody is busy or wants to be left alone for a moment."""
        now = time.monotonic()
        ready = [s for s in self.usable if s.not_before <= now and len(s.active) < s.most and self._fits(s, board)]
        if not ready:
            return None
        fresh = [source for source in ready if source.asked is None]
        called = bool(fresh) and fresh[0].url not in self._near
        if fresh and (called or not board.opened or self._worth_probing(board)):
            return fresh[0]
        rates = {source: source.rate(now) for source in self.usable}
        best = max((rate for rate in rates.values() if rate is not None), default=0.0)
        enough = best * self._limits.slow_share
        good = [source for source in ready if (rate := rates[source]) is None or rate >= enough]
        # In the order given: a mirror has to be much faster, or the only one that answers.
        return next((s for s in good if s.asked is not None), None) or (good or ready)[0]

    def slow(self) -> list[Source]:
        """Those at work that give much less than another could."""
        now = time.monotonic()
        rates = {source: source.rate(now) for source in self.usable}
        best = max((rate for rate in rates.values() if rate is not None), default=0.0)
        return [
            source
            for source, rate in rates.items()
            if source.active
            and source.asked is not None
            and now - source.asked >= self._limits.probe_seconds
            and rate is not None
            and rate < best * self._limits.slow_share
        ]

    def _fits(self, source: Source, board: Board) -> bool:
        """A source without parts can only give all of it, over one connection."""
        return source.ranges is not False or (board.empty and not board.active)

    def _worth_probing(self, board: Board) -> bool:
        return board.missing >= 4 * self._limits.least_share


class Hosts:
    """How many connections go to each server, for all files of a fetch together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._now: dict[str, int] = {}

    def take(self, place: str) -> bool:
        """Whether one more may be opened; it counts from now on. Called under one guard for all files."""
        if self._now.get(place, 0) >= self._most:
            return False
        self._now[place] = self._now.get(place, 0) + 1
        return True

    def give(self, place: str) -> None:
        """One has ended."""
        self._now[place] -= 1
