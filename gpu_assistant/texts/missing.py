"""What is not in a benchmark, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sentences import Sentences

NOTE, BECAUSE = "bench.note.", "bench.because."


def without(missing: Sequence[tuple[str, str]], texts: Sentences) -> str:
    """All of it with its reasons, from the names and `LeftOut.why` of each; "" where nothing is missing."""
    reasons: dict[str, list[str]] = {}
    for name, why in missing:
        reasons.setdefault(why, []).append(name)
    said = [
        texts.say(
            why.replace(NOTE, BECAUSE, 1), {"workloads": ("、" if texts.language == "zh_CN" else ", ").join(names)}
        )
        for why, names in reasons.items()
    ]
    together = ("；" if texts.language == "zh_CN" else "; ").join(said)
    return texts.say("bench.missing", {"workloads": together}) if said else ""
