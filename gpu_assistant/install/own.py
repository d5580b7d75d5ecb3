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
from .forecast import remaining_names
from .removal import delete_folder
from .strangers import format_names

PURGE_KIND = "farewell"
ROOT_STEP = "data"
NOT_EMPTY_CODE = "leave-filled"
CACHES_GROUP = "downloads"
JOURNAL_GROUP = "journal"


class AppDataGroup(Struct, frozen=True, kw_only=True):
    """One kind of what is ours, by its text `own.<name>`: whole `folders`, and `files` that lie in `place`."""

    name: str
    folder: Path
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
            total = sum(_tree_bytes(path) for path in (*self.folders, *self.files))
        except OSError as error:
            raise storage_error(error, self.folder) from error
        data: dict[str, Value] = {"thing": f"@own.{self.name}", "path": str(self.folder), "bytes": total}
        return Step(id=self.id, kind=PURGE_KIND, code="remove-own", data=data)

    def delete_files(self) -> None:
        """Take it away; raises AppError where something of a cache is in use."""
        for folder in self.folders:
            delete_folder(folder)
        for file in self.files:
            # This very run may be writing its log, which Windows then keeps.
            with suppress(OSError):
                file.unlink()
        with suppress(OSError):
            self.folder.rmdir()


def has_app_data(data: DataDir) -> bool:
    """Whether we ever kept more here than this run's log: in somebody's own folder there is no cache of ours."""
    groups = (group for group in _file_groups(data) if group.folder != data.logs)
    return any(group.files for group in groups) or _is_settings_file(data.settings)


def app_data_groups(data: DataDir, *, include_caches: bool, include_journal: bool) -> tuple[AppDataGroup, ...]:
    """All that is there just now; `caches` and the `journal` only where they count as ours."""
    groups = [*_file_groups(data), AppDataGroup(name="settings", folder=data.settings, files=_settings_files(data))]
    if include_caches:
        folders = (data.files, data.uv_cache, data.conda, data.updates, data.locks, data.size_cache)
        existing = tuple(folder for folder in folders if os.path.lexists(folder))
        groups.insert(0, AppDataGroup(name=CACHES_GROUP, folder=data.files.parent, folders=existing))
    return tuple(group for group in groups if (group.folders or group.files) and (include_journal or group.name != JOURNAL_GROUP))


def remove_empty_folders(data: DataDir) -> None:
    """Take the empty folders away that are left, and the data folder itself if nothing is in it."""
    for folder in (*_app_folders(data), data.root):
        with suppress(OSError):
            folder.rmdir()


def root_step(data: DataDir, removed: set[Path], created: Collection[Path] = ()) -> Step:
    """What will become of the data folder itself when these files and folders have gone, and these are new; raises
    AppError.
    """
    try:
        # Those that are empty go with it, as far as they are ours.
        removed |= {folder for folder in _app_folders(data) if folder.is_dir() and not any(folder.iterdir())}
        names = tuple(remaining_names(data.root, removed, created))
    except OSError as error:
        raise storage_error(error, data.root) from error
    step_data: dict[str, Value] = {"thing": str(data.root), "path": str(data.root), "files": format_names(names)}
    return Step(id=ROOT_STEP, kind="root", code=NOT_EMPTY_CODE if names else "remove-emptied", data=step_data)


def _app_folders(data: DataDir) -> tuple[Path, ...]:
    """The folders of ours, each before the one that it lies in."""
    group_folders = (group.folder for group in _file_groups(data))
    return (data.environments, data.pythons, data.toolkits, *group_folders, data.files.parent, data.catalog)


def _file_groups(data: DataDir) -> tuple[AppDataGroup, ...]:
    """What lies in folders that people, too, may have named so, by how our own files in them are called."""
    patterns = (
        ("history", data.history, ("*s-[0-9]*.history*",)),
        ("benchmarks", data.benchmarks, ("[0-9]*T[0-9]*Z.json*",)),
        ("state", data.state, ("install.*", "benchmark.*", "window.lock", "window.json*", "updates.json*")),
        ("catalog", data.catalog / "current", ("*.json*",)),
        (JOURNAL_GROUP, data.journal, ("[0-9]*-[0-9]*.jsonl",)),
        ("logs", data.logs, ("gpu-assistant.log*",)),
    )
    return tuple(AppDataGroup(name=name, folder=folder, files=tuple(_matching_files(folder, globs))) for name, folder, globs in patterns)


def _matching_files(folder: Path, globs: tuple[str, ...]) -> Iterator[Path]:
    return (path for glob in globs for path in folder.glob(glob) if path.is_file() and not path.is_symlink())


def _settings_files(data: DataDir) -> tuple[Path, ...]:
    return (data.settings,) if _is_settings_file(data.settings) else ()


def _is_settings_file(path: Path) -> bool:
    """Whether a file holds our settings and nothing else."""
    try:
        settings = json.decode(path.read_bytes(), dict[str, Any])
    except (OSError, ValueError):
        return False
    return bool(settings) and settings.keys() <= set(Settings.__struct_fields__)


def _tree_bytes(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    # What a download that ends just now takes away is not counted.
    return sum(_file_bytes(Path(folder) / file) for folder, _, files in os.walk(path) for file in files)


def _file_bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0
