"""The sources of one file: its mirrors, how fast each one gives, and which one is asked next."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from ..core.errors import AppError
from .request import DownloadRequest, Limits
from .segments import Segment, SegmentMap

if TYPE_CHECKING:
    from .http import ConnectionCode


# Seconds of measuring beyond which the older half counts no longer.
MEMORY_SECONDS = 8.0
# Less than this says nothing about a rate.
ENOUGH_SECONDS = 0.2
ENOUGH_BYTES = 1 << 20
# How long the first byte may take before a source counts as slow.
FIRST_BYTE_SECONDS = 2.0
# A response that ends so often at the same place, before its announced end, will do so again.
SAME_END = 3

_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")


class Mirror(Struct, frozen=True, kw_only=True):
    """A mirror's address for a publisher's; both are beginnings of addresses with placeholders like `{variant}`.

    The same placeholders stand in both, and what follows them is the same on both servers.
    """

    official: str
    mirror: str


def mirror_urls(url: str, mirrors: Iterable[Mirror]) -> tuple[str, ...]:
    """The mirrors' addresses for an official one, in the order given; none is the official one, none comes twice.

    A placeholder stands for one part of a path, the last one in an address also for all that follows. Mirrors without
    encryption are left out where the official source has it.
    """
    urls: list[str] = []
    for each in mirrors:
        match = _pattern(each.official).match(url)
        if match is None:
            continue
        values = match.groupdict()
        address = _PLACEHOLDER.sub(lambda name, values=values: values.get(name[0][1:-1], name[0]), each.mirror)  # type: ignore[misc]
        address += url[match.end() :]
        secure = not url.startswith("https:") or address.startswith("https:")
        if secure and not _PLACEHOLDER.search(address) and address != url:
            urls.append(address)
    return tuple(dict.fromkeys(urls))


def _pattern(official: str) -> re.Pattern[str]:
    """A regular expression for a beginning with placeholders."""
    parts = re.split(r"(\{[a-z_]+\})", official)
    expressions = []
    for part in parts:
        # The last placeholder of "…/{path}" may hold several folders.
        characters = "[^?#]+" if official.endswith(part) else "[^/?#]+"
        is_placeholder = _PLACEHOLDER.fullmatch(part)
        expressions.append(f"(?P<{part[1:-1]}>{characters})" if is_placeholder else re.escape(part))
    return re.compile("".join(expressions))


@dataclass(eq=False)
class Source:
    """One address of a file.

    `max_connections` at once are allowed, `peak_connections` were open so far. `has_ranges` is None until a response
    shows whether it serves ranges. `error` is why it was given up, `unreachable` that the network or a busy server was
    the reason. `last_status` is the status by which it last asked for a later retry, None after any bytes;
    `connection_code` why the last request had no connection. `changed` tells that it gave another version of the file
    than before, `other_size` that its file is not as long as the others', `ignored_range` that it once sent the whole
    file instead of a range. `first_request` and `not_before` are monotonic times.
    """

    url: str
    max_connections: int
    has_ranges: bool | None = None
    error: AppError | None = None
    unreachable: bool = False
    active: dict[Segment, float] = field(default_factory=dict)
    first_byte_seconds: float = 0.005
    peak_connections: int = 0
    received: int = 0
    failures: int = 0
    last_status: int | None = None
    connection_code: ConnectionCode | None = None
    changed: bool = False
    other_size: bool = False
    ignored_range: bool = False
    not_before: float = 0.0
    first_request: float | None = None
    _last_end: int = 0
    _same_ends: int = 0
    _last_failure: float = 0.0
    _bytes: float = 0.0
    _seconds: float = 0.0

    @property
    def host(self) -> str:
        """The host name, else the whole URL."""
        return urlsplit(self.url).hostname or self.url

    @property
    def server(self) -> str:
        """Host and port, for the number of connections."""
        return urlsplit(self.url).netloc

    def count(self, segment: Segment, size: int, now: float) -> None:
        """Record bytes that came over one connection."""
        self._seconds += now - self.active.get(segment, now)
        self.active[segment] = now
        self.peak_connections = max(self.peak_connections, len(self.active))
        self._bytes += size
        self.received += size
        if self._seconds > MEMORY_SECONDS:
            self._seconds, self._bytes = self._seconds / 2, self._bytes / 2

    def release(self, segment: Segment, now: float) -> None:
        """A connection has ended; the silence before its end counts."""
        self._seconds += now - self.active.pop(segment, now)

    def rate(self, now: float) -> float | None:
        """Bytes per second over one connection, silence included; None before there is enough to tell."""
        silences = [now - last for last in self.active.values()]
        if not self.received and max(silences, default=0.0) < FIRST_BYTE_SECONDS and self._seconds < FIRST_BYTE_SECONDS:
            return None
        seconds = self._seconds + sum(silences)
        if seconds < ENOUGH_SECONDS and self._bytes < ENOUGH_BYTES:
            return None
        return self._bytes / max(seconds, 1e-6)

    def always_ends_at(self, position: int) -> bool:
        """Record that a response ended before its announced end; True once it did so here again and again."""
        self._same_ends = self._same_ends + 1 if position == self._last_end else 1
        self._last_end = position
        return self._same_ends >= SAME_END

    def may_retry(self, started: float, limits: Limits, retry_after: float | None) -> bool:
        """Record a failed request that was `started` then; False if too many have failed in a row.

        Requests that fail together count once.
        """
        now = time.monotonic()
        if started >= self._last_failure:
            self._last_failure = now
            self.failures += 1
            seconds = min(limits.backoff_seconds * 2 ** (self.failures - 1), limits.max_backoff_seconds)
            # "Retry-After: 0" from a busy server would use up all tries within milliseconds; one that is longer than
            # all tries is final (`connection.py`).
            self.not_before = now + max(seconds, retry_after or 0.0)
        return self.failures < limits.tries


class Sources:
    """All sources of one file, the official one first. The segment map's `changed` guards it.

    The reserve is asked only once `call_reserve` has found reason. Sources are `mixable` only where a checksum tells in
    the end whether they gave the same bytes.
    """

    def __init__(self, request: DownloadRequest, limits: Limits) -> None:
        self.mixable = request.expected is not None
        urls = (*request.file.urls, *request.reserve)
        self.all = [Source(url, limits.connections) for url in dict.fromkeys(urls)]
        self._primary = set(request.file.urls)
        self._reserve_called = self._primary.issuperset(urls)
        self._slow_bytes, self._mirrors_first = request.slow_bytes, request.mirrors_first
        self._limits, self._name = limits, request.name
        self._only: Source | None = None

    @property
    def official(self) -> Source:
        """The publisher's source, which is the first."""
        return self.all[0]

    @property
    def usable(self) -> list[Source]:
        """Those that have not been given up and may be asked, in the order in which they are."""
        usable = [source for source in self.all if source.error is None]
        if not self.mixable:
            return usable[:1]
        if self._only is not None and self._only in usable:
            return [self._only]
        if not self._reserve_called:
            usable = [source for source in usable if source.url in self._primary] or usable
        # Sorting keeps the order of the rest.
        return sorted(usable, key=lambda source: source is self.official) if self._mirrors_first else usable

    @property
    def waiting(self) -> bool:
        """Whether every source has asked for a later retry, or failed just now."""
        now = time.monotonic()
        return all(source.not_before > now for source in self.usable)

    def call_reserve(self) -> int:
        """Ask the reserve, too, once the others are slow, silent or failing; how many sources came with it."""
        if self._reserve_called or self._only is not None:
            return 0
        now = time.monotonic()
        working = [source for source in self.all if source.url in self._primary and source.first_request is not None]
        rates = [source.rate(now) for source in working]
        failing = any(source.failures for source in working)
        if not working or (None in rates and not failing):
            return 0
        probed = now - min(source.first_request or now for source in working) >= self._limits.probe_seconds
        # With all connections that it had at once: towards the end of a file few are left, and that is not slow.
        total = sum(
            (rate or 0.0) * max(1, source.peak_connections) for source, rate in zip(working, rates, strict=True)
        )
        if not failing and (not probed or total >= self._slow_bytes):
            return 0
        self._reserve_called = True
        return len(self.all) - len(self._primary)

    # After a wrong hash

    def most_trusted(self) -> Source | None:
        """The official source, or the first mirror where that was given up; None if all were.

        A source that was left because its size differed counts again: the wrong file may have had the wrong size.
        """
        for source in self.all:
            if source.other_size:
                source.error, source.other_size = None, False
        return next((source for source in self.all if source.error is None), None)

    def ask_only(self, source: Source) -> None:
        """Ask no other source from now on, unless this one is given up."""
        self._only = source

    def exclude(self, source: Source) -> bool:
        """Give up a source that alone gave a wrong file, and ask all others; False if there is none."""
        source.error = AppError("hash-mismatch", name=self._name, host=source.host)
        self._only, self._reserve_called = None, True
        return bool(self.usable)

    def unreachable(self) -> AppError | None:
        """The error of the first source that the network, or a busy server, kept from giving the file."""
        return next((source.error for source in self.all if source.unreachable), None)

    # Choice

    def error(self) -> AppError | None:
        """Why no source is left: the official one's error, unless no disk holds what any announced; None while there
        is one.
        """
        if self.usable:
            return None
        errors = [source.error for source in self.all if source.error is not None]
        too_large = [error for error in errors if error.code == "disk-too-small"]
        return too_large[0] if too_large and not any(source.received for source in self.all) else self.official.error

    def select(self, segments: SegmentMap) -> Source | None:
        """The source to ask now; None if all are busy or wait for a retry."""
        now = time.monotonic()
        ready = [
            source
            for source in self.usable
            if source.not_before <= now and len(source.active) < source.max_connections and _can_serve(source, segments)
        ]
        if not ready:
            return None
        untried = [source for source in ready if source.first_request is None]
        from_reserve = bool(untried) and untried[0].url not in self._primary
        worth_probing = segments.unassigned >= 4 * self._limits.min_segment_bytes
        if untried and (from_reserve or not segments.answered or worth_probing):
            return untried[0]
        rates = {source: source.rate(now) for source in self.usable}
        fast_enough = self._best(rates) * self._limits.slow_ratio
        good = [source for source in ready if (rate := rates[source]) is None or rate >= fast_enough]
        # In the order given: a mirror has to be much faster, or the only one that answers.
        return next((source for source in good if source.first_request is not None), None) or (good or ready)[0]

    def slow(self) -> list[Source]:
        """Those at work that give much less than another could."""
        now = time.monotonic()
        rates = {source: source.rate(now) for source in self.usable}
        fast_enough = self._best(rates) * self._limits.slow_ratio
        return [
            source
            for source, rate in rates.items()
            if source.active
            and source.first_request is not None
            and now - source.first_request >= self._limits.probe_seconds
            and rate is not None
            and rate < fast_enough
        ]

    @staticmethod
    def _best(rates: dict[Source, float | None]) -> float:
        return max((rate for rate in rates.values() if rate is not None), default=0.0)


def _can_serve(source: Source, segments: SegmentMap) -> bool:
    """A source without ranges can only give the whole file, over one connection."""
    return source.has_ranges is not False or (segments.empty and not segments.active)


class HostLimiter:
    """How many connections go to each server, for all files of a download together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, int] = {}

    def acquire(self, server: str) -> bool:
        """Whether one more may be opened; it counts from now on. Called under one lock for all files."""
        if self._open.get(server, 0) >= self._limit:
            return False
        self._open[server] = self._open.get(server, 0) + 1
        return True

    def release(self, server: str) -> None:
        """Count one connection to this server less."""
        self._open[server] -= 1
