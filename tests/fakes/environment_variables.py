"""A user's variables and the command at login, kept in files: real enough to be killed in the middle of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gpu_assistant.core import json
from gpu_assistant.system.base import EnvironmentVariable

PATH = "PATH"


class FileVariables:
    """See `services.UserVariables`; PATH is one text with ";" between its folders, as Windows has it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def _all(self) -> dict[str, EnvironmentVariable]:
        return json.decode(self._file.read_bytes(), dict[str, EnvironmentVariable]) if self._file.exists() else {}

    def _write(self, variables: dict[str, EnvironmentVariable]) -> None:
        if variables:
            json.write_file(self._file, msgspec.json.encode(variables, order="sorted"))
        else:
            self._file.unlink(missing_ok=True)

    def get(self, name: str) -> EnvironmentVariable | None:
        return self._all().get(name.upper())

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        self._write({**self._all(), name.upper(): EnvironmentVariable(value=value, expand=expand)})

    def remove(self, name: str) -> bool:
        variables = self._all()
        gone = variables.pop(name.upper(), None)
        self._write(variables)
        return gone is not None

    def is_on_path(self, folder: Path) -> bool:
        before = self.get(PATH)
        return before is not None and str(folder) in before.value.split(";")

    def add_to_path(self, folder: Path) -> bool:
        before = self.get(PATH)
        if self.is_on_path(folder):
            return False
        value = f"{before.value};{folder}" if before is not None else str(folder)
        self.set(PATH, value, expand=before.expand if before is not None else True)
        return True

    def remove_from_path(self, folder: Path) -> bool:
        before = self.get(PATH)
        if before is None or not self.is_on_path(folder):
            return False
        entries = before.value.split(";")
        entries.remove(str(folder))
        if not entries:
            return self.remove(PATH)
        self.set(PATH, ";".join(entries), expand=before.expand)
        return True


class FileAtLogin:
    """See `services.AtLogin`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def set(self, argv: Sequence[str | Path]) -> None:
        json.write_file(self._file, json.encode([str(word) for word in argv]))

    def get(self) -> tuple[str, ...] | None:
        return tuple(json.decode(self._file.read_bytes(), list[str])) if self._file.exists() else None

    def clear(self) -> None:
        self._file.unlink(missing_ok=True)
