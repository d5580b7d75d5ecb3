"""How patient and how greedy a download is."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Seconds of patience and counts. `tries` are attempts in a row that brought not one new byte.

    `connections` are to one server at a time, for all files together; a file smaller than twice `least_share` is
    fetched over one. After `probe_seconds` a source that gives less than `slow_share` of the best is left.
    """

    connect_seconds: float = 10.0
    stall_seconds: float = 30.0
    tries: int = 6
    pause_seconds: float = 0.5
    longest_pause_seconds: float = 20.0
    files_at_once: int = 3
    reserve_bytes: int = 64 * 2**20
    connections: int = 8
    least_share: int = 2 * 2**20
    probe_seconds: float = 2.0
    slow_share: float = 0.2
