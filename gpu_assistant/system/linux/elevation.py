"""Administrator rights on Linux: asked for through polkit's pkexec, and used without following users' links."""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # noqa: S101 - the type checker reads this too

import math
import os
import stat
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from ...core.errors import AppError, ElevationDenied, os_error_text
from ..base import ProcessResult
from ..processes import check_command, run_process
from .processes import start_process

PKEXEC = Path("/usr/bin/pkexec")
REFUSED_RETURNCODES = (126, 127)  # pkexec(1): the user dismissed the question; not allowed, or no way to ask
RUN_FOLDER = Path("/run")  # only root writes here; empty after a restart
LAUNCHER = "gpu-assistant"  # of the package (installers/linux/build.py)
GROUP_OR_OTHER_WRITE = stat.S_IWGRP | stat.S_IWOTH


def run_as_admin(argv: Sequence[str | Path], *, cancel: threading.Event | None, pkexec: Path = PKEXEC) -> int:
    """See `base.Elevation.run_as_admin`: pkexec shows the question in a window of its own."""
    # No time limit: the user may take any time to answer.
    return _check_allowed(
        argv,
        run_process(
            start_process,
            _asking_command(argv, pkexec),
            timeout=math.inf,
            environ=None,
            cwd=None,
            cancel=cancel,
            on_line=None,
        ),
    ).returncode


def run_to_end_as_admin(
    argv: Sequence[str | Path],
    run_to_end: Callable[..., ProcessResult],
    pkexec: Path = PKEXEC,
) -> ProcessResult:
    """See `base.Elevation.run_to_end_as_admin`."""
    # pkexec hands the locale on: what the program says is read, so it says it in English.
    return _check_allowed(argv, run_to_end(_asking_command(argv, pkexec), environ={"LC_ALL": "C.UTF-8"}))


def _asking_command(argv: Sequence[str | Path], pkexec: Path) -> list[str]:
    command = check_command(argv)
    if not pkexec.is_file():
        raise ElevationDenied("rights-no-way", program=command[0])
    return [str(pkexec), "--disable-internal-agent", *command]


def _check_allowed(argv: Sequence[str | Path], result: ProcessResult) -> ProcessResult:
    if result.returncode in REFUSED_RETURNCODES:
        raise ElevationDenied("rights-refused", program=str(argv[0]))
    return result


class LinuxElevatedSystem:
    """See `elevation.ElevatedSystem`; `base` is a folder that only root can write to."""

    def __init__(self, base: Path = RUN_FOLDER) -> None:
        self._base = base

    def helper_program(self, home: Path) -> Path | None:
        """The launcher of the package, which dpkg unpacks as root: a program of a user's never runs as root."""
        program = home / LAUNCHER
        try:
            states = [path.lstat() for path in (program, *program.parents)]
        except OSError:
            return None
        is_safe = all(
            state.st_uid == 0 and not state.st_mode & GROUP_OR_OTHER_WRITE and not stat.S_ISLNK(state.st_mode)
            for state in states
        )
        return program if is_safe and stat.S_ISREG(states[0].st_mode) else None

    def private_folder_path(self, name: str) -> Path:
        """In /run."""
        return self._base / name

    def create_private_folder(self, name: str) -> Path:
        """With mode 755, whatever the umask."""
        folder = self.private_folder_path(name)
        try:
            folder.mkdir(mode=0o755)
            folder.chmod(0o755)
        except OSError as error:
            raise AppError("door-folder", path=str(folder), detail=os_error_text(error)) from error
        self.check_private_folder(folder)
        return folder

    def check_private_folder(self, folder: Path) -> None:
        """The folder and its parents are root's or ours, and nobody else may write to them; parents may be sticky."""
        for path in (folder, *folder.parents):
            status = path.lstat()
            writable_by_others = status.st_mode & GROUP_OR_OTHER_WRITE and not (
                path != folder and status.st_mode & stat.S_ISVTX
            )
            if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (0, os.geteuid()) or writable_by_others:
                raise AppError("door-folder", path=str(folder), detail=str(path))

    def open_user_file(self, path: Path) -> BinaryIO:
        """The path itself is no link, and opens a regular file; opening it does not block (a pipe would)."""
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

    @property
    def windows(self) -> None:
        """Not on Linux."""
        return
