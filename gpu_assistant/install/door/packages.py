"""The distribution's own packages on Debian and Ubuntu: only names that the catalog knows, and nothing else removed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...catalog.distributions import install_way
from ...catalog.versions import numbers
from ...core.errors import AppError
from .requests import Answer, LinuxPackages

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...core.machine import OperatingSystem
    from ...system.base import Finished, System

APT_GET = Path("/usr/bin/apt-get")
LONGEST_S = 3600.0
LAST_LINES = 40
QUIET = {
    "DEBIAN_FRONTEND": "noninteractive",
    "DEBIAN_PRIORITY": "critical",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    # Restarting services is the user's to decide: a restart of the computer follows anyway.
    "NEEDRESTART_SUSPEND": "1",
}
OPTIONS = (
    *("-o", "DPkg::Lock::Timeout=300"),
    *("-o", "Dpkg::Options::=--force-confdef"),
    *("-o", "Dpkg::Options::=--force-confold"),
)
_REMOVED = re.compile(r"^Remv (\S+)", re.MULTILINE)
# What a driver's packages of another branch may bring along and take with them.
_DRIVERS = re.compile(r"(lib|linux-(modules|objects|signatures)-|xserver-xorg-video-)?nvidia[a-z0-9.+-]*\Z")
_BRANCH = r"[1-9][0-9]{2}"
_FLAVOUR = r"generic(?:-hwe-[0-9]{2}\.[0-9]{2})?"


def known(here: OperatingSystem, catalog: Catalog) -> re.Pattern[str]:
    """The names that the catalog gives for a distribution, with any branch; raises AppError("door-request")."""
    facts = install_way(catalog.drivers, here)
    if facts is None:
        raise AppError("door-request", detail=f"linux-packages: {here.distro}")
    signs = {r"\{branch\}": _BRANCH, r"\{flavour\}": _FLAVOUR}
    names = "|".join(map(re.escape, facts.packages.values()))
    for sign, pattern in signs.items():
        names = names.replace(sign, pattern)
    return re.compile(rf"(?:{names})\Z")


def install(request: LinuxPackages, system: System, catalog: Catalog, apt_get: Path = APT_GET) -> Answer:
    """Look the lists up anew, see what would come and go, then install; raises AppError."""
    names = request.packages
    allowed = known(system.operating_system(), catalog)
    strangers = [name for name in names if not allowed.match(name)]
    if strangers:
        raise AppError("door-request", detail=f"linux-packages: {', '.join(strangers)}")

    def call(*words: str) -> Finished:
        return system.run([apt_get, *words], timeout=LONGEST_S, environ=QUIET, cwd=Path("/"))

    # Some foreign source fails on many computers: an old list may still do.
    call("-q", *OPTIONS, "update")
    trial = call("-q", "-s", *OPTIONS, "install", "--", *names)
    if trial.code:
        return _answer(trial)
    others = sorted({name for name in _REMOVED.findall(trial.out) if not _DRIVERS.match(name)})
    if others:
        raise AppError("driver-would-remove", packages=", ".join(others))
    found = _version(trial.out, names[0])
    if found is not None and request.minimum is not None and found < (numbers(request.minimum) or ()):
        version = ".".join(map(str, found))
        raise AppError("driver-too-old-here", version=version, minimum=request.minimum)
    return _answer(call("-q", "-y", *OPTIONS, "install", "--", *names))


def _version(trial: str, name: str) -> tuple[int, ...] | None:
    """Which version of a package would come, without the distribution's own numbers; None where it is here already."""
    found = re.search(rf"^Inst {re.escape(name)} (?:\[\S+\] )?\((?:\d+:)?(\d+(?:\.\d+)*)", trial, re.MULTILINE)
    return numbers(found[1]) if found is not None else None


def _answer(done: Finished) -> Answer:
    return Answer(exit_code=done.code, lines=tuple((done.out + done.err).splitlines()[-LAST_LINES:]))
