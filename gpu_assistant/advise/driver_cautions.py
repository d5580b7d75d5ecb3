"""What the user should know about the driver: other cards beside it, Secure Boot, and known troubles."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.distributions import enrolment, own_key, signing_page_for
from ..catalog.versions import numbers
from ..core.message import Value
from ..core.recommendation import DriverAdvice
from ..core.recommendation import Warning as Caution
from .alternatives import all_cards
from .beside import Beside, fates
from .decision import Decision
from .distributions import commands_here, packages_for
from .pick import Site, site


def warn(code: str, **data: Value) -> Caution:
    """One warning."""
    return Caution(code=code, data=data)


def other_cautions(d: Decision) -> Iterator[Caution]:
    """What becomes of the further NVIDIA cards."""
    whole = all_cards(d) is not None
    for other in fates(d.where, d.cards, d.pick.build, d.driver):
        yield from _other(d, other, whole=whole)
    for card in dict.fromkeys(d.cards[1:]):
        if d.accelerator == "cuda" and card.capability is None and d.cards[0].capability is not None:
            yield warn("other-gpu-unknown", gpu=card.listed, build=d.pick.build.label)


def _other(d: Decision, other: Beside, *, whole: bool) -> Iterator[Caution]:
    card, build, state = other.card, d.pick.build.label, d.where.state
    match other.fate:
        case "modules":
            yield _modules(d, other)
        case "leaves":
            code = "driver-drops-other" if whole else "driver-drops-other-alone"
            if (d.by_hand or d.wish.driver is not None) and d.team.whole is not None:
                # What was picked leaves it behind; the alternatives are those of the recommendation.
                code = "driver-drops-other-picked"
            yield warn(code, gpu=card.listed, recommended=d.driver.recommended)
        case "dark":
            code = "other-gpu-dark-way-back" if whole else "other-gpu-dark"
            installed = state.installed if state is not None else None
            yield warn(code, gpu=card.listed, installed=(installed or "").lstrip("@"), without=other.without)
        case "own":
            yield warn("other-gpu-without-code", gpu=card.listed, build=build)
        case "never":
            yield warn("other-gpu-never", gpu=card.listed, build=build, capability=card.capability_text)


def _modules(d: Decision, other: Beside) -> Caution:
    """On Linux one kind of kernel modules is loaded: which package serves which of the two cards."""
    where, strong = d.where, d.cards[0]
    alone = site(where.machine, where.catalog, where.arch, other.card, "studio")
    data: dict[str, Value] = {"gpu": other.card.listed, "strong": strong.listed}
    # A driver that stays is of the packages that are here.
    stays = d.driver.installed if d.driver.action == "keep" else None
    mine = packages_for(where, where.state, strong, d.driver.minimum, stays) if where.state is not None else None
    theirs = packages_for(alone, alone.state, other.card, other.minimum) if alone.state is not None else None
    if mine is None or theirs is None:
        return warn("other-gpu-modules", **data)
    return warn("other-gpu-modules-named", package=mine.names[0], other=theirs.names[0], **data)


def driver_cautions(where: Site, advice: DriverAdvice) -> Iterator[Caution]:
    """Secure Boot before a new driver on Linux, and troubles of the very driver that will be there."""
    state = where.state
    if state is None or advice.action == "none":
        return
    if state.system == "linux" and where.machine.os.secure_boot and advice.changes:
        found = packages_for(where, state, where.card, advice.minimum, advice.recommended) if where.card else None
        package, row = found.signed if found is not None else None, commands_here(where)
        if advice.key:
            yield warn("secure-boot-commands")
        elif advice.way in ("commands", "page"):
            if advice.way == "page" or row is None or not row.signed:
                source = signing_page_for(where.catalog.drivers, where.machine.os)
                page = where.catalog.source(where.catalog.drivers, source) if source is not None else advice.page
                yield warn("secure-boot-page", page=page)
        elif package is None and own_key(where.catalog.drivers, where.machine.os) is not None:
            enrol = enrolment(where.catalog.drivers, where.machine.os)
            yield warn("secure-boot-enrol", enrol=" ".join(enrol))
        else:
            yield warn("secure-boot-key" if package is None else "secure-boot-signed", package=package)
    version = numbers(advice.recommended if advice.changes else advice.installed)
    for trouble in where.catalog.drivers.troubles:
        if trouble.system == state.system and version in [numbers(known) for known in trouble.versions]:
            newer = state.newest is not None and version is not None and state.newest > version
            newest = state.package.version if newer and state.package is not None else None
            code = f"driver-{trouble.what}" + ("" if newest is not None else "-only")
            said = (advice.recommended if advice.changes else advice.installed) or ""
            url = where.catalog.source(where.catalog.drivers, trouble.source)
            yield warn(code, version=said.lstrip("@"), newest=newest, url=url)
