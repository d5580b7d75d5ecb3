"""The driver that the user picked by hand, and those that a card can have."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.records import DriverPackage, GpuGeneration
from ..catalog.versions import parse_capability, parse_version
from ..core.errors import UsageError
from ..core.machine import SystemName
from .cards import NvidiaGpu
from .driver_addresses import with_download_url, with_server_url
from .drivers import branch_supports, dropping_driver, find_generation, native_cuda
from .part_choices import part_choice_error
from .pick import TargetSystem


def driver_packages_for(catalog: Catalog, system: SystemName, card: NvidiaGpu) -> Iterator[DriverPackage]:
    """The packages known to serve a card: Windows' name the cards, Linux's branches know those of their time."""
    own_generation = find_generation(catalog, card.capability) if card.capability is not None else None
    if card.capability is not None and own_generation is None:
        return
    generations = {generation.id: generation for generation in catalog.drivers.generations}
    for package in catalog.drivers.packages:
        if package.system != system or package.segment not in (None, card.segment):
            continue
        other = generations.get(package.generation) if own_generation is not None else None
        if other in (None, own_generation) or (system == "linux" and _supports_newer_chip(catalog, other, card.capability)):
            yield package


def _supports_newer_chip(catalog: Catalog, generation: GpuGeneration | None, chip: tuple[int, int] | None) -> bool:
    """Whether drivers for an older generation of cards know a newer chip."""
    lowest = parse_capability(generation.from_capability) if generation is not None else None
    if generation is None or chip is None or lowest is None:
        return False
    return chip >= lowest and branch_supports(catalog, generation, chip)


def apply_driver_choice(target: TargetSystem, requested: str | None) -> TargetSystem:
    """The place as it is with the driver that the user picked: "keep" or an exact version."""
    state = target.driver_state
    if requested is None:
        return target
    newest_version = state.package.version if state is not None and state.package is not None else None
    if target.gpu is None or state is None:
        raise part_choice_error("driver", requested, "no-card", newest_version)
    if requested == "keep":
        if state.installed is None:
            raise part_choice_error("driver", requested, "no-driver", newest_version)
        if state.dropped_from is not None:
            raise part_choice_error("driver", requested, "driver-drops-card", newest_version)
        return replace(target, driver_state=replace(state, requested=state.installed)) if state.version is not None else target
    version = parse_version(requested)
    if version is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    if dropping_driver(target.catalog, version, target.gpu.capability, state.system) is not None:
        raise part_choice_error("driver", requested, "driver-drops-card", newest_version)
    if state.first_driver is not None and version < state.first_driver.version:
        raise part_choice_error("driver", requested, "driver-before-card", newest_version)
    package = next((p for p in driver_packages_for(target.catalog, state.system, target.gpu) if p.version == requested), None)
    is_listed = any((p.system, p.version) == (state.system, requested) for p in target.catalog.drivers.packages)
    if is_listed and package is None and target.gpu.capability is not None:
        raise part_choice_error("driver", requested, "driver-other-card", newest_version)
    if package is not None:
        package = with_download_url(target.catalog, package, target.gpu.segment, package.channel or "studio")
        package = with_server_url(target.catalog, package, target.machine)
    cuda, generation = native_cuda(target.catalog, version), state.generation
    if generation is not None and target.gpu.capability is not None and generation.last_branch is not None:
        # One that leaves an older card behind is had as the strongest card alone has it.
        dropped_from = parse_version(generation.first_without.get(state.system))
        is_dropped = dropped_from is not None and version >= dropped_from
        generation = find_generation(target.catalog, target.gpu.capability) if is_dropped else generation
    state = replace(
        state, version=version, cuda=cuda, package=package, dropped_from=None, requested=requested, generation=generation
    )
    return replace(target, driver_state=state)
