"""The driver from a Linux distribution: its packages, NVIDIA's own for it, its commands, or its page.

`add_package_source` adds that to the advice about the driver; texts and plan both take the packages from here.
"""

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
    module_build_failures,
    package_branch,
    package_release,
    switch_stream,
)
from ..catalog.records.drivers import LinuxDriverCommands, LinuxDriverInstall, ModuleBuildFailure, ModuleKind
from ..core.machine import OperatingSystem
from ..core.recommendation import DriverAdvice
from ..core.versions import Capability, Version
from .candidates import Candidate, TargetSystem, best_cuda_build
from .drivers import DriverState, is_in_range, kernel_modules_for
from .gpus import NvidiaGpu, nvidia_gpus


class ModuleSelection(Struct, frozen=True, kw_only=True):
    """`kinds` of kernel modules serve this computer's GPUs and compile for its kernels, the preferred one first; empty
    where none is known to. The preferred kind of the GPUs is left out for a `failure` to compile, or because this
    branch `is_early`.
    """

    kinds: tuple[ModuleKind, ...]
    failure: ModuleBuildFailure | None = None
    is_early: bool = False


class DriverPackages(Struct, frozen=True, kw_only=True):
    """`names` in the order for the package manager, the driver itself first; `branch` is the driver branch that they
    bring (None: unknown), `signed` the one among them with modules that the distribution signed.
    """

    names: tuple[str, ...]
    branch: Version | None
    modules: ModuleSelection
    signed: str | None = None

    @property
    def text(self) -> str:
        """All names, as arguments of the package manager."""
        return " ".join(self.names)


def find_install_method_for(target: TargetSystem) -> LinuxDriverInstall | None:
    """How this distribution installs the driver; None where that is unknown, or under WSL."""
    if target.driver_state is None or target.driver_state.system != "linux":
        return None
    return find_install_method(target.catalog.drivers, target.machine.os)


def distribution_name(system: OperatingSystem) -> str:
    """The distribution's own name without anything in brackets ("Linux Mint 22.2"), else its id with its release."""
    name_text = re.sub(r"\s*\(.*", "", system.name or "")
    if name_text:
        return name_text
    name = system.distro or ""
    name = name.title() if name == name.casefold() else name
    return f"{name} {system.distro_version}" if system.distro_version else name


def release_branch(target: TargetSystem) -> Version | None:
    """The only driver branch in this release's packages; None where each branch has packages of its own."""
    method = find_install_method_for(target)
    return package_branch(method, target.machine.os) if method is not None else None


def is_release_known(target: TargetSystem) -> bool:
    """Whether the catalog has what the packages of this very release bring."""
    method = find_install_method_for(target)
    is_listed = method is not None and package_release(method, target.machine.os) in method.seen_in
    return is_listed or release_branch(target) is not None


def is_branch_too_old(target: TargetSystem, minimum: str | None) -> bool:
    """Whether this release's own packages are known to bring a driver that is too old."""
    branch, minimum_version = release_branch(target), Version.parse(minimum)
    return branch is not None and minimum_version is not None and branch.major < minimum_version.major


def add_package_source(target: TargetSystem, advice: DriverAdvice) -> DriverAdvice:
    """The advice with the source of the driver on Linux; `recommended` becomes the version that comes from there."""
    if not advice.needs_install or target.driver_state is None or target.gpu is None or target.machine.os.wsl:
        return advice
    packages = select_packages(target, target.driver_state, target.gpu, advice.minimum, advice.recommended)
    if packages is None:
        return _with_manual_source(target, target.driver_state, advice)
    if is_branch_too_old(target, advice.minimum) or (is_release_known(target) and not packages.modules.kinds):
        return replace(advice, way="nvidia-source", packages=packages.names)
    if not is_release_known(target):
        version = advice.recommended if target.driver_state.requested is not None or advice.action == "back" else None
        return replace(advice, way="unsure", packages=packages.names, recommended=version)
    version_text = advice.recommended
    if packages.branch is not None and not _is_of_branch(Version.parse(advice.recommended), packages.branch):
        version_text = packages.branch.text
    return replace(advice, way="packages", packages=packages.names, recommended=version_text)


