"""What a process with administrator rights does for us, and how it keeps other processes out meanwhile."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol


class WindowsAdministration(Protocol):
    """What the elevated helper needs of Windows, and no other system has."""

    def system_programs_folder(self) -> Path:
        """The folder of Windows' own programs, as Windows says: environment variables are the user's to change."""
        ...

    def publisher(self, file: Path, signed_since: datetime | None = None) -> str:
        """Who signed a program, by an Authenticode signature that this computer trusts for code.

        Raises AppError("signature-missing", "signature-broken", "signature-untrusted", "signature-expired"), and
        "signature-older" where it is not proven that it was signed at `signed_since` or later.
        """
        ...

    def file_version(self, file: Path) -> str | None:
        """The version that a program says of itself, four numbers; None where it says none."""
        ...

    def private_unpack_folder(self, name: str | None) -> AbstractContextManager[None]:
        """In the context, the folder of that name on the system's drive is a new one that only administrators may
        change; what was there comes back afterwards. None: nothing to protect. Raises AppError("door-folder").
        """
        ...

    def create_restore_point(self, description: str) -> None:
        """Create a restore point with this description; raises AppError("restore-point")."""
        ...


class ElevatedSystem(Protocol):
    """The operating system as the elevated helper (`install/elevation/helper.py`) uses it.

    A user's program may try to make the helper write, read or run something else than it was asked to: by links, by
    swapping files between a check and their use, by creating folders beforehand. What is used is therefore copied
    first into a folder that nobody else can change.
    """

    def helper_program(self, home: Path) -> Path | None:
        """What of the program that is installed in the folder `home` may be started with administrator rights.

        None where a program of the user's could exchange what would run.
        """
        ...

    def private_folder_path(self, name: str) -> Path:
        """The path of the private folder of that name; the client finds the answer there."""
        ...

    def create_private_folder(self, name: str) -> Path:
        """A new folder that everybody may read and only administrators may change.

        Raises AppError("door-folder") where something of that name exists, or where it cannot be created so.
        """
        ...

    def check_private_folder(self, folder: Path) -> None:
        """Raise AppError("door-folder") for a folder that others than administrators could change or swap."""
        ...

    def open_user_file(self, path: Path) -> BinaryIO:
        """A user's regular file, opened for reading; raises AppError("door-file") for a link, a device or a pipe."""
        ...

    @property
    def windows(self) -> WindowsAdministration | None:
        """What only Windows has; None elsewhere."""
        ...


def current_elevation() -> ElevatedSystem:
    """The operating system that we run on; its module is imported by the first call."""
    if sys.platform == "win32":
        from .windows.elevation import WindowsElevatedSystem

        return WindowsElevatedSystem()
    else:  # noqa: RET505 - the type checker follows one branch per system
        from .linux.elevation import LinuxElevatedSystem

        return LinuxElevatedSystem()
