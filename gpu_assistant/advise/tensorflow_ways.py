"""Other ways to TensorFlow: Linux inside Windows, the card on trial, PyTorch in its place, two environments."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..core.errors import CallError, ChoiceImpossible
from ..core.message import Value
from ..core.recommendation import Alternative, TensorFlowChoice
from .pick import Site, best_pick
from .tensorflow import TensorFlowPick, judged


def tensorflow_ways(
    where: Site, found: TensorFlowPick, *, beside_pytorch: bool, wsl: str | None = None
) -> Iterator[Alternative]:
    """The alternatives to one TensorFlow; `beside_pytorch`: PyTorch with CUDA goes into the same environment. `wsl`
    is what the user picked of it.
    """
    gpu = where.card.name if where.card is not None else None
    if _through_wsl(where, found):
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
    if wsl is not None and not _through_wsl(where, found):
        raise ChoiceImpossible(part="wsl", choice="WSL2", why="@choice.no-wsl", newest=None)
    return replace(found.choice, wsl=wsl is not None)


def _through_wsl(where: Site, found: TensorFlowPick) -> bool:
    """Whether TensorFlow's Linux build would use the card under WSL2 on this Windows."""
    if found.why not in ("windows", "old-windows") or where.arch != "x86_64":
        return False
    route = where.catalog.tensorflow.route("windows", "wsl2")
    wanted = ("linux", where.arch)
    build = next((b for b in where.catalog.tensorflow.builds if (b.system, b.arch) == wanted), None)
    if route is None or build is None:
        return False
    here, lowest = where.machine.os.build, route.lowest_windows_build
    if here is not None and lowest is not None and here < lowest:
        return False
    inside = replace(where.machine, os=replace(where.machine.os, system="linux", wsl=True))
    return judged(replace(where, machine=inside), build).gpu