def _is_of_branch(version: Version | None, branch: Version | None) -> bool:
    return version is not None and branch is not None and version.major == branch.major


def find_driver_commands(target: TargetSystem) -> LinuxDriverCommands | None:
    """The commands that this distribution documents for the GPU; they do not install a version that the user chose."""
    state = target.driver_state
    if state is None or state.system != "linux" or state.generation is None or state.requested is not None:
        return None
    return find_commands(target.catalog.drivers, target.machine.os, state.generation.id)


def _with_manual_source(target: TargetSystem, state: DriverState, advice: DriverAdvice) -> DriverAdvice:
    """The advice with the commands that the distribution documents, else with its page, where either is known."""
    system, drivers = target.machine.os, target.catalog.drivers
    row, page_key = find_driver_commands(target), driver_page_source(drivers, system)
    page = target.catalog.source_url(drivers, page_key) if page_key is not None else None
    enroll_commands = row.enrol if row is not None and system.secure_boot is True and not row.signed else ()
    commands = fill_commands(order_commands(row, enroll_commands, system), system) if row is not None else None
    minimum_version = Version.parse(advice.minimum)
    commands_version = (row.branch or row.at_least) if row is not None else None
    if (
        row is None
        or commands is None
        or (
            commands_version is not None
            and minimum_version is not None
            and commands_version.major < minimum_version.major
        )
    ):
        is_fixed_version = state.requested is not None or advice.action == "back"
        return (
            advice
            if page is None
            else replace(advice, way="page", page=page, recommended=advice.recommended if is_fixed_version else None)
        )
    branch = row.branch.text if row.branch is not None else None
    same_branch = _is_of_branch(Version.parse(advice.recommended), row.branch)
    recommended = advice.recommended if same_branch or (advice.action == "back" and branch is None) else branch
    return replace(
        advice, way="commands", commands=commands, page=page, key=bool(enroll_commands), recommended=recommended
    )


def order_commands(
    row: LinuxDriverCommands, enroll_commands: tuple[tuple[str, ...], ...], system: OperatingSystem
) -> tuple[tuple[str, ...], ...]:
    """The commands with those that enroll a key before or behind them, as the distribution documents it."""
    commands = switch_stream(row, system)
    return (*enroll_commands, *commands) if row.enrol_first else (*commands, *enroll_commands)


def candidate_for_release(target: TargetSystem) -> Candidate | None:
    """The newest build that runs on the only branch in this release's packages; None where there is none."""
    branch = release_branch(target)
    if target.driver_state is None or target.gpu is None or branch is None:
        return None
    packages = select_packages(target, target.driver_state, target.gpu, branch.text)
    if packages is not None and not packages.modules.kinds:
        return None
    with_packaged_driver = replace(
        target, driver_state=replace(target.driver_state, version=branch, cuda=None, dropped_from=None)
    )
    return best_cuda_build(with_packaged_driver, installed_driver_only=True)


def select_packages(
    target: TargetSystem, state: DriverState, card: NvidiaGpu, minimum: str | None, at_most: str | None = None
) -> DriverPackages | None:
    """The packages for a GPU: of the newest branch in the distribution that is new enough, and no newer than that of
    `at_most`. None where the catalog has none for such a GPU.
    """
    method = find_install_method_for(target)
    gpu_kinds = kernel_modules_for(target.catalog, _chips_sharing_driver(target, state, card), target.arch)
    if method is None or not gpu_kinds:
        return None
    if not method.series:
        branch = release_branch(target)
        modules = _select_modules(target, method, gpu_kinds, branch)
        names = tuple(_unbranched_names(method, (modules.kinds or gpu_kinds)[0]))
        return DriverPackages(names=names, branch=branch, modules=modules)
    branch = select_branch(method, state, minimum, at_most)
    if branch is None:
        return None
    modules = _select_modules(target, method, gpu_kinds, branch)
    return _packages_of_branch(target, method, modules, branch) if modules.kinds else None


