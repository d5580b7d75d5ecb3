"""Which of the user's own wheels is damaged."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from ..core.recommendation import LocalWheel


def find_corrupt_wheel(wheels: Sequence[LocalWheel], text: str) -> Path | None:
    """The first damaged wheel of those that a failed program's `text` names; None if they are all whole."""
    for wheel in wheels:
        path = Path(wheel.path)
        if (path.name in text or f"{wheel.project}==" in text) and not is_wheel_intact(path):
            return path
    return None


def is_wheel_intact(path: Path) -> bool:
    """Whether every file in a wheel can be unpacked and has its checksum."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        return False
