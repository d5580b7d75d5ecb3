"""What a computer has, as rows to read; a machine that is only partly known gives the rows that are known."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication

from ...core.disks import disk_of, home_disk
from ...core.machine import Disk, Gpu, Machine, ProbeNote, Python
from ...core.plan import Plan
from ...core.recommendation import Recommendation
from ...texts.format import UNKNOWN, memory, size
from ..components.pill import PillKind
from .findings import partly, why

translate = QCoreApplication.translate

MOST_PYTHONS = 3
# What is known of the room may be only a part of it: from so many times as much on it is enough all the same.
AMPLE = 3
ORDER = ("card", "driver", "system", "space", "python")
ICONS = {"card": "card", "driver": "driver", "system": "pc", "space": "disk", "python": "torch"}
# Which probe's silence costs which row; a probe is named after the machine's field that it fills.
PROBES = {"card": "gpus", "driver": "driver", "system": "os", "space": "disks", "python": "pythons"}


class Row(Struct, frozen=True, kw_only=True):
    """One row; `value` None is unknown, `reason` says why; `more` is for those who copy the details."""

    id: str
    label: str
    value: str | None = None
    detail: str = ""
    pill: tuple[PillKind, str] | None = None
    reason: str = ""
    more: str = ""


def labels() -> dict[str, str]:
    """What each row is about."""
    return {
        "card": translate("Rows", "Graphics card"),
        "driver": translate("Rows", "Graphics driver"),
        "system": translate("Rows", "System"),
        "space": translate("Rows", "Space"),
        "python": translate("Rows", "PyTorch and Python"),
    }


def rows(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> tuple[Row, ...]:
    """The rows; pills come with the recommendation, since only it knows what is enough."""
    makers = {
        "card": _card,
        "driver": _driver,
        "system": _system,
        "space": _space,
        "python": _python,
    }
    notes = {note.probe: note for note in machine.notes}
    found = []
    for name in ORDER:
        note = notes.get(PROBES[name])
        if note is None:
            found.append(makers[name](machine, recommendation, plan))
        elif partly(note):
            found.append(replace(makers[name](machine, recommendation, plan), reason=why(note)))
        else:
            found.append(_unread(name, note))
    return tuple(found)


def _unread(name: str, note: ProbeNote) -> Row:
    return Row(
        id=name,
        label=labels()[name],
        value=translate("Rows", "could not be read"),
        reason=why(note),
        pill=("warn", translate("Rows", "not read")),
    )


def main_card(machine: Machine, recommendation: Recommendation | None = None) -> Gpu | None:
    """The card that matters: the one that is computed on, else an NVIDIA one, else whatever there is."""
    reasons = recommendation.reasons if recommendation is not None else ()
    said = next((reason.data for reason in reasons if reason.about == "accelerator"), {})
    names = str(said.get("gpu") or said.get("gpus") or "")
    if found := [gpu for gpu in machine.gpus if gpu.name and gpu.name in names]:
        # Of "RTX 3060" and "RTX 3060 Ti" at the same place the longer one is meant.
        return min(found, key=lambda gpu: (names.index(gpu.name or ""), -len(gpu.name or "")))
    nvidia = machine.gpus_of("nvidia")
    return nvidia[0] if nvidia else machine.gpus[0] if machine.gpus else None


def fine() -> tuple[PillKind, str]:
    """The pill of a row that needs nothing."""
    return ("ok", translate("Rows", "fine"))


def _card(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> Row:
    del plan
    label = labels()["card"]
    gpu = main_card(machine, recommendation)
    if gpu is None:
        return Row(
            id="card",
            label=label,
            value=translate("Rows", "No NVIDIA GPU"),
            detail=translate("Rows", "PyTorch computes on the CPU"),
        )
    same = [each for each in machine.gpus if (each.name, each.memory_bytes) == (gpu.name, gpu.memory_bytes)]
    parts, rest = [], tuple(each for each in machine.gpus if each is not gpu)
    if gpu.memory_bytes is not None:
        room = memory(gpu.memory_bytes)
        parts.append(room if len(same) == 1 else f"{len(same)} × {room}")
        rest = tuple(each for each in rest if each not in same)
    # What only draws a server's console is nobody's graphics card; the copied details have it.
    parts += _named(tuple(each for each in rest if each.vendor != "other"))
    more = " · ".join(_named(tuple(each for each in rest if each.vendor == "other")))
    pill: tuple[PillKind, str] | None = None
    if recommendation is not None:
        works = recommendation.accelerator != "cpu"
        if works:
            pill = ("ok", translate("Rows", "fits PyTorch"))
        elif gpu.vendor == "nvidia":
            pill = ("warn", translate("Rows", "not used"))
        else:
            pill = ("neutral", translate("Rows", "not used"))
    return Row(id="card", label=label, value=gpu.name, detail=" · ".join(parts), pill=pill, more=more)


def _named(gpus: tuple[Gpu, ...]) -> list[str]:
    """Further cards, each kind once: "and AMD Radeon 780M", "and 7 × NVIDIA H100"."""
    counts = Counter(gpu.name or translate("Rows", "a card without a name") for gpu in gpus)
    named = [name if count == 1 else f"{count} × {name}" for name, count in counts.items()]
    return [translate("Rows", "and {name}").format(name=name) for name in named]


def _driver(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> Row:
    del plan
    label = labels()["driver"]
    nvidia = machine.gpus_of("nvidia")
    if machine.driver is None:
        if not nvidia:
            if not machine.gpus:
                return Row(id="driver", label=label, value=translate("Rows", "No NVIDIA card, so none is needed"))
            # Another maker's driver is not asked: nothing is claimed about it.
            return Row(
                id="driver",
                label=label,
                value=translate("Rows", "Not looked at"),
                detail=translate("Rows", "only NVIDIA's is read; yours stays as it is"),
            )
        return Row(
            id="driver",
            label=label,
            value=translate("Rows", "No NVIDIA driver answers"),
            pill=("warn", translate("Rows", "missing")),
        )
    pill: tuple[PillKind, str] | None = None
    if recommendation is not None:
        back = recommendation.driver.action == "back"
        words = translate("Rows", "too new for the card") if back else translate("Rows", "update advised")
        pill = ("warn", words) if recommendation.driver.changes else fine()
    cuda = machine.driver.cuda_max
    detail = translate("Rows", "CUDA up to {version}").format(version=cuda) if cuda else ""
    return Row(id="driver", label=label, value=machine.driver.version, detail=detail, pill=pill)


def _system(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> Row:
    del plan
    system = machine.os
    parts = []
    if system.build is not None:
        parts.append(translate("Rows", "build {number}").format(number=system.build))
    if system.arch is not None:
        words = {"x86_64": translate("Rows", "64-bit"), "arm64": translate("Rows", "64-bit ARM")}
        parts.append(words[system.arch])
    if machine.memory_bytes is not None:
        parts.append(translate("Rows", "{size} memory").format(size=memory(machine.memory_bytes)))
    pill = fine() if recommendation is not None else None
    if machine.pending_reboot:
        pill = ("warn", translate("Rows", "restart pending"))
    return Row(
        id="system",
        label=labels()["system"],
        value=system_name(machine),
        detail=" · ".join(parts),
        pill=pill,
        more=f"glibc {system.glibc}" if system.glibc is not None else "",
    )


def system_name(machine: Machine) -> str:
    """What the system calls itself, else what kind it is."""
    kinds = {"windows": "Windows", "linux": "Linux", "darwin": "macOS"}
    return machine.os.name or kinds[machine.os.system]


def disk_name(disk: Disk) -> str:
    """A disk as people write it: "C:", "/home"."""
    return disk.path.rstrip("\\") or disk.path


def _needed(plan: Plan | None) -> tuple[int | None, bool]:
    """The room that a plan takes, downloads too, and whether that is only known by another release."""
    space = next((step for step in plan.steps if step.kind == "check-space"), None) if plan is not None else None
    count = space.data.get("disk_bytes") if space is not None else None
    if plan is None or space is None or not isinstance(count, int):
        return (plan.disk_bytes if plan is not None else None), False
    return count, str(space.code).startswith("check-space-about")


def _enough(free: int, needed: int, *, about: bool) -> tuple[PillKind, str]:
    if free <= needed:
        return "error", translate("Rows", "too little")
    if about and free < AMPLE * needed:
        return "neutral", translate("Rows", "not known whether it is enough")
    return fine()


def _space(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> Row:
    del recommendation
    label = labels()["space"]
    disk = (disk_of(machine, plan.env) if plan is not None else None) or home_disk(machine)
    if disk is None or disk.free_bytes is None:
        return Row(id="space", label=label, reason=translate("Rows", "The system did not say."))
    needed, about = _needed(plan)
    said = translate("Rows", "needed: about {size} or more") if about else translate("Rows", "needed: {size}")
    pill: tuple[PillKind, str] | None = None
    if needed is not None:
        pill = _enough(disk.free_bytes, needed, about=about)
    return Row(
        id="space",
        label=label,
        value=translate("Rows", "{size} free on {disk}").format(size=size(disk.free_bytes), disk=disk_name(disk)),
        detail=said.format(size=size(needed)) if needed is not None else "",
        pill=pill,
    )


def _python(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> Row:
    del plan
    label = labels()["python"]
    pythons = machine.pythons
    if pythons is None:
        return Row(id="python", label=label, reason=translate("Rows", "The system did not say."))
    stays = translate("Rows", "stays as it is")
    pill = fine() if recommendation is not None else None
    best = _telling(pythons)
    if best is None:
        return Row(
            id="python",
            label=label,
            value=translate("Rows", "Neither yet"),
            detail=translate("Rows", "Python comes along"),
            pill=pill,
        )
    if best.torch is None:
        value = translate("Rows", "Python {version}, no PyTorch").format(version=best.version)
    else:
        value = translate("Rows", "PyTorch {torch} on Python {version}").format(
            torch=best.torch.version, version=best.version
        )
    detail = " · ".join([stays, *_more_pythons(pythons, best)])
    return Row(id="python", label=label, value=value, detail=detail, pill=pill)


def _more_pythons(pythons: tuple[Python, ...], best: Python) -> list[str]:
    """The other interpreters: version, what keeps them, and their PyTorch."""
    kinds = {"conda": "conda", "venv": "venv", "store": "Microsoft Store"}
    found: list[str] = []
    for python in pythons:
        if python is not best:
            own = [kinds[python.kind]] if python.kind in kinds else []
            own += [f"PyTorch {python.torch.version}"] if python.torch is not None else []
            found.append(f"Python {python.version}" + (f" ({', '.join(own)})" if own else ""))
    shown = list(dict.fromkeys(found))
    words = translate("Rows", "also {names}").format(names=", ".join(shown[:MOST_PYTHONS])) if shown else ""
    rest = len(shown) - MOST_PYTHONS
    if rest > 0:
        words += translate("Rows", " and {n} more").format(n=rest)
    return [words] if words else []


def _telling(pythons: tuple[Python, ...]) -> Python | None:
    """The interpreter worth naming: one with PyTorch, else the first."""
    return next((python for python in pythons if python.torch is not None), pythons[0] if pythons else None)


def as_text(found: tuple[Row, ...]) -> str:
    """The rows as lines to paste somewhere."""
    return "\n".join(
        f"{row.label}: "
        + ", ".join(part for part in (row.value or UNKNOWN, row.detail or row.reason, row.more) if part)
        for row in found
    )
