"""The elevated helper's side of Linux: folders of root's, and files opened without following anybody's links."""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # noqa: S101 - the type checker reads this too

import os  # noqa: E402
import stat  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import BinaryIO  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from ..core.refusal import why  # noqa: E402

BASE = Path("/run")  # root's alone, and empty again after a restart
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class LinuxRights:
    """See `rights.Rights`. `base` is a folder that only we can write."""

    def __init__(self, base: Path = BASE) -> None:
        self._base = base

    def place(self, name: str) -> Path:
        """Below /run."""
        return self._base / name

    def make_private(self, name: str) -> Path:
        """See `rights.Rights.make_private`."""
        folder = self.place(name)
        try:
            folder.mkdir(mode=0o755)
            folder.chmod(0o755)  # whatever the umask
        except OSError as error:
            raise AppError("door-folder", path=str(folder), detail=why(error)) from error
        self.refuse_open(folder)
        return folder

    def refuse_open(self, folder: Path) -> None:
        """The folder and all above it: root's or ours, and nobody else may write (a sticky /tmp protects ours)."""
        for path in (folder, *folder.parents):
            seen = path.lstat()
            others = seen.st_mode & OTHERS_WRITE and not (path != folder and seen.st_mode & stat.S_ISVTX)
            if not stat.S_ISDIR(seen.st_mode) or seen.st_uid not in (0, os.geteuid()) or others:
                raise AppError("door-folder", path=str(folder), detail=str(path))

    def open_given(self, path: Path) -> BinaryIO:
        """The name itself is no link; what it opens is a plain file, and opening it waits for nobody."""
        if not path.is_absolute() or ".." in path.parts:
            raise AppError("door-file", path=str(path), detail=None)
        try:
            number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError as error:
            raise AppError("door-file", path=str(path), detail=why(error)) from error
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise AppError("door-file", path=str(path), detail=None)
        return os.fdopen(number, "rb")

    def system_folder(self) -> None:
        """Not a thing here."""
        return

    def publisher(self, file: Path) -> str:
        """Windows' signatures are Windows' to judge."""
        raise AppError("signature-unknowable", path=str(file))

    def restore_point(self, words: str) -> None:  # noqa: ARG002 - there is none to name
        """Not a thing here."""
        raise AppError("restore-point", detail="Linux")
