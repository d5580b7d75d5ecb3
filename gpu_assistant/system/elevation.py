"""What only a program with administrator rights may do for us, and how it keeps others out meanwhile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Protocol


class ElevatedSystem(Protocol):
    """The side of the operating system that the elevated helper (`install/door/`) needs.

    A user's program may try to make the helper write, read or run something else than it was asked to: by links, by
    swapping files between a check and their use, by folders made beforehand. What is used is therefore first brought
    into a folder that nobody else can change.
    """

    def private_folder_path(self, name: str) -> Path:
        """Where the private folder of that name lies; the asking side finds the answer there."""
        ...

    def create_private_folder(self, name: str) -> Path:
        """A new folder that everybody may read and only administrators may change.

        Raises AppError("door-folder") where something of that name is there already, or where it cannot be made so.
        """
        ...

    def check_private_folder(self, folder: Path) -> None:
        """Raise AppError("door-folder") for a folder that others than administrators could change or swap."""
        ...

    def open_user_file(self, path: Path) -> BinaryIO:
        """A plain file of the user's, open for reading: no link, no device, no pipe; raises AppError("door-file")."""
        ...

    def system_programs_folder(self) -> Path | None:
        """Where Windows' own programs lie, as Windows says: variables are the user's to change. None elsewhere."""
        ...

    def publisher(self, file: Path) -> str:
        """Who signed a program, by a signature that this system trusts for code.

        Raises AppError("signature-missing", "signature-broken", "signature-untrusted", "signature-expired",
        "signature-unknowable").
        """
        ...

    def create_restore_point(self, description: str) -> None:
        """Let the system note its state under these words; raises AppError("restore-point")."""
        ...


def current_elevation() -> ElevatedSystem:
    """This computer's; its file is loaded with the first call."""
    if sys.platform == "win32":
        from .windows.elevation import WindowsElevatedSystem

        return WindowsElevatedSystem()
    else:  # noqa: RET505 - the type checker follows one branch per system
        from .linux.elevation import LinuxElevatedSystem

        return LinuxElevatedSystem()
