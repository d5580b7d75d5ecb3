"""What PyTorch needs and a folder of wheels does not have."""

from __future__ import annotations

import zipfile
from email.parser import HeaderParser
from pathlib import Path

from ..core.recommendation import LocalWheel
from .wish import ALWAYS, Wish


def lacking(wish: Wish) -> tuple[str, ...]:
    """The packages, by name, that the wheelhouse lacks for a wish, what its own wheels need included.

    Versions are not looked at: a package that is there in an unfit version does not count as lacking.
    """
    from packaging.utils import canonicalize_name

    newest: dict[str, LocalWheel] = {}
    for wheel in wish.local_wheels():
        if wheel.project != "torch" or (wheel.version, wheel.variant) in (
            (wish.torch, wish.variant),
            (wish.torch, None),
        ):
            newest.setdefault(wheel.project, wheel)
    todo: list[str] = ["torch", *(canonicalize_name(name) for name in ALWAYS)]
    seen: dict[str, bool] = {}
    while todo:
        name = todo.pop(0)
        if name in seen:
            continue
        seen[name] = name in newest
        if name in newest:
            todo += _needs(Path(newest[name].path), wish.python)
    return tuple(name for name, here in seen.items() if not here)


def _needs(wheel: Path, series: str) -> list[str]:
    """What a wheel's own metadata asks for on this computer; nothing if it cannot be read."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    where = {"python_version": series, "python_full_version": f"{series}.0", "extra": ""}
    found = []
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            rows = HeaderParser().parsestr(archive.read(name).decode("utf-8", "replace")).get_all("Requires-Dist", [])
        for row in rows:
            need = Requirement(str(row))
            if need.marker is None or need.marker.evaluate(where):
                found.append(str(canonicalize_name(need.name)))
    except (zipfile.BadZipFile, StopIteration, OSError, InvalidRequirement):
        return []
    return found
