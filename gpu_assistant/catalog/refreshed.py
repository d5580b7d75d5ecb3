"""The refreshed part of the catalog: newer files beside the built-in ones, each taken only where it is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from ..core import json
from .subject import IsoDate, CatalogFile

Kind = TypeVar("Kind", bound=CatalogFile)
IgnoreReason = Literal["older", "broken", "other-schema"]

STAMP_NAME = "stamp"
MAX_FILE_BYTES = 32 << 20


class CatalogStamp(Struct, frozen=True, kw_only=True):
    """What a refreshed folder says about itself: the form of its files, and the day it was written."""

    schema: Literal["gpu-assistant/catalog/1"]
    day: IsoDate


class IgnoredFile(Struct, frozen=True, kw_only=True):
    """A refreshed file that is not used, and why; `file` is the stamp's where the whole folder is not."""

    file: str
    why: IgnoreReason


class _DatedFile(Struct):
    as_of: IsoDate


class RefreshedCatalog:
    """A folder of refreshed files over the built-in floor. Nothing is read before it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ignored_files: list[IgnoredFile] = []
        self.used_files: set[str] = set()
        self._stamp: CatalogStamp | None = None
        self._stamp_read = False

    @property
    def stamp(self) -> CatalogStamp | None:
        """The folder's stamp; None where there is no folder, or one of another form."""
        if not self._stamp_read:
            self._stamp_read = True
            try:
                self._stamp = json.decode((self.folder / STAMP_NAME).read_bytes(), CatalogStamp)
            except OSError:
                pass  # never refreshed
            except (msgspec.DecodeError, UnicodeDecodeError):
                self.ignored_files.append(IgnoredFile(file=STAMP_NAME, why="other-schema"))
        return self._stamp

    def read(self, name: str, kind: type[Kind], builtin: Path) -> Kind | None:
        """The refreshed file, if there is a sound one that is not older than the floor's."""
        if self.stamp is None:
            return None
        path = self.folder / name
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise msgspec.DecodeError("too large")
            content = json.decode(path.read_bytes(), kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.ignored_files.append(IgnoredFile(file=name, why="broken"))
            return None
        if content.as_of < _read_date(builtin):
            self.ignored_files.append(IgnoredFile(file=name, why="older"))
            return None
        self.used_files.add(name)
        return content


def _read_date(path: Path) -> str:
    try:
        return json.decode(path.read_bytes(), _DatedFile).as_of
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return ""  # the floor is broken: anything sound is better
