"""Why the NVIDIA driver stays or changes, and what belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.distributions import driver_page_package, driver_page_source
from ..catalog.records.base import CatalogFile
from ..catalog.records.drivers import LinuxDriverInstall
from ..core.recommendation import DriverAdvice, Reason
from ..core.types import Value
from ..core.versions import version_text
from .candidates import TargetSystem
from .distributions import (
    DriverPackages,
    candidate_for_release,
    distribution_name,
    find_driver_commands,
    find_install_method_for,
    is_branch_too_old,
    release_branch,
    select_packages,
)
from .drivers import DriverState, dropping_driver, find_minimum_driver, find_minimum_windows, is_in_range
from .gpus import NvidiaGpu, nvidia_gpus


def make_reason(
    target: TargetSystem, about: str, code: str, subject: CatalogFile, source: str, **data: Value
) -> Reason:
    """One reason with the public address of its source."""
    return Reason(code=code, about=about, data=data, source=target.catalog.source_url(subject, source))


def driver_reasons(
    target: TargetSystem, advice: DriverAdvice, cuda: str | None, *, translated: str | None = None
) -> Iterator[Reason]:
    """The reasons for a driver that has to run programs of a CUDA version ("13.2"; None: nothing uses the driver).

    `translated` is a program that has only portable code for the GPU, which the driver translates.
    """
    state, card = target.driver_state, target.gpu
    if advice.action == "none" or state is None or card is None or cuda is None:
        code = "driver-none" if target.machine.gpus_of("nvidia") else "driver-processor"
        yield make_reason(target, "driver.action", code, target.catalog.pytorch, "install")
        return
    data: dict[str, Value] = {
        "installed": advice.installed.lstrip("@") if advice.installed is not None else None,
        "minimum": advice.minimum,
        "recommended": advice.recommended,
        "cuda": cuda,
        "whom": _served_gpus_text(target, state),
    }
    if state.package is not None:
        data["newest"] = state.package.version.text
    if state.host == "windows" and (lowest := find_minimum_windows(target.catalog, target.machine)) is not None:
        data["needed"] = lowest.name
    if state.dropped_from is not None and state.requested is None:
        yield _downgrade_reason(target, state, advice, data)
    else:
        code = _action_code(state, advice, unknown=card.capability is None)
        if translated is not None and (translating := _TRANSLATING_CODES.get(code)) is not None:
            is_production = state.package is not None and state.package.line == "production"
            code, data["program"] = translating, translated
            data["line"] = "@driver.line.production" if is_production else "@driver.line.newest"
        elif code in _PRODUCTION_CODES and state.package is not None and state.package.line == "production":
            code = f"{code}-production"
        if state.host == "vgpu" and (release := virtual_gpu_release(target, state)) is not None:
            code, data["release"] = "driver-host-vgpu-release", release
        yield make_reason(target, "driver.action", code, target.catalog.cuda, "compatibility", gpu=card.name, **data)
        yield from _cuda_limit_reasons(target, state)
        yield from _last_branch_reasons(target, state, card)
    if target.machine.os.wsl:
        yield make_reason(target, "driver.action", "driver-wsl", target.catalog.drivers, "wsl")
    if advice.needs_install:
        yield from _manual_download_reasons(target, state, advice)
        yield from _channel_reasons(target, state, card, advice)
        yield from _package_reasons(target, advice)


# Sentences that name the newest driver; those of NVIDIA's production branch say so.
_PRODUCTION_CODES = frozenset(
    f"driver-{code}"
    for code in ("keep", "keep-ahead", "update", "install", "install-from-packages", "update-from-packages")
)
_TRANSLATING_CODES = {
    "driver-update": "driver-update-translates",
    "driver-install": "driver-install-translates",
    "driver-keep": "driver-keep-translates",
    "driver-keep-ahead": "driver-keep-translates",
}


def virtual_gpu_release(target: TargetSystem, state: DriverState) -> str | None:
    """The release of vGPU that the installed guest driver belongs to; None where it is unknown."""
    virtual_gpus, version = target.catalog.drivers.virtual_gpus, state.installed_version
    if virtual_gpus is None or version is None:
        return None
    # Drivers for Windows have higher numbers within a branch: 582.53 is of R580.
    rows = (row for row in virtual_gpus.releases if row.branch.major <= version.major < row.branch.major + 5)
    return next((row.release for row in rows), None)


def _downgrade_reason(target: TargetSystem, state: DriverState, advice: DriverAdvice, data: dict[str, Value]) -> Reason:
    """The installed driver no longer supports the GPU."""
    last_branch = state.generation.last_branch if state.generation is not None else None
    code = "driver-back" if advice.recommended is not None else "driver-back-unnamed"
    source = state.package.source if state.package is not None else "nvidia"
    gpu = _limiting_gpu(target, target.gpu).name if target.gpu is not None else None
    data = {**data, "gpu": gpu, "without": version_text(state.dropped_from), "branch": f"R{last_branch}"}
    return make_reason(target, "driver.action", code, target.catalog.drivers, source, **data)


def _manual_download_reasons(target: TargetSystem, state: DriverState, advice: DriverAdvice) -> Iterator[Reason]:
    """The driver for Windows is left to the user where nobody knows the address of its package."""
    if state.system != "windows" or target.machine.os.wsl or advice.recommended is None:
        return
    if not target.catalog.is_driver_installer(advice.url, advice.recommended):
        data: dict[str, Value] = {"recommended": advice.recommended}
        yield make_reason(target, "driver.action", "driver-page-only", target.catalog.drivers, "nvidia", **data)


def _channel_reasons(
    target: TargetSystem, state: DriverState, card: NvidiaGpu, advice: DriverAdvice
) -> Iterator[Reason]:
    """Why this driver line: Studio, Game Ready, or the only one."""
    if advice.channel is not None:
        yield make_reason(
            target, "driver.channel", f"driver-channel-{advice.channel}", target.catalog.drivers, "nvidia"
        )
        return
    # For professional GPUs the lines matter only to a user who asked for Game Ready.
    is_relevant = card.segment in ("desktop", "laptop") or state.channel == "game-ready"
    if state.system == "windows" and is_relevant and advice.recommended is not None:
        yield make_reason(target, "driver.channel", "driver-channel-one", target.catalog.drivers, "nvidia")


def _action_code(state: DriverState, advice: DriverAdvice, *, unknown: bool) -> str:
    """The code of the reason for what happens to the driver."""
    if state.host is not None or state.requested is not None:
        return "driver-by-hand" if state.host is None else f"driver-host-{state.host}"
    if advice.action != "keep":
        if (
            state.newest_version is not None
            and advice.action in ("install", "update")
            and not _recommends_newest(state, advice)
        ):
            return f"driver-{advice.action}-from-packages"
        suffix = "-unknown" if unknown and advice.action != "back" else "-unnamed"
        return f"driver-{advice.action}" + (suffix if advice.recommended is None else "")
    if state.version is None:
        return "driver-unreadable"
    if state.newest_version is None:
        return "driver-keep-unnamed"
    return "driver-keep-ahead" if state.version > state.newest_version else "driver-keep"


def _recommends_newest(state: DriverState, advice: DriverAdvice) -> bool:
    """Whether the newest known driver is recommended; a distribution's packages may bring another one."""
    return state.package is not None and advice.recommended == state.package.version.text


