"""A PyTorch that computes on the card already: what works is said, and no update is called a need."""

from __future__ import annotations

from ..catalog.versions import parse_version
from ..core.machine import TorchBuild
from ..core.message import Value
from ..core.recommendation import Alternative
from .decision import Decision


def find_working_torch(decision: Decision) -> tuple[str, TorchBuild] | None:
    """The newest PyTorch here that said itself that it reaches the card, with its Python's version; None where there
    is none, or more is wanted than PyTorch on the driver that is there.
    """
    state, choice = decision.target.driver_state, decision.choice
    has_choice = (choice.pytorch, choice.variant, choice.python, choice.driver) != (None, None, None, None)
    if decision.goal != "pytorch" or decision.accelerator != "cuda" or has_choice or decision.parts.toolkit.action == "install":
        return None
    if state is None or state.installed is None or state.dropped_from is not None:
        return None
    candidates = ((p.version, p.torch) for p in decision.target.machine.pythons or () if p.torch and p.torch.cuda_available)
    return max(candidates, key=lambda each: parse_version(each[1].version) or (), default=None)


def working_torch_data(decision: Decision) -> dict[str, Value] | None:
    """What the sentences about it say; None where nothing works yet."""
    working_torch = find_working_torch(decision)
    if working_torch is None:
        return None
    python, torch = working_torch
    return {
        "there": torch.version.lstrip("@"),
        "python": python.lstrip("@"),
        "installed": (decision.driver.installed or "").lstrip("@"),
        "recommended": decision.candidate.build.label,
        "driver_version": decision.driver.recommended or decision.driver.minimum,
    }


def keep_as_is_alternative(decision: Decision) -> Alternative | None:
    """To leave everything as it is, which works: nothing to do, so nothing to take."""
    data = working_torch_data(decision)
    if data is None:
        return None
    return Alternative(code="works-without-update" if decision.driver.needs_install else "works-already", change={}, data=data)
