"""Whether the operating system itself is new enough for a build."""

from __future__ import annotations

from ..catalog.records import GlibcFloor, LowestWindows
from ..catalog.versions import numbers
from .builds import Build
from .pick import Site


def glibc_lacking(where: Site, build: Build) -> GlibcFloor | None:
    """The floor that this Linux stays under; None where it does not, or where one of both is not known.

    A wheel from a local source says itself which glibc it needs and was judged by that.
    """
    here, release = numbers(where.machine.os.glibc), numbers(build.version)
    if where.machine.os.system != "linux" or build.local or here is None or release is None:
        return None
    for floor in where.catalog.pytorch.glibc:
        since, lowest = numbers(floor.from_release), numbers(floor.lowest)
        if since is not None and lowest is not None and release >= since:
            return floor if here < lowest else None
    return None


def windows_lacking(where: Site) -> LowestWindows | None:
    """The oldest Windows that would do; None where this one does, is not known, or is no Windows."""
    system, floor = where.machine.os, where.catalog.drivers.lowest_windows
    if system.system != "windows" or floor is None:
        return None
    if system.build is not None:
        return floor if system.build < floor.build else None
    here, lowest = numbers(system.version), numbers(floor.version)
    return floor if here is not None and lowest is not None and here < lowest else None


def too_old(where: Site, build: Build) -> bool:
    """Whether this system is known to be too old for the build or for what belongs to it."""
    return glibc_lacking(where, build) is not None or windows_lacking(where) is not None
