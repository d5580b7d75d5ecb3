"""One decision as the reasons, cautions and alternatives see it.

A PyTorch that computes on the card already: what works is said, and no update is called a need.

The driver's part of a recommendation: keep, update, go back or install, never past what the card still gets.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..catalog.versions import parse_version
from ..core.machine import Gpu, TorchBuild
from ..core.recommendation import Accelerator, Alternative, Choice, DriverAdvice
from ..core.types import Goal, Value
from .candidates import Candidate, TargetSystem
from .drivers import DriverState, MinimumDriver, stricter_minimum
from .gpus import NvidiaGpu
from .multi_gpu import MultiGpuPlan
from .python import PythonCandidate
from .tensorflow import TensorFlowCandidate
from .toolkit import ToolkitAdvice


class Decision(Struct, frozen=True, kw_only=True):
    """Everything that was decided for one machine; `cards` are all its NVIDIA cards, strongest first.

    `by_hand` tells that the user picked the build, `picked_python` the series that the user picked; `other` is the
    AMD or Intel card that PyTorch will use.
    """

    target: TargetSystem
    goal: Goal
    cards: tuple[NvidiaGpu, ...]
    multi_gpu: MultiGpuPlan
    candidate: Candidate
    other_gpu: Gpu | None
    accelerator: Accelerator
    driver: DriverAdvice
    python: PythonCandidate | None
    parts: ToolkitAdvice
    tensorflow: TensorFlowCandidate | None
    choice: Choice
    torchaudio: str | None
    is_arch_known: bool

    @property
    def is_build_chosen(self) -> bool:
        """Whether the user picked the build."""
        return self.choice.pytorch is not None or self.choice.variant is not None

    @property
    def requested_python(self) -> str | None:
        """The series of Python that the user picked."""
        return self.choice.python

    @property
    def is_for_compiling(self) -> bool:
        """Whether the goal is to compile CUDA code too."""
        return self.goal in ("cuda-dev", "all")


def find_working_torch(decision: Decision) -> tuple[str, TorchBuild] | None:
    """The newest PyTorch here that said itself that it reaches the card, with its Python's version; None where there
    is none, or more is wanted than PyTorch on the driver that is there.
    """
    state, choice = decision.target.driver_state, decision.choice
    has_choice = (choice.pytorch, choice.variant, choice.python, choice.driver) != (None, None, None, None)
    if (
        decision.goal != "pytorch"
        or decision.accelerator != "cuda"
        or has_choice
        or decision.parts.toolkit.action == "install"
    ):
        return None
    if state is None or state.installed is None or state.dropped_from is not None:
        return None
    candidates = (
        (p.version, p.torch) for p in decision.target.machine.pythons or () if p.torch and p.torch.cuda_available
    )
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
    return Alternative(
        code="works-without-update" if decision.driver.needs_install else "works-already", change={}, data=data
    )


def advise_driver(state: DriverState | None, minimum: MinimumDriver | None) -> DriverAdvice:
    """What to do about the driver for a build that needs `floor` (None: the build needs no driver).

    `recommended` is the newest one known for the card, or the present one where that is newer; None where no
    driver is known for this kind of card. `url` is the package itself where it is known. A driver whose version
    says nothing is kept: whether it must be changed is not known, and a caution says so. One that no longer supports
    the card is taken back to the newest that does.
    """
    if state is None or minimum is None:
        return DriverAdvice(action="none", installed=state.installed if state is not None else None)
    minimum = stricter_minimum(minimum, state.first_driver)
    newest_version, package = state.newest_version, state.package
    if state.requested is not None:
        return _advise_requested_driver(state, state.requested, minimum)
    action = _driver_action(state, minimum)
    is_newest = (
        action == "keep" and state.version is not None and (newest_version is None or state.version >= newest_version)
    )
    package_to_offer = None if is_newest else package
    dropped_from = state.generation.first_without.get(state.system) if state.generation is not None else None
    return DriverAdvice(
        action=action,
        installed=state.installed,
        minimum=minimum.text,
        recommended=state.installed if is_newest else (package.version if package is not None else None),
        channel=package_to_offer.channel if package_to_offer is not None else None,
        url=package_to_offer.url if package_to_offer is not None else None,
        below=dropped_from if action != "keep" else None,
    )


def _advise_requested_driver(state: DriverState, requested: str, minimum: MinimumDriver) -> DriverAdvice:
    """The driver that the user picked, which may be the one that is there."""
    installed_version = parse_version(state.installed)
    action: Literal["keep", "update", "back", "install"] = "install" if state.installed is None else "update"
    if installed_version is not None and state.version is not None:
        action = (
            "keep" if installed_version == state.version else "back" if state.version < installed_version else "update"
        )
    return DriverAdvice(
        action=action,
        installed=state.installed,
        minimum=minimum.text,
        recommended=requested,
        channel=state.package.channel if state.package is not None else None,
        url=state.package.url if state.package is not None else None,
    )


def _driver_action(state: DriverState, minimum: MinimumDriver) -> Literal["keep", "update", "back", "install"]:
    if state.installed is None:
        return "install"
    if state.dropped_from is not None:
        return "back"
    return "keep" if state.version is None or state.version >= minimum.version else "update"
