"""Why an NVIDIA card cannot be used: whether its chip is behind all builds, ahead of them, or among them."""

from __future__ import annotations

from typing import Literal

from ..catalog.versions import capability
from .builds import builds_for
from .cards import Card
from .pick import Site

Age = Literal["old", "new", "none"]


def age_of(where: Site, card: Card) -> Age:
    """ "new": newer than every chip that a build for this system has code for; "old": older; "none": neither, or
    nobody knows.
    """
    # An old C library makes no chip older or newer.
    builds = builds_for(where.catalog, where.machine.os.system, where.arch)
    codes = [
        code for build in builds for text in build.record.arch_list or () if (code := capability(text)) is not None
    ]
    if card.capability is None or not codes:
        return "none"
    if card.capability > max(codes):
        return "new"
    return "old" if card.capability < min(codes) else "none"
