"""A driver from the distribution's own packages: names that the catalog allows, by apt-get, nothing unrelated removed.

`install_packages` and `remove_packages` run on either side: in the elevated helper (`RootAptGet`), where the program is
in a folder of root's; elsewhere in the user's own process (`AskingAptGet`), where the system asks for each apt-get that
changes something, and only apt-get itself runs as root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ...catalog.distributions import find_install_method, replaced_packages
from ...core.errors import AppError
from ...core.versions import Version
from .protocol import MAX_PACKAGES, HelperAnswer, LinuxPackagesRemoval, LinuxPackagesRequest

if TYPE_CHECKING:
    from ...catalog.store import Catalog
    from ...core.machine import OperatingSystem
    from ...system.base import Processes, ProcessResult


DPKG_QUERY = Path("/usr/bin/dpkg-query")
QUERY_TIMEOUT_S = 60.0
APT_TIMEOUT_S = 3600.0  # of what changes nothing: the lists, and the simulation
APT_LOG_LINES = 40
APT_ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "DEBIAN_PRIORITY": "critical",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    # Services are not restarted: the computer is restarted afterwards anyway.
    "NEEDRESTART_SUSPEND": "1",
}
APT_OPTIONS = (
    *("-o", "DPkg::Lock::Timeout=300"),
    *("-o", "Dpkg::Options::=--force-confdef"),
    *("-o", "Dpkg::Options::=--force-confold"),
)
# Comes with DKMS, and stays: a person may use it since, and while root has no password its own script refuses to let it
# go, and with it the whole removal (sudo 1.9.13 and 1.9.16, debian/sudo.prerm).
KEPT_PACKAGES = frozenset({"sudo"})
# A suggestion of some program, such as Python's of a compiler, is no need; what stays needs what it needs.
_UNNEEDED_OPTIONS = (
    *("-o", "APT::AutoRemove::SuggestsImportant=false"),
    *(option for name in sorted(KEPT_PACKAGES) for option in ("-o", f"APT::NeverAutoRemove::=^{name}$")),
)
DPKG_OPTIONS = ("--force-confdef", "--force-confold")
# What apt-get and dpkg say, in English whatever the user's language, and the error that it is: the first that matches.
# Recorded from apt 2.6 and 3.0, dpkg 1.21 and 1.22 (tests/fixtures/apt).
_FAILURES = (
    ("driver-apt-locked", re.compile(r"Could not get lock|Unable to acquire the dpkg frontend lock")),
    (
        "driver-no-room-boot",
        re.compile(r"No space left on device\r?\n(?:.*\n){0,9}update-initramfs: failed for /boot/"),
    ),
    ("driver-no-room", re.compile(r"enough free space in|No space left on device")),
    ("driver-module-not-built", re.compile(r"Bad return status for module build on kernel")),
    ("driver-held", re.compile(r"Held packages were changed|you have held broken packages")),
    ("driver-packages-unknown", re.compile(r"has no installation candidate|Unable to locate package")),
    ("driver-packages-unreachable", re.compile(r"Unable to fetch some archives|Failed to fetch")),
)
# An earlier run was cut off between packages that need each other: apt-get completes what is there when it is told to.
_INCOMPLETE_PATTERN = re.compile(r"Unmet dependencies\. Try 'apt(?:-get)? --fix-broken install'")
_COMPLETE_OPTION = "--fix-broken"
_HELPED_BY_NEWER_LISTS = {
    "driver-too-old-here",
    "driver-packages-unknown",
    "driver-packages-unreachable",
    "driver-packages-failed",
}
_ADDED_PATTERN = re.compile(r"^Inst (\S+) \(", re.MULTILINE)  # without a version in brackets: none was installed
_REMOVED_PATTERN = re.compile(r"^Remv (\S+)", re.MULTILINE)
# Packages of another driver branch, which apt may remove when it installs a branch.
_DRIVER_PACKAGE_PATTERN = re.compile(
    r"(lib|linux-(modules|objects|signatures)-|xserver-xorg-video-)?nvidia[a-z0-9.+-]*\Z"
)
_BRANCH_PATTERN = r"[1-9][0-9]{2}"
_KERNEL_FLAVOUR_PATTERN = r"generic(?:-hwe-[0-9]{2}\.[0-9]{2})?"


class PackagePrograms(Struct, frozen=True, kw_only=True):
    """The distribution's programs, and the folder of what dpkg has not yet written into its status file: files whose
    names are numbers. Until dpkg has read those that it left when it was cut off, apt-get refuses to change anything
    (debSystem::CheckUpdates of apt 3.0).
    """

    apt_get: Path = Path("/usr/bin/apt-get")
    dpkg: Path = Path("/usr/bin/dpkg")
    updates: Path = Path("/var/lib/dpkg/updates")


class AptGet(Protocol):
    """How apt-get is run. `asks`: each change asks the user for rights, so that none is made in vain."""

    @property
    def asks(self) -> bool: ...

    def simulate(self, arguments: Sequence[str]) -> ProcessResult:
        """Run what changes nothing."""
        ...

    def change(self, arguments: Sequence[str]) -> ProcessResult:
        """Run to its end, with administrator rights; raises ElevationDenied."""
        ...

    def is_interrupted(self) -> bool:
        """Whether dpkg was cut off, and has to `configure` before apt-get changes anything; asks nobody."""
        ...

    def configure(self) -> ProcessResult:
        """Let dpkg finish what an interrupted run left; raises ElevationDenied."""
        ...


class RootAptGet:
    """apt-get of a process that is root."""

    asks = False

    def __init__(self, system: Processes, programs: PackagePrograms) -> None:
        self._system, self._programs = system, programs

    def simulate(self, arguments: Sequence[str]) -> ProcessResult:
        """With a time limit."""
        return self._system.run(
            [self._programs.apt_get, *arguments], timeout=APT_TIMEOUT_S, environ=APT_ENVIRONMENT, cwd=Path("/")
        )

    def change(self, arguments: Sequence[str]) -> ProcessResult:
        """Nothing of ours ends it."""
        return self._system.run_to_end([self._programs.apt_get, *arguments], environ=APT_ENVIRONMENT, cwd=Path("/"))

    def is_interrupted(self) -> bool:
        """As apt-get sees it."""
        try:
            return any(path.name.isdigit() for path in self._programs.updates.iterdir())
        except OSError:
            return False

    def configure(self) -> ProcessResult:
        """As `change`."""
        command: list[str | Path] = [self._programs.dpkg, *DPKG_OPTIONS, "--configure", "-a"]
        return self._system.run_to_end(command, environ=APT_ENVIRONMENT, cwd=Path("/"))


class AskingAptGet(RootAptGet):
    """apt-get of a user: simulated by that user; `run_as_admin` has the system ask, with apt-get's own name."""

    asks = True

    def __init__(
        self,
        system: Processes,
        programs: PackagePrograms,
        run_as_admin: Callable[[Sequence[str | Path]], ProcessResult],
    ) -> None:
        super().__init__(system, programs)
        self._run_as_admin = run_as_admin

    def change(self, arguments: Sequence[str]) -> ProcessResult:
        """pkexec gives it an environment of its own; without a terminal debconf asks nothing."""
        return self._run_as_admin([self._programs.apt_get, *arguments])

    def configure(self) -> ProcessResult:
        """As `change`."""
        return self._run_as_admin([self._programs.dpkg, *DPKG_OPTIONS, "--configure", "-a"])


