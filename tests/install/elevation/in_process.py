"""Elevation client and helper in this process, and programs of the tests that run as Windows' own would.

A program is a script in Python, whatever its name says. Its last line may be "EXIT n": Windows' exit codes have 32
bits, those of a process on Linux have 8. A line "# signed by NAME" is its signature.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from msgspec.structs import replace

from gpu_assistant.catalog.store import Catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.elevation.helper import ElevationHelper
from gpu_assistant.install.steps.context import InstallContext
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult, System


def as_on_windows(argv: Sequence[str | Path], **more: Any) -> ProcessResult:
    """Run a script of the tests; its own last word is its exit code."""
    done = current_system().run([sys.executable, *argv], **more)
    match = re.search(r"^EXIT (-?\d+)\s*\Z", done.stdout, re.MULTILINE)
    return replace(done, returncode=int(match[1])) if match is not None else done


class InsideRights:
    """Private folders below one of the test's; the signature is a line of the file."""

    def __init__(self, base: Path, system32: Path | None = None) -> None:
        self.base, self._system32 = base, system32

    @property
    def windows(self) -> InsideRights:
        return self

    def system_programs_folder(self) -> Path:
        assert self._system32 is not None
        return self._system32

    def private_folder_path(self, name: str) -> Path:
        return self.base / name

    def create_private_folder(self, name: str) -> Path:
        self.private_folder_path(name).mkdir(parents=True)
        return self.private_folder_path(name)

    def check_private_folder(self, folder: Path) -> None:
        assert folder.is_dir()

    def open_user_file(self, path: Path) -> BinaryIO:
        return path.open("rb")

    def helper_program(self, home: Path) -> Path | None:
        return home / "launcher"

    def publisher(self, file: Path, signed_since: datetime | None = None) -> str:
        match = re.search(rb"^# signed by (.+)$", file.read_bytes(), re.MULTILINE)
        if match is None:
            raise AppError("signature-missing", path=str(file))
        return match[1].decode().strip()

    def file_version(self, file: Path) -> str | None:
        match = re.search(rb"^# version (.+)$", file.read_bytes(), re.MULTILINE)
        return match[1].decode().strip() if match is not None else "99.0.0.0"

    @contextmanager
    def private_unpack_folder(self, name: str | None) -> Iterator[None]:
        self.unpacked = name
        yield

    def create_restore_point(self, description: str) -> None:
        raise AssertionError(description)


def inside(system: System, catalog: Callable[[], Catalog], base: Path) -> Callable[[InstallContext], ElevationClient]:
    """What creates the elevation client of an install; the person always says yes."""
    rights = InsideRights(base, system.windows.system32_folder() if system.windows is not None else None)

    def run_as_admin(arguments: Sequence[str], **_more: Any) -> int:
        return ElevationHelper(system, rights, catalog()).handle_request(arguments[1:])

    def client(work: InstallContext) -> ElevationClient:
        return ElevationClient(work.data.state, system, rights=rights, run_as_admin=run_as_admin, command=("helper",))

    return client
