"""One decision as the reasons, cautions and alternatives see it."""

from __future__ import annotations

from msgspec import Struct

from ..core.machine import Gpu
from ..core.recommendation import Accelerator, Choice, DriverAdvice, Goal
from .cards import Card
from .pick import Pick, Site
from .pythons import PythonPick
from .team import Team
from .tensorflow import TensorFlowPick
from .toolkit import Parts


class Decision(Struct, frozen=True, kw_only=True):
    """Everything that was decided for one machine; `cards` are all its NVIDIA cards, strongest first.

    `by_hand` tells that the user picked the build, `picked_python` the series that the user picked; `other` is the
    AMD or Intel card that PyTorch will use.
    """

    where: Site
    goal: Goal
    cards: tuple[Card, ...]
    team: Team
    pick: Pick
    other: Gpu | None
    accelerator: Accelerator
    driver: DriverAdvice
    python: PythonPick | None
    parts: Parts
    tensorflow: TensorFlowPick | None
    wish: Choice
    torchaudio: str | None
    arch_known: bool

    @property
    def by_hand(self) -> bool:
        """Whether the user picked the build."""
        return self.wish.pytorch is not None or self.wish.variant is not None

    @property
    def picked_python(self) -> str | None:
        """The series of Python that the user picked."""
        return self.wish.python

    @property
    def compiles(self) -> bool:
        """Whether the goal is to compile CUDA code too."""
        return self.goal in ("cuda-dev", "all")
