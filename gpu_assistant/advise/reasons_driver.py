"""Why the NVIDIA driver stays or changes, and what belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.records import Subject
from ..catalog.versions import capability
from ..core.message import Value
from ..core.recommendation import DriverAdvice, Reason
from .cards import Card
from .distributions import behind, package_for, release_branch, said_distro, way_of
from .drivers import DriverState
from .pick import Site


def say(where: Site, about: str, code: str, subject: Subject, source: str, **data: Value) -> Reason:
    """One reason with the public address of its source."""
    return Reason(code=code, about=about, data=data, source=where.catalog.source(subject, source))


def driver_reasons(where: Site, advice: DriverAdvice, cuda: str | None) -> Iterator[Reason]:
    """The reasons for a driver that has to run programs of CUDA "13.2"; None where nothing uses it."""
    state, card = where.state, where.card
    if advice.action == "none" or state is None or card is None or cuda is None:
        code = "driver-none" if where.machine.gpus_of("nvidia") else "driver-processor"
        yield say(where, "driver.action", code, where.catalog.pytorch, "install")
        return
    data: dict[str, Value] = {
        "installed": advice.installed.lstrip("@") if advice.installed is not None else None,
        "minimum": advice.minimum,
        "recommended": advice.recommended,
        "cuda": cuda,
    }
    if state.package is not None:
        data["newest"] = state.package.version
    if state.refused is not None and state.picked is None:
        yield _back(where, state, advice, data)
    else:
        yield say(where, "driver.action", _code(state, advice), where.catalog.cuda, "compatibility", **data)
        yield from _ceiling(where, state)
        yield from _last_branch(where, state, card)
    if where.machine.os.wsl:
        yield say(where, "driver.action", "driver-wsl", where.catalog.drivers, "wsl")
    if advice.changes:
        yield from _channel(where, state, card, advice)
        yield from _packages(where, state, card, advice)


def _back(where: Site, state: DriverState, advice: DriverAdvice, data: dict[str, Value]) -> Reason:
    """The driver that is there has left the card behind."""
    last = state.generation.last_branch if state.generation is not None else None
    code = "driver-back" if advice.recommended is not None else "driver-back-unnamed"
    source = state.package.source if state.package is not None else "nvidia"
    gpu = _bound_by(where, where.card) if where.card is not None else None
    data = {**data, "gpu": gpu, "without": state.refused, "branch": f"R{last}"}
    return say(where, "driver.action", code, where.catalog.drivers, source, **data)


def _channel(where: Site, state: DriverState, card: Card, advice: DriverAdvice) -> Iterator[Reason]:
    """Why this line of the driver: Studio, Game Ready, or the only one."""
    if advice.channel is not None:
        yield say(where, "driver.channel", f"driver-channel-{advice.channel}", where.catalog.drivers, "nvidia")
    elif state.system == "windows" and card.segment in ("desktop", "laptop") and advice.recommended is not None:
        yield say(where, "driver.channel", "driver-channel-one", where.catalog.drivers, "nvidia")


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
    """Which packages of the distribution bring the driver, and what has to be switched on first."""
    way = way_of(where)
    package = package_for(where, state, card, advice.minimum)
    if way is None or package is None:
        return
    drivers, about = where.catalog.drivers, "driver.action"
    data: dict[str, Value] = {"package": package, "distro": said_distro(where.machine.os)}
    if behind(where, advice.minimum):
        branch = release_branch(where)
        data |= {"branch": branch, "minimum": advice.minimum}
        yield say(where, about, "driver-packages-behind", drivers, way.releases_source or way.source, **data)
        return
    yield say(where, about, "driver-packages", drivers, way.source, **data)
    if way.needs:
        yield say(where, about, "driver-packages-need", drivers, way.source, needs=", ".join(way.needs), **data)
