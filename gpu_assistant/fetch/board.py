"""Which bytes of a file are here, which are on their way, and who fetches what next."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

# The end of a file whose size nobody has said.
OPEN = 2**62


@dataclass(eq=False)
class Span:
    """Bytes that one connection fetches: from `start` up to `end`, which may shrink; `at` are here.

    `left` asks the connection to stop where it is.
    """

    start: int
    end: int
    at: int
    left: bool = False
    began: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def seconds_left(self, now: float) -> float:
        """How long it still takes at its speed so far."""
        come = self.at - self.start
        return (self.end - self.at) * (now - self.began) / come if come else float("inf")


class Board:
    """Shared by the connections and the checker of one file; `changed` guards all of it.

    `have` bytes are here of `total` (None while unknown); `opened` once a source has answered; `idle` connections
    wait for work; `closed` ends everybody.
    """

    def __init__(self, here: Iterable[tuple[int, int]], total: int | None, least: int) -> None:
        self.changed = threading.Condition()
        self.total = total
        self.opened = False
        self.closed = False
        self.idle = 0
        self._least = least
        self._here = sorted(here)
        self._free: list[tuple[int, int]] = []
        self.active: set[Span] = set()
        self.have = sum(end - start for start, end in self._here)
        at = 0
        for start, end in self._here:
            if at < start:
                self._free.append((at, start))
            at = end
        if at < (OPEN if total is None else total):
            self._free.append((at, OPEN if total is None else total))

    @property
    def whole(self) -> bool:
        """Whether every byte is here."""
        return self.total is not None and not self._free and not self.active

    @property
    def empty(self) -> bool:
        """Whether nothing is here, and at most one connection is at work."""
        return not self._here and len(self.active) <= 1

    @property
    def missing(self) -> int:
        """Bytes that nobody fetches yet."""
        return sum(end - start for start, end in self._free)

    def close(self) -> None:
        """End everybody at their next byte."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def learn(self, total: int | None) -> None:
        """A source has answered; it may have said the size."""
        with self.changed:
            if self.total is None and total is not None:
                self.total = total
                self._free = [(start, min(end, total)) for start, end in self._free if start < total]
                for span in self.active:
                    span.end = min(span.end, total)
            self.opened = True
            self.changed.notify_all()

    def take_all(self, span: Span) -> None:
        """The connection gets the whole file in one stream: nobody else has to ask for it."""
        with self.changed:
            self._free = []
            span.end = OPEN if self.total is None else self.total

    def ended(self, span: Span) -> None:
        """A stream of unknown length came to its end: that is the size."""
        with self.changed:
            self.total = span.end = span.at
            self.changed.notify_all()

    def claim(self, share: int, connections: int) -> Span | None:
        """Bytes for a connection: the first that are free, else half of what the slowest still has. Hold `changed`."""
        if self.closed:
            return None
        if not self._free:
            return self._split()
        start, end = self._free.pop(0)
        coming = sum(span.end - span.at for span in self.active)
        even = -(-(end - start + self.missing + coming) // connections)
        size = min(share, max(even, self._least))
        cut = end if end - start - size < self._least // 2 else start + size
        if cut < end:
            self._free.insert(0, (cut, end))
        span = Span(start, cut, start)
        self.active.add(span)
        return span

    def _split(self) -> Span | None:
        now = time.monotonic()
        slow = [s for s in self.active if s.end < OPEN and s.end - s.at >= 2 * self._least and not s.left]
        slowest = max(slow, key=lambda span: span.seconds_left(now), default=None)
        # What is nearly here comes sooner than a new answer would.
        if slowest is None or slowest.seconds_left(now) < 1 or now - slowest.began < 0.5:
            return None
        middle = (slowest.at + slowest.end) // 2
        span = Span(middle, slowest.end, middle)
        slowest.end = middle
        self.active.add(span)
        return span

    def came(self, span: Span, count: int) -> None:
        """Bytes of a span have been written. Hold `changed`."""
        span.at += count
        self.have += count
        span.last = time.monotonic()

    def tell(self) -> None:
        """Wake who waits for bytes."""
        with self.changed:
            self.changed.notify_all()

    def release(self, span: Span) -> None:
        """A connection is done with its span; what has not come is free again."""
        with self.changed:
            self.active.discard(span)
            if span.at > span.start:
                self._join(span.start, span.at)
            if span.at < span.end:
                self._free.append((span.at, span.end))
                self._free.sort()
            self.changed.notify_all()

    def _join(self, start: int, end: int) -> None:
        spans = sorted([*self._here, (start, end)])
        merged = spans[:1]
        for begin, until in spans[1:]:
            if begin <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(until, merged[-1][1]))
            else:
                merged.append((begin, until))
        self._here = merged

    def reach(self, at: int) -> int:
        """How far the bytes from `at` on are here without a gap."""
        with self.changed:
            grown = True
            while grown:
                grown = False
                for start, end in [*self._here, *((span.start, span.at) for span in self.active)]:
                    if start <= at < end:
                        at, grown = end, True
        return at
