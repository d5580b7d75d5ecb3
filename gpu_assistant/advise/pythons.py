"""Which Python the environment gets."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.versions import numbers
from ..core.machine import Machine, Python, SystemName

Origin = Literal["here", "download"]


class PythonPick(Struct, frozen=True):
    """A Python series "3.13" and where it comes from; `version` is the exact one. `passed` is one that would suit,
    too, but belongs to a conda, to the Microsoft Store, or to an environment.
    """

    series: str
    origin: Origin
    version: str
    passed: Python | None = None


def passed_kind(python: Python) -> str:
    """What a Python that is not taken belongs to, as the reasons name it."""
    return "not-conda" if python.kind == "conda" else "not-own"


def python_for(machine: Machine, catalog: Catalog, arch: str, supported: tuple[str, ...]) -> PythonPick | None:
    """The newest supported series that is already here as a real interpreter, else the newest that can be
    downloaded; None if there is neither.
    """
    best: tuple[tuple[int, ...], PythonPick] | None = None
    passed: Python | None = None
    for python in machine.pythons or ():
        version = numbers(python.version)
        if python.arch not in (None, arch) or version is None or len(version) < 2:
            continue
        series = f"{version[0]}.{version[1]}"
        # An environment or a conda of the user's own may vanish or change under ours.
        if python.kind not in ("system", "managed"):
            passed = python if passed is None and series in supported else passed
        elif series in supported and (best is None or version > best[0]):
            best = (version, PythonPick(series, "here", python.version))
    if best is not None:
        return best[1]
    found = downloadable(catalog, machine.os.system, arch, supported)
    return found if found is None or passed is None else replace(found, passed=passed)


@lru_cache(maxsize=256)
def downloadable(catalog: Catalog, system: SystemName, arch: str, supported: tuple[str, ...]) -> PythonPick | None:
    """The newest supported series of which a standalone build is known."""
    for series in sorted(supported, key=lambda s: numbers(s) or (), reverse=True):
        build = catalog.standalone_python(series, system, arch)
        if build is not None:
            return PythonPick(series, "download", build.version)
    return None
