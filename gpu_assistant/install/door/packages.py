"""The distribution's own packages on Debian and Ubuntu: only names that the catalog knows, and nothing else removed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...catalog.distributions import find_install_method
from ...catalog.versions import parse_version
from ...core.errors import AppError
from .requests import HelperAnswer, LinuxPackagesRequest

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...core.machine import OperatingSystem
    from ...system.base import ProcessResult, System

APT_GET = Path("/usr/bin/apt-get")
APT_TIMEOUT_S = 3600.0
APT_LOG_LINES = 40
APT_ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "DEBIAN_PRIORITY": "critical",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    # Restarting services is the user's to decide: a restart of the computer follows anyway.
    "NEEDRESTART_SUSPEND": "1",
}
APT_OPTIONS = (
    *("-o", "DPkg::Lock::Timeout=300"),
    *("-o", "Dpkg::Options::=--force-confdef"),
    *("-o", "Dpkg::Options::=--force-confold"),
)
_REMOVED_PATTERN = re.compile(r"^Remv (\S+)", re.MULTILINE)
# What a driver's packages of another branch may bring along and take with them.
_DRIVER_PACKAGE_PATTERN = re.compile(r"(lib|linux-(modules|objects|signatures)-|xserver-xorg-video-)?nvidia[a-z0-9.+-]*\Z")
_BRANCH_PATTERN = r"[1-9][0-9]{2}"
_KERNEL_FLAVOUR_PATTERN = r"generic(?:-hwe-[0-9]{2}\.[0-9]{2})?"


def allowed_packages(operating_system: OperatingSystem, catalog: Catalog) -> re.Pattern[str]:
    """The names that the catalog gives for a distribution, with any branch; raises AppError("door-request")."""
    facts = find_install_method(catalog.drivers, operating_system)
    if facts is None:
        raise AppError("door-request", detail=f"linux-packages: {operating_system.distro}")
    placeholders = {r"\{branch\}": _BRANCH_PATTERN, r"\{flavour\}": _KERNEL_FLAVOUR_PATTERN}
    names = "|".join(map(re.escape, facts.packages.values()))
    for placeholder, pattern in placeholders.items():
        names = names.replace(placeholder, pattern)
    return re.compile(rf"(?:{names})\Z")


def install_packages(request: LinuxPackagesRequest, system: System, catalog: Catalog, apt_get: Path = APT_GET) -> HelperAnswer:
    """Look the lists up anew, see what would come and go, then install; raises AppError."""
    names = request.packages
    allowed = allowed_packages(system.operating_system(), catalog)
    unknown_names = [name for name in names if not allowed.match(name)]
    if unknown_names:
        raise AppError("door-request", detail=f"linux-packages: {', '.join(unknown_names)}")

    def run_apt(*arguments: str) -> ProcessResult:
        return system.run([apt_get, *arguments], timeout=APT_TIMEOUT_S, environ=APT_ENVIRONMENT, cwd=Path("/"))

    # Some foreign source fails on many computers: an old list may still do.
    run_apt("-q", *APT_OPTIONS, "update")
    simulation = run_apt("-q", "-s", *APT_OPTIONS, "install", "--", *names)
    if simulation.returncode:
        return _apt_answer(simulation)
    unrelated = sorted({name for name in _REMOVED_PATTERN.findall(simulation.stdout) if not _DRIVER_PACKAGE_PATTERN.match(name)})
    if unrelated:
        raise AppError("driver-would-remove", packages=", ".join(unrelated))
    planned = _planned_version(simulation.stdout, names[0])
    if planned is not None and request.minimum is not None and planned < (parse_version(request.minimum) or ()):
        version = ".".join(map(str, planned))
        raise AppError("driver-too-old-here", version=version, minimum=request.minimum)
    return _apt_answer(run_apt("-q", "-y", *APT_OPTIONS, "install", "--", *names))


def _planned_version(output: str, name: str) -> tuple[int, ...] | None:
    """Which version of a package would come, without the distribution's own numbers; None where it is here already."""
    match = re.search(rf"^Inst {re.escape(name)} (?:\[\S+\] )?\((?:\d+:)?(\d+(?:\.\d+)*)", output, re.MULTILINE)
    return parse_version(match[1]) if match is not None else None


def _apt_answer(finished: ProcessResult) -> HelperAnswer:
    return HelperAnswer(exit_code=finished.returncode, lines=tuple((finished.stdout + finished.stderr).splitlines()[-APT_LOG_LINES:]))
