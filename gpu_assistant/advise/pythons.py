"""Which Python the environment gets."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.versions import parse_version
from ..core.machine import Machine, Python, SystemName

PythonOrigin = Literal["here", "download"]


class PythonCandidate(Struct, frozen=True):
    """A Python series "3.13" and where it comes from; `version` is the exact one. `passed` is one that would suit,
    too, but belongs to a conda, to the Microsoft Store, or to an environment.
    """

    series: str
    origin: PythonOrigin
    version: str
    skipped: Python | None = None


def skipped_reason_code(python: Python) -> str:
    """What a Python that is not taken belongs to, as the reasons name it."""
    return "not-conda" if python.kind == "conda" else "not-own"


def select_python(machine: Machine, catalog: Catalog, arch: str, supported: tuple[str, ...]) -> PythonCandidate | None:
    """The newest supported series that is already here as a real interpreter, else the newest that can be
    downloaded; None if there is neither.
    """
    best: tuple[tuple[int, ...], PythonCandidate] | None = None
    skipped: Python | None = None
    for python in machine.pythons or ():
        version = parse_version(python.version)
        if python.arch not in (None, arch) or version is None or len(version) < 2:
            continue
        series = f"{version[0]}.{version[1]}"
        # An environment or a conda of the user's own may vanish or change under ours.
        if python.kind not in ("system", "managed"):
            skipped = python if skipped is None and series in supported else skipped
        elif series in supported and (best is None or version > best[0]):
            best = (version, PythonCandidate(series, "here", python.version))
    if best is not None:
        return best[1]
    download = find_downloadable(catalog, machine.os.system, arch, supported)
    return download if download is None or skipped is None else replace(download, skipped=skipped)


@lru_cache(maxsize=256)
def find_downloadable(catalog: Catalog, system: SystemName, arch: str, supported: tuple[str, ...]) -> PythonCandidate | None:
    """The newest supported series of which a standalone build is known."""
    for series in sorted(supported, key=lambda s: parse_version(s) or (), reverse=True):
        build = catalog.standalone_python(series, system, arch)
        if build is not None:
            return PythonCandidate(series, "download", build.version)
    return None
