"""Whether the cuDNN inside a build is made for a card, and whether newer ones still are."""

from __future__ import annotations

from typing import Literal

from ..catalog.load import Catalog
from ..catalog.versions import capability, numbers
from .builds import Build

Fit = Literal["fits", "last", "too-new"]


def cudnn_fit(catalog: Catalog, build: Build, device: tuple[int, int] | None) -> Fit:
    """ "too-new": not made for this chip any more; "last": made for it as far as known, while newer ones are not;
    "fits": nothing is known against it. Where the catalog does not know the cuDNN of a build, that of the same build
    for the other system stands for it.
    """
    inside = numbers(build.record.cudnn or _twin(build))
    if inside is None or device is None:
        return "fits"
    newer_stop = False
    for floor in catalog.pytorch.cudnn_floors:
        since, lowest = numbers(floor.from_version), capability(floor.lowest_capability)
        if since is None or lowest is None:
            continue
        if inside >= since:
            with_11 = capability(floor.lowest_with_cuda_11)
            if build.cuda is not None and build.cuda[0] == 11 and with_11 is not None:
                lowest = with_11
            if device < lowest:
                return "too-new"
            break
        newer_stop = newer_stop or device < lowest
    return "last" if newer_stop else "fits"


def _twin(build: Build) -> str | None:
    twins = (v.cudnn for v in build.release.variants if v.variant == build.variant and v.arch == build.record.arch)
    return next(filter(None, twins), None)
