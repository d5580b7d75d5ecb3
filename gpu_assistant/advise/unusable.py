"""Why an NVIDIA card cannot be used: whether its chip is behind all builds, ahead of them, or among them."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from ..catalog.load import Catalog
from ..catalog.torch_builds import MakersOwn
from ..catalog.versions import capability
from ..core.machine import SystemName
from .builds import builds_for
from .cards import Card
from .pick import Site

Age = Literal["old", "new", "none"]


def age_of(where: Site, card: Card) -> Age:
    """ "new": newer than every chip that a build for this system has code for; "old": older; "none": neither, or
    nobody knows.
    """
    span = _span(where.catalog, where.machine.os.system, where.arch)
    if card.capability is None or span is None:
        return "none"
    oldest, newest = span
    if card.capability > newest:
        return "new"
    return "old" if card.capability < oldest else "none"


@lru_cache(maxsize=32)
def _span(catalog: Catalog, system: SystemName, arch: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The oldest and the newest chip that any build for a system has code for; None where none is known."""
    # An old C library makes no chip older or newer.
    listed = (text for build in builds_for(catalog, system, arch) for text in build.record.arch_list or ())
    codes = [code for text in listed if (code := capability(text)) is not None]
    return (min(codes), max(codes)) if codes else None


def makers_own(where: Site) -> MakersOwn | None:
    """Where NVIDIA publishes PyTorch with CUDA for this kind of computer while PyTorch itself does not, if anywhere."""
    here = (where.machine.os.system, where.arch)
    return next((own for own in where.catalog.pytorch.makers_own if (own.system, own.arch) == here), None)
