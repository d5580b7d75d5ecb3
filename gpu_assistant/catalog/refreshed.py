"""The refreshed part of the catalog: newer files beside the built-in ones, each taken only where it is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from ..core import json
from .subject import Day, Subject

Kind = TypeVar("Kind", bound=Subject)
Why = Literal["older", "broken", "other-schema"]

STAMP = "stamp"
LARGEST = 32 << 20


class Stamp(Struct, frozen=True, kw_only=True):
    """What a refreshed folder says about itself: the form of its files, and the day it was written."""

    schema: Literal["gpu-assistant/catalog/1"]
    day: Day


class Ignored(Struct, frozen=True, kw_only=True):
    """A refreshed file that is not used, and why; `file` is the stamp's where the whole folder is not."""

    file: str
    why: Why


class _Dated(Struct):
    as_of: Day


class Refreshed:
    """A folder of refreshed files over the built-in floor. Nothing is read before it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ignored: list[Ignored] = []
        self.used: set[str] = set()
        self._stamp: Stamp | None = None
        self._looked = False

    @property
    def stamp(self) -> Stamp | None:
        """The folder's stamp; None where there is no folder, or one of another form."""
        if not self._looked:
            self._looked = True
            try:
                self._stamp = json.decode((self.folder / STAMP).read_bytes(), Stamp)
            except OSError:
                pass  # never refreshed
            except (msgspec.DecodeError, UnicodeDecodeError):
                self.ignored.append(Ignored(file=STAMP, why="other-schema"))
        return self._stamp

    def read(self, name: str, kind: type[Kind], floor: Path) -> Kind | None:
        """The refreshed file, if there is a sound one that is not older than the floor's."""
        if self.stamp is None:
            return None
        path = self.folder / name
        try:
            if path.stat().st_size > LARGEST:
                raise msgspec.DecodeError("too large")
            found = json.decode(path.read_bytes(), kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.ignored.append(Ignored(file=name, why="broken"))
            return None
        if found.as_of < _day(floor):
            self.ignored.append(Ignored(file=name, why="older"))
            return None
        self.used.add(name)
        return found


def _day(path: Path) -> str:
    try:
        return json.decode(path.read_bytes(), _Dated).as_of
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return ""  # the floor is broken: anything sound is better
