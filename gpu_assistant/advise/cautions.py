"""What the user should know before going on, with what mends it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PureWindowsPath

from ..catalog.versions import numbers
from ..core.disks import elsewhere, home_disk
from ..core.message import Value
from ..core.recommendation import DriverAdvice
from ..core.recommendation import Warning as Caution
from .cards import Card, said_name
from .cudnn import cudnn_fit
from .decision import Decision
from .driver_advice import driver_advice
from .driver_cautions import driver_cautions, other_cautions, warn
from .host_compilers import compiler_cautions
from .linux_cautions import fabric_cautions, group_cautions
from .others import unlisted
from .pick import Pick, Site
from .runtime_cautions import runtime_cautions
from .systems import held_back
from .tensorflow import TensorFlowPick
from .tensorflow_beside import idle_cards, pytorch_too
from .tensorflow_ways import inside_wsl
from .toolkit import Parts, installable
from .unusable import age_of, makers_own


def cautions(d: Decision) -> tuple[Caution, ...]:
    """The warnings, the weightiest first."""
    return tuple(_cautions(d))


def _cautions(d: Decision) -> Iterator[Caution]:
    build = d.pick.build
    yield from _system(d)
    yield from who_is_there(d.where, d.cards)
    if d.cards and d.accelerator != "cuda" and not d.by_hand and d.wish.driver is None:
        idle, age = d.cards[0], age_of(d.where, d.cards[0])
        code = {"old": "gpu-too-old", "new": "gpu-too-new", "none": "gpu-without-code"}[age]
        own = makers_own(d.where)
        if own is not None:
            yield warn("gpu-makers-own", gpu=idle.name, url=own.url)
        else:
            yield warn(code, gpu=idle.name, capability=idle.capability_text)
    card = d.where.card
    if d.accelerator == "cuda":
        yield from card_cautions(d.where, build.label, d.driver.minimum)
        if card is not None and card.capability is not None and d.pick.code == "unknown":
            yield warn("code-unknown", gpu=card.name, build=build.label)
        if card is not None and cudnn_fit(d.where.catalog, build, card.capability) == "too-new":
            yield warn("cudnn-too-new", gpu=card.name, build=build.label, cudnn=build.record.cudnn)
    yield from other_cautions(d)
    yield from _driver(d)
    yield from part_cautions(d.where, d.pick, d.parts)
    if d.tensorflow is not None:
        yield from tensorflow_cautions(d.where, d.tensorflow, beside_pytorch=d.accelerator == "cuda")
        yield from idle_cards(d.where, d.tensorflow, d.cards)
        yield from wsl_cautions(d.where, d.tensorflow, d.driver)
    elif d.goal == "all":
        yield warn("tensorflow-none", system=f"@system.{d.where.machine.os.system}", arch=d.where.arch)
    if d.python is None:
        yield warn("no-python", build=build.label, series=", ".join(build.release.python))
    yield from runtime_cautions(d.where, pytorch=d.pick.build, tensorflow=d.tensorflow)
    yield from _space(d)
    yield from machine_cautions(d.where, driver_changes=d.driver.changes)
    yield from driver_cautions(d.where, d.driver)
    yield from fabric_cautions(d.where, d.driver)
    yield from group_cautions(d.where, d.accelerator)
    unnamed = unlisted(d.where) if d.accelerator == "xpu" else None
    if unnamed is not None:
        yield warn("xpu-unlisted", gpu=said_name(unnamed, d.where.catalog), build=build.label)
    elif d.accelerator in ("rocm", "xpu"):
        yield warn("not-proven", build=build.label)
    if not d.arch_known:
        yield warn("arch-unknown", arch=d.where.arch)


def who_is_there(where: Site, cards: tuple[Card, ...]) -> Iterator[Caution]:
    """A card whose name and id say different things, and a driver of a card that nothing names."""
    for card in cards:
        if card.by_id is not None:
            yield warn("gpu-name-and-id", gpu=card.listed, named=card.by_id, capability=card.capability_text)
        elif card.listed_capability is not None:
            claimed = {"capability": card.capability_text, "listed": card.listed_capability}
            yield warn("gpu-capability-and-id", gpu=card.listed, **claimed)
    driver = where.machine.driver
    if driver is not None and not where.machine.gpus_of("nvidia"):
        yield warn("driver-without-card", installed=(driver.version or "").lstrip("@") or None)


def card_cautions(where: Site, label: str, minimum: str | None) -> Iterator[Caution]:
    """What is not known about the card or its driver."""
    card, state = where.card, where.state
    if card is not None and card.capability is None:
        # Where a driver answers, installing one is no way to learn the chip.
        unknown = "gpu-unknown" if where.machine.driver is None else "gpu-unknown-to-driver"
        yield warn(unknown, gpu=card.name, build=label)
    if state is not None and not state.readable:
        yield warn("driver-unreadable", installed=(state.installed or "").lstrip("@"), minimum=minimum)


def _driver(d: Decision) -> Iterator[Caution]:
    """A driver that the user picked."""
    state = d.where.state
    if state is None or d.driver.action == "none":
        return
    if state.picked is not None and d.driver.action != "keep":
        here, known = numbers(state.installed), {p.version for p in d.where.catalog.drivers.packages}
        if here is not None and state.version is not None and state.version < here:
            yield warn("driver-older", picked=state.picked, installed=(state.installed or "").lstrip("@"))
        if state.picked not in known:
            yield warn("driver-unlisted", picked=state.picked)


def part_cautions(where: Site, pick: Pick | None, parts: Parts) -> Iterator[Caution]:
    """A toolkit that does not match PyTorch, is broken, or has no card to work for."""
    inside = pick.build.cuda if pick is not None else None
    if parts.impossible and where.card is not None:
        code = "toolkit-impossible" if installable(where) else "toolkit-no-installer"
        yield warn(code, gpu=where.card.name, arch=where.arch)
    if parts.near and inside is not None:
        picked = numbers(parts.toolkit.version) or (0,)
        code = "toolkit-near" if picked[0] == inside[0] else "toolkit-far"
        yield warn(code, toolkit=parts.toolkit.version, cuda=f"{inside[0]}.{inside[1]}")
    if parts.chip_unknown and where.card is not None:
        yield warn("toolkit-chip-unknown", toolkit=parts.toolkit.version, gpu=where.card.name)
    yield from compiler_cautions(where, parts)
    if parts.broken is not None and parts.toolkit.action != "none":
        yield warn("toolkit-broken", toolkit=parts.broken.lstrip("@"))
    if parts.cudnn.action == "install" and parts.toolkit.action == "none":
        yield warn("cudnn-alone", cudnn=parts.cudnn.version)


def tensorflow_cautions(where: Site, found: TensorFlowPick, *, beside_pytorch: bool) -> Iterator[Caution]:
    """What TensorFlow cannot do here, and what two frameworks in one environment mean."""
    gpu = where.card.name if where.card is not None else None
    if found.why not in ("card", "no-card"):
        data: dict[str, Value] = {"gpu": gpu, "version": found.version, "cuda": found.build.cuda}
        yield warn(f"tensorflow-{found.why}", **data, pytorch=pytorch_too(where))
    if found.cudnn is not None:
        yield warn("tensorflow-cudnn", gpu=found.held_for, version=found.version, needs=found.cudnn)
    if found.gpu and not found.build.bundled_cuda:
        cuda, cudnn = found.build.cuda, found.build.cudnn
        yield warn("tensorflow-separate", version=found.version, cuda=cuda, cudnn=cudnn)
    if found.gpu and beside_pytorch:
        yield warn("two-frameworks", version=found.version)


def wsl_cautions(where: Site, found: TensorFlowPick, planned: DriverAdvice) -> Iterator[Caution]:
    """WSL2 is offered, but the card needs a newer Windows driver there than the one that stays."""
    inside = inside_wsl(where, found)
    if inside is None or inside.floor is None or planned.changes or where.card is None:
        return
    if driver_advice(where.state, inside.floor).changes:
        yield warn("tensorflow-wsl2-driver", gpu=where.card.name, minimum=inside.floor.text)


def machine_cautions(where: Site, *, driver_changes: bool) -> Iterator[Caution]:
    """What holds whatever is installed."""
    machine = where.machine
    if machine.os.wsl and driver_changes:
        yield warn("wsl-driver")
    if machine.pending_reboot:
        yield warn("pending-reboot")
    user = machine.user
    if user is not None and user.ascii is False:
        yield warn("home-not-ascii")
    if user is not None and user.home_too_long:
        yield warn("home-too-long")
    if user is not None and user.home is not None and _inside_any(user.home, user.onedrive or ()):
        yield warn("home-onedrive")


def _inside_any(home: str, folders: tuple[str, ...]) -> bool:
    """Whether a Windows path is one of the folders or below one."""
    path = PureWindowsPath(home)
    return any(path.is_relative_to(PureWindowsPath(folder)) for folder in folders if folder)


def _system(d: Decision) -> Iterator[Caution]:
    glibc = held_back(d.where)
    if glibc is not None and not d.pick.build.local:
        yield warn(
            "glibc-too-old",
            build=d.pick.build.label,
            needed=glibc.lowest,
            installed=d.where.machine.os.glibc,
            since=glibc.from_release,
        )


def _space(d: Decision) -> Iterator[Caution]:
    build, system = d.pick.build, d.where.machine.os.system
    sizes = d.where.catalog.sizes(build.variant, system, build.version)
    kept, exact = sizes.disk_bytes, not sizes.approximate
    if kept is None:
        kept, exact = d.where.catalog.disk_about(build.variant), False
    machine = d.where.machine
    disk = home_disk(machine)
    if disk is None or (kept is None and sizes.download_bytes is None):
        return
    # What is downloaded lies on the disk too: a lower bound where the whole was never measured.
    needed = (kept or 0) + (sizes.download_bytes or 0)
    if (disk.free_bytes or 0) < needed:
        other = elsewhere(machine.disks or (), disk.path, needed, machine.os.system, "gpu-assistant")
        code = f"disk-space{'' if exact else '-about'}{'-other' if other else ''}"
        yield warn(code, needed_bytes=needed, free_bytes=disk.free_bytes, disk=disk.path.lstrip("@"), **other)
