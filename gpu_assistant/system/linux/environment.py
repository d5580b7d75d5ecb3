"""The user's environment variables: a file of ours in environment.d, which systemd reads at every login.

Its syntax is environment.d(5)'s: `NAME="value"`, where `$$` is a dollar sign and `${PATH}` the value so far. Where
systemd does not run, nothing reads such a file: AppError("no-user-variables").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...core import filesystem, json
from ...core.errors import AppError, os_error_text
from ..base import EnvironmentVariable
from ..variables import check_variable_name, check_variable_value

ENVIRONMENT_FILE = "environment.d/60-gpu-assistant.conf"
SYSTEMD_RUNNING_FOLDER = "run/systemd/system"  # there while systemd runs the computer; sd_booted(3)
PATH_VARIABLE = "PATH"
PATH_PREFIX = "${PATH}:"

_ASSIGNMENT = re.compile(r'(\w+)="(.*)"')


def config_folder(home: Path, environ: Mapping[str, str]) -> Path:
    """The folder of the user's settings; a relative XDG_CONFIG_HOME is ignored, as the specification says."""
    xdg_config_home = Path(environ.get("XDG_CONFIG_HOME", ""))
    return xdg_config_home if xdg_config_home.is_absolute() else home / ".config"


class LinuxEnvironmentVariables:
    """See `base.UserEnvironmentVariables`; it knows the variables in our own file only.

    Writing raises what `core.json.write_file` does.
    """

    def __init__(self, config: Path, root: Path = Path("/")) -> None:
        self._file = config / ENVIRONMENT_FILE
        self._root = root

    def get(self, name: str) -> EnvironmentVariable | None:
        """The last line's value; lines that append to PATH are no value of it."""
        check_variable_name(name)
        values = [
            value
            for line_name, value in self._read_lines()
            if line_name == name and not _is_path_assignment(line_name, value)
        ]
        return (
            EnvironmentVariable(value=_unquote_value(values[-1]), expand="$" in values[-1].replace("$$", ""))
            if values
            else None
        )

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        """With `expand`, systemd expands `$NAME`."""
        new_line = (check_variable_name(name), _quote_value(check_variable_value(value), expand=expand))
        lines = self._read_lines()
        existing_indexes = [
            index for index, line in enumerate(lines) if line[0] == name and not _is_path_assignment(*line)
        ]
        if existing_indexes:
            lines[existing_indexes[-1]] = new_line
        else:
            lines.append(new_line)
        self._write_lines(lines)

    def remove(self, name: str) -> bool:
        """Remove its line, and the file with its last line."""
        lines = self._read_lines()
        remaining = [line for line in lines if line[0] != name or _is_path_assignment(*line)]
        if len(remaining) == len(lines):
            return False
        self._write_lines(remaining)
        return True

    def is_on_path(self, folder: Path) -> bool:
        """Whether there is a line that appends it."""
        return _path_assignment(folder) in self._read_lines()

    def add_to_path(self, folder: Path) -> bool:
        """Add a line that appends to the session's PATH."""
        if ":" in str(folder):
            raise AppError("path-not-addable", folder=str(folder))
        line = _path_assignment(folder)
        lines = self._read_lines()
        if line in lines:
            return False
        self._write_lines([*lines, line])
        return True

    def remove_from_path(self, folder: Path) -> bool:
        """Remove its line."""
        line = _path_assignment(folder)
        lines = self._read_lines()
        if line not in lines:
            return False
        self._write_lines([other for other in lines if other != line])
        return True

    def _read_lines(self) -> list[tuple[str, str]]:
        if not (self._root / SYSTEMD_RUNNING_FOLDER).is_dir():
            raise AppError("no-user-variables")
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise AppError("variable-unusable", name=str(self._file), detail=os_error_text(error)) from error
        except UnicodeDecodeError as error:
            raise AppError("variable-unusable", name=str(self._file), detail=str(error)) from error
        return [(match[1], match[2]) for line in text.splitlines() if (match := _ASSIGNMENT.fullmatch(line))]

    def _write_lines(self, lines: list[tuple[str, str]]) -> None:
        if lines:
            json.write_file(self._file, "".join(f'{name}="{value}"\n' for name, value in lines))
            return
        try:
            filesystem.unlink(self._file, missing_ok=True)
        except OSError as error:
            raise AppError("variable-unusable", name=str(self._file), detail=os_error_text(error)) from error
        # The folder may be ours; an empty one has no use.
        with suppress(OSError):
            filesystem.rmdir(self._file.parent)


def _path_assignment(folder: Path) -> tuple[str, str]:
    return PATH_VARIABLE, PATH_PREFIX + _quote_value(check_variable_value(str(folder)), expand=False)


def _is_path_assignment(name: str, value: str) -> bool:
    return name == PATH_VARIABLE and value.startswith(PATH_PREFIX)


def _quote_value(value: str, *, expand: bool) -> str:
    # Within quotes a backslash escapes these; dollar signs are expanded in a second pass.
    escaped = re.sub(r'(["\\`])', r"\\\1", value)
    return escaped if expand else escaped.replace("$", "$$")


def _unquote_value(quoted_value: str) -> str:
    return re.sub(r'\\(["\\`])', r"\1", quoted_value).replace("$$", "$")
