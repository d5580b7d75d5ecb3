"""The driver's packages of a Linux distribution: the one place that chooses them, for the words and for the plan."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.distributions import (
    driver_page_source,
    fill_commands,
    find_commands,
    find_install_method,
    kernel_flavour,
    package_release,
)
from ..catalog.distributions import (
    package_branch as branch_of,
)
from ..catalog.records.drivers import LinuxDriverCommands, LinuxDriverInstall, ModuleKind
from ..catalog.versions import parse_capability, parse_version
from ..core.machine import OperatingSystem
from ..core.recommendation import DriverAdvice
from .candidates import Candidate, TargetSystem, best_cuda_build
from .drivers import DriverState, kernel_modules_for
from .gpus import NvidiaGpu, nvidia_gpus


class DriverPackages(Struct, frozen=True, kw_only=True):
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


def find_install_method_for(target: TargetSystem) -> LinuxDriverInstall | None:
    """How this distribution installs the driver; None where that is not known, or it is Windows' driver."""
    if target.driver_state is None or target.driver_state.system != "linux":
        return None
    return find_install_method(target.catalog.drivers, target.machine.os)


def distribution_name(system: OperatingSystem) -> str:
    """The distribution as it calls itself ("Linux Mint 22.2"), without what it says in brackets; else by its id."""
    name_text = re.sub(r"\s*\(.*", "", system.name or "")
    if name_text:
        return name_text
    name = system.distro or ""
    name = name.title() if name == name.casefold() else name
    return f"{name} {system.distro_version}" if system.distro_version else name


def release_branch(target: TargetSystem) -> str | None:
    """The one branch that this release's own packages bring; None where packages are named after theirs."""
    method = find_install_method_for(target)
    return branch_of(method, target.machine.os) if method is not None else None


def is_release_known(target: TargetSystem) -> bool:
    """Whether it is known what the packages of this very release bring."""
    method = find_install_method_for(target)
    is_listed = method is not None and package_release(method, target.machine.os) in method.seen_in
    return is_listed or release_branch(target) is not None


def is_branch_too_old(target: TargetSystem, minimum: str | None) -> bool:
    """Whether this release's own packages are known to bring too old a driver."""
    branch, minimum_version = parse_version(release_branch(target)), parse_version(minimum)
    return branch is not None and minimum_version is not None and branch < minimum_version[:1]


def add_package_source(target: TargetSystem, advice: DriverAdvice) -> DriverAdvice:
    """The advice with where its driver comes from on Linux: what is recommended is then what comes from there."""
    if not advice.needs_install or target.driver_state is None or target.gpu is None or target.machine.os.wsl:
        return advice
    packages = select_packages(target, target.driver_state, target.gpu, advice.minimum, advice.recommended)
    if packages is None:
        return _with_manual_source(target, target.driver_state, advice)
    if is_branch_too_old(target, advice.minimum):
        return replace(advice, way="nvidia-source", packages=packages.names)
    if not is_release_known(target):
        version = advice.recommended if target.driver_state.requested is not None or advice.action == "back" else None
        return replace(advice, way="unsure", packages=packages.names, recommended=version)
    recommended = parse_version(advice.recommended)
    differs = packages.branch is not None and (recommended is None or recommended[:1] != parse_version(packages.branch))
    version_text = packages.branch if differs else advice.recommended
    return replace(advice, way="packages", packages=packages.names, recommended=version_text)


def find_driver_commands(target: TargetSystem) -> LinuxDriverCommands | None:
    """What this distribution teaches to type for the cards here; a driver picked by its number is not had that way."""
    state = target.driver_state
    if state is None or state.system != "linux" or state.generation is None or state.requested is not None:
        return None
    return find_commands(target.catalog.drivers, target.machine.os, state.generation.id)


def _with_manual_source(target: TargetSystem, state: DriverState, advice: DriverAdvice) -> DriverAdvice:
    """The advice with the commands that the distribution teaches, else with its own page, where either is known."""
    system, drivers = target.machine.os, target.catalog.drivers
    row, page_key = find_driver_commands(target), driver_page_source(drivers, system)
    page = target.catalog.source_url(drivers, page_key) if page_key is not None else None
    enroll_commands = row.enrol if row is not None and system.secure_boot is True and not row.signed else ()
    commands = fill_commands(order_commands(row, enroll_commands), system) if row is not None else None
    minimum_version, commands_version = (
        parse_version(advice.minimum),
        parse_version((row.branch or row.at_least) if row is not None else None),
    )
    if (
        row is None
        or commands is None
        or (commands_version is not None and minimum_version is not None and commands_version < minimum_version[:1])
    ):
        is_fixed_version = state.requested is not None or advice.action == "back"
        return (
            advice
            if page is None
            else replace(advice, way="page", page=page, recommended=advice.recommended if is_fixed_version else None)
        )
    recommended_version = parse_version(advice.recommended)
    same_branch = (
        recommended_version is not None
        and row.branch is not None
        and recommended_version[:1] == parse_version(row.branch)
    )
    recommended = advice.recommended if same_branch or (advice.action == "back" and row.branch is None) else row.branch
    return replace(
        advice, way="commands", commands=commands, page=page, key=bool(enroll_commands), recommended=recommended
    )


