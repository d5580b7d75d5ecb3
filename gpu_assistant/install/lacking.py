"""What PyTorch needs and a folder of wheels does not have."""

from __future__ import annotations

import zipfile
from email.parser import HeaderParser
from pathlib import Path

from ..core.recommendation import LocalWheel
from .wish import BASE_PACKAGES, PackageRequest


def missing_packages(request: PackageRequest) -> tuple[str, ...]:
    """The packages, by name, that the wheelhouse lacks for a wish, what its own wheels need included.

    Versions are not looked at: a package that is there in an unfit version does not count as lacking.
    """
    from packaging.utils import canonicalize_name

    newest: dict[str, LocalWheel] = {}
    for wheel in request.local_wheels():
        if wheel.project != "torch" or (wheel.version, wheel.variant) in (
            (request.torch, request.variant),
            (request.torch, None),
        ):
            newest.setdefault(wheel.project, wheel)
    pending: list[str] = ["torch", *(canonicalize_name(name) for name in BASE_PACKAGES)]
    is_available: dict[str, bool] = {}
    while pending:
        name = pending.pop(0)
        if name in is_available:
            continue
        is_available[name] = name in newest
        if name in newest:
            pending += _wheel_dependencies(Path(newest[name].path), request.python)
    return tuple(name for name, available in is_available.items() if not available)


def _wheel_dependencies(wheel: Path, series: str) -> list[str]:
    """What a wheel's own metadata asks for on this computer; nothing if it cannot be read."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    marker_environment = {"python_version": series, "python_full_version": f"{series}.0", "extra": ""}
    dependencies = []
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            lines = HeaderParser().parsestr(archive.read(name).decode("utf-8", "replace")).get_all("Requires-Dist", [])
        for line in lines:
            requirement = Requirement(str(line))
            if requirement.marker is None or requirement.marker.evaluate(marker_environment):
                dependencies.append(str(canonicalize_name(requirement.name)))
    except (zipfile.BadZipFile, StopIteration, OSError, InvalidRequirement):
        return []
    return dependencies
