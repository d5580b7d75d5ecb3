"""A PyTorch that computes on the card already: what works is said, and no update is called a need."""

from __future__ import annotations

from ..catalog.versions import numbers
from ..core.machine import TorchBuild
from ..core.message import Value
from ..core.recommendation import Alternative
from .decision import Decision


def working(d: Decision) -> tuple[str, TorchBuild] | None:
    """The newest PyTorch here that said itself that it reaches the card, with its Python's version; None where there
    is none, or more is wanted than PyTorch on the driver that is there.
    """
    state, wish = d.where.state, d.wish
    picked = (wish.pytorch, wish.variant, wish.python, wish.driver) != (None, None, None, None)
    if d.goal != "pytorch" or d.accelerator != "cuda" or picked or d.parts.toolkit.action == "install":
        return None
    if state is None or state.installed is None or state.refused is not None:
        return None
    found = ((p.version, p.torch) for p in d.where.machine.pythons or () if p.torch and p.torch.cuda_available)
    return max(found, key=lambda each: numbers(each[1].version) or (), default=None)


def said_of(d: Decision) -> dict[str, Value] | None:
    """What the sentences about it say; None where nothing works yet."""
    found = working(d)
    if found is None:
        return None
    python, torch = found
    return {
        "there": torch.version.lstrip("@"),
        "python": python.lstrip("@"),
        "installed": (d.driver.installed or "").lstrip("@"),
        "recommended": d.pick.build.label,
        "driver_version": d.driver.recommended or d.driver.minimum,
    }


def as_it_is(d: Decision) -> Alternative | None:
    """To leave everything as it is, which works: nothing to do, so nothing to take."""
    data = said_of(d)
    if data is None:
        return None
    return Alternative(code="works-without-update" if d.driver.changes else "works-already", change={}, data=data)
