"""The driver's packages of a Linux distribution: the one place that chooses them, for the words and for the plan."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.distributions import commands_for, filled, flavour, install_way, page_for, release_of
from ..catalog.distributions import release_branch as branch_of
from ..catalog.driver_ways import LinuxDriverCommands, LinuxDriverInstall, ModuleKind
from ..catalog.versions import capability, numbers
from ..core.machine import OperatingSystem
from ..core.recommendation import DriverAdvice
from .cards import Card, nvidia_cards
from .drivers import DriverState, modules_for
from .pick import Pick, Site, cuda_pick


class Packages(Struct, frozen=True, kw_only=True):
    """`names` in the order in which they are asked for, the driver itself first; `branch` like "595" is the one that
    they bring, None where that is not known. `signed` is the one of them with modules that the distribution signed.
    """

    names: tuple[str, ...]
    branch: str | None
    signed: str | None = None

    @property
    def text(self) -> str:
        """All names, as they are typed."""
        return " ".join(self.names)


def way_of(where: Site) -> LinuxDriverInstall | None:
    """How this distribution installs the driver; None where that is not known, or it is Windows' driver."""
    if where.state is None or where.state.system != "linux":
        return None
    return install_way(where.catalog.drivers, where.machine.os)


def said_distro(system: OperatingSystem) -> str:
    """The distribution as it calls itself ("Linux Mint 22.2"), without what it says in brackets; else by its id."""
    itself = re.sub(r"\s*\(.*", "", system.name or "")
    if itself:
        return itself
    name = system.distro or ""
    name = name.title() if name == name.casefold() else name
    return f"{name} {system.distro_version}" if system.distro_version else name


def release_branch(where: Site) -> str | None:
    """The one branch that this release's own packages bring; None where packages are named after theirs."""
    way = way_of(where)
    return branch_of(way, where.machine.os) if way is not None else None


def release_known(where: Site) -> bool:
    """Whether it is known what the packages of this very release bring."""
    way = way_of(where)
    known = way is not None and release_of(way, where.machine.os) in way.seen_in
    return known or release_branch(where) is not None


def behind(where: Site, minimum: str | None) -> bool:
    """Whether this release's own packages are known to bring too old a driver."""
    branch, lowest = numbers(release_branch(where)), numbers(minimum)
    return branch is not None and lowest is not None and branch < lowest[:1]


def with_packages(where: Site, advice: DriverAdvice) -> DriverAdvice:
    """The advice with where its driver comes from on Linux: what is recommended is then what comes from there."""
    if not advice.changes or where.state is None or where.card is None or where.machine.os.wsl:
        return advice
    found = packages_for(where, where.state, where.card, advice.minimum, advice.recommended)
    if found is None:
        return _by_hand(where, where.state, advice)
    if behind(where, advice.minimum):
        return replace(advice, way="nvidia-source", packages=found.names)
    if not release_known(where):
        wanted = advice.recommended if where.state.picked is not None or advice.action == "back" else None
        return replace(advice, way="unsure", packages=found.names, recommended=wanted)
    recommended = numbers(advice.recommended)
    other = found.branch is not None and (recommended is None or recommended[:1] != numbers(found.branch))
    named = found.branch if other else advice.recommended
    return replace(advice, way="packages", packages=found.names, recommended=named)


def commands_here(where: Site) -> LinuxDriverCommands | None:
    """What this distribution teaches to type for the cards here; a driver picked by its number is not had that way."""
    state = where.state
    if state is None or state.system != "linux" or state.generation is None or state.picked is not None:
        return None
    return commands_for(where.catalog.drivers, where.machine.os, state.generation.id)


def _by_hand(where: Site, state: DriverState, advice: DriverAdvice) -> DriverAdvice:
    """The advice with the commands that the distribution teaches, else with its own page, where either is known."""
    system, drivers = where.machine.os, where.catalog.drivers
    row, source = commands_here(where), page_for(drivers, system)
    page = where.catalog.source(drivers, source) if source is not None else None
    enrol = row.enrol if row is not None and system.secure_boot is True and not row.signed else ()
    lines = filled(in_order(row, enrol), system) if row is not None else None
    lowest, brings = numbers(advice.minimum), numbers((row.branch or row.at_least) if row is not None else None)
    if row is None or lines is None or (brings is not None and lowest is not None and brings < lowest[:1]):
        keeps = state.picked is not None or advice.action == "back"
        return (
            advice
            if page is None
            else replace(advice, way="page", page=page, recommended=advice.recommended if keeps else None)
        )
    named = numbers(advice.recommended)
    same = named is not None and row.branch is not None and named[:1] == numbers(row.branch)
    recommended = advice.recommended if same or (advice.action == "back" and row.branch is None) else row.branch
    return replace(advice, way="commands", commands=lines, page=page, key=bool(enrol), recommended=recommended)


