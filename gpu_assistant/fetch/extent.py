"""How large something is before and after it is unpacked."""

from __future__ import annotations

from msgspec import Struct


class Extent(Struct, frozen=True, kw_only=True):
    """Bytes of a file, and of what it unpacks to; None where its server or the file does not say so."""

    bytes: int | None = None
    unpacked: int | None = None
