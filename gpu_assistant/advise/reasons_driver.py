"""Why the NVIDIA driver stays or changes, and what belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.distributions import page_for
from ..catalog.records import Subject
from ..catalog.versions import capability
from ..core.message import Value
from ..core.recommendation import DriverAdvice, Reason
from .cards import Card, nvidia_cards
from .distributions import commands_here, pick_for_release, release_branch, said_distro, way_of
from .drivers import DriverState, drops, floor
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
        "whom": _whom(where, state),
    }
    if state.package is not None:
        data["newest"] = state.package.version
    if state.refused is not None and state.picked is None:
        yield _back(where, state, advice, data)
    else:
        code = _code(state, advice, unknown=card.capability is None)
        yield say(where, "driver.action", code, where.catalog.cuda, "compatibility", gpu=card.name, **data)
        yield from _ceiling(where, state)
        yield from _last_branch(where, state, card)
    if where.machine.os.wsl:
        yield say(where, "driver.action", "driver-wsl", where.catalog.drivers, "wsl")
    if advice.changes:
        yield from _unchecked(where, state, advice)
        yield from _channel(where, state, card, advice)
        yield from _packages(where, advice)


def _back(where: Site, state: DriverState, advice: DriverAdvice, data: dict[str, Value]) -> Reason:
    """The driver that is there has left the card behind."""
    last = state.generation.last_branch if state.generation is not None else None
    code = "driver-back" if advice.recommended is not None else "driver-back-unnamed"
    source = state.package.source if state.package is not None else "nvidia"
    gpu = _bound_by(where, where.card).name if where.card is not None else None
    data = {**data, "gpu": gpu, "without": state.refused, "branch": f"R{last}"}
    return say(where, "driver.action", code, where.catalog.drivers, source, **data)


def _unchecked(where: Site, state: DriverState, advice: DriverAdvice) -> Iterator[Reason]:
    """Why Windows' driver is left to the user: what has no known checksum is not run with an administrator's rights."""
    if state.system != "windows" or where.machine.os.wsl or advice.recommended is None:
        return
    known = any(p.url == advice.url and p.sha256 is not None for p in where.catalog.drivers.packages if p.url)
    if not known:
        data: dict[str, Value] = {"recommended": advice.recommended}
        yield say(where, "driver.action", "driver-unchecked", where.catalog.drivers, "nvidia", **data)


def _channel(where: Site, state: DriverState, card: Card, advice: DriverAdvice) -> Iterator[Reason]:
    """Why this line of the driver: Studio, Game Ready, or the only one."""
    if advice.channel is not None:
        yield say(where, "driver.channel", f"driver-channel-{advice.channel}", where.catalog.drivers, "nvidia")
        return
    # Who has a card for work hears of the lines only where one of them was asked for.
    matters = card.segment in ("desktop", "laptop") or state.line == "game-ready"
    if state.system == "windows" and matters and advice.recommended is not None:
        yield say(where, "driver.channel", "driver-channel-one", where.catalog.drivers, "nvidia")


def _code(state: DriverState, advice: DriverAdvice, *, unknown: bool) -> str:
    """The sentence for the driver: what is called the newest known is what the catalog knows."""
    if state.picked is not None:
        return "driver-by-hand"
    if advice.action != "keep":
        if state.newest is not None and advice.action in ("install", "update") and not _named(state, advice):
            return f"driver-{advice.action}-from-packages"
        unnamed = "-unknown" if unknown and advice.action != "back" else "-unnamed"
        return f"driver-{advice.action}" + (unnamed if advice.recommended is None else "")
    if state.version is None:
        return "driver-unreadable"
    if state.newest is None:
        return "driver-keep-unnamed"
    return "driver-keep-ahead" if state.version > state.newest else "driver-keep"


def _named(state: DriverState, advice: DriverAdvice) -> bool:
    """Whether the newest driver known for the card is what is recommended: a distribution may bring another one."""
    return state.package is not None and advice.recommended == state.package.version


def _ceiling(where: Site, state: DriverState) -> Iterator[Reason]:
    """The CUDA number that nvidia-smi shows is taken for an installed CUDA by nearly everyone, and for a limit within
    its generation, where the generation's first driver is enough.
    """
    if state.installed is not None and state.cuda is not None and state.picked is None:
        code, data = "driver-ceiling", dict[str, Value](shown=f"{state.cuda[0]}.{state.cuda[1]}")
        lowest = floor(where.catalog, state.cuda, state.system, "binary")
        if lowest is not None and state.version is not None and state.version >= lowest.version:
            code, data["major"], data["minimum"] = "driver-ceiling-within", state.cuda[0], lowest.text
        yield say(where, "driver.installed", code, where.catalog.cuda, "compatibility", **data)


def _whom(where: Site, state: DriverState) -> str:
    """For which cards a driver is the newest: a further one may have its say, and a still older one be left out."""
    if where.card is None or _bound_by(where, where.card) == where.card:
        return "@driver.for-card"
    chips = (card.capability for card in nvidia_cards(where.machine, where.catalog))
    left = any(chip is None or drops(where.catalog, state.newest, chip, state.system) for chip in chips)
    return "@driver.for-these" if left else "@driver.for-all"


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
        gpu=_bound_by(where, card).name,
        branch=f"R{generation.last_branch}",
        without=generation.first_without.get(state.system),
    )


def _bound_by(where: Site, card: Card) -> Card:
    """The card that sets the last branch: an older one beside the deciding card, if there is one."""
    generation = where.state.generation if where.state is not None else None
    top = capability(generation.below_capability) if generation is not None else None
    low = capability(generation.from_capability) if generation is not None else None
    if top is not None and low is not None and card.capability is not None and card.capability >= top:
        for other in nvidia_cards(where.machine, where.catalog):
            if other.capability is not None and low <= other.capability < top:
                return other
    return card


def _packages(where: Site, advice: DriverAdvice) -> Iterator[Reason]:
    """Which packages of the distribution bring the driver, and what has to be switched on first."""
    way, row = way_of(where), commands_here(where)
    drivers, about = where.catalog.drivers, "driver.action"
    if advice.way in ("commands", "page"):
        source = row.source if row is not None and advice.way == "commands" else page_for(drivers, where.machine.os)
        said = {"distro": said_distro(where.machine.os), "minimum": advice.minimum, "page": advice.page}
        yield say(where, about, f"driver-{advice.way}", drivers, source or "nvidia", **said)
        return
    if way is None or advice.way is None:
        return
    data: dict[str, Value] = {"package": " ".join(advice.packages), "distro": said_distro(where.machine.os)}
    data |= {"branch": release_branch(where), "minimum": advice.minimum}
    if advice.way == "nvidia-source":
        code = "driver-packages-behind" if pick_for_release(where) is not None else "driver-packages-behind-only"
        yield say(where, about, code, drivers, way.releases_source or way.source, **data)
        return
    if advice.way == "unsure":
        yield say(where, about, "driver-packages-unsure", drivers, way.source, **data)
        return
    code = "driver-packages" if release_branch(where) is None else "driver-packages-branch"
    yield say(where, about, code, drivers, way.releases_source or way.source, **data)
    if way.needs:
        yield say(where, about, "driver-packages-need", drivers, way.source, needs=", ".join(way.needs), **data)