def _cuda_limit_reasons(target: TargetSystem, state: DriverState) -> Iterator[Reason]:
    """What the CUDA version in nvidia-smi means: neither an installed CUDA nor a limit within its major, for which the
    major's first driver is enough.
    """
    if state.installed is not None and state.cuda is not None and state.requested is None:
        code, data = "driver-ceiling", dict[str, Value](shown=state.cuda.text)
        minimum = find_minimum_driver(target.catalog, state.cuda, state.system, "binary")
        if minimum is not None and state.version is not None and state.version >= minimum:
            code, data["major"], data["minimum"] = "driver-ceiling-within", state.cuda.major, minimum.text
        yield make_reason(target, "driver.installed", code, target.catalog.cuda, "compatibility", **data)


def _served_gpus_text(target: TargetSystem, state: DriverState) -> str:
    """The GPUs for which the driver is the newest, as the code of a text: one, all, or all but those that it drops."""
    if target.gpu is None or _limiting_gpu(target, target.gpu) == target.gpu:
        return "@driver.for-card"
    chips = (card.capability for card in nvidia_gpus(target.machine, target.catalog))
    excludes_any = any(
        chip is None or dropping_driver(target.catalog, state.newest_version, chip, state.system) for chip in chips
    )
    return "@driver.for-these" if excludes_any else "@driver.for-all"


