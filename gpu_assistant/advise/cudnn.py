"""Whether the cuDNN inside a build is made for a card, and whether newer ones still are."""

from __future__ import annotations

from typing import Literal

from ..catalog.load import Catalog
from ..catalog.versions import parse_capability, parse_version
from .builds import Build

CudnnSupport = Literal["fits", "last", "too-new"]


def cudnn_support(catalog: Catalog, build: Build, device: tuple[int, int] | None) -> CudnnSupport:
    """ "too-new": not made for this chip any more; "last": made for it as far as known, while newer ones are not;
    "fits": nothing is known against it. Where the catalog does not know the cuDNN of a build, that of the same build
    for the other system stands for it.
    """
    build_cudnn = parse_version(build.record.cudnn or _cudnn_of_twin_build(build))
    if build_cudnn is None or device is None:
        return "fits"
    newer_drops_chip = False
    for minimum in catalog.pytorch.cudnn_floors:
        first_version, lowest_chip = parse_version(minimum.from_version), parse_capability(minimum.lowest_capability)
        if first_version is None or lowest_chip is None:
            continue
        if build_cudnn >= first_version:
            lowest_for_cuda_11 = parse_capability(minimum.lowest_with_cuda_11)
            if build.cuda is not None and build.cuda[0] == 11 and lowest_for_cuda_11 is not None:
                lowest_chip = lowest_for_cuda_11
            if device < lowest_chip:
                return "too-new"
            break
        newer_drops_chip = newer_drops_chip or device < lowest_chip
    return "last" if newer_drops_chip else "fits"


def _cudnn_of_twin_build(build: Build) -> str | None:
    versions = (v.cudnn for v in build.release.variants if v.variant == build.variant and v.arch == build.record.arch)
    return next(filter(None, versions), None)
