"""The door with both its sides in this process, and programs of the tests that run as Windows' own would.

A program is a script in Python, whatever its name says. Its last line may be "EXIT n": Windows' exit codes have 32
bits, those of a process on Linux have 8. A line "# signed by NAME" is its signature.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from msgspec.structs import replace

from gpu_assistant.catalog.load import Catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.install.door.ask import Door
from gpu_assistant.install.door.serve import Server
from gpu_assistant.install.work import Work
from gpu_assistant.system import current
from gpu_assistant.system.base import Finished, System


def as_on_windows(argv: Sequence[str | Path], **more: Any) -> Finished:
    """Run a script of the tests; its own last word is its exit code."""
    done = current().run([sys.executable, *argv], **more)
    said = re.search(r"^EXIT (-?\d+)\s*\Z", done.out, re.MULTILINE)
    return replace(done, code=int(said[1])) if said is not None else done


class InsideRights:
    """Private folders below one of the test's; the signature is a line of the file."""

    def __init__(self, base: Path, system32: Path | None = None) -> None:
        self.base, self._system32 = base, system32

    def system_folder(self) -> Path | None:
        return self._system32

    def place(self, name: str) -> Path:
        return self.base / name

    def make_private(self, name: str) -> Path:
        self.place(name).mkdir(parents=True)
        return self.place(name)

    def refuse_open(self, folder: Path) -> None:
        assert folder.is_dir()

    def open_given(self, path: Path) -> BinaryIO:
        return path.open("rb")

    def publisher(self, file: Path) -> str:
        found = re.search(rb"^# signed by (.+)$", file.read_bytes(), re.MULTILINE)
        if found is None:
            raise AppError("signature-missing", path=str(file))
        return found[1].decode().strip()

    def restore_point(self, words: str) -> None:
        raise AssertionError(words)


def inside(system: System, catalog: Callable[[], Catalog], base: Path) -> Callable[[Work], Door]:
    """What makes the door of an install; the person always says yes."""
    rights = InsideRights(base, system.shared_libraries())

    def run_as_admin(words: Sequence[str], **_more: Any) -> int:
        return Server(system, rights, catalog()).serve(words[1:])

    def door(work: Work) -> Door:
        return Door(work.data.state, system, rights=rights, run_as_admin=run_as_admin, words=("helper",))

    return door
