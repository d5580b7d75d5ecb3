"""One decision as the reasons, cautions and alternatives see it."""

from __future__ import annotations

from msgspec import Struct

from ..core.machine import Gpu
from ..core.recommendation import Accelerator, Choice, DriverAdvice, Goal
from .cards import NvidiaGpu
from .pick import Candidate, TargetSystem
from .pythons import PythonCandidate
from .team import MultiGpuPlan
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
