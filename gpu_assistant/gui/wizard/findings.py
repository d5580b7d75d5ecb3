"""What else was noticed about a computer and matters for a setup, in words; and what could not be found out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QCoreApplication

from ...core.machine import Machine, ProbeNote
from ..language import texts

translate = QCoreApplication.translate

PARTIAL_SUFFIX = "partly"


class MachineNote(Struct, frozen=True, kw_only=True):
    """One sentence, to know or to act upon."""

    kind: Literal["info", "warn"]
    text: str


def machine_notes(machine: Machine, row_probes: frozenset[str]) -> tuple[MachineNote, ...]:
    """What to act upon first. Probes named in `in_rows` say elsewhere that they failed."""
    notes = [*_folder_notes(machine), *_system_notes(machine), *_software_notes(machine, row_probes)]
    return tuple(sorted(notes, key=lambda note: note.kind == "info"))


def probe_failure_text(note: ProbeNote) -> str:
    """Why something could not be read, in words; what nobody foresaw is not shown in a program's own words."""
    translations = texts()
    if note.code.startswith("detect.") and translations.has_text(note.code):
        return translations.translate(note.code, {"detail": note.detail})
    return translate("Findings", "This could not be read, so it counts as unknown.")


def is_partial(note: ProbeNote) -> bool:
    """Whether the probe found the greater part nevertheless."""
    return note.code.endswith(f".{PARTIAL_SUFFIX}")


def _folder_notes(machine: Machine) -> Iterator[MachineNote]:
    """Where things will lie."""
    user = machine.user
    if user is None:
        return
    if user.home_too_long:
        text = translate(
            "Findings",
            "The path of your user folder is so long that packages below it would not fit. Choose a short folder, "
            "such as one on the top of a disk, on the next page.",
        )
        yield MachineNote(kind="warn", text=text)
    if user.ascii is False:
        text = translate(
            "Findings",
            "Your user folder has characters beyond plain English letters. Some programs stumble over that; should "
            "one do so, choose another folder on the next page.",
        )
        yield MachineNote(kind="info", text=text)
    if user.onedrive:
        text = translate(
            "Findings",
            "OneDrive keeps {folders}. Install somewhere else, or it will upload tens of thousands of small files.",
        )
        yield MachineNote(kind="info", text=text.format(folders=", ".join(user.onedrive)))


def _system_notes(machine: Machine) -> Iterator[MachineNote]:
    """What kind of computer it is."""
    nvidia = bool(machine.gpus_of("nvidia"))
    if machine.os.secure_boot and machine.os.system == "linux" and nvidia:
        text = translate(
            "Findings",
            "Secure Boot is on: this system loads the NVIDIA driver only if it is signed with a key that the computer "
            "knows. Take the driver from your distribution, which sees to that.",
        )
        yield MachineNote(kind="warn", text=text)
    if machine.laptop:
        text = translate("Findings", "A laptop: let it run on mains power while it trains, or it slows down.")
        yield MachineNote(kind="info", text=text)
    if machine.virtual_machine:
        text = translate("Findings", "A virtual machine: it has only the graphics cards that its host hands through.")
        yield MachineNote(kind="info", text=text)
    if machine.os.wsl:
        text = translate("Findings", "Linux inside Windows (WSL): the graphics driver is the one of Windows.")
        yield MachineNote(kind="info", text=text)
    if machine.remote_desktop:
        text = translate(
            "Findings", "You see this computer over a remote desktop. It computes as usual; stay signed in meanwhile."
        )
        yield MachineNote(kind="info", text=text)


def _software_notes(machine: Machine, row_probes: frozenset[str]) -> Iterator[MachineNote]:
    """Programs that are there but broken, and what could not be looked at."""
    for python in machine.pythons or ():
        if python.torch is not None and python.torch.error is not None:
            text = translate("Findings", "The PyTorch in {path} does not start. It is left as it is; ours is apart.")
            yield MachineNote(kind="info", text=text.format(path=python.path))
    for toolkit in machine.cuda_toolkits or ():
        if toolkit.nvcc is False or toolkit.version is None:
            text = translate(
                "Findings",
                "The CUDA Toolkit (what compiles CUDA programs) in {path} has no compiler. PyTorch does not use it and "
                "works without it; other programs that look for it there may fail.",
            )
            if toolkit.nvcc is not False:
                text = translate(
                    "Findings",
                    "The version of the CUDA Toolkit (what compiles CUDA programs) in {path} cannot be found. PyTorch "
                    "does not use it and works without it.",
                )
            yield MachineNote(kind="info", text=text.format(path=toolkit.path))
    if machine.tools is not None and machine.tools.conda is not None:
        text = translate(
            "Findings", "conda {version} is here. What is installed from here stands apart from it; it stays as it is."
        )
        yield MachineNote(kind="info", text=text.format(version=machine.tools.conda))
    for note in machine.notes:
        if note.probe not in row_probes:
            yield MachineNote(kind="info", text=probe_failure_text(note))
