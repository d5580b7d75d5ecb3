"""Why an NVIDIA card cannot be used: whether its chip is behind all builds, ahead of them, or among them."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from ..catalog.load import Catalog
from ..catalog.torch_builds import VendorIndex
from ..catalog.versions import parse_capability
from ..core.machine import SystemName
from .builds import list_builds
from .cards import NvidiaGpu
from .pick import TargetSystem

UnsupportedReason = Literal["old", "new", "none"]


def unsupported_reason(target: TargetSystem, card: NvidiaGpu) -> UnsupportedReason:
    """ "new": newer than every chip that a build for this system has code for; "old": older; "none": neither, or
    nobody knows.
    """
    supported = _supported_chip_range(target.catalog, target.machine.os.system, target.arch)
    if card.capability is None or supported is None:
        return "none"
    oldest, newest = supported
    if card.capability > newest:
        return "new"
    return "old" if card.capability < oldest else "none"


@lru_cache(maxsize=32)
def _supported_chip_range(catalog: Catalog, system: SystemName, arch: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The oldest and the newest chip that any build for a system has code for; None where none is known."""
    # An old C library makes no chip older or newer.
    capabilities = (text for build in list_builds(catalog, system, arch) for text in build.record.arch_list or ())
    codes = [code for text in capabilities if (code := parse_capability(text)) is not None]
    return (min(codes), max(codes)) if codes else None


def find_vendor_index(target: TargetSystem) -> VendorIndex | None:
    """Where NVIDIA publishes PyTorch with CUDA for this kind of computer while PyTorch itself does not, if anywhere."""
    platform = (target.machine.os.system, target.arch)
    return next((index for index in target.catalog.pytorch.makers_own if (index.system, index.arch) == platform), None)
