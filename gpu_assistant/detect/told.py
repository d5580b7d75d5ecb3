"""An answer that is not the whole one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct


class Partly(Struct, frozen=True, kw_only=True):
    """A field's value as far as it was told, and what did not answer."""

    value: Any
    detail: str


def told(value: Any, silent: Sequence[str]) -> Any:  # noqa: ANN401 - a probe's field, whichever it is
    """The value alone where everything answered."""
    return Partly(value=value, detail=", ".join(silent)) if silent else value
