"""Types that all catalog files share.

The structs of this package are the schema: `resources/schemas/catalog-*.schema.json` are generated from them, and
decoding a file validates it.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

Confidence = Literal["high", "medium", "low"]
Arch = Literal["x86_64", "arm64"]

IsoDate = Annotated[str, Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]
# HTTPS, or HTTP from this computer, where nothing is between the two programs.
HttpsUrl = Annotated[str, Meta(pattern=r"^(https://[a-z0-9.-]+|http://(127\.0\.0\.1|localhost)(:\d{1,5})?)(/|$)")]
# 32 bytes in lower-case hex: a SHA-256, or a key.
Hex32Bytes = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Md5 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$")]
PciId = Annotated[str, Meta(pattern=r"^[0-9a-f]{4}:[0-9a-f]{4}$")]
PythonSeries = Annotated[str, Meta(pattern=r"^\d{1,3}\.\d{1,3}$")]
Variant = Annotated[str, Meta(pattern=r"^(cpu|xpu|cu\d{2,4}|rocm\d+(\.\d+){1,2})$")]
# A chip of AMD's, as its compiler calls it.
Gfx = Annotated[str, Meta(pattern=r"^gfx[0-9a-f]{3,4}$")]
ByteCount = Annotated[int, Meta(gt=0)]


class SourceRecord(Struct, frozen=True):
    """The source of a fact: a description and its URL, None where it was measured or read from an index."""

    what: str
    url: HttpsUrl | None


class Fact(Struct, frozen=True, kw_only=True):
    """What a source says: `source` is its id in the file's `sources`, `confidence` how sure that is."""

    source: str
    confidence: Confidence = "high"


class CatalogFile(Struct, frozen=True, kw_only=True):
    """The head of every catalog file; `as_of` is the day on which its facts were collected."""

    subject: str
    as_of: IsoDate
    sources: dict[str, SourceRecord]
    note: str | None = None


def days_since(day: str, today: date) -> int:
    """The number of days from `day` to `today`, at least 0 (the clock may be wrong)."""
    return max(0, (today - date.fromisoformat(day)).days)