def allowed_packages(operating_system: OperatingSystem, catalog: Catalog) -> re.Pattern[str]:
    """Matches the names that the catalog has for a distribution, of any branch; raises AppError("door-request")."""
    facts = find_install_method(catalog.drivers, operating_system)
    if facts is None:
        raise AppError("door-request", detail=f"linux-packages: {operating_system.distro}")
    placeholders = {r"\{branch\}": _BRANCH_PATTERN, r"\{flavour\}": _KERNEL_FLAVOUR_PATTERN}
    names = "|".join(map(re.escape, facts.packages.values()))
    for placeholder, pattern in placeholders.items():
        names = names.replace(placeholder, pattern)
    return re.compile(rf"(?:{names})\Z")


def install_packages(
    request: LinuxPackagesRequest, operating_system: OperatingSystem, catalog: Catalog, apt: AptGet
) -> HelperAnswer:
    """Update the package lists, simulate, then install, in place of the driver's other kernel modules; raises AppError.

    "driver-would-remove" if apt would remove packages that are not of a driver, "driver-too-old-here" if it would
    install an older version than `request.minimum`; what apt-get itself says for a known reason is one of `_FAILURES`.
    What a run that was cut off left is finished first, together with the installation as far as apt-get can. Where each
    change asks, the lists are updated only if the ones that are there do not serve.
    """
    _check_allowed(request.packages, operating_system, catalog)
    facts = find_install_method(catalog.drivers, operating_system)
    replaced = replaced_packages(facts, request.packages) if facts is not None else ()
    _finish_interrupted(apt)
    if apt.asks:
        try:
            return _simulate_and_install(request, replaced, apt)
        except AppError as error:
            if error.code not in _HELPED_BY_NEWER_LISTS:
                raise
    # On many computers some third-party source fails; the lists of the others are still used.
    apt.change(["-q", *APT_OPTIONS, "update"])
    return _simulate_and_install(request, replaced, apt)


