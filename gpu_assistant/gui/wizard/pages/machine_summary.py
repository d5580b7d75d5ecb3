"""What the window says of a machine, as text: five rows, and notes on what matters for a setup besides them.

A machine that is only partly known gives what is known: a value None is unknown, and `reason` says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication

from ....core.machine import Disk, Gpu, Machine, ProbeNote, Python, find_disk, home_disk, surroundings
from ....core.plan import Plan
from ....core.plan_cost import plan_cost
from ....core.recommendation import Recommendation
from ....texts.format import UNKNOWN_VALUE, format_counted, format_memory, format_size
from ...language import texts
from ...widgets.cards import PillKind

translate = QCoreApplication.translate

MAX_LISTED_PYTHONS = 3
# The needed disk space may be known only in part: free space of this many times as much is enough all the same.
AMPLE_FACTOR = 3
ROW_ORDER = ("card", "driver", "processor", "system", "space", "python")
ROW_ICONS = {
    "card": "card",
    "driver": "driver",
    "processor": "cpu",
    "system": "pc",
    "space": "disk",
    "python": "torch",
}
# The probe that fills a row's field of the machine; that of the processor has a note of its own.
PROBE_OF_ROW = {"card": "gpus", "driver": "driver", "system": "os", "space": "disks", "python": "pythons"}
PARTIAL_SUFFIXES = (".partly", ".still-loading")
SYSTEM_DISK = "/"  # a path that means nothing to a beginner
# Codes of alternatives which say that a PyTorch of this machine works already.
ALREADY_WORKING_CODES = frozenset({"works-already", "works-without-update"})


class MachineRow(Struct, frozen=True, kw_only=True):
    """One row. `value` None is unknown, `reason` says why; `copied_detail` is only in the copied text."""

    id: str
    label: str
    value: str | None = None
    detail: str = ""
    pill: tuple[PillKind, str] | None = None
    reason: str = ""
    copied_detail: str = ""


def row_labels() -> dict[str, str]:
    """The label of each row."""
    return {
        "card": translate("MachineSummary", "Graphics card"),
        "driver": translate("MachineSummary", "Graphics driver"),
        "processor": translate("MachineSummary", "Processor (CPU)"),
        "system": translate("MachineSummary", "System"),
        "space": translate("MachineSummary", "Disk space"),
        "python": translate("MachineSummary", "PyTorch and Python"),
    }


def machine_rows(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> tuple[MachineRow, ...]:
    """All rows; those that depend on the recommendation have a pill once there is one.

    The processor has a row where there is nothing to say of NVIDIA's driver, and is named with the system otherwise.
    """
    builders = {
        "card": _gpu_row,
        "driver": _driver_row,
        "processor": _processor_row,
        "system": _system_row,
        "space": _space_row,
        "python": _python_row,
    }
    notes = {note.probe: note for note in machine.notes}
    result = []
    hidden = "processor" if _has_driver_row(machine) else "driver"
    for name in ROW_ORDER:
        if name == hidden:
            continue
        note = notes.get(PROBE_OF_ROW.get(name, ""))
        if note is None:
            result.append(builders[name](machine, recommendation, plan))
        elif is_partial(note):
            result.append(replace(builders[name](machine, recommendation, plan), reason=probe_failure_text(note)))
        else:
            result.append(_unreadable_row(name, note))
    return tuple(result)


def _has_driver_row(machine: Machine) -> bool:
    """Whether there is a driver of NVIDIA, its card, or a reason why neither is known."""
    unread = {note.probe for note in machine.notes} & {"driver", "gpus"}
    return machine.driver is not None or bool(machine.gpus_of("nvidia")) or bool(unread)


def _unreadable_row(name: str, note: ProbeNote) -> MachineRow:
    return MachineRow(
        id=name,
        label=row_labels()[name],
        value=translate("MachineSummary", "could not be read"),
        reason=probe_failure_text(note),
        pill=("warn", translate("MachineSummary", "Not read")),
    )


def main_gpu(machine: Machine, recommendation: Recommendation | None = None) -> Gpu | None:
    """The GPU that the recommendation uses, else the first one of NVIDIA, else the first one."""
    reasons = recommendation.reasons if recommendation is not None else ()
    reason_data = next((reason.data for reason in reasons if reason.about == "accelerator"), {})
    used_names = str(reason_data.get("gpu") or reason_data.get("gpus") or "")
    if matches := [gpu for gpu in machine.gpus if gpu.name and gpu.name in used_names]:
        # "RTX 3060" is also found where "RTX 3060 Ti" is named: at the same position the longer name counts.
        return min(matches, key=lambda gpu: (used_names.index(gpu.name or ""), -len(gpu.name or "")))
    nvidia = machine.gpus_of("nvidia")
    return nvidia[0] if nvidia else machine.gpus[0] if machine.gpus else None


def fine_pill() -> tuple[PillKind, str]:
    """The pill of a row where nothing has to be done."""
    return ("ok", translate("MachineSummary", "Fine"))


def _gpu_row(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> MachineRow:
    del plan
    label = row_labels()["card"]
    gpu = main_gpu(machine, recommendation)
    if gpu is None:
        return MachineRow(id="card", label=label, value=translate("MachineSummary", "No NVIDIA graphics card"))
    identical = [each for each in machine.gpus if (each.name, each.memory_bytes) == (gpu.name, gpu.memory_bytes)]
    parts, other_gpus = [], tuple(each for each in machine.gpus if each is not gpu)
    if gpu.memory_bytes is not None:
        memory_text = format_memory(gpu.memory_bytes)
        memory_text = memory_text if len(identical) == 1 else f"{len(identical)} × {memory_text}"
        parts.append(translate("MachineSummary", "{size} memory").format(size=memory_text))
        other_gpus = tuple(each for each in other_gpus if each not in identical)
    # A server's console chip is no graphics card to a user: only the copied text names it.
    parts += _other_gpu_names(tuple(each for each in other_gpus if each.vendor != "other"))
    console_gpus = " · ".join(_other_gpu_names(tuple(each for each in other_gpus if each.vendor == "other")))
    pill: tuple[PillKind, str] | None = None
    if recommendation is not None:
        is_used = recommendation.accelerator != "cpu"
        if is_used:
            pill = ("ok", translate("MachineSummary", "Works with PyTorch"))
        elif gpu.vendor == "nvidia":
            pill = ("warn", translate("MachineSummary", "Not used"))
        else:
            pill = ("neutral", translate("MachineSummary", "Not used"))
    return MachineRow(
        id="card", label=label, value=gpu.name, detail=" · ".join(parts), pill=pill, copied_detail=console_gpus
    )


def _other_gpu_names(gpus: tuple[Gpu, ...]) -> list[str]:
    """Further GPUs, each model once: "and AMD Radeon 780M", "and 7 × NVIDIA H100"."""
    counts = Counter(gpu.name or translate("MachineSummary", "an unnamed card") for gpu in gpus)
    quantities = [name if count == 1 else f"{count} × {name}" for name, count in counts.items()]
    return [translate("MachineSummary", "and {name}").format(name=name) for name in quantities]


def _driver_row(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> MachineRow:
    del plan
    label = row_labels()["driver"]
    if machine.driver is None:
        return MachineRow(
            id="driver",
            label=label,
            value=translate("MachineSummary", "No NVIDIA driver is running"),
            pill=("warn", translate("MachineSummary", "Missing")),
        )
    pill: tuple[PillKind, str] | None = None
    if recommendation is not None:
        if recommendation.driver.action == "back":
            pill_text = translate("MachineSummary", "Too new for the card")
        elif _works_with_present_driver(recommendation):
            pill_text = translate("MachineSummary", "Update recommended")
        else:
            pill_text = translate("MachineSummary", "Update needed")
        pill = ("warn", pill_text) if recommendation.driver.needs_install else fine_pill()
    cuda = machine.driver.cuda_max
    detail, copied = translate("MachineSummary", "CUDA up to {version}").format(version=cuda) if cuda else "", ""
    if recommendation is not None and recommendation.driver.action == "update":
        # A beginner reads what that means for him.
        detail, copied = _too_old_text(recommendation), detail
    return MachineRow(
        id="driver", label=label, value=machine.driver.version, detail=detail, pill=pill, copied_detail=copied
    )


def _too_old_text(recommendation: Recommendation) -> str:
    """For which program the driver is too old: the newest of the two ways, or the only one."""
    newest = next((way for way in recommendation.ways if way.id == "newest"), recommendation)
    name, program = ("PyTorch", newest.pytorch) if newest.pytorch is not None else ("TensorFlow", newest.tensorflow)
    if program is None:
        return ""
    series = ".".join(program.version.split(".")[:2])
    return translate("MachineSummary", "too old for {program} {version}").format(program=name, version=series)


def _works_with_present_driver(recommendation: Recommendation) -> bool:
    """Whether the GPU can be used with the driver that is there, if not with the newest release."""
    is_offered = any(way.id == "works-now" for way in recommendation.ways)
    return is_offered or any(each.code in ALREADY_WORKING_CODES for each in recommendation.alternatives)


def _processor_row(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> MachineRow:
    del plan
    label, cpu = row_labels()["processor"], machine.cpu
    if cpu is None or cpu.name is None:
        return MachineRow(
            id="processor", label=label, reason=translate("MachineSummary", "The system did not report it.")
        )
    cores = format_counted(translate("MachineSummary", "{n} cores"), n=cpu.cores) if cpu.cores is not None else ""
    is_used = recommendation is not None and recommendation.accelerator == "cpu"
    pill: tuple[PillKind, str] | None = ("ok", translate("MachineSummary", "Works with PyTorch")) if is_used else None
    return MachineRow(id="processor", label=label, value=processor_name(cpu.name), detail=cores, pill=pill)


def processor_name(name: str) -> str:
    """A processor's name without marks and without what says that it is a processor: "Intel Core i7-14700K"."""
    for mark in ("(R)", "(TM)", "(r)", "(tm)"):
        name = name.replace(mark, "")
    name = re.sub(r"( \d+-Core)? Processor\b| CPU\b|( @.*)|( (with|w/) .*)", "", name)
    return " ".join(name.split())


