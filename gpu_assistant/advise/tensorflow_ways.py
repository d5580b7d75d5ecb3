"""Other ways to TensorFlow: Linux inside Windows, the card on trial, PyTorch in its place, two environments."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..core.errors import UsageError, UnsatisfiableChoice
from ..core.message import Value
from ..core.recommendation import Alternative, TensorFlowChoice
from .drivers import MinimumDriver
from .pick import TargetSystem, best_candidate
from .tensorflow import TensorFlowCandidate, evaluate_tensorflow


def tensorflow_alternatives(
    target: TargetSystem, tensorflow: TensorFlowCandidate, *, beside_pytorch: bool, wsl: str | None = None
) -> Iterator[Alternative]:
    """The alternatives to one TensorFlow; `beside_pytorch`: PyTorch with CUDA goes into the same environment. `wsl`
    is what the user picked of it.
    """
    gpu = target.gpu.name if target.gpu is not None else None
    if find_wsl_candidate(target, tensorflow) is not None:
        change: dict[str, Value] = {"wsl": "install"} if wsl is None else {}
        yield Alternative(code="tensorflow-wsl2", change=change, data={"gpu": gpu})
    if tensorflow.may_work:
        requirement = tensorflow.build.requirement
        yield Alternative(code="tensorflow-try", change={}, data={"gpu": gpu, "requirement": requirement})
    if not tensorflow.uses_gpu and not beside_pytorch and target.gpu is not None:
        best = best_candidate(target)
        if best is not None:
            code = "pytorch-instead" if target.gpu.capability is not None else "pytorch-instead-unknown"
            yield Alternative(code=code, change={}, data={"gpu": gpu, "build": best.build.label})
    if tensorflow.uses_gpu and beside_pytorch:
        yield Alternative(code="two-environments", change={}, data={})


def with_wsl_choice(target: TargetSystem, tensorflow: TensorFlowCandidate, wsl: str | None) -> TensorFlowChoice:
    """The choice, with WSL2 besides where the user picked that; raises CallError where it would not help."""
    if wsl not in (None, "install"):
        raise UsageError("choice-unreadable", choice=str(wsl).lstrip("@"))
    if wsl is not None and find_wsl_candidate(target, tensorflow) is None:
        raise UnsatisfiableChoice(part="wsl", choice="WSL2", why="@choice.no-wsl", newest=None)
    return replace(tensorflow.to_choice, wsl=wsl is not None)


def wsl_minimum_driver(target: TargetSystem, tensorflow: TensorFlowCandidate | None, wsl: str | None) -> MinimumDriver | None:
    """The Windows driver that the card needs under WSL2, where the user picked that."""
    candidate = find_wsl_candidate(target, tensorflow) if tensorflow is not None and wsl is not None else None
    return candidate.minimum_driver if candidate is not None else None


def find_wsl_candidate(target: TargetSystem, tensorflow: TensorFlowCandidate) -> TensorFlowCandidate | None:
    """TensorFlow's Linux build, where it would use the card under WSL2 on this Windows. Its `floor` is the Windows
    driver that it needs there.
    """
    if tensorflow.status not in ("windows", "old-windows") or target.arch != "x86_64":
        return None
    route = target.catalog.tensorflow.find_route("windows", "wsl2")
    platform = ("linux", target.arch)
    build = next((b for b in target.catalog.tensorflow.builds if (b.system, b.arch) == platform), None)
    if route is None or build is None:
        return None
    windows_build, minimum_build = target.machine.os.build, route.lowest_windows_build
    if windows_build is not None and minimum_build is not None and windows_build < minimum_build:
        return None
    wsl_machine = replace(target.machine, os=replace(target.machine.os, system="linux", wsl=True))
    candidate = evaluate_tensorflow(replace(target, machine=wsl_machine), build)
    return candidate if candidate.uses_gpu else None
