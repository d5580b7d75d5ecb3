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
from ..core.refusal import os_error_text
from .places import check_command_line

AUTOSTART_FILE = "autostart/gpu-assistant-once.desktop"
AUTOSTART_ENTRY = """[Desktop Entry]
Type=Application
Name=GPU Assistant
Name[zh_CN]=GPU 助手
Terminal=false
Exec={line}
"""


class LinuxLoginCommand:
    """See `services.AtLogin`; writing raises what `core.json.write_file` does."""

    def __init__(self, config: Path) -> None:
        self._file = config / AUTOSTART_FILE

    def set(self, argv: Sequence[str | Path]) -> None:
        """As an entry of its own."""
        line = " ".join(map(quote_exec_argument, check_command_line(argv)))
        json.write_file(self._file, AUTOSTART_ENTRY.format(line=line))

    def get(self) -> tuple[str, ...] | None:
        """The words of its line."""
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _login_command_error(error) from error
        line = next((line.removeprefix("Exec=") for line in text.splitlines() if line.startswith("Exec=")), None)
        return None if line is None else _split_exec_line(line)

    def clear(self) -> None:
        """Take the entry away."""
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise _login_command_error(error) from error
        # An empty folder says nothing to anybody, and it may be ours.
        with suppress(OSError):
            self._file.parent.rmdir()


def quote_exec_argument(argument: str) -> str:
    """One word of an entry's Exec line."""
    # First as an argument in quotes, then as a value of the file, where a backslash stands twice.
    escaped = re.sub(r'(["`$\\])', r"\\\1", argument)
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


def _split_exec_line(line: str) -> tuple[str, ...]:
    unescaped = line.replace("%%", "%").replace("\\\\", "\\")
    arguments: list[str] = re.findall(r'"((?:[^"\\]|\\.)*)"', unescaped)
    return tuple(re.sub(r'\\(["`$\\])', r"\1", argument) for argument in arguments)


def _login_command_error(error: Exception) -> AppError:
    return AppError("login-unusable", detail=os_error_text(error) if isinstance(error, OSError) else str(error))
