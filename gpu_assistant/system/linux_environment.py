"""The user's environment variables: a file of ours in environment.d, which systemd reads at every login.

Its words are environment.d(5)'s: `NAME="value"`, where `$$` is a dollar sign and `${PATH}` the value so far.
Other systems' sessions read no such file, and there we say so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..core import json
from ..core.errors import AppError
from ..core.refusal import why
from .places import variable_name, variable_value
from .services import Variable

FILE = "environment.d/60-gpu-assistant.conf"
SYSTEMD = "run/systemd/system"  # there while systemd runs the computer; sd_booted(3)
PATH = "PATH"
SO_FAR = "${PATH}:"

_LINE = re.compile(r'(\w+)="(.*)"')


def config_folder(home: Path, environ: Mapping[str, str]) -> Path:
    """Where a user's settings lie; a relative XDG_CONFIG_HOME counts for nothing (basedir-spec)."""
    given = Path(environ.get("XDG_CONFIG_HOME", ""))
    return given if given.is_absolute() else home / ".config"


class LinuxVariables:
    """See `services.UserVariables`; only what we wrote down ourselves is known here.

    Writing raises what `core.json.write_file` does.
    """

    def __init__(self, config: Path, root: Path = Path("/")) -> None:
        self._file = config / FILE
        self._root = root

    def get(self, name: str) -> Variable | None:
        """Of PATH, the lines that add to it are no value."""
        variable_name(name)
        found = [value for given, value in self._lines() if given == name and not _adds(given, value)]
        return Variable(value=_read(found[-1]), expand="$" in found[-1].replace("$$", "")) if found else None

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        """`expand` leaves `$NAME` to systemd."""
        written = (variable_name(name), _written(variable_value(value), expand=expand))
        lines = self._lines()
        there = [place for place, line in enumerate(lines) if line[0] == name and not _adds(*line)]
        if there:
            lines[there[-1]] = written
        else:
            lines.append(written)
        self._write(lines)

    def remove(self, name: str) -> bool:
        """Take its line out, and the file where it was the last one."""
        lines = self._lines()
        others = [line for line in lines if line[0] != name or _adds(*line)]
        if len(others) == len(lines):
            return False
        self._write(others)
        return True

    def has_on_path(self, folder: Path) -> bool:
        """Whether there is a line that adds it."""
        return _path_line(folder) in self._lines()

    def add_to_path(self, folder: Path) -> bool:
        """A line of its own, which adds to the PATH that the session has by then."""
        if ":" in str(folder):
            raise AppError("path-not-addable", folder=str(folder))
        line = _path_line(folder)
        lines = self._lines()
        if line in lines:
            return False
        self._write([*lines, line])
        return True

    def take_from_path(self, folder: Path) -> bool:
        """Take its line out."""
        line = _path_line(folder)
        lines = self._lines()
        if line not in lines:
            return False
        self._write([other for other in lines if other != line])
        return True

    def _lines(self) -> list[tuple[str, str]]:
        if not (self._root / SYSTEMD).is_dir():
            raise AppError("no-user-variables")
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise AppError("variable-unusable", name=str(self._file), detail=why(error)) from error
        except UnicodeDecodeError as error:
            raise AppError("variable-unusable", name=str(self._file), detail=str(error)) from error
        return [(match[1], match[2]) for line in text.splitlines() if (match := _LINE.fullmatch(line))]

    def _write(self, lines: list[tuple[str, str]]) -> None:
        if lines:
            json.write_file(self._file, "".join(f'{name}="{value}"\n' for name, value in lines))
            return
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise AppError("variable-unusable", name=str(self._file), detail=why(error)) from error
        # An empty folder says nothing to anybody, and it may be ours.
        with suppress(OSError):
            self._file.parent.rmdir()


def _path_line(folder: Path) -> tuple[str, str]:
    return PATH, SO_FAR + _written(variable_value(str(folder)), expand=False)


def _adds(name: str, value: str) -> bool:
    return name == PATH and value.startswith(SO_FAR)


def _written(value: str, *, expand: bool) -> str:
    # Within quotes a backslash keeps these as they are; the dollar sign is read once more after that.
    text = re.sub(r'(["\\`])', r"\\\1", value)
    return text if expand else text.replace("$", "$$")


def _read(written: str) -> str:
    return re.sub(r'\\(["\\`])', r"\1", written).replace("$$", "$")
