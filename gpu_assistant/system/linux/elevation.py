"""Administrator rights on Linux: polkit's pkexec, which asks the user in the desktop's own window.

The elevated helper's side of Linux: folders of root's, and files opened without following anybody's links.
"""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # noqa: S101 - the type checker reads this too

import math
import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from ...core.errors import AppError, ElevationDenied, os_error_text
from .. import processes as system_processes
from . import processes

PKEXEC = Path("/usr/bin/pkexec")
REFUSED_RETURNCODES = (126, 127)  # pkexec(1): the user closed the question; not allowed, or nobody could ask


def run_as_admin(argv: Sequence[str | Path], *, cancel: threading.Event | None, pkexec: Path = PKEXEC) -> int:
    """See `base.System.run_as_admin`."""
    command = system_processes.check_command(argv)
    if not pkexec.is_file():
        raise ElevationDenied("rights-no-way", program=command[0])
    argv = [str(pkexec), "--disable-internal-agent", *command]
    # No time limit: a person may be thinking about the question.
    returncode = system_processes.run_process(
        processes.start_process, argv, timeout=math.inf, environ=None, cwd=None, cancel=cancel, on_line=None
    ).returncode
    if returncode in REFUSED_RETURNCODES:
        raise ElevationDenied("rights-refused", program=command[0])
    return returncode


RUN_FOLDER = Path("/run")  # root's alone, and empty again after a restart
GROUP_OR_OTHER_WRITE = stat.S_IWGRP | stat.S_IWOTH


class LinuxElevatedSystem:
    """See `rights.Rights`. `base` is a folder that only we can write."""

    def __init__(self, base: Path = RUN_FOLDER) -> None:
        self._base = base

    def private_folder_path(self, name: str) -> Path:
        """Below /run."""
        return self._base / name

    def create_private_folder(self, name: str) -> Path:
        """See `rights.Rights.make_private`."""
        folder = self.private_folder_path(name)
        try:
            folder.mkdir(mode=0o755)
            folder.chmod(0o755)  # whatever the umask
        except OSError as error:
            raise AppError("door-folder", path=str(folder), detail=os_error_text(error)) from error
        self.check_private_folder(folder)
        return folder

    def check_private_folder(self, folder: Path) -> None:
        """The folder and all above it: root's or ours, and nobody else may write (a sticky /tmp protects ours)."""
        for path in (folder, *folder.parents):
            status = path.lstat()
            writable_by_others = status.st_mode & GROUP_OR_OTHER_WRITE and not (
                path != folder and status.st_mode & stat.S_ISVTX
            )
            if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (0, os.geteuid()) or writable_by_others:
                raise AppError("door-folder", path=str(folder), detail=str(path))

    def open_user_file(self, path: Path) -> BinaryIO:
        """The name itself is no link; what it opens is a plain file, and opening it waits for nobody."""
        if not path.is_absolute() or ".." in path.parts:
            raise AppError("door-file", path=str(path), detail=None)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError as error:
            raise AppError("door-file", path=str(path), detail=os_error_text(error)) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise AppError("door-file", path=str(path), detail=None)
        return os.fdopen(descriptor, "rb")

    def system_programs_folder(self) -> None:
        """Not a thing here."""
        return

    def publisher(self, file: Path) -> str:
        """Windows' signatures are Windows' to judge."""
        raise AppError("signature-unknowable", path=str(file))

    def create_restore_point(self, description: str) -> None:  # noqa: ARG002 - there is none to name
        """Not a thing here."""
        raise AppError("restore-point", detail="Linux")
