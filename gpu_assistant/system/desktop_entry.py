"""The user's desktop: an entry in its menu, the editors on it, and where Jupyter looks for kernels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class MenuEntryFile(Struct, frozen=True, kw_only=True):
    """One file of an entry in the menu, whole."""

    path: Path
    content: bytes


class DesktopEnvironment(Protocol):
    """Nothing here writes; programs that are started live on without us."""

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        """The files of a menu entry that opens a terminal with an environment ready.

        Equal for the same environment. Raises AppError("menu-unusable", detail=…).
        """
        ...

    def find_editor(self) -> Path | None:
        """Visual Studio Code's program by its full path; None where it is not here."""
        ...

    def kernels_folder(self) -> Path:
        """The folder in which Jupyter looks for the user's own kernels."""
        ...

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        """Start a program by its absolute path, in a folder; raises AppError("program-missing")."""
        ...


def menu_entry_name(environment: Path) -> str:
    """What the menu calls an environment: its folder's name, in one line."""
    name = "".join(character if character.isprintable() else " " for character in environment.name)
    return f"{name} (GPU Assistant)"


def current_desktop() -> DesktopEnvironment:
    """This system's."""
    if sys.platform == "win32":
        from .windows.desktop import WindowsDesktopEnvironment

        return WindowsDesktopEnvironment()
    else:  # noqa: RET505 - the type checker follows one branch per system
        from .linux.desktop import LinuxDesktopEnvironment

        return LinuxDesktopEnvironment()
