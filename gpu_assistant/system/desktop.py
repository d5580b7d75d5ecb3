"""The user's desktop: an entry in its menu, the editors on it, and where Jupyter looks for kernels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class EntryFile(Struct, frozen=True, kw_only=True):
    """One file of an entry in the menu, whole."""

    path: Path
    content: bytes


class Desktop(Protocol):
    """Nothing here writes; programs that are started live on without us."""

    def entry(self, environment: Path) -> tuple[EntryFile, ...]:
        """The files of a menu entry that opens a terminal with an environment ready.

        Equal for the same environment. Raises AppError("menu-unusable", detail=…).
        """
        ...

    def editor(self) -> Path | None:
        """Visual Studio Code's program by its full path; None where it is not here."""
        ...

    def kernels(self) -> Path:
        """The folder in which Jupyter looks for the user's own kernels."""
        ...

    def start(self, argv: Sequence[str | Path], folder: Path) -> None:
        """Start a program by its absolute path, in a folder; raises AppError("program-missing")."""
        ...


def entry_name(environment: Path) -> str:
    """What the menu calls an environment: its folder's name, in one line."""
    name = "".join(letter if letter.isprintable() else " " for letter in environment.name)
    return f"{name} (GPU Assistant)"


def current() -> Desktop:
    """This system's."""
    if sys.platform == "win32":
        from .windows_menu import WindowsDesktop

        return WindowsDesktop()
    else:  # noqa: RET505 - the type checker follows one branch per system
        from .linux_menu import LinuxDesktop

        return LinuxDesktop()
