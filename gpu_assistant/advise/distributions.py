"""The driver's packages of a Linux distribution."""

from __future__ import annotations

from ..catalog.driver_ways import LinuxDriverInstall, ModuleKind
from ..catalog.versions import capability, numbers
from ..core.machine import OperatingSystem
from .cards import Card, nvidia_cards
from .drivers import DriverState, modules_for
from .pick import Site


def way_of(where: Site) -> LinuxDriverInstall | None:
    """How this distribution installs the driver; None where that is not known, or it is Windows' driver."""
    distro = (where.machine.os.distro or "").casefold()
    ways = where.catalog.drivers.linux_install if where.state is not None and where.state.system == "linux" else ()
    return next((way for way in ways if way.distribution == distro), None)


def said_distro(system: OperatingSystem) -> str:
    """The distribution as people write it: "Ubuntu 24.04"; ids are written small."""
    name = system.distro or ""
    name = name.title() if name == name.casefold() else name
    return f"{name} {system.distro_version}" if system.distro_version else name


def release_branch(where: Site) -> str | None:
    """The one branch that this release's own packages bring; None where packages are named after theirs."""
    way, version = way_of(where), where.machine.os.distro_version or ""
    return way.releases.get(version.partition(".")[0]) if way is not None else None


def behind(where: Site, minimum: str | None) -> bool:
    """Whether this release's own packages are known to bring too old a driver."""
    branch, lowest = numbers(release_branch(where)), numbers(minimum)
    return branch is not None and lowest is not None and branch < lowest[:1]


def package_for(where: Site, state: DriverState, card: Card, minimum: str | None) -> str | None:
    """The packages for a card: of the newest branch that the distribution was seen to carry and that is new enough."""
    way = way_of(where)
    oldest = capability(state.generation.below_capability) if state.generation is not None else None
    chips = [c for gpu in nvidia_cards(where.machine, where.catalog) if (c := gpu.capability) is not None]
    # An older card beside it shares the driver, where it decided the branch.
    shared = tuple(c for c in chips if c == card.capability or (oldest is not None and c < oldest))
    kinds = modules_for(where.catalog, shared)
    if way is None or not kinds:
        return None
    if not way.series:
        return " ".join(_unbranched(way, kinds[0]))
    pattern = way.packages.get(_kind(way, kinds[0], card))
    branch = branch_for(way, state, minimum)
    return pattern.replace("{branch}", branch) if pattern is not None and branch is not None else None


def _unbranched(way: LinuxDriverInstall, kind: ModuleKind) -> list[str]:
    """The driver itself first: the open modules alone are no driver."""
    names = [way.packages.get("proprietary"), way.packages.get("open") if kind == "open" else None]
    return [name for name in (*names, way.packages.get("firmware")) if name is not None]


def _kind(way: LinuxDriverInstall, kind: ModuleKind, card: Card) -> str:
    if card.segment != "datacenter":
        return kind
    server = "server_open" if kind == "open" else "server"
    return server if server in way.packages else kind


def branch_for(way: LinuxDriverInstall, state: DriverState, minimum: str | None) -> str | None:
    """The newest branch that the distribution was seen to carry, that is new enough and still knows the card."""
    lowest, last = numbers(minimum), state.generation.last_branch if state.generation is not None else None
    for branch in way.series:
        number = numbers(branch)
        if number is not None and lowest is not None and number >= lowest[:1] and (last is None or number[0] <= last):
            return branch
    return None


def signed_package(where: Site, minimum: str | None) -> str | None:
    """The package with modules that the distribution signed; None where there is none."""
    way, state, card = way_of(where), where.state, where.card
    if way is None or state is None or card is None or card.capability is None:
        return None
    kinds = modules_for(where.catalog, (card.capability,))
    name = way.packages.get("signed_open_modules" if kinds[:1] == ("open",) else "signed_modules")
    branch = branch_for(way, state, minimum)
    return name.replace("{branch}", branch) if name is not None and branch is not None and kinds else None
