"""Other sound choices: what lies ready, what the present driver runs, what serves another card, what is sure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.records import DriverPackage
from ..catalog.versions import numbers
from ..core.message import Value
from ..core.recommendation import Alternative, LocalWheel
from .beside import driver_after
from .builds import code_for
from .cards import said_name
from .decision import Decision
from .distributions import behind, pick_for_release, release_branch, said_distro
from .driver_choices import packages_for
from .drivers import drops
from .host_compilers import toolkit_for_compiler
from .others import amd_chip
from .pick import Pick, best_pick, cpu_pick, cuda_pick
from .reasons import lacks_code
from .tensorflow_ways import tensorflow_ways
from .wheelhouse import alternative
from .working import as_it_is


def alternatives(d: Decision, wheels: tuple[LocalWheel, ...]) -> tuple[Alternative, ...]:
    """The alternatives, the nearest first; none for a build that the user picked."""
    if d.by_hand:
        return ()
    local = alternative(d.where, d.pick, d.python.series if d.python is not None else None, wheels)
    found = [found for found in (as_it_is(d), local) if found is not None]
    found += _once(d, [*_driver(d), *_cards(d), *_sure(d)])
    found += [*_processor(d), *_toolkit(d)]
    if d.tensorflow is not None:
        found += tensorflow_ways(d.where, d.tensorflow, beside_pytorch=d.accelerator == "cuda", wsl=d.wish.wsl)
    return tuple(found)


def _once(d: Decision, offered: list[Alternative]) -> list[Alternative]:
    """Each build once: where two offers end with the same build and driver, the nearer one says enough."""
    known: set[tuple[Value, Value, Value]] = set()
    kept = []
    for other in offered:
        change = other.change
        stays = change.get("driver") in (None, "keep", d.driver.installed)
        end = (change.get("pytorch"), change.get("variant"), None if stays else change.get("driver"))
        if end not in known:
            kept.append(other)
        known.add(end)
    return kept


def _other(code: str, pick: Pick, d: Decision, driver: str | None = None, **data: Value) -> Alternative:
    build = pick.build
    change: dict[str, Value] = {"pytorch": build.version, "variant": build.variant}
    if driver is not None:
        change["driver"] = driver
    return Alternative(code=code, change=change, data={"build": build.label, "recommended": d.pick.build.label, **data})


def _driver(d: Decision) -> Iterator[Alternative]:
    if d.wish.driver is not None:
        return
    state, installed = d.where.state, (d.driver.installed or "").lstrip("@")
    if d.driver.action == "update":
        there = cuda_pick(d.where, with_driver_there=True)
        if there is not None:
            yield _other("keep-driver", there, d, installed=installed)
    branch = numbers(release_branch(d.where))
    if d.driver.changes and branch is not None and behind(d.where, d.driver.minimum):
        runs_there = pick_for_release(d.where)
        if runs_there is not None:
            distro = said_distro(d.where.machine.os)
            yield _other("distribution-driver", runs_there, d, branch=branch[0], distro=distro)
    if d.driver.action == "keep":
        newer, offered = _unlocked(d), d.driver.recommended
        if newer is not None and newer.floor is not None and offered is not None and state is not None:
            runs = state.usable is not None and state.usable >= newer.floor.version
            cuda = newer.build.cuda or (0, 0)
            code = "newer-driver-own" if runs else "newer-driver"
            data: dict[str, Value] = {"installed": installed, "cuda": f"{cuda[0]}.{cuda[1]}"}
            yield _other(code, newer, d, driver=offered, driver_version=offered, **data)


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
    whole, alone = all_cards(d), d.team.alone
    if whole is not None:
        yield whole
    if d.where.others and alone is not None and alone.build.rank < d.pick.build.rank:
        yield from _strongest(d, alone)


def _strongest(d: Decision, alone: Pick) -> Iterator[Alternative]:
    """The newest for the strongest card, with the driver where it takes another than the one that will be there."""
    card, state, lowest = d.cards[0], d.where.state, alone.floor
    after = driver_after(state, d.driver)
    named = [c for c in d.cards if c.capability and code_for(d.where.catalog, alone.build.record, c.capability)]
    gpus = ", ".join(dict.fromkeys(c.listed for c in named))
    if after is None or lowest is None or state is None or after >= lowest.version:
        yield _other("strongest-only", alone, d, gpu=gpus)
        return
    known = (p for p in packages_for(d.where.catalog, state.system, card) if not _leaves_one(d, p))
    package = next((p for p in known if (numbers(p.version) or ()) >= lowest.version), None)
    if package is not None:
        version = package.version
        yield _other("strongest-only-driver", alone, d, driver=version, gpu=gpus, driver_version=version)


def _leaves_one(d: Decision, package: DriverPackage) -> bool:
    """Whether a driver takes away the one that a further card has now."""
    state, catalog = d.where.state, d.where.catalog
    now, then = numbers(state.installed if state is not None else None), numbers(package.version)
    chips = {card.capability for card in d.cards}
    return any(
        drops(catalog, then, chip, package.system) and not drops(catalog, now, chip, package.system) for chip in chips
    )


def all_cards(d: Decision) -> Alternative | None:
    """The build for every card, with the driver that it takes where the one that will be there leaves one out; None
    where no build and driver serve all of them, or the driver's number is not known.
    """
    whole, where = d.team.whole, d.team.whole_where
    if whole is None or where is None or where.state is None or not lacks_code(d) or d.by_hand:
        return None
    gpus = ", ".join(dict.fromkeys(card.listed for card in d.cards))
    after, lowest = driver_after(d.where.state, d.driver), whole.floor
    chips = [card.capability for card in d.cards]
    known = not any(drops(where.catalog, after, chip, where.state.system) for chip in chips)
    if known and (after is None or lowest is None or after >= lowest.version):
        return _other("all-cards", whole, d, gpus=gpus)
    here = where.state.usable
    if d.driver.changes and here is not None and lowest is not None and here >= lowest.version:
        installed = (d.driver.installed or "").lstrip("@")
        return _other("all-cards-keep", whole, d, driver="keep", gpus=gpus, installed=installed)
    package = where.state.package
    if package is None or lowest is None or (numbers(package.version) or ()) < lowest.version:
        return None
    return _other("all-cards-driver", whole, d, driver=package.version, gpus=gpus, driver_version=package.version)


def _sure(d: Decision) -> Iterator[Alternative]:
    if d.pick.build.record.confidence != "high" and d.pick.build.cuda is not None:
        sure = best_pick(d.where, lambda b: b.record.confidence == "high")
        after = driver_after(d.where.state, d.driver)
        # One that asks for another driver than the recommended one is no surer.
        if sure is not None and (after is None or sure.floor is None or after >= sure.floor.version):
            yield _other("sure-build", sure, d)


def _processor(d: Decision) -> Iterator[Alternative]:
    """The processor alone, where the card asks for something first or is not proven."""
    cpu = cpu_pick(d.where)
    if cpu is None:
        return
    if d.driver.changes and d.accelerator == "cuda":
        # What is not there cannot be left alone.
        yield _other("cpu-for-now" if d.driver.installed is not None else "cpu-without-driver", cpu, d)
    if d.accelerator in ("rocm", "xpu"):
        yield _other("cpu-instead", cpu, d)
    if d.accelerator == "cpu" and d.pick.build.variant == "cpu" and d.where.machine.os.system == "windows":
        known = d.where.catalog.accelerators.amd_windows
        for gpu in d.where.machine.gpus_of("amd") if not d.cards else ():
            if amd_chip(d.where.catalog, gpu) in known.wsl_chips:
                yield Alternative(code="amd-wsl", change={}, data={"gpu": said_name(gpu, d.where.catalog)})
                return


def _toolkit(d: Decision) -> Iterator[Alternative]:
    """The toolkit of PyTorch's very minor, where another of its major is kept; none of both, where one is new."""
    toolkit = d.parts.toolkit
    if toolkit.action == "keep" and d.parts.near and d.parts.offered is not None:
        offered = d.parts.offered
        if numbers(offered) != numbers(toolkit.version):
            data: dict[str, Value] = {"offered": offered, "toolkit": toolkit.version}
            yield Alternative(code="toolkit-match", change={"cuda_toolkit": offered}, data=data)
    other = toolkit_for_compiler(d.where, d.parts) if d.wish.cuda_toolkit is None else None
    if other is not None and d.where.machine.tools is not None:
        data = {"other": other, "toolkit": toolkit.version, "gcc": d.where.machine.tools.gcc}
        yield Alternative(code="toolkit-for-compiler", change={"cuda_toolkit": other}, data=data)
    if toolkit.action == "install" and d.wish.cuda_toolkit is None:
        data = {"toolkit": toolkit.version}
        yield Alternative(code="no-toolkit", change={"cuda_toolkit": "none", "cudnn": "none"}, data=data)
