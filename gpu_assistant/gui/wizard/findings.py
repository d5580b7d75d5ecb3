"""What else was noticed about a computer and matters for a setup, in words; and what could not be found out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QCoreApplication

from ...core.machine import Machine, ProbeNote
from ..language import texts

translate = QCoreApplication.translate

PART = "partly"


class Finding(Struct, frozen=True, kw_only=True):
    """One sentence, to know or to act upon."""

    kind: Literal["info", "warn"]
    text: str


def findings(machine: Machine, in_rows: frozenset[str]) -> tuple[Finding, ...]:
    """What to act upon first. Probes named in `in_rows` say elsewhere that they failed."""
    found = [*_place(machine), *_kind(machine), *_silent(machine, in_rows)]
    return tuple(sorted(found, key=lambda finding: finding.kind == "info"))


def why(note: ProbeNote) -> str:
    """Why something could not be read, in words; what nobody foresaw is not shown in a program's own words."""
    said = texts()
    if note.code.startswith("detect.") and said.has(note.code):
        return said.say(note.code, {"detail": note.detail})
    return translate("Findings", "This could not be read, so it counts as unknown.")


def partly(note: ProbeNote) -> bool:
    """Whether the probe found the greater part nevertheless."""
    return note.code.endswith(f".{PART}")


def _place(machine: Machine) -> Iterator[Finding]:
    """Where things will lie."""
    user = machine.user
    if user is None:
        return
    if user.home_too_long:
        words = translate(
            "Findings",
            "The path of your user folder is so long that packages below it would not fit. Choose a short folder, "
            "such as one on the top of a disk, on the next page.",
        )
        yield Finding(kind="warn", text=words)
    if user.ascii is False:
        words = translate(
            "Findings",
            "Your user folder has characters beyond plain English letters. Some programs stumble over that; should "
            "one do so, choose another folder on the next page.",
        )
        yield Finding(kind="info", text=words)
    if user.onedrive:
        words = translate(
            "Findings",
            "OneDrive keeps {folders}. Install somewhere else, or it will upload tens of thousands of small files.",
        )
        yield Finding(kind="info", text=words.format(folders=", ".join(user.onedrive)))


def _kind(machine: Machine) -> Iterator[Finding]:
    """What kind of computer it is."""
    nvidia = bool(machine.gpus_of("nvidia"))
    if machine.os.secure_boot and machine.os.system == "linux" and nvidia:
        words = translate(
            "Findings",
            "Secure Boot is on: this system loads the NVIDIA driver only if it is signed with a key that the computer "
            "knows. Take the driver from your distribution, which sees to that.",
        )
        yield Finding(kind="warn", text=words)
    if machine.laptop:
        words = translate("Findings", "A laptop: let it run on mains power while it trains, or it slows down.")
        yield Finding(kind="info", text=words)
    if machine.virtual_machine:
        words = translate("Findings", "A virtual machine: it has only the graphics cards that its host hands through.")
        yield Finding(kind="info", text=words)
    if machine.os.wsl:
        words = translate("Findings", "Linux inside Windows (WSL): the graphics driver is the one of Windows.")
        yield Finding(kind="info", text=words)
    if machine.remote_desktop:
        words = translate(
            "Findings", "You see this computer over a remote desktop. It computes as usual; stay signed in meanwhile."
        )
        yield Finding(kind="info", text=words)


def _silent(machine: Machine, in_rows: frozenset[str]) -> Iterator[Finding]:
    """Programs that are there but broken, and what could not be looked at."""
    for python in machine.pythons or ():
        if python.torch is not None and python.torch.error is not None:
            words = translate("Findings", "The PyTorch in {path} does not start. It is left as it is; ours is apart.")
            yield Finding(kind="info", text=words.format(path=python.path))
    for toolkit in machine.cuda_toolkits or ():
        if toolkit.nvcc is False or toolkit.version is None:
            words = translate(
                "Findings",
                "The CUDA Toolkit (what compiles CUDA programs) in {path} has no compiler. PyTorch does not use it and "
                "works without it; other programs that look for it there may fail.",
            )
            if toolkit.nvcc is not False:
                words = translate(
                    "Findings",
                    "The version of the CUDA Toolkit (what compiles CUDA programs) in {path} cannot be found. PyTorch "
                    "does not use it and works without it.",
                )
            yield Finding(kind="info", text=words.format(path=toolkit.path))
    if machine.tools is not None and machine.tools.conda is not None:
        words = translate(
            "Findings", "conda {version} is here. What is installed from here stands apart from it; it stays as it is."
        )
        yield Finding(kind="info", text=words.format(version=machine.tools.conda))
    for note in machine.notes:
        if note.probe not in in_rows:
            yield Finding(kind="info", text=why(note))
