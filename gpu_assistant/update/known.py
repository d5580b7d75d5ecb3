"""What is known about new versions from one start to the next, in `updates.json` in the state folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..core import json
from .statement import Why

Outcome = Literal["newest", "newer"] | Why


class Known(Struct, frozen=True, kw_only=True):
    """`asked` and `outcome` of the last question (`asked` in seconds since 1970); `answer` is the newest signed
    answer ever taken, as it came; `declined` the version that the user does not want to hear of.
    """

    asked: float | None = None
    outcome: Outcome | None = None
    answer: str | None = None
    declined: str | None = None


def load(path: Path) -> Known:
    """What is known; a missing or damaged file means nothing is (the next answer tells it again)."""
    try:
        return json.decode(path.read_bytes(), Known)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Known()


def save(path: Path, known: Known) -> None:
    """Keep it; raises AppError."""
    json.write_file(path, json.encode(known))
