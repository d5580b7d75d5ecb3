"""What a recommendation wants installed and its plan has no step for, so that nobody expects it."""

from __future__ import annotations

from ...core.plan import Plan
from ...core.recommendation import DriverAdvice, Recommendation


def manual_driver(recommendation: Recommendation, plan: Plan | None) -> DriverAdvice | None:
    """The driver that the user has to install; None where none is wanted, or the plan does it."""
    return recommendation.driver if recommendation.driver.needs_install and not _installs_driver(plan) else None


def uncovered_parts(recommendation: Recommendation, plan: Plan | None) -> tuple[str, ...]:
    """The other parts that a plan leaves out, with their versions; without a plan nothing is left out of it."""
    if plan is None:
        return ()
    missing = []
    for name, step_word, advice in (
        ("CUDA Toolkit", "toolkit", recommendation.cuda_toolkit),
        ("cuDNN", "cudnn", recommendation.cudnn),
    ):
        if advice.action == "install" and not _has_step(plan, step_word):
            missing.append(f"{name} {advice.version}")
    tensorflow = recommendation.tensorflow
    if tensorflow is not None and not any("tensorflow" in str(step.data.get("packages")) for step in plan.steps):
        missing.append(f"TensorFlow {tensorflow.version}")
    return tuple(missing)


def _installs_driver(plan: Plan | None) -> bool:
    """Whether the plan itself installs a driver; a step that only says what to do needs no rights."""
    return plan is not None and any("driver" in step.kind and step.needs_admin for step in plan.steps)


def _has_step(plan: Plan | None, step_word: str) -> bool:
    return plan is not None and any(step_word in step.kind for step in plan.steps)
