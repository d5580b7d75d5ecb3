"""The driver that the user picked by hand, and those that a card can have."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.records import DriverPackage, Generation
from ..catalog.versions import capability, numbers
from ..core.errors import CallError
from ..core.machine import SystemName
from .cards import Card
from .driver_addresses import addressed, for_machine
from .drivers import branch_knows, drops, generation_of, native_cuda
from .part_choices import impossible
from .pick import Site


def packages_for(catalog: Catalog, system: SystemName, card: Card) -> Iterator[DriverPackage]:
    """The packages known to serve a card: Windows' name the cards, Linux's branches know those of their time."""
    own = generation_of(catalog, card.capability) if card.capability is not None else None
    if card.capability is not None and own is None:
        return
    generations = {generation.id: generation for generation in catalog.drivers.generations}
    for package in catalog.drivers.packages:
        if package.system != system or package.segment not in (None, card.segment):
            continue
        other = generations.get(package.generation) if own is not None else None
        if other in (None, own) or (system == "linux" and _of_its_time(catalog, other, card.capability)):
            yield package


def _of_its_time(catalog: Catalog, generation: Generation | None, chip: tuple[int, int] | None) -> bool:
    """Whether drivers for an older generation of cards know a newer chip."""
    low = capability(generation.from_capability) if generation is not None else None
    if generation is None or chip is None or low is None:
        return False
    return chip >= low and branch_knows(catalog, generation, chip)


def with_driver(where: Site, picked: str | None) -> Site:
    """The place as it is with the driver that the user picked: "keep" or an exact version."""
    state = where.state
    if picked is None:
        return where
    newest = state.package.version if state is not None and state.package is not None else None
    if where.card is None or state is None:
        raise impossible("driver", picked, "no-card", newest)
    if picked == "keep":
        if state.installed is None:
            raise impossible("driver", picked, "no-driver", newest)
        if state.refused is not None:
            raise impossible("driver", picked, "driver-drops-card", newest)
        return replace(where, state=replace(state, picked=state.installed)) if state.version is not None else where
    version = numbers(picked)
    if version is None:
        raise CallError("choice-unreadable", choice=picked.lstrip("@"))
    if drops(where.catalog, version, where.card.capability, state.system) is not None:
        raise impossible("driver", picked, "driver-drops-card", newest)
    if state.first is not None and version < state.first.version:
        raise impossible("driver", picked, "driver-before-card", newest)
    package = next((p for p in packages_for(where.catalog, state.system, where.card) if p.version == picked), None)
    listed = any((p.system, p.version) == (state.system, picked) for p in where.catalog.drivers.packages)
    if listed and package is None and where.card.capability is not None:
        raise impossible("driver", picked, "driver-other-card", newest)
    if package is not None:
        package = addressed(where.catalog, package, where.card.segment, package.channel or "studio")
        package = for_machine(where.catalog, package, where.machine)
    cuda, generation = native_cuda(where.catalog, version), state.generation
    if generation is not None and where.card.capability is not None and generation.last_branch is not None:
        # One that leaves an older card behind is had as the strongest card alone has it.
        last = numbers(generation.first_without.get(state.system))
        gone = last is not None and version >= last
        generation = generation_of(where.catalog, where.card.capability) if gone else generation
    state = replace(
        state, version=version, cuda=cuda, package=package, refused=None, picked=picked, generation=generation
    )
    return replace(where, state=state)
