"""What every file of the catalog has in common, and the forms that its texts must have.

The structs of this room are the schema: `resources/schemas/catalog-*.schema.json` are written from them, and
reading a file checks it against them.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

Confidence = Literal["high", "medium", "low"]
Arch = Literal["x86_64", "arm64"]

IsoDate = Annotated[str, Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]
# What comes from this very computer cannot be tampered with on the way.
HttpsUrl = Annotated[str, Meta(pattern=r"^(https://[a-z0-9.-]+|http://(127\.0\.0\.1|localhost)(:\d{1,5})?)(/|$)")]
# 32 bytes in lower-case hex: a SHA-256, or a key.
Hex32Bytes = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Md5 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$")]
PciId = Annotated[str, Meta(pattern=r"^[0-9a-f]{4}:[0-9a-f]{4}$")]
PythonSeries = Annotated[str, Meta(pattern=r"^\d{1,3}\.\d{1,3}$")]
Variant = Annotated[str, Meta(pattern=r"^(cpu|xpu|cu\d{2,4}|rocm\d+(\.\d+){1,2})$")]
ByteCount = Annotated[int, Meta(gt=0)]


class SourceRecord(Struct, frozen=True):
    """Where a record comes from; `url` is None where it was measured or read from an index."""

    what: str
    url: HttpsUrl | None


class CatalogFile(Struct, frozen=True, kw_only=True):
    """What every catalog file says about itself; `as_of` is the day its facts were gathered."""

    subject: str
    as_of: IsoDate
    sources: dict[str, SourceRecord]
    note: str | None = None


def days_since(day: str, today: date) -> int:
    """How many days old facts of a day are; never less than none, whatever this computer's clock says."""
    return max(0, (today - date.fromisoformat(day)).days)
