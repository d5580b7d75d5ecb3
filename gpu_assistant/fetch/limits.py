"""How patient a download is."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Seconds of patience and counts. `tries` are attempts in a row that brought not one new byte."""

    connect_seconds: float = 10.0
    stall_seconds: float = 30.0
    tries: int = 6
    pause_seconds: float = 0.5
    longest_pause_seconds: float = 20.0
    files_at_once: int = 3
    reserve_bytes: int = 64 * 2**20
