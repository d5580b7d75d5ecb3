"""One decision as the reasons and cautions see it: the place, the build, the Python, the driver."""

from __future__ import annotations

from msgspec import Struct

from ..core.recommendation import Accelerator, DriverAdvice
from .cards import Card
from .pick import Pick, Site
from .pythons import PythonPick


class Decision(Struct, frozen=True, kw_only=True):
    """Everything that was decided for one machine; `cards` are all its NVIDIA cards, strongest first.

    `by_hand` tells that the user picked the build, `picked_python` the series that the user picked.
    """

    where: Site
    cards: tuple[Card, ...]
    pick: Pick
    accelerator: Accelerator
    driver: DriverAdvice
    python: PythonPick | None
    by_hand: bool
    picked_python: str | None
    torchaudio: str | None
    arch_known: bool