def order_commands(
    row: LinuxDriverCommands, enroll_commands: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], ...]:
    """The commands with those that make a key known where they belong."""
    return (*enroll_commands, *row.commands) if row.enrol_first else (*row.commands, *enroll_commands)


def candidate_for_release(target: TargetSystem) -> Candidate | None:
    """The newest build that runs on the one branch of this release's own packages; None where there is none."""
    branch = parse_version(release_branch(target))
    if target.driver_state is None or branch is None:
        return None
    with_packaged_driver = replace(
        target, driver_state=replace(target.driver_state, version=branch, cuda=None, dropped_from=None)
    )
    return best_cuda_build(with_packaged_driver, installed_driver_only=True)


def select_packages(
    target: TargetSystem, state: DriverState, card: NvidiaGpu, minimum: str | None, at_most: str | None = None
) -> DriverPackages | None:
    """The packages for a card: of the newest branch that the distribution was seen to carry, that is new enough, and
    no newer than the branch of `at_most`. None where the catalog knows none for such a card.
    """
    method = find_install_method_for(target)
    kinds = kernel_modules_for(target.catalog, _chips_sharing_driver(target, state, card))
    if method is None or not kinds:
        return None
    if not method.series:
        return DriverPackages(names=tuple(_unbranched_names(method, kinds[0])), branch=release_branch(target))
    branch = select_branch(method, state, minimum, at_most)
    if branch is None:
        return None
    server_pattern = method.packages.get("server_open" if kinds[0] == "open" else "server")
    secure_boot = target.machine.os.secure_boot
    # The catalog knows signed modules of the ordinary packages only: a key enrolled by hand is for who sits before it.
    if server_pattern is not None and secure_boot is not True and _has_only_server_gpus(target):
        return DriverPackages(names=(server_pattern.replace("{branch}", branch),), branch=branch)
    pattern = method.packages.get(kinds[0])
    if pattern is None:
        return None
    signed = method.packages.get("signed_open_modules" if kinds[0] == "open" else "signed_modules")
    flavour_name = kernel_flavour(method, target.machine.os)
    signed = (
        signed.format(branch=branch, flavour=flavour_name) if signed is not None and flavour_name is not None else None
    )
    extra_names = (signed,) if signed is not None and secure_boot is not False else ()
    return DriverPackages(names=(pattern.replace("{branch}", branch), *extra_names), branch=branch, signed=signed)


def _chips_sharing_driver(target: TargetSystem, state: DriverState, card: NvidiaGpu) -> tuple[tuple[int, int], ...]:
    """The chips that the driver has to serve: the card's, and those of older cards that decided its branch."""
    generation = state.generation
    lowest = parse_capability(generation.from_capability) if generation is not None else None
    highest = parse_capability(generation.below_capability) if generation is not None else None
    chips = [c for gpu in nvidia_gpus(target.machine, target.catalog) if (c := gpu.capability) is not None]
    return tuple(
        chip
        for chip in chips
        if chip == card.capability or (highest is not None and lowest is not None and lowest <= chip < highest)
    )


def _has_only_server_gpus(target: TargetSystem) -> bool:
    """Whether all NVIDIA cards here are made for servers, which have packages of their own."""
    cards = nvidia_gpus(target.machine, target.catalog)
    return bool(cards) and all(card.segment == "datacenter" for card in cards)


def _unbranched_names(method: LinuxDriverInstall, kind: ModuleKind) -> list[str]:
    """The driver itself first: the open modules alone are no driver."""
    names = [method.packages.get("proprietary"), method.packages.get("open") if kind == "open" else None]
    return [name for name in (*names, method.packages.get("firmware")) if name is not None]


def select_branch(
    method: LinuxDriverInstall, state: DriverState, minimum: str | None, at_most: str | None = None
) -> str | None:
    """The newest branch that the distribution was seen to carry, that is new enough and still knows the card."""
    minimum_version, last_branch = (
        parse_version(minimum),
        state.generation.last_branch if state.generation is not None else None,
    )
    maximum_version = parse_version(at_most)
    for branch in method.series:
        number = parse_version(branch)
        if number is not None and maximum_version is not None and number[0] > maximum_version[0]:
            continue
        if (
            number is not None
            and minimum_version is not None
            and number >= minimum_version[:1]
            and (last_branch is None or number[0] <= last_branch)
        ):
            return branch
    return None
