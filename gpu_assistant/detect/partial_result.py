"""An answer that is not the whole one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct


class PartialResult(Struct, frozen=True, kw_only=True):
    """A field's value as far as it was told, and what did not answer."""

    value: Any
    detail: str


def wrap_partial(value: Any, unanswered: Sequence[str]) -> Any:  # noqa: ANN401 - a probe's field, whichever it is
    """The value alone where everything answered."""
    return PartialResult(value=value, detail=", ".join(unanswered)) if unanswered else value