def apt_removal(name: str) -> str:
    """A package as apt-get's `install` takes it to mean that it goes, where it is installed."""
    return f"{name}-"


def _check_allowed(names: Sequence[str], operating_system: OperatingSystem, catalog: Catalog) -> None:
    allowed = allowed_packages(operating_system, catalog)
    unknown_names = [name for name in names if not allowed.match(name)]
    if unknown_names:
        raise AppError("door-request", detail=f"linux-packages: {', '.join(unknown_names)}")


def planned_packages(names: Sequence[str], apt: AptGet) -> tuple[str, ...]:
    """What installing these would add and removing them take, as apt-get simulates it; () where it cannot, or adds too
    much to be a driver.
    """
    try:
        simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, "install", "--", *names])
    except (AppError, OSError):
        return ()
    found = set(_ADDED_PATTERN.findall(simulation.stdout)) if simulation.returncode == 0 else set()
    added = sorted(found - KEPT_PACKAGES)
    return tuple(added) if len(added) <= MAX_PACKAGES else ()


def present_packages(names: Sequence[str], system: Processes) -> tuple[str, ...]:
    """Those of these packages whose files are there, whole or in part; raises AppError."""
    try:
        query = system.run(
            [DPKG_QUERY, "-W", "-f", "${db:Status-Abbrev}\t${Package}\t${Architecture}\n", "--", *names],
            timeout=QUERY_TIMEOUT_S,
            environ=APT_ENVIRONMENT,
        )
    except FileNotFoundError:
        return ()
    present: set[str] = set()
    for line in query.stdout.splitlines():  # those that dpkg has never heard of are on stderr
        status, _, package = line.partition("\t")
        name, _, architecture = package.partition("\t")
        if status[1:2] not in ("n", "c", ""):  # dpkg-query(1): not installed, configuration files only
            present |= {name, f"{name}:{architecture}"}
    return tuple(name for name in names if name in present)


def remove_packages(
    request: LinuxPackagesRemoval, operating_system: OperatingSystem, catalog: Catalog, apt: AptGet
) -> HelperAnswer:
    """Remove the packages, and of those that came with them what apt-get itself would remove automatically because of
    that.

    Raises AppError: "driver-needed" if something else would go, too, "driver-not-removed", "driver-removal-locked".
    What a run that was cut off left is finished first.
    """
    _check_allowed(request.packages, operating_system, catalog)
    ours = {*request.packages, *request.together} - KEPT_PACKAGES
    _finish_interrupted(apt)
    removal = [*_UNNEEDED_OPTIONS, "remove", "--autoremove", "--", *request.packages]
    simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, *removal])
    if _is_incomplete(simulation):
        _complete(apt)
        simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, *removal])
    if simulation.returncode:
        raise _removal_error(simulation)
    names = sorted(ours & set(_REMOVED_PATTERN.findall(simulation.stdout)) - _unneeded_before(apt, request.packages))
    if not names:
        return HelperAnswer(exit_code=0)
    exact = ["remove", "--", *names]
    simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, *exact])
    others = sorted(set(_REMOVED_PATTERN.findall(simulation.stdout)) - ours)
    if others:
        raise AppError("driver-needed", packages=", ".join(others))
    finished = apt.change(["-q", "-y", *APT_OPTIONS, *exact])
    if finished.returncode:
        raise _removal_error(finished)
    return HelperAnswer(exit_code=0, lines=tuple(finished.stdout.splitlines()[-APT_LOG_LINES:]))


