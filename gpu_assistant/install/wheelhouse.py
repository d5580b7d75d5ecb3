"""The user's own folder of wheels: what it offers on this computer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..core.recommendation import LocalWheel

_CPYTHON_TAG = re.compile(r"cp3(\d+)$")


def scan_wheelhouse(folder: Path) -> tuple[LocalWheel, ...]:
    """The wheels in a folder, for whatever system, by project, newest version first.

    Only names are read. Files that are not well-named wheels are passed over; an unreadable folder offers
    nothing.
    """
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename
    from packaging.version import Version

    rows: list[tuple[str, Version, LocalWheel]] = []
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
            python=_python_series({(tag.interpreter, tag.abi) for tag in tags}),
            path=str(path),
            bytes=size,
        )
        rows.append((project, version, wheel))
    rows.sort(key=lambda row: row[1], reverse=True)
    rows.sort(key=lambda row: row[0])
    return tuple(wheel for _project, _version, wheel in rows)


def compatible_wheels(folder: Path, series: str | None = None, platforms: Sequence[str] | None = None) -> tuple[LocalWheel, ...]:
    """The wheels in a folder that install on this computer, or on one with these wheel platforms; with a series, into
    a "3.11" Python.
    """
    from packaging.tags import platform_tags

    supported = {"any", *(platform_tags() if platforms is None else platforms)}

    def is_compatible(wheel: LocalWheel) -> bool:
        tags = Path(wheel.path).stem.rpartition("-")[2].split(".")
        fits_series = series is None or wheel.python in (None, series)
        return fits_series and not supported.isdisjoint(tags)

    return tuple(wheel for wheel in scan_wheelhouse(folder) if is_compatible(wheel))


def _python_series(tags: set[tuple[str, str]]) -> str | None:
    """The one Python series that a wheel is for ("3.11"); None if it serves several."""
    python_versions = set()
    for interpreter, abi in tags:
        match = _CPYTHON_TAG.match(interpreter)
        if match is None or abi == "abi3":
            return None
        python_versions.add(f"3.{match[1]}")
    return python_versions.pop() if len(python_versions) == 1 else None
