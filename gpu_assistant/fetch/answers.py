"""What a server's answer to a (partial) request means."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from msgspec import Struct

# Answers that a later try may change; everything else from 400 on is final.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522, 523, 524})

_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)$")


class ContentRange(Struct, frozen=True):
    """First byte sent, the byte after the last one, and the whole file's size where the server says it."""

    start: int
    end: int
    total: int | None


def content_range(headers: Mapping[str, str]) -> ContentRange | None:
    """The part of the file that an answer 206 holds; None if it does not say so in a way we understand."""
    match = _RANGE.match(headers.get("Content-Range", "").strip())
    if match is None:
        return None
    return ContentRange(int(match[1]), int(match[2]) + 1, None if match[3] == "*" else int(match[3]))


def content_length(headers: Mapping[str, str]) -> int | None:
    """Bytes that the answer announces; None if it does not, or sends them packed."""
    text = headers.get("Content-Length", "")
    return int(text) if text.isdecimal() and "Content-Encoding" not in headers else None


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait, from seconds or a date; None if the server does not say."""
    text = headers.get("Retry-After", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(0.0, moment.timestamp() - (time.time() if now is None else now))


def strong_etag(headers: Mapping[str, str]) -> str | None:
    """The tag that names these very bytes; a weak one does not."""
    tag = headers.get("ETag", "").strip()
    return tag if tag.startswith('"') else None


def empty_file(headers: Mapping[str, str]) -> bool:
    """Whether a refused range says that the file has no bytes at all."""
    return headers.get("Content-Range", "").strip() == "bytes */0"


def is_page(headers: Mapping[str, str], name: str) -> bool:
    """Whether a page for people came instead of a file: a login of a network, a notice of a mirror."""
    kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return kind in ("text/html", "application/xhtml+xml") and not name.lower().endswith((".html", ".htm"))


def is_packed(headers: Mapping[str, str], name: str) -> bool:
    """Whether the server packed the bytes on the way though nobody asked; a packed file may be called so by mistake."""
    coding = headers.get("Content-Encoding", "identity").strip().lower()
    return coding not in ("identity", "") and not name.lower().endswith((".gz", ".tgz", ".bz2", ".xz", ".zst", ".br"))
