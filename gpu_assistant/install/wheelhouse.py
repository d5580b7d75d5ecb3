"""The user's own folder of wheels: what it offers on this computer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..core.recommendation import LocalWheel

_CPYTHON = re.compile(r"cp3(\d+)$")


def scan(folder: Path) -> tuple[LocalWheel, ...]:
    """The wheels in a folder, for whatever system, by project, newest version first.

    Only names are read. Files that are not well-named wheels are passed over; an unreadable folder offers
    nothing.
    """
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename
    from packaging.version import Version

    found: list[tuple[str, Version, LocalWheel]] = []
    try:
        paths = sorted(folder.glob("*.whl"))
    except OSError:
        return ()
    for path in paths:
        try:
            project, version, _build, tags = parse_wheel_filename(path.name)
            size = path.stat().st_size
        except (InvalidWheelFilename, OSError):
            continue
        wheel = LocalWheel(
            project=project,
            version=version.public,
            variant=version.local,
            python=_series({(tag.interpreter, tag.abi) for tag in tags}),
            path=str(path),
            bytes=size,
        )
        found.append((project, version, wheel))
    found.sort(key=lambda row: row[1], reverse=True)
    found.sort(key=lambda row: row[0])
    return tuple(wheel for _project, _version, wheel in found)


def usable(folder: Path, series: str | None = None, platforms: Sequence[str] | None = None) -> tuple[LocalWheel, ...]:
    """The wheels in a folder that install on this computer, or on one with these wheel platforms; with a series, into
    a "3.11" Python.
    """
    from packaging.tags import platform_tags

    fitting = {"any", *(platform_tags() if platforms is None else platforms)}

    def here(wheel: LocalWheel) -> bool:
        tags = Path(wheel.path).stem.rpartition("-")[2].split(".")
        fits = series is None or wheel.python in (None, series)
        return fits and not fitting.isdisjoint(tags)

    return tuple(wheel for wheel in scan(folder) if here(wheel))


def _series(tags: set[tuple[str, str]]) -> str | None:
    """The one Python series that a wheel is for ("3.11"); None if it serves several."""
    series = set()
    for interpreter, abi in tags:
        match = _CPYTHON.match(interpreter)
        if match is None or abi == "abi3":
            return None
        series.add(f"3.{match[1]}")
    return series.pop() if len(series) == 1 else None
