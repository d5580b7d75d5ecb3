"""What becomes of the further NVIDIA cards of a computer under TensorFlow, and whether PyTorch uses what it leaves."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.versions import numbers
from ..core.message import Value
from ..core.recommendation import DriverAdvice
from ..core.recommendation import Warning as Caution
from .beside import driver_after
from .cards import Card
from .drivers import drops, no_common_modules
from .pick import Site, best_pick, site
from .tensorflow import TensorFlowPick, judged


def pytorch_too(where: Site) -> str:
    """Whether PyTorch can use the card that TensorFlow leaves, as the code of a text."""
    best = best_pick(where)
    if best is None:
        return "@tensorflow.pytorch-cannot"
    return "@tensorflow.pytorch-may" if best.code == "unknown" else "@tensorflow.pytorch-can"


def idle_cards(where: Site, found: TensorFlowPick, cards: tuple[Card, ...]) -> Iterator[Caution]:
    """The further cards that a TensorFlow which computes on one of them has no code for."""
    for card in _others(where, found, cards):
        alone = site(where.machine, where.catalog, where.arch, card, "studio")
        if judged(replace(alone, state=where.state), found.build).why in ("no-code", "chip"):
            data: dict[str, Value] = {"gpu": card.listed, "version": found.version, "pytorch": pytorch_too(alone)}
            yield Caution(code="tensorflow-other-gpu", data=data)


def driverless_cards(
    where: Site, found: TensorFlowPick, cards: tuple[Card, ...], advice: DriverAdvice
) -> Iterator[Caution]:
    """The further cards that the driver for TensorFlow does not serve, or has no kernel modules for."""
    state, strong = where.state, where.card
    if state is None or strong is None or strong.capability is None:
        return
    after, installed = driver_after(state, advice), numbers(state.installed)
    for card in _others(where, found, cards):
        if card.capability is None:
            continue
        data: dict[str, Value] = {"gpu": card.listed}
        without = drops(where.catalog, after, card.capability, state.system)
        if state.system == "linux" and no_common_modules(where.catalog, strong.capability, card.capability):
            yield Caution(code="other-gpu-modules", data={**data, "strong": strong.listed})
        elif without is not None and drops(where.catalog, installed, card.capability, state.system) is not None:
            data |= {"installed": (state.installed or "").lstrip("@"), "without": without}
            yield Caution(code="other-gpu-dark", data=data)
        elif without is not None:
            yield Caution(code="driver-drops-other-only", data={**data, "recommended": advice.recommended})


def _others(where: Site, found: TensorFlowPick, cards: tuple[Card, ...]) -> Iterator[Card]:
    """Each further card of another chip, once; nothing where TensorFlow computes on none."""
    chip = where.card.capability if where.card is not None else None
    if not found.gpu or chip is None:
        return
    yield from (card for card in dict.fromkeys(cards) if card.capability not in (None, chip))
