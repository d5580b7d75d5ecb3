"""A command after the next login: an entry in the desktop's autostart folder, which the program takes away itself.

Source: the Desktop Application Autostart and Desktop Entry Specifications of freedesktop.org.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..core import json
from ..core.errors import AppError
from ..core.refusal import why
from .places import absolute_words

FILE = "autostart/gpu-assistant-once.desktop"
ENTRY = """[Desktop Entry]
Type=Application
Name=GPU Assistant
Name[zh_CN]=GPU 助手
Terminal=false
Exec={line}
"""


class LinuxAtLogin:
    """See `services.AtLogin`; writing raises what `core.json.write_file` does."""

    def __init__(self, config: Path) -> None:
        self._file = config / FILE

    def set(self, argv: Sequence[str | Path]) -> None:
        """As an entry of its own."""
        line = " ".join(map(quoted, absolute_words(argv)))
        json.write_file(self._file, ENTRY.format(line=line))

    def get(self) -> tuple[str, ...] | None:
        """The words of its line."""
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _unusable(error) from error
        line = next((line.removeprefix("Exec=") for line in text.splitlines() if line.startswith("Exec=")), None)
        return None if line is None else _words(line)

    def clear(self) -> None:
        """Take the entry away."""
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(error) from error
        # An empty folder says nothing to anybody, and it may be ours.
        with suppress(OSError):
            self._file.parent.rmdir()


def quoted(word: str) -> str:
    """One word of an entry's Exec line."""
    # First as an argument in quotes, then as a value of the file, where a backslash stands twice.
    escaped = re.sub(r'(["`$\\])', r"\\\1", word)
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


def _words(line: str) -> tuple[str, ...]:
    value = line.replace("%%", "%").replace("\\\\", "\\")
    found: list[str] = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
    return tuple(re.sub(r'\\(["`$\\])', r"\1", word) for word in found)


def _unusable(error: Exception) -> AppError:
    return AppError("login-unusable", detail=why(error) if isinstance(error, OSError) else str(error))