def _system_row(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> MachineRow:
    del plan
    system = machine.os
    parts, copied_parts = [], []
    if system.build is not None:
        copied_parts.append(translate("MachineSummary", "build {number}").format(number=system.build))
    if system.arch is not None:
        arch_names = {
            "x86_64": translate("MachineSummary", "64-bit"),
            "arm64": translate("MachineSummary", "64-bit ARM"),
        }
        copied_parts.append(arch_names[system.arch])
    if system.glibc is not None:
        copied_parts.append(f"glibc {system.glibc}")
    if machine.cpu is not None and machine.cpu.name is not None and _has_driver_row(machine):
        parts.append(processor_name(machine.cpu.name))
    if machine.memory_bytes is not None:
        parts.append(translate("MachineSummary", "{size} RAM").format(size=format_memory(machine.memory_bytes)))
    pill = fine_pill() if recommendation is not None else None
    if machine.pending_reboot:
        pill = ("warn", translate("MachineSummary", "Restart pending"))
    return MachineRow(
        id="system",
        label=row_labels()["system"],
        value=system_name(machine),
        detail=" · ".join(parts),
        pill=pill,
        copied_detail=" · ".join(copied_parts),
    )


def system_name(machine: Machine) -> str:
    """The operating system's own name, else its kind."""
    kinds = {"windows": "Windows", "linux": "Linux", "darwin": "macOS"}
    return machine.os.name or kinds[machine.os.system]


def disk_name(disk: Disk) -> str:
    """A disk as users write it: "C:", "/home"."""
    return disk.path.rstrip("\\") or disk.path


def drive_letter(disk: Disk) -> str:
    """The letter of a drive of Windows, "" for another disk."""
    name = disk_name(disk)
    return name[0] if name[1:] == ":" else ""


def _space_pill(free_bytes: int, needed_bytes: int, *, approximate: bool) -> tuple[PillKind, str]:
    if free_bytes <= needed_bytes:
        return "error", translate("MachineSummary", "Too little")
    if approximate and free_bytes < AMPLE_FACTOR * needed_bytes:
        return "neutral", translate("MachineSummary", "May not be enough")
    return fine_pill()


def _space_row(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> MachineRow:
    del recommendation
    label = row_labels()["space"]
    disk = (find_disk(machine, plan.env) if plan is not None else None) or home_disk(machine)
    if disk is None or disk.free_bytes is None:
        return MachineRow(id="space", label=label, reason=translate("MachineSummary", "The system did not report it."))
    cost = plan_cost(plan) if plan is not None else None
    needed, approximate = (cost.disk_bytes, cost.disk_estimated) if cost is not None else (None, False)
    template = (
        translate("MachineSummary", "about {size} needed")
        if approximate
        else translate("MachineSummary", "{size} needed")
    )
    pill: tuple[PillKind, str] | None = None
    if needed is not None:
        pill = _space_pill(disk.free_bytes, needed, approximate=approximate)
    free_template = translate("MachineSummary", "{size} free on {disk}")
    if drive_letter(disk):
        free_template = translate("MachineSummary", "{size} free on {letter}:")
    elif disk.path == SYSTEM_DISK:
        free_template = translate("MachineSummary", "{size} free")
    return MachineRow(
        id="space",
        label=label,
        value=free_template.format(size=format_size(disk.free_bytes), disk=disk_name(disk), letter=drive_letter(disk)),
        detail=template.format(size=format_size(needed)) if needed is not None else "",
        pill=pill,
    )


def _python_row(machine: Machine, recommendation: Recommendation | None, plan: Plan | None) -> MachineRow:
    del plan
    label = row_labels()["python"]
    pythons = machine.pythons
    if pythons is None:
        return MachineRow(id="python", label=label, reason=translate("MachineSummary", "The system did not report it."))
    main_python = _most_relevant_python(pythons)
    pill = fine_pill() if recommendation is not None else None
    will_be_installed: tuple[PillKind, str] = ("neutral", translate("MachineSummary", "Will be installed"))
    if main_python is None:
        return MachineRow(
            id="python",
            label=label,
            value=translate("MachineSummary", "Neither yet"),
            detail=translate("MachineSummary", "Python is included"),
            pill=will_be_installed if recommendation is not None else None,
        )
    unchanged_text = translate("MachineSummary", "stays as it is")
    if main_python.torch is not None:
        value = translate("MachineSummary", "PyTorch {torch} on Python {version}").format(
            torch=main_python.torch.version, version=main_python.version
        )
    elif recommendation is not None and recommendation.pytorch is None:  # TensorFlow alone comes
        value = f"Python {main_python.version}"
    else:
        value = translate("MachineSummary", "No PyTorch yet")
        unchanged_text = translate("MachineSummary", "your Python {version} stays").format(version=main_python.version)
        pill = will_be_installed if recommendation is not None else None
    detail = " · ".join([unchanged_text, *_other_pythons(pythons, main_python)])
    return MachineRow(id="python", label=label, value=value, detail=detail, pill=pill)


def _other_pythons(pythons: tuple[Python, ...], main_python: Python) -> list[str]:
    """The other interpreters: version, kind and PyTorch."""
    kinds = {"conda": "conda", "venv": "venv", "store": "Microsoft Store"}
    names: list[str] = []
    for python in pythons:
        if python is not main_python:
            details = [kinds[python.kind]] if python.kind in kinds else []
            details += [f"PyTorch {python.torch.version}"] if python.torch is not None else []
            names.append(f"Python {python.version}" + (f" ({', '.join(details)})" if details else ""))
    unique_names = list(dict.fromkeys(names))
    text = (
        translate("MachineSummary", "also {names}").format(names=", ".join(unique_names[:MAX_LISTED_PYTHONS]))
        if unique_names
        else ""
    )
    remaining = len(unique_names) - MAX_LISTED_PYTHONS
    if remaining > 0:
        text += translate("MachineSummary", " and {n} more").format(n=remaining)
    return [text] if text else []


def _most_relevant_python(pythons: tuple[Python, ...]) -> Python | None:
    """The first interpreter with PyTorch, else the first one."""
    return next((python for python in pythons if python.torch is not None), pythons[0] if pythons else None)


def rows_as_text(table_rows: tuple[MachineRow, ...]) -> str:
    """The rows as lines of text, for the clipboard."""
    return "\n".join(
        f"{row.label}: "
        + ", ".join(part for part in (row.value or UNKNOWN_VALUE, row.detail or row.reason, row.copied_detail) if part)
        for row in table_rows
    )


class MachineNote(Struct, frozen=True, kw_only=True):
    """One sentence: a warning to act upon, or information."""

    kind: Literal["info", "warn"]
    text: str


def machine_notes(machine: Machine, row_probes: frozenset[str]) -> tuple[MachineNote, ...]:
    """All notes, warnings first; probes in `row_probes` are left out, since a row says that they failed."""
    notes = [*_folder_notes(machine), *_system_notes(machine), *_software_notes(machine, row_probes)]
    return tuple(sorted(notes, key=lambda note: note.kind == "info"))


def probe_failure_text(note: ProbeNote) -> str:
    """Why something could not be read; an unknown code gives a general sentence, never a program's message."""
    translations = texts()
    if note.code.startswith("detect.") and translations.has_text(note.code):
        return translations.translate(note.code, {"detail": note.detail})
    return translate("MachineSummary", "This could not be read, so it is treated as unknown.")


def is_partial(note: ProbeNote) -> bool:
    """Whether the probe failed only in part."""
    return note.code.endswith(PARTIAL_SUFFIXES)


def _folder_notes(machine: Machine) -> Iterator[MachineNote]:
    user = machine.user
    if user is None:
        return
    if user.home_too_long:
        text = translate(
            "MachineSummary",
            "The path of your user folder is too long to install packages inside it. On the next page, "
            "choose a folder with a short path, such as one at the top of a disk.",
        )
        yield MachineNote(kind="warn", text=text)
    if user.ascii is False:
        text = translate(
            "MachineSummary",
            "Your user folder's name has non-English characters. Some programs fail because of that; "
            "if one does, choose another folder on the next page.",
        )
        yield MachineNote(kind="info", text=text)
    if user.onedrive:
        text = translate(
            "MachineSummary",
            "OneDrive syncs {folders}. Install somewhere else, or it will upload tens of thousands of small files.",
        )
        yield MachineNote(kind="info", text=text.format(folders=", ".join(user.onedrive)))


def _system_notes(machine: Machine) -> Iterator[MachineNote]:
    for code, data in surroundings(machine):
        yield MachineNote(kind="info", text=texts().translate(code, data))
    nvidia = bool(machine.gpus_of("nvidia"))
    if machine.os.secure_boot and machine.os.system == "linux" and nvidia:
        text = translate(
            "MachineSummary",
            "Secure Boot is on: this system loads the NVIDIA driver only if it is signed with a key that the "
            "computer trusts. Use your distribution's driver, which handles that.",
        )
        yield MachineNote(kind="warn", text=text)
    if machine.os.smart_app_control == "on":
        text = translate(
            "MachineSummary",
            "Smart App Control is on: Windows blocks files that Microsoft does not recognise, possibly "
            "including parts of PyTorch, and allows no exceptions. If a step or a check says that something "
            "was blocked, this is why; Windows Security shows it under “App & browser control”.",
        )
        yield MachineNote(kind="warn", text=text)
    if machine.laptop:
        text = translate("MachineSummary", "This is a laptop: keep it plugged in while training, or it slows down.")
        yield MachineNote(kind="info", text=text)
    if machine.virtual_machine:
        text = translate(
            "MachineSummary", "This is a virtual machine: it sees only the graphics cards that its host passes through."
        )
        yield MachineNote(kind="info", text=text)
    if machine.os.wsl:
        text = translate(
            "MachineSummary", "This is Linux inside Windows (WSL): it uses the graphics driver installed in Windows."
        )
        yield MachineNote(kind="info", text=text)
    if machine.remote_desktop:
        text = translate(
            "MachineSummary",
            "You are using this computer over remote desktop. Everything runs as usual; stay signed in.",
        )
        yield MachineNote(kind="info", text=text)


def _software_notes(machine: Machine, row_probes: frozenset[str]) -> Iterator[MachineNote]:
    for python in machine.pythons or ():
        if python.torch is not None and python.torch.error is not None:
            text = translate(
                "MachineSummary",
                "The PyTorch in {path} does not start. We leave it alone and install another one separately.",
            )
            yield MachineNote(kind="info", text=text.format(path=python.path))
    for toolkit in machine.cuda_toolkits or ():
        if toolkit.nvcc is False or toolkit.version is None:
            text = translate(
                "MachineSummary",
                "The CUDA Toolkit (for compiling CUDA programs) in {path} has no compiler. PyTorch does not use "
                "it and works without it; other programs that look for it there may fail.",
            )
            if toolkit.nvcc is not False:
                text = translate(
                    "MachineSummary",
                    "The version of the CUDA Toolkit (for compiling CUDA programs) in {path} cannot be found. "
                    "PyTorch does not use it and works without it.",
                )
            yield MachineNote(kind="info", text=text.format(path=toolkit.path))
    if machine.tools is not None and machine.tools.conda is not None:
        text = translate(
            "MachineSummary",
            "conda {version} is on this computer. It is left alone; what you install here is separate from it.",
        )
        yield MachineNote(kind="info", text=text.format(version=machine.tools.conda))
    for note in machine.notes:
        if note.probe not in row_probes:
            yield MachineNote(kind="info", text=probe_failure_text(note))
