"""Other ways to TensorFlow: Linux inside Windows, the card on trial, PyTorch in its place, two environments."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..core.errors import CallError, ChoiceImpossible
from ..core.message import Value
from ..core.recommendation import Alternative, TensorFlowChoice
from .drivers import Floor
from .pick import Site, best_pick
from .tensorflow import TensorFlowPick, judged


def tensorflow_ways(
    where: Site, found: TensorFlowPick, *, beside_pytorch: bool, wsl: str | None = None
) -> Iterator[Alternative]:
    """The alternatives to one TensorFlow; `beside_pytorch`: PyTorch with CUDA goes into the same environment. `wsl`
    is what the user picked of it.
    """
    gpu = where.card.name if where.card is not None else None
    if inside_wsl(where, found) is not None:
        change: dict[str, Value] = {"wsl": "install"} if wsl is None else {}
        yield Alternative(code="tensorflow-wsl2", change=change, data={"gpu": gpu})
    if found.may_try:
        requirement = found.build.requirement
        yield Alternative(code="tensorflow-try", change={}, data={"gpu": gpu, "requirement": requirement})
    if not found.gpu and not beside_pytorch and where.card is not None:
        best = best_pick(where)
        if best is not None:
            code = "pytorch-instead" if where.card.capability is not None else "pytorch-instead-unknown"
            yield Alternative(code=code, change={}, data={"gpu": gpu, "build": best.build.label})
    if found.gpu and beside_pytorch:
        yield Alternative(code="two-environments", change={}, data={})


def picked_wsl(where: Site, found: TensorFlowPick, wsl: str | None) -> TensorFlowChoice:
    """The choice, with WSL2 besides where the user picked that; raises CallError where it would not help."""
    if wsl not in (None, "install"):
        raise CallError("choice-unreadable", choice=str(wsl).lstrip("@"))
    if wsl is not None and inside_wsl(where, found) is None:
        raise ChoiceImpossible(part="wsl", choice="WSL2", why="@choice.no-wsl", newest=None)
    return replace(found.choice, wsl=wsl is not None)


def wsl_floor(where: Site, found: TensorFlowPick | None, wsl: str | None) -> Floor | None:
    """The Windows driver that the card needs under WSL2, where the user picked that."""
    inside = inside_wsl(where, found) if found is not None and wsl is not None else None
    return inside.floor if inside is not None else None


def inside_wsl(where: Site, found: TensorFlowPick) -> TensorFlowPick | None:
    """TensorFlow's Linux build, where it would use the card under WSL2 on this Windows. Its `floor` is the Windows
    driver that it needs there.
    """
    if found.why not in ("windows", "old-windows") or where.arch != "x86_64":
        return None
    route = where.catalog.tensorflow.route("windows", "wsl2")
    wanted = ("linux", where.arch)
    build = next((b for b in where.catalog.tensorflow.builds if (b.system, b.arch) == wanted), None)
    if route is None or build is None:
        return None
    here, lowest = where.machine.os.build, route.lowest_windows_build
    if here is not None and lowest is not None and here < lowest:
        return None
    inside = replace(where.machine, os=replace(where.machine.os, system="linux", wsl=True))
    there = judged(replace(where, machine=inside), build)
    return there if there.gpu else None