def _packages_of_branch(
    target: TargetSystem, method: LinuxDriverInstall, modules: ModuleSelection, branch: Version
) -> DriverPackages | None:
    kinds = modules.kinds
    server_pattern = method.packages.get("server_open" if kinds[0] == "open" else "server")
    secure_boot = target.machine.os.secure_boot
    # The catalog has signed modules for the ordinary packages only, and a key can be enrolled only at the console.
    if server_pattern is not None and secure_boot is not True and _has_only_server_gpus(target):
        names = (server_pattern.replace("{branch}", branch.text),)
        return DriverPackages(names=names, branch=branch, modules=modules)
    pattern = method.packages.get(kinds[0])
    if pattern is None:
        return None
    signed = method.packages.get("signed_open_modules" if kinds[0] == "open" else "signed_modules")
    flavour_name = kernel_flavour(method, target.machine.os)
    signed = (
        signed.format(branch=branch, flavour=flavour_name) if signed is not None and flavour_name is not None else None
    )
    extra_names = (signed,) if signed is not None and secure_boot is not False else ()
    names = (pattern.replace("{branch}", branch.text), *extra_names)
    return DriverPackages(names=names, branch=branch, modules=modules, signed=signed)


def _select_modules(
    target: TargetSystem, method: LinuxDriverInstall, gpu_kinds: tuple[ModuleKind, ...], branch: Version | None
) -> ModuleSelection:
    """Of the kinds that the GPUs can have in some branch, those of this branch that compile."""
    facts, preferred = target.catalog.drivers.open_modules, gpu_kinds[0]
    is_early = facts is not None and branch is not None and branch < facts.datacenter_only_below
    is_too_early = is_early and not _has_only_server_gpus(target)
    failures = {failure.kind: failure for failure in module_build_failures(method, target.machine.os)}
    unfit = {*failures, "open"} if is_too_early else {*failures}
    return ModuleSelection(
        kinds=tuple(kind for kind in gpu_kinds if kind not in unfit),
        failure=failures.get(preferred),
        is_early=is_too_early and preferred == "open",
    )


def _chips_sharing_driver(target: TargetSystem, state: DriverState, card: NvidiaGpu) -> tuple[Capability, ...]:
    """The chips that the driver has to support: the GPU's, and those of an older generation that limits its branch."""
    has_limit = state.generation is not None and state.generation.below_capability is not None
    generation = state.generation if has_limit else None
    chips = [c for gpu in nvidia_gpus(target.machine, target.catalog) if (c := gpu.capability) is not None]
    return tuple(
        chip
        for chip in chips
        if chip == card.capability
        or (generation is not None and is_in_range(chip, generation.from_capability, generation.below_capability))
    )


def _has_only_server_gpus(target: TargetSystem) -> bool:
    """Whether all NVIDIA GPUs are data centre GPUs, for which there are packages of their own."""
    cards = nvidia_gpus(target.machine, target.catalog)
    return bool(cards) and all(card.segment == "datacenter" for card in cards)


def _unbranched_names(method: LinuxDriverInstall, kind: ModuleKind) -> list[str]:
    """The driver itself first. The modules are named, since it is content with those of the other kind."""
    modules = "open" if kind == "open" else "proprietary_modules"
    names = (method.packages.get(purpose) for purpose in ("proprietary", modules, "firmware"))
    return [name for name in names if name is not None]


def select_branch(
    method: LinuxDriverInstall, state: DriverState, minimum: str | None, at_most: str | None = None
) -> Version | None:
    """The newest branch in the distribution that is new enough and still supports the GPU."""
    minimum_version, maximum_version = Version.parse(minimum), Version.parse(at_most)
    last_branch = state.generation.last_branch if state.generation is not None else None
    if minimum_version is None:
        return None
    for branch in method.series:
        if maximum_version is not None and branch.major > maximum_version.major:
            continue
        if branch.major >= minimum_version.major and (last_branch is None or branch.major <= last_branch):
            return branch
    return None
