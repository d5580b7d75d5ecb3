"""Why the NVIDIA driver stays or changes, and what belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.driver_ways import LinuxDriverInstall
from ..catalog.records import Subject
from ..catalog.versions import capability, numbers
from ..core.message import Value
from ..core.recommendation import DriverAdvice, Reason
from .cards import Card, nvidia_cards
from .drivers import DriverState, modules_for
from .pick import Site


def say(where: Site, about: str, code: str, subject: Subject, source: str, **data: Value) -> Reason:
    """One reason with the public address of its source."""
    return Reason(code=code, about=about, data=data, source=where.catalog.source(subject, source))


def driver_reasons(where: Site, advice: DriverAdvice, cuda: str | None) -> Iterator[Reason]:
    """The reasons for a driver that has to run programs of CUDA "13.2"; None where nothing uses it."""
    state, card = where.state, where.card
    if advice.action == "none" or state is None or card is None or cuda is None:
        yield say(where, "driver.action", "driver-none", where.catalog.pytorch, "install")
        return
    data: dict[str, Value] = {
        "installed": advice.installed.lstrip("@") if advice.installed is not None else None,
        "minimum": advice.minimum,
        "recommended": advice.recommended,
        "cuda": cuda,
    }
    if state.package is not None:
        data["newest"] = state.package.version
    yield say(where, "driver.action", _code(state, advice), where.catalog.cuda, "compatibility", **data)
    yield from _ceiling(where, state)
    yield from _last_branch(where, state, card)
    if advice.action != "keep":
        yield from _packages(where, state, card, advice)


def _code(state: DriverState, advice: DriverAdvice) -> str:
    """The sentence for the driver: what is called the newest known is what the catalog knows."""
    if state.picked is not None:
        return "driver-by-hand"
    if advice.action != "keep":
        return f"driver-{advice.action}" + ("-unnamed" if advice.recommended is None else "")
    if state.version is None:
        return "driver-unreadable"
    if state.newest is None:
        return "driver-keep-unnamed"
    return "driver-keep-ahead" if state.version > state.newest else "driver-keep"


def _ceiling(where: Site, state: DriverState) -> Iterator[Reason]:
    """The CUDA number that nvidia-smi shows is taken for an installed CUDA by nearly everyone."""
    if state.installed is not None and state.cuda is not None and state.picked is None:
        shown = f"{state.cuda[0]}.{state.cuda[1]}"
        yield say(where, "driver.installed", "driver-ceiling", where.catalog.cuda, "compatibility", shown=shown)


def _last_branch(where: Site, state: DriverState, card: Card) -> Iterator[Reason]:
    generation = state.generation
    if generation is None or generation.last_branch is None:
        return
    yield say(
        where,
        "driver.recommended",
        "driver-last-branch",
        where.catalog.drivers,
        state.package.source if state.package is not None else "nvidia",
        gpu=_bound_by(where, card),
        branch=f"R{generation.last_branch}",
        without=generation.first_without.get(state.system),
    )


def _bound_by(where: Site, card: Card) -> str:
    """The card that sets the last branch: an older one beside the deciding card, if there is one."""
    generation = where.state.generation if where.state is not None else None
    top = capability(generation.below_capability) if generation is not None else None
    if top is not None and card.capability is not None and card.capability >= top:
        for gpu in where.machine.gpus_of("nvidia"):
            row = where.catalog.gpu(gpu.pci_id) if gpu.pci_id else None
            chip = capability(gpu.compute_capability) or (capability(row.compute_capability) if row else None)
            if chip is not None and chip < top:
                return (gpu.name or (row.name if row is not None else card.name)).lstrip("@")
    return card.name


def _packages(where: Site, state: DriverState, card: Card, advice: DriverAdvice) -> Iterator[Reason]:
    """Which packages of the distribution bring the driver."""
    distro = (where.machine.os.distro or "").casefold()
    ways = where.catalog.drivers.linux_install if state.system == "linux" else ()
    way = next((way for way in ways if way.distribution == distro), None)
    package = _package(where, way, state, card, advice) if way is not None else None
    if way is None or package is None:
        return
    name = where.machine.os.distro or way.distribution
    yield say(
        where, "driver.action", "driver-packages", where.catalog.drivers, way.source, package=package, distro=name
    )


def _package(where: Site, way: LinuxDriverInstall, state: DriverState, card: Card, advice: DriverAdvice) -> str | None:
    """The package with the newest branch that the distribution was seen to carry and that is new enough."""
    oldest = capability(state.generation.below_capability) if state.generation is not None else None
    chips = [c for gpu in nvidia_cards(where.machine, where.catalog) if (c := gpu.capability) is not None]
    # An older card beside it shares the driver, where it decided the branch.
    shared = tuple(c for c in chips if c == card.capability or (oldest is not None and c < oldest))
    kinds = modules_for(where.catalog, shared)
    if not kinds:
        return None
    kind = kinds[0]
    if card.segment == "datacenter" and f"server_{kind}" in way.packages:
        kind_key = f"server_{kind}"
    else:
        kind_key = "server" if card.segment == "datacenter" and "server" in way.packages else kind
    pattern = way.packages.get(kind_key)
    if pattern is None or "{branch}" not in pattern:
        return pattern
    lowest, last = numbers(advice.minimum), state.generation.last_branch if state.generation is not None else None
    for branch in way.series:
        number = numbers(branch)
        if number is not None and lowest is not None and number >= lowest[:1] and (last is None or number[0] <= last):
            return pattern.format(branch=branch)
    return None
