"""What the program keeps for itself in a data folder, beside what it installed: how much it is, and how it goes.

Somebody may have put the data folder among files of their own: what is called otherwise than ours is theirs.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..core import json
from ..core.json import storage_error
from ..core.names import Value
from ..core.paths import DataDir
from ..core.plan import Step
from ..core.settings import Settings
from .forecast import left_below
from .removal import delete
from .strangers import named

KIND = "farewell"
ROOT = "data"
FILLED = "leave-filled"
CACHES = "downloads"
JOURNAL = "journal"


class Own(Struct, frozen=True, kw_only=True):
    """One kind of what is ours, by its text `own.<name>`: whole `folders`, and `files` that lie in `place`."""

    name: str
    place: Path
    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def id(self) -> str:
        """The step's id."""
        return f"own-{self.name}"

    @property
    def step(self) -> Step:
        """What a removal tells of it, with the bytes that it takes now; raises AppError."""
        try:
            total = sum(_bytes(path) for path in (*self.folders, *self.files))
        except OSError as error:
            raise storage_error(error, self.place) from error
        data: dict[str, Value] = {"thing": f"@own.{self.name}", "path": str(self.place), "bytes": total}
        return Step(id=self.id, kind=KIND, code="remove-own", data=data)

    def drop(self) -> None:
        """Take it away; raises AppError where something of a cache is in use."""
        for folder in self.folders:
            delete(folder)
        for file in self.files:
            # This very run may be writing its log, which Windows then keeps.
            with suppress(OSError):
                file.unlink()
        with suppress(OSError):
            self.place.rmdir()


def inhabited(data: DataDir) -> bool:
    """Whether we ever kept more here than this run's log: in somebody's own folder there is no cache of ours."""
    written = (each for each in _written(data) if each.place != data.logs)
    return any(each.files for each in written) or _is_settings(data.settings)


def kept(data: DataDir, *, caches: bool, journal: bool) -> tuple[Own, ...]:
    """All that is there just now; `caches` and the `journal` only where they count as ours."""
    found = [*_written(data), Own(name="settings", place=data.settings, files=_settings(data))]
    if caches:
        folders = (data.files, data.uv_cache, data.conda, data.updates, data.locks, data.prices)
        there = tuple(folder for folder in folders if os.path.lexists(folder))
        found.insert(0, Own(name=CACHES, place=data.files.parent, folders=there))
    return tuple(each for each in found if (each.folders or each.files) and (journal or each.name != JOURNAL))


def tidy(data: DataDir) -> None:
    """Take the empty folders away that are left, and the data folder itself if nothing is in it."""
    for folder in (*_places(data), data.root):
        with suppress(OSError):
            folder.rmdir()


def left(data: DataDir, gone: set[Path], new: Collection[Path] = ()) -> Step:
    """What will become of the data folder itself when these files and folders have gone, and these are new; raises
    AppError.
    """
    try:
        # Those that are empty go with it, as far as they are ours.
        gone |= {folder for folder in _places(data) if folder.is_dir() and not any(folder.iterdir())}
        names = tuple(left_below(data.root, gone, new))
    except OSError as error:
        raise storage_error(error, data.root) from error
    figures: dict[str, Value] = {"thing": str(data.root), "path": str(data.root), "files": named(names)}
    return Step(id=ROOT, kind="root", code=FILLED if names else "remove-emptied", data=figures)


def _places(data: DataDir) -> tuple[Path, ...]:
    """The folders of ours, each before the one that it lies in."""
    written = (each.place for each in _written(data))
    return (data.environments, data.pythons, data.toolkits, *written, data.files.parent, data.catalog)


def _written(data: DataDir) -> tuple[Own, ...]:
    """What lies in folders that people, too, may have named so, by how our own files in them are called."""
    places = (
        ("history", data.history, ("*s-[0-9]*.history*",)),
        ("benchmarks", data.benchmarks, ("[0-9]*T[0-9]*Z.json*",)),
        ("state", data.state, ("install.*", "benchmark.*", "window.lock", "window.json*", "updates.json*")),
        ("catalog", data.catalog / "current", ("*.json*",)),
        (JOURNAL, data.journal, ("[0-9]*-[0-9]*.jsonl",)),
        ("logs", data.logs, ("gpu-assistant.log*",)),
    )
    return tuple(Own(name=name, place=place, files=tuple(_ours(place, names))) for name, place, names in places)


def _ours(folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
    return (path for name in names for path in folder.glob(name) if path.is_file() and not path.is_symlink())


def _settings(data: DataDir) -> tuple[Path, ...]:
    return (data.settings,) if _is_settings(data.settings) else ()


def _is_settings(path: Path) -> bool:
    """Whether a file holds our settings and nothing else."""
    try:
        found = json.decode(path.read_bytes(), dict[str, Any])
    except (OSError, ValueError):
        return False
    return bool(found) and found.keys() <= set(Settings.__struct_fields__)


def _bytes(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    # What a download that ends just now takes away is not counted.
    return sum(_size(Path(place) / file) for place, _, files in os.walk(path) for file in files)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0
