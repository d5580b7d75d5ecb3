"""What is known about new versions from one start to the next, in `updates.json` in the state folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..core import json
from .statement import RejectionReason

CheckOutcome = Literal["newest", "newer"] | RejectionReason


class UpdateState(Struct, frozen=True, kw_only=True):
    """`asked` and `outcome` of the last question (`asked` in seconds since 1970); `answer` is the newest signed
    answer ever taken, as it came; `declined` the version that the user does not want to hear of.
    """

    asked: float | None = None
    outcome: CheckOutcome | None = None
    answer: str | None = None
    declined: str | None = None


def load_state(path: Path) -> UpdateState:
    """What is known; a missing or damaged file means nothing is (the next answer tells it again)."""
    try:
        return json.decode(path.read_bytes(), UpdateState)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return UpdateState()


def save_state(path: Path, state: UpdateState) -> None:
    """Keep it; raises AppError."""
    json.write_file(path, json.encode(state))