def _unneeded_before(apt: AptGet, packages: Sequence[str]) -> set[str]:
    """What nothing needs already now, such as old kernels: whoever wrote the request could name it. A driver's own
    packages do not count, for a removal may have been cut off. Raises AppError.
    """
    simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, *_UNNEEDED_OPTIONS, "autoremove"])
    if simulation.returncode:
        raise _removal_error(simulation)
    unneeded = set(_REMOVED_PATTERN.findall(simulation.stdout)) - set(packages)
    return {name for name in unneeded if not _DRIVER_PACKAGE_PATTERN.match(name)}


def _removal_error(finished: ProcessResult) -> AppError:
    output = finished.stdout + finished.stderr
    (_, locked), *_ = _FAILURES
    lines = output.splitlines()
    code = "driver-removal-locked" if locked.search(output) else "driver-not-removed"
    return AppError(code, status=finished.returncode, detail=lines[-1] if lines else None)


def _simulate_and_install(request: LinuxPackagesRequest, replaced: Sequence[str], apt: AptGet) -> HelperAnswer:
    names = request.packages
    install = ["install", "--", *names, *map(apt_removal, replaced)]
    simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, *install])
    if _is_incomplete(simulation):
        together = [_COMPLETE_OPTION, *install]
        simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, *together])
        if _is_incomplete(simulation):  # apt 2.6, after a full disk: what is missing is not the driver's own
            _apt_answer(_complete(apt))
            simulation = apt.simulate(["-q", "-s", *APT_OPTIONS, *install])
        else:
            install = together
    if simulation.returncode:
        return _apt_answer(simulation)
    _check_removed(simulation)
    planned, minimum = _planned_version(simulation.stdout, names[0]), Version.parse(request.minimum)
    if planned is not None and minimum is not None and planned < minimum:
        raise AppError("driver-too-old-here", version=planned.text, minimum=request.minimum)
    return _apt_answer(apt.change(["-q", "-y", *APT_OPTIONS, *install]))


def _finish_interrupted(apt: AptGet) -> None:
    """dpkg may fail for what is not unpacked yet, which comes later."""
    if apt.is_interrupted():
        apt.configure()


def _is_incomplete(finished: ProcessResult) -> bool:
    return finished.returncode != 0 and _INCOMPLETE_PATTERN.search(finished.stdout + finished.stderr) is not None


def _complete(apt: AptGet) -> ProcessResult:
    mend = [_COMPLETE_OPTION, "install"]
    _check_removed(apt.simulate(["-q", "-s", *APT_OPTIONS, *mend]))
    return apt.change(["-q", "-y", *APT_OPTIONS, *mend])


def _check_removed(simulation: ProcessResult) -> None:
    unrelated = sorted(
        {name for name in _REMOVED_PATTERN.findall(simulation.stdout) if not _DRIVER_PACKAGE_PATTERN.match(name)}
    )
    if unrelated:
        raise AppError("driver-would-remove", packages=", ".join(unrelated))


def _planned_version(output: str, name: str) -> Version | None:
    """The upstream version of a package that a simulated run would install; None if it is installed already."""
    match = re.search(rf"^Inst {re.escape(name)} (?:\[\S+\] )?\((?:\d+:)?(\d+(?:\.\d+)*)", output, re.MULTILINE)
    return Version.parse(match[1]) if match is not None else None


def _apt_answer(finished: ProcessResult) -> HelperAnswer:
    """The answer of a run that went well; raises AppError for one that did not."""
    output = finished.stdout + finished.stderr
    lines = tuple(output.splitlines()[-APT_LOG_LINES:])
    if finished.returncode:
        code = next((code for code, pattern in _FAILURES if pattern.search(output)), "driver-packages-failed")
        raise AppError(code, status=finished.returncode, detail=lines[-1] if lines else None)
    return HelperAnswer(exit_code=0, lines=lines)
