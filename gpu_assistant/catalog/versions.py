"""Version numbers compared as numbers: "580.65.06" is newer than "580.7", "2.10" newer than "2.9"."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBERS = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,7}", re.ASCII)


@lru_cache(maxsize=4096)
def parse_version(version: str | None) -> tuple[int, ...] | None:
    """The parts of a dotted version without trailing zeros, so that "580" equals "580.0".

    None for None and for anything that is not plain dotted numbers (pre-releases, words).
    """
    if version is None or _NUMBERS.fullmatch(version) is None:
        return None
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


@lru_cache(maxsize=4096)
def parse_capability(text: str | None) -> tuple[int, int] | None:
    """A compute capability "8.9" as (8, 9); None where it is not known or not of that form."""
    if text is None or text.count(".") != 1 or _NUMBERS.fullmatch(text) is None:
        return None
    major, minor = text.split(".")
    return int(major), int(minor)
