"""What is not in a benchmark, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sentences import Translator

NOTE_PREFIX, REASON_PREFIX = "bench.note.", "bench.because."


def missing_workloads_text(missing: Sequence[tuple[str, str]], texts: Translator) -> str:
    """All of it with its reasons, from the names and `LeftOut.why` of each; "" where nothing is missing."""
    reasons: dict[str, list[str]] = {}
    for name, reason in missing:
        reasons.setdefault(reason, []).append(name)
    sentences = [
        texts.translate(
            reason.replace(NOTE_PREFIX, REASON_PREFIX, 1), {"workloads": ("、" if texts.language == "zh_CN" else ", ").join(names)}
        )
        for reason, names in reasons.items()
    ]
    joined = ("；" if texts.language == "zh_CN" else "; ").join(sentences)
    return texts.translate("bench.missing", {"workloads": joined}) if sentences else ""
