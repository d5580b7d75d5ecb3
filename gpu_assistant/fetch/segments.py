"""Which bytes of a file are here, which are being fetched, and which segment a connection gets next."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

# The end of a file whose size is unknown.
UNKNOWN_END = 2**62
# A segment is so long that requesting it costs about one percent of the time it takes at 10 MB/s and more.
SHORTEST, LONGEST = 4 << 20, 64 << 20
# Seconds after which a waiting connection, and the thread that watches them, looks again by itself.
POLL_SECONDS = 0.1
# A slower segment is not split: its bytes come sooner than another request's first one.
MIN_SECONDS_LEFT = 1.0
MIN_SECONDS_RUNNING = 0.5
# Fewer bytes are no progress of a segment for which other connections wait.
PROGRESS_BYTES = 8 << 10


@dataclass(eq=False)
class Segment:
    """Bytes that one connection fetches: from `start` up to `end`, which may shrink; those before `position` are here.

    `cancelled` asks the connection to stop where it is. `started`, `last_byte` and `last_progress` are monotonic times,
    the last one that at which `PROGRESS_BYTES` had come since `progress_position`.
    """

    start: int
    end: int
    position: int
    cancelled: bool = False
    started: float = field(default_factory=time.monotonic)
    last_byte: float = field(default_factory=time.monotonic)
    last_progress: float = field(default_factory=time.monotonic)
    progress_position: int = 0

    def seconds_left(self, now: float) -> float:
        """How long the rest takes at its average speed."""
        received = self.position - self.start
        return (self.end - self.position) * (now - self.started) / received if received else float("inf")


class SegmentMap:
    """Shared by the connections of one file and its hash worker; the condition `changed` guards it.

    `received` bytes are here of `total` (None while unknown). `answered` is set once a source has answered, `waiting`
    counts connections without work, `closed` ends all of them.
    """

    def __init__(self, present: Iterable[tuple[int, int]], total: int | None, min_segment: int) -> None:
        self.changed = threading.Condition()
        self.total = total
        self.answered = False
        self.closed = False
        self.waiting = 0
        self.active: set[Segment] = set()
        self._min_segment = min_segment
        self._present = sorted(present)
        self._free: list[tuple[int, int]] = []
        self.received = sum(end - start for start, end in self._present)
        position = 0
        for start, end in self._present:
            if position < start:
                self._free.append((position, start))
            position = end
        last = UNKNOWN_END if total is None else total
        if position < last:
            self._free.append((position, last))

    @property
    def complete(self) -> bool:
        """Whether every byte is here."""
        return self.total is not None and not self._free and not self.active

    @property
    def empty(self) -> bool:
        """Whether no byte is here, and at most one connection is at work."""
        return not self._present and len(self.active) <= 1

    @property
    def last_present(self) -> int:
        """The end of the last byte that is here."""
        with self.changed:
            active = (segment.position for segment in self.active if segment.position > segment.start)
            return max((*(end for _, end in self._present), *active), default=0)

    @property
    def unassigned(self) -> int:
        """Bytes that no connection fetches yet."""
        return sum(end - start for start, end in self._free)

    def close(self) -> None:
        """End all connections at their next byte."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def set_total(self, total: int | None) -> None:
        """A source has answered; it may have said the size."""
        with self.changed:
            if self.total is None and total is not None:
                self.total = total
                self._free = [(start, min(end, total)) for start, end in self._free if start < total]
                for segment in self.active:
                    segment.end = min(segment.end, total)
            self.answered = True
            self.changed.notify_all()

    def assign_all(self, segment: Segment) -> None:
        """The connection gets the whole file in one response: no other has to request anything."""
        with self.changed:
            self._free = []
            segment.end = UNKNOWN_END if self.total is None else self.total

    def end_at_position(self, segment: Segment) -> None:
        """A response of unknown length came to its end: that is the size."""
        with self.changed:
            self.total = segment.end = segment.position
            self.changed.notify_all()

    def claim(self, size: int, connections: int) -> Segment | None:
        """A segment of about `size` bytes: the first free ones, else half of the slowest segment's rest; None if
        neither is worth a request. The caller holds `changed`.
        """
        if self.closed:
            return None
        if not self._free:
            return self._split_slowest()
        start, end = self._free.pop(0)
        pending = sum(segment.end - segment.position for segment in self.active)
        even_share = -(-(end - start + self.unassigned + pending) // connections)
        size = min(size, max(even_share, self._min_segment))
        cut = end if end - start - size < self._min_segment // 2 else start + size
        if cut < end:
            self._free.insert(0, (cut, end))
        segment = Segment(start, cut, start)
        self.active.add(segment)
        return segment

    def _split_slowest(self) -> Segment | None:
        now = time.monotonic()
        candidates = [
            segment
            for segment in self.active
            if segment.end < UNKNOWN_END
            and segment.end - segment.position >= 2 * self._min_segment
            and not segment.cancelled
        ]
        slowest = max(candidates, key=lambda segment: segment.seconds_left(now), default=None)
        if (
            slowest is None
            or slowest.seconds_left(now) < MIN_SECONDS_LEFT
            or now - slowest.started < MIN_SECONDS_RUNNING
        ):
            return None
        middle = (slowest.position + slowest.end) // 2
        segment = Segment(middle, slowest.end, middle)
        slowest.end = middle
        self.active.add(segment)
        return segment

    def advance(self, segment: Segment, count: int) -> None:
        """Bytes of a segment have been written. The caller holds `changed`."""
        segment.position += count
        self.received += count
        segment.last_byte = time.monotonic()
        if segment.position - max(segment.progress_position, segment.start) >= PROGRESS_BYTES:
            segment.progress_position, segment.last_progress = segment.position, segment.last_byte

    def notify(self) -> None:
        """Wake the threads that wait for bytes."""
        with self.changed:
            self.changed.notify_all()

    def release(self, segment: Segment) -> None:
        """A connection has left its segment; bytes that have not come are free again."""
        with self.changed:
            self.active.discard(segment)
            if segment.position > segment.start:
                self._merge(segment.start, segment.position)
            if segment.position < segment.end:
                self._free.append((segment.position, segment.end))
                self._free.sort()
            self.changed.notify_all()

    def _merge(self, start: int, end: int) -> None:
        ranges = sorted([*self._present, (start, end)])
        merged = ranges[:1]
        for first, last in ranges[1:]:
            if first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        self._present = merged

    def contiguous_end(self, position: int) -> int:
        """Up to where the bytes from `position` on are here without a gap."""
        with self.changed:
            grown = True
            while grown:
                grown = False
                active = ((segment.start, segment.position) for segment in self.active)
                for start, end in [*self._present, *active]:
                    if start <= position < end:
                        position, grown = end, True
        return position