def _last_branch_reasons(target: TargetSystem, state: DriverState, card: NvidiaGpu) -> Iterator[Reason]:
    generation = state.generation
    if generation is None or generation.last_branch is None:
        return
    yield make_reason(
        target,
        "driver.recommended",
        "driver-last-branch",
        target.catalog.drivers,
        state.package.source if state.package is not None else "nvidia",
        gpu=_limiting_gpu(target, card).name,
        branch=f"R{generation.last_branch}",
        without=version_text(generation.first_without.get(state.system)),
    )


def _limiting_gpu(target: TargetSystem, card: NvidiaGpu) -> NvidiaGpu:
    """The GPU whose generation sets the last branch: an older one beside the deciding GPU, if there is one."""
    generation = target.driver_state.generation if target.driver_state is not None else None
    limit = generation.below_capability if generation is not None else None
    if generation is not None and limit is not None and card.capability is not None and card.capability >= limit:
        for other in nvidia_gpus(target.machine, target.catalog):
            if other.capability is not None and is_in_range(other.capability, generation.from_capability, limit):
                return other
    return card


def _page_package_reasons(target: TargetSystem, advice: DriverAdvice, source: str | None) -> Iterator[Reason]:
    """The package to look for on the distribution's page, where it is known."""
    state = target.driver_state
    if advice.way != "page" or state is None or state.generation is None:
        return
    package = driver_page_package(target.catalog.drivers, target.machine.os, state.generation.id)
    if package is not None:
        data: dict[str, Value] = {"package": package, "distro": distribution_name(target.machine.os)}
        yield make_reason(
            target, "driver.action", "driver-page-package", target.catalog.drivers, source or "nvidia", **data
        )


def _package_reasons(target: TargetSystem, advice: DriverAdvice) -> Iterator[Reason]:
    """Which packages, commands or page of the distribution bring the driver, and what has to be enabled first."""
    method, row = find_install_method_for(target), find_driver_commands(target)
    drivers, about = target.catalog.drivers, "driver.action"
    if advice.way in ("commands", "page"):
        source = (
            row.source
            if row is not None and advice.way == "commands"
            else driver_page_source(drivers, target.machine.os)
        )
        data_without_packages = {
            "distro": distribution_name(target.machine.os),
            "minimum": advice.minimum,
            "page": advice.page,
        }
        yield make_reason(target, about, f"driver-{advice.way}", drivers, source or "nvidia", **data_without_packages)
        yield from _page_package_reasons(target, advice, source)
        return
    if method is None or advice.way is None or target.driver_state is None or target.gpu is None:
        return
    data: dict[str, Value] = {"package": " ".join(advice.packages), "distro": distribution_name(target.machine.os)}
    data |= {"branch": version_text(release_branch(target)), "minimum": advice.minimum}
    packages = select_packages(target, target.driver_state, target.gpu, advice.minimum, advice.recommended)
    if packages is None:
        return
    if advice.way == "nvidia-source" and not is_branch_too_old(target, advice.minimum):
        yield from _module_reasons(target, method, packages, "driver-packages", data)
        return
    if advice.way == "nvidia-source":
        code = "driver-packages-behind" if candidate_for_release(target) is not None else "driver-packages-behind-only"
        yield make_reason(target, about, code, drivers, method.releases_source or method.source, **data)
        return
    if advice.way == "unsure":
        yield make_reason(target, about, "driver-packages-unsure", drivers, method.source, **data)
        if packages.modules.kinds:
            yield from _module_reasons(target, method, packages, "driver-modules", data)
        return
    code = "driver-packages" if release_branch(target) is None else "driver-packages-branch"
    yield make_reason(target, about, code, drivers, method.releases_source or method.source, **data)
    yield from _module_reasons(target, method, packages, "driver-modules", data)
    if method.needs:
        yield make_reason(
            target, about, "driver-packages-need", drivers, method.source, needs=", ".join(method.needs), **data
        )


def _module_reasons(
    target: TargetSystem, method: LinuxDriverInstall, packages: DriverPackages, stem: str, data: dict[str, Value]
) -> Iterator[Reason]:
    """Why the kind of kernel modules that NVIDIA prefers for the GPUs is left out, where it is."""
    drivers, about, modules = target.catalog.drivers, "driver.action", packages.modules
    data = data | {"branch": version_text(packages.branch)}
    if modules.failure is not None:
        release = f"{method.distribution.title()} {modules.failure.release}"
        yield make_reason(
            target, about, f"{stem}-not-compiling", drivers, modules.failure.source, release=release, **data
        )
    elif modules.is_early and drivers.open_modules is not None:
        yield make_reason(target, about, f"{stem}-early", drivers, drivers.open_modules.source, **data)
