"""What becomes of the further NVIDIA cards of a computer, once it has the chosen build and driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ..catalog.versions import numbers
from ..core.recommendation import DriverAdvice
from .builds import Build, code_for, cuda_builds
from .cards import Card
from .cudnn import cudnn_fit
from .drivers import DriverState, Version, drops, floor, no_common_modules
from .pick import Site

Fate = Literal["works", "modules", "leaves", "dark", "own", "never"]


class Beside(Struct, frozen=True, kw_only=True):
    """A further card: it works too; Linux loads no modules for it; the new driver leaves it behind; the present one
    did already (`without`: from which one on); an environment of its own could use it (`minimum`: its driver); no
    build has code for it that the driver runs.
    """

    card: Card
    fate: Fate
    without: str | None = None
    minimum: str | None = None


def driver_after(state: DriverState | None, advice: DriverAdvice) -> Version | None:
    """The driver that will be there; None where its number is not known."""
    if advice.changes:
        return numbers(advice.recommended)
    return state.version if state is not None else None


def fates(where: Site, cards: tuple[Card, ...], build: Build, advice: DriverAdvice) -> Iterator[Beside]:
    """Each further card whose chip is known, once; nothing where the build does not use CUDA."""
    state = where.state
    if state is None or build.cuda is None or not cards or advice.action == "none":
        return
    strong, after = cards[0].capability, driver_after(state, advice)
    for card in dict.fromkeys(cards[1:]):
        chip = card.capability
        if chip is None or strong is None or chip == strong:
            continue
        own = _own_floor(where, chip, after)
        without = drops(where.catalog, after, chip, state.system)
        fate: Fate = "works"
        if state.system == "linux" and no_common_modules(where.catalog, strong, chip):
            fate = "modules"
        elif without is not None:
            gone = drops(where.catalog, numbers(state.installed), chip, state.system) is not None
            fate = "dark" if gone else "leaves"
        elif code_for(where.catalog, build.record, chip) is None:
            fate = "own" if own is not None else "never"
        yield Beside(card=card, fate=fate, without=without, minimum=own)


def usable(where: Site, cards: tuple[Card, ...], build: Build, advice: DriverAdvice) -> tuple[Card, ...]:
    """The cards that a CUDA build computes on, the deciding one first: those of its chip, and the others that work."""
    works = {other.card for other in fates(where, cards, build, advice) if other.fate == "works"}
    chip = cards[0].capability if cards else None
    return tuple(card for card in cards if card in works or (chip is not None and card.capability == chip))


def _own_floor(where: Site, chip: tuple[int, int], after: Version | None) -> str | None:
    """The lowest driver of the newest build that runs a card by itself on the driver that will be there."""
    state = where.state
    if state is None:
        return None
    for build, code in cuda_builds(where.catalog, where.machine.os.system, where.arch, chip, where.glibc):
        lowest = floor(where.catalog, build.cuda, state.system, code)
        if lowest is None or (after is not None and after < lowest.version):
            continue
        if cudnn_fit(where.catalog, build, chip) != "too-new":
            return lowest.text
    return None
