"""The result of a probe that did not get all of its answers; every probe may return one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct


class PartialResult(Struct, frozen=True, kw_only=True):
    """A field's value as far as it is known; `detail` names what did not answer, `reason` why it is not all: the end of
    the code of the note about it.
    """

    value: Any
    detail: str | None = None
    reason: Literal["partly", "not-loaded", "still-loading"] = "partly"


def wrap_partial(value: Any, unanswered: Sequence[str]) -> Any:  # noqa: ANN401 - a probe's field, of any type
    """The value itself where everything answered, else a PartialResult."""
    return PartialResult(value=value, detail=", ".join(unanswered)) if unanswered else value
