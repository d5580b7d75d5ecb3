"""Everything that was decided for one machine, as reasons, warnings and alternatives see it.

Also the driver's part (`advise_driver`: keep, update, downgrade or install, never past what the GPU's generation gets).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core.machine import Gpu
from ..core.recommendation import Accelerator, Choice, DriverAdvice, SourceAnswer
from ..core.types import Goal, WayLack, WayName
from ..core.versions import Version
from .availability import Supply
from .candidates import Candidate, TargetSystem
from .drivers import DriverState, stricter_minimum
from .gpus import NvidiaGpu
from .multi_gpu import MultiGpuPlan
from .python import PythonCandidate
from .tensorflow import TensorFlowCandidate
from .toolkit import ToolkitAdvice


class SetupDecision(Struct, frozen=True, kw_only=True):
    """What every setup decides, whichever frameworks it has. `cards` are the NVIDIA GPUs, strongest first. `way` is the
    one that this is, where there are two, and `lacks` what only the other has (`driver_update.py`); `sources` is what
    the indexes answered.
    """

    target: TargetSystem
    cards: tuple[NvidiaGpu, ...]
    accelerator: Accelerator
    driver: DriverAdvice
    python: PythonCandidate | None
    parts: ToolkitAdvice
    tensorflow: TensorFlowCandidate | None
    choice: Choice
    is_arch_known: bool
    way: WayName | None = None
    lacks: tuple[WayLack, ...] = ()
    sources: tuple[SourceAnswer, ...] = ()

    @property
    def is_build_chosen(self) -> bool:
        """Whether the user chose the build of the framework that decides about the driver."""
        raise NotImplementedError


class Decision(SetupDecision, frozen=True, kw_only=True):
    """The parts of a recommendation with what led to them. `other_gpu` is the AMD or Intel GPU that PyTorch will use;
    `supply` is there where the indexes were asked for the build; `left_out` ("torchvision 0.30.0") is what the index
    that gives it does not have.
    """

    goal: Goal
    multi_gpu: MultiGpuPlan
    candidate: Candidate
    other_gpu: Gpu | None
    torchvision: str | None
    torchaudio: str | None
    supply: Supply | None = None
    left_out: tuple[str, ...] = ()

    @property
    def is_unconfirmed(self) -> bool:
        """Whether that this build exists was concluded, and no index has said so."""
        is_known = self.candidate.build.record.confidence == "high" or self.candidate.build.cuda is None
        return not is_known and not (self.supply is not None and self.supply.is_confirmed)

    @property
    def is_build_chosen(self) -> bool:
        """Whether the user chose the PyTorch build."""
        return self.choice.pytorch is not None or self.choice.variant is not None

    @property
    def requested_python(self) -> str | None:
        """The Python series that the user chose."""
        return self.choice.python

    @property
    def is_for_compiling(self) -> bool:
        """Whether the goal includes compiling CUDA code."""
        return self.goal in ("cuda-dev", "all")


def advise_driver(state: DriverState | None, minimum: Version | None) -> DriverAdvice:
    """What to do about the driver for a build that needs `minimum` (None: the build needs no NVIDIA driver).

    `recommended` is the newest driver known for the GPU, or the installed one where that is newer; None where none is
    known. `url` is the package itself, where it is known. A driver whose version is unreadable is kept, with a warning.
    One that has dropped the GPU is replaced by the newest that supports it.
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
        recommended=state.installed if is_newest else (package.version.text if package is not None else None),
        channel=package_to_offer.channel if package_to_offer is not None else None,
        url=package_to_offer.url if package_to_offer is not None else None,
        below=dropped_from.text if dropped_from is not None and action != "keep" else None,
    )


def _advise_requested_driver(state: DriverState, requested: str, minimum: Version) -> DriverAdvice:
    """The driver that the user chose, which may be the installed one."""
    installed_version = state.installed_version
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


def _driver_action(state: DriverState, minimum: Version) -> Literal["keep", "update", "back", "install"]:
    if state.installed is None:
        return "install"
    if state.dropped_from is not None:
        return "back"
    return "keep" if state.version is None or state.version >= minimum else "update"