def in_order(row: LinuxDriverCommands, enrol: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The commands with those that make a key known where they belong."""
    return (*enrol, *row.commands) if row.enrol_first else (*row.commands, *enrol)


def pick_for_release(where: Site) -> Pick | None:
    """The newest build that runs on the one branch of this release's own packages; None where there is none."""
    branch = numbers(release_branch(where))
    if where.state is None or branch is None:
        return None
    theirs = replace(where, state=replace(where.state, version=branch, cuda=None, refused=None))
    return cuda_pick(theirs, with_driver_there=True)


def packages_for(
    where: Site, state: DriverState, card: Card, minimum: str | None, at_most: str | None = None
) -> Packages | None:
    """The packages for a card: of the newest branch that the distribution was seen to carry, that is new enough, and
    no newer than the branch of `at_most`. None where the catalog knows none for such a card.
    """
    way = way_of(where)
    kinds = modules_for(where.catalog, _sharing(where, state, card))
    if way is None or not kinds:
        return None
    if not way.series:
        return Packages(names=tuple(_unbranched(way, kinds[0])), branch=release_branch(where))
    branch = branch_for(way, state, minimum, at_most)
    if branch is None:
        return None
    server = way.packages.get("server_open" if kinds[0] == "open" else "server")
    secure_boot = where.machine.os.secure_boot
    # The catalog knows signed modules of the ordinary packages only: a key enrolled by hand is for who sits before it.
    if server is not None and secure_boot is not True and _all_for_servers(where):
        return Packages(names=(server.replace("{branch}", branch),), branch=branch)
    pattern = way.packages.get(kinds[0])
    if pattern is None:
        return None
    signed = way.packages.get("signed_open_modules" if kinds[0] == "open" else "signed_modules")
    kernel = flavour(way, where.machine.os)
    signed = signed.format(branch=branch, flavour=kernel) if signed is not None and kernel is not None else None
    more = (signed,) if signed is not None and secure_boot is not False else ()
    return Packages(names=(pattern.replace("{branch}", branch), *more), branch=branch, signed=signed)


def _sharing(where: Site, state: DriverState, card: Card) -> tuple[tuple[int, int], ...]:
    """The chips that the driver has to serve: the card's, and those of older cards that decided its branch."""
    generation = state.generation
    low = capability(generation.from_capability) if generation is not None else None
    top = capability(generation.below_capability) if generation is not None else None
    chips = [c for gpu in nvidia_cards(where.machine, where.catalog) if (c := gpu.capability) is not None]
    return tuple(
        chip for chip in chips if chip == card.capability or (top is not None and low is not None and low <= chip < top)
    )


def _all_for_servers(where: Site) -> bool:
    """Whether all NVIDIA cards here are made for servers, which have packages of their own."""
    cards = nvidia_cards(where.machine, where.catalog)
    return bool(cards) and all(card.segment == "datacenter" for card in cards)


def _unbranched(way: LinuxDriverInstall, kind: ModuleKind) -> list[str]:
    """The driver itself first: the open modules alone are no driver."""
    names = [way.packages.get("proprietary"), way.packages.get("open") if kind == "open" else None]
    return [name for name in (*names, way.packages.get("firmware")) if name is not None]


def branch_for(
    way: LinuxDriverInstall, state: DriverState, minimum: str | None, at_most: str | None = None
) -> str | None:
    """The newest branch that the distribution was seen to carry, that is new enough and still knows the card."""
    lowest, last = numbers(minimum), state.generation.last_branch if state.generation is not None else None
    top = numbers(at_most)
    for branch in way.series:
        number = numbers(branch)
        if number is not None and top is not None and number[0] > top[0]:
            continue
        if number is not None and lowest is not None and number >= lowest[:1] and (last is None or number[0] <= last):
            return branch
    return None
