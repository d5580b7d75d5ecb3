"""The few reasons that decide a recommendation for a person, out of all that stand behind it."""

from __future__ import annotations

from ..core.recommendation import Reason, Recommendation
from ..core.types import Goal

MAX_REASONS = 3
# What the reasons of each goal are about, the most important first.
_SUBJECTS: dict[Goal, tuple[str, ...]] = {
    "pytorch": ("accelerator", "pytorch.version", "driver.action"),
    "tensorflow": ("accelerator", "tensorflow", "driver.action"),
    "cuda-dev": ("accelerator", "cuda_toolkit", "driver.action"),
    "all": ("accelerator", "pytorch.version", "driver.action", "cuda_toolkit"),
}


def main_reasons(recommendation: Recommendation) -> tuple[Reason, ...]:
    """At most three: what computes, why this version, what happens to the driver; the first reason about each."""
    reasons = []
    for about in _SUBJECTS[recommendation.goal]:
        # A driver that nothing uses decides nothing.
        if about == "driver.action" and recommendation.driver.action == "none":
            continue
        reason = next((each for each in recommendation.reasons if each.about.startswith(about)), None)
        if reason is not None:
            reasons.append(reason)
    return tuple(reasons[:MAX_REASONS])
