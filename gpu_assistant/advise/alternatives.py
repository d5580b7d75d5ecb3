"""Other sound choices: what lies ready, what the present driver runs, what serves another card, what is sure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.versions import numbers
from ..core.message import Value
from ..core.recommendation import Alternative, LocalWheel
from .decision import Decision
from .drivers import drops, modules_for
from .others import amd_chip
from .pick import Pick, Site, best_pick, cpu_pick, cuda_pick
from .reasons import lacks_code
from .tensorflow_ways import tensorflow_ways
from .wheelhouse import alternative


def alternatives(d: Decision, wheels: tuple[LocalWheel, ...]) -> tuple[Alternative, ...]:
    """The alternatives, the nearest first; none for a build that the user picked."""
    if d.by_hand:
        return ()
    local = alternative(d.where, d.pick, d.python.series if d.python is not None else None, wheels)
    found = [local] if local is not None else []
    found += [*_driver(d), *_cards(d), *_sure(d), *_processor(d), *_toolkit(d)]
    if d.tensorflow is not None:
        found += tensorflow_ways(d.where, d.tensorflow, beside_pytorch=d.accelerator == "cuda")
    return tuple(found)


def _other(code: str, pick: Pick, d: Decision, driver: str | None = None, **data: Value) -> Alternative:
    build = pick.build
    change: dict[str, Value] = {"pytorch": build.version, "variant": build.variant}
    if driver is not None:
        change["driver"] = driver
    return Alternative(code=code, change=change, data={"build": build.label, "recommended": d.pick.build.label, **data})


def _driver(d: Decision) -> Iterator[Alternative]:
    if d.wish.driver is not None:
        return
    installed = (d.driver.installed or "").lstrip("@")
    if d.driver.action == "update":
        there = cuda_pick(d.where, with_driver_there=True)
        if there is not None:
            yield _other("keep-driver", there, d, installed=installed)
    if d.driver.action == "keep":
        newer = _unlocked(d)
        if newer is not None and d.driver.recommended is not None:
            offered = d.driver.recommended
            yield _other("newer-driver", newer, d, driver=offered, driver_version=offered, installed=installed)


def _unlocked(d: Decision) -> Pick | None:
    """The build that the newest known driver would bring, where it is another than the recommended one."""
    state = d.where.state
    if state is None or state.version is None or state.newest is None or state.newest <= state.version:
        return None
    # Without the driver that is there, the best for the newest known one is what would be chosen.
    asleep = replace(d.where, state=replace(state, version=None, cuda=None))
    pick = best_pick(asleep)
    return pick if pick is not None and pick.build.label != d.pick.build.label else None


def _cards(d: Decision) -> Iterator[Alternative]:
    """With several cards: the build for all of them, or the newest for the strongest alone."""
    whole, alone = d.team.whole, d.team.alone
    left_out = lacks_code(d)
    if left_out and whole is not None and d.team.whole_where is not None and _one_module(d):
        gpus = ", ".join(dict.fromkeys(card.name for card in d.cards))
        yield _other("all-cards", whole, d, driver=_shared_driver(d, d.team.whole_where), gpus=gpus)
    if d.where.others and alone is not None and alone.build.rank < d.pick.build.rank:
        card = d.cards[0].name
        yield _other("strongest-only", alone, d, gpu=card)


def _one_module(d: Decision) -> bool:
    """Whether one Linux kernel module serves every card; Windows has but one kind."""
    chips = tuple(card.capability for card in d.cards if card.capability is not None)
    linux = d.where.state is not None and d.where.state.system == "linux"
    return not linux or bool(modules_for(d.where.catalog, chips))


def _shared_driver(d: Decision, where: Site) -> str | None:
    """The driver that an older card needs, where the one that is there has left it behind."""
    state = where.state
    if state is None or state.package is None:
        return None
    gone = any(drops(where.catalog, state.version, card.capability, state.system) for card in d.cards)
    return state.package.version if gone else None


def _sure(d: Decision) -> Iterator[Alternative]:
    if d.pick.build.record.confidence != "high" and d.pick.build.cuda is not None:
        sure = best_pick(d.where, lambda b: b.record.confidence == "high")
        if sure is not None:
            yield _other("sure-build", sure, d)


def _processor(d: Decision) -> Iterator[Alternative]:
    """The processor alone, where the card asks for something first or is not proven."""
    cpu = cpu_pick(d.where)
    if cpu is None:
        return
    if d.driver.action in ("install", "update") and d.accelerator == "cuda":
        yield _other("cpu-for-now", cpu, d)
    if d.accelerator in ("rocm", "xpu"):
        yield _other("cpu-instead", cpu, d)
    if d.accelerator == "cpu" and d.pick.build.variant == "cpu" and d.where.machine.os.system == "windows":
        known = d.where.catalog.accelerators.amd_windows
        for gpu in d.where.machine.gpus_of("amd") if not d.cards else ():
            if amd_chip(d.where.catalog, gpu) in known.wsl_chips:
                yield Alternative(code="amd-wsl", change={}, data={"gpu": (gpu.name or "AMD").lstrip("@")})
                return


def _toolkit(d: Decision) -> Iterator[Alternative]:
    """The toolkit of PyTorch's very minor, where another of its major is kept; none of both, where one is new."""
    toolkit = d.parts.toolkit
    if toolkit.action == "keep" and d.parts.near and d.parts.offered is not None:
        offered = d.parts.offered
        if numbers(offered) != numbers(toolkit.version):
            data: dict[str, Value] = {"offered": offered, "toolkit": toolkit.version}
            yield Alternative(code="toolkit-match", change={"cuda_toolkit": offered}, data=data)
    if toolkit.action == "install" and d.wish.cuda_toolkit is None:
        data = {"toolkit": toolkit.version}
        yield Alternative(code="no-toolkit", change={"cuda_toolkit": "none", "cudnn": "none"}, data=data)
