"""What the user should know before going on, with what mends it."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.machine import Disk, Machine
from ..core.message import Value
from ..core.recommendation import Warning as Caution
from .cudnn import cudnn_fit
from .decision import Decision
from .reasons import lacks_code
from .systems import glibc_lacking, windows_lacking


def cautions(d: Decision) -> tuple[Caution, ...]:
    """The warnings, the weightiest first."""
    return tuple(_cautions(d))


def _warn(code: str, **data: Value) -> Caution:
    return Caution(code=code, data=data)


def _cautions(d: Decision) -> Iterator[Caution]:
    machine, build, card = d.where.machine, d.pick.build, d.where.card
    yield from _system(d)
    if d.cards and d.accelerator == "cpu" and not d.by_hand:
        yield _warn("gpu-too-old", gpu=d.cards[0].name, capability=d.cards[0].capability_text)
    if d.accelerator == "cuda" and card is not None and card.capability is None:
        # Where a driver answers, installing one is no way to learn the chip.
        unknown = "gpu-unknown" if machine.driver is None else "gpu-unknown-to-driver"
        yield _warn(unknown, gpu=card.name, build=build.label)
    elif d.accelerator == "cuda" and card is not None and d.pick.code == "unknown":
        yield _warn("code-unknown", gpu=card.name, build=build.label)
    if d.accelerator == "cuda" and card is not None and cudnn_fit(d.where.catalog, build, card.capability) == "too-new":
        yield _warn("cudnn-too-new", gpu=card.name, build=build.label, cudnn=build.record.cudnn)
    for name in lacks_code(d):
        yield _warn("other-gpu-without-code", gpu=name, build=build.label)
    if d.where.state is not None and not d.where.state.readable and d.accelerator == "cuda":
        yield _warn("driver-unreadable", installed=(d.driver.installed or "").lstrip("@"), minimum=d.driver.minimum)
    if machine.os.wsl and d.driver.action in ("install", "update"):
        yield _warn("wsl-driver")
    if d.python is None:
        yield _warn("no-python", build=build.label, series=", ".join(build.release.python))
    if machine.pending_reboot:
        yield _warn("pending-reboot")
    yield from _space(d)
    if machine.user is not None and machine.user.ascii is False:
        yield _warn("home-not-ascii")
    if d.accelerator in ("rocm", "xpu"):
        yield _warn("not-proven", build=build.label)
    if not d.arch_known:
        yield _warn("arch-unknown", arch=d.where.arch)


def _system(d: Decision) -> Iterator[Caution]:
    windows, glibc = windows_lacking(d.where), glibc_lacking(d.where, d.pick.build)
    if windows is not None:
        yield _warn("windows-too-old", needed=windows.name)
    if glibc is not None:
        yield _warn(
            "glibc-too-old",
            build=d.pick.build.label,
            needed=glibc.lowest,
            installed=d.where.machine.os.glibc,
            since=glibc.from_release,
        )


def _space(d: Decision) -> Iterator[Caution]:
    build = d.pick.build
    sizes = d.where.catalog.sizes(build.variant, d.where.machine.os.system, build.version)
    # What is downloaded lies on the disk too: a lower bound where the whole was never measured.
    needed = sizes.disk_bytes if sizes.disk_bytes is not None else sizes.download_bytes
    disk = roomiest(d.where.machine)
    if needed is not None and disk is not None and (disk.free_bytes or 0) < needed:
        code = "disk-space-about" if sizes.approximate else "disk-space"
        yield _warn(code, needed_bytes=needed, free_bytes=disk.free_bytes, disk=disk.path.lstrip("@"))


def roomiest(machine: Machine) -> Disk | None:
    """The disk with the most free space; None where nothing is known."""
    known = [disk for disk in machine.disks or () if disk.free_bytes is not None]
    return max(known, key=lambda disk: disk.free_bytes or 0, default=None)
