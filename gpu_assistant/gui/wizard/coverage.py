"""What a recommendation wants installed and its plan has no step for, so that nobody expects it."""

from __future__ import annotations

from ...core.plan import Plan
from ...core.recommendation import DriverAdvice, Recommendation


def driver_by_hand(recommendation: Recommendation, plan: Plan | None) -> DriverAdvice | None:
    """The driver that the user has to install; None where none is wanted, or the plan does it."""
    return recommendation.driver if recommendation.driver.changes and not _driver(plan) else None


def left_out(recommendation: Recommendation, plan: Plan | None) -> tuple[str, ...]:
    """The other parts that a plan leaves out, with their versions; without a plan nothing is left out of it."""
    if plan is None:
        return ()
    found = []
    for name, word, advice in (
        ("CUDA Toolkit", "toolkit", recommendation.cuda_toolkit),
        ("cuDNN", "cudnn", recommendation.cudnn),
    ):
        if advice.action == "install" and not _steps(plan, word):
            found.append(f"{name} {advice.version}")
    tensorflow = recommendation.tensorflow
    if tensorflow is not None and not any("tensorflow" in str(step.data.get("packages")) for step in plan.steps):
        found.append(f"TensorFlow {tensorflow.version}")
    return tuple(found)


def _driver(plan: Plan | None) -> bool:
    """Whether the plan itself installs a driver; a step that only says what to do needs no rights."""
    return plan is not None and any("driver" in step.kind and step.needs_admin for step in plan.steps)


def _steps(plan: Plan | None, word: str) -> bool:
    return plan is not None and any(word in step.kind for step in plan.steps)
