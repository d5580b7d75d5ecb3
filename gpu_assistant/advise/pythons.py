"""Which Python the environment gets."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ..catalog.load import Catalog
from ..catalog.versions import numbers
from ..core.machine import Machine, SystemName

Origin = Literal["here", "download"]


class PythonPick(Struct, frozen=True):
    """A Python series "3.13" and where it comes from; `version` is the exact one."""

    series: str
    origin: Origin
    version: str


def python_for(machine: Machine, catalog: Catalog, arch: str, supported: tuple[str, ...]) -> PythonPick | None:
    """The newest supported series that is already here as a real interpreter, else the newest that can be
    downloaded; None if there is neither.
    """
    best: tuple[tuple[int, ...], PythonPick] | None = None
    for python in machine.pythons or ():
        # An environment or a conda of the user's own may vanish or change under ours.
        if python.kind not in ("system", "managed") or python.arch not in (None, arch):
            continue
        version = numbers(python.version)
        if version is None or len(version) < 2:
            continue
        series = f"{version[0]}.{version[1]}"
        if series in supported and (best is None or version > best[0]):
            best = (version, PythonPick(series, "here", python.version))
    if best is not None:
        return best[1]
    return downloadable(catalog, machine.os.system, arch, supported)


@lru_cache(maxsize=256)
def downloadable(catalog: Catalog, system: SystemName, arch: str, supported: tuple[str, ...]) -> PythonPick | None:
    """The newest supported series of which a standalone build is known."""
    for series in sorted(supported, key=lambda s: numbers(s) or (), reverse=True):
        build = catalog.standalone_python(series, system, arch)
        if build is not None:
            return PythonPick(series, "download", build.version)
    return None
