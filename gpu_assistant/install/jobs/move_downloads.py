"""Moves the downloaded files to another folder, or back into the cache.

    record: leftover = target ─► link or copy and compare each file ─► record: folder = target, leftover = source
    ─► remove the old files ─► record without leftover

The record (`core/downloads_folder.py`) is replaced as a whole, so a process that is killed leaves all files in the
folder that the record names; `finish_move` removes the copies in the other one. What uv and conda keep in their caches
is not moved: it is made again from the downloaded files, or fetched again, and environments do not need it. Nor are
environments, Pythons and toolkits: their programs contain their paths.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ...core import filesystem
from ...core.downloads_folder import DownloadsRecord, place_downloads, read_record, write_record
from ...core.errors import AppError, InsufficientDiskSpace, UsageError, storage_errors
from ...core.files import hash_file
from ...core.jobs import JobContext
from ...core.ownership import (
    MARKER_NAME,
    belongs_to,
    empty_owned_folder,
    is_blank,
    is_real_folder,
    remove_marked_folder,
)
from ...core.paths import DataDir
from ...fetch.request import Limits
from ...system.base import System
from ...system.locks import data_folder_lock
from ..environment.location import (
    DOWNLOADS_PREFIX_LENGTH,
    check_location,
    check_name,
    check_no_file,
    check_not_app_data,
    check_writable,
)
from ..journal import log
from ..packages.uv import clear_cache

SUBFOLDER = "gpu-assistant-downloads"  # in a folder that holds other files
COPY_SUFFIX = ".copy"
CHUNK_BYTES = 4 * 1024 * 1024
BUSY_CODE = "downloads-busy"


class MoveProgress(Struct, frozen=True, kw_only=True):
    """Of `total` bytes, which are all files copied and compared, `done`; then the old files are removed."""

    id: Literal["move"] = "move"
    state: Literal["copying", "removing"] = "copying"
    done: int
    total: int


class MoveResult(Struct, frozen=True, kw_only=True):
    """Where the downloads are now, and the folder in which old files are left because a program uses them."""

    folder: str
    leftover: str | None = None


def check_downloads_folder(data: DataDir, folder: Path) -> Path:
    """The folder in which the downloads would be: the given one, or a new one in it if it holds other files.

    Raises UsageError and AppError as `check_location`, `check_not_app_data`, `check_no_file` and `check_writable` do,
    and "downloads-folder-occupied".
    """
    check_name(folder)
    check_no_file(folder)
    target = folder
    if not _is_free(data, target):
        target = folder / SUBFOLDER
        if not _is_free(data, target):
            raise UsageError("downloads-folder-occupied", path=str(target))
    if target == data.downloads:
        return target
    check_location(target, DOWNLOADS_PREFIX_LENGTH)
    if target != data.cache:
        check_not_app_data(target, data)
        for used in (data.root, *log.environment_paths(data)):
            if used in target.parents:
                raise UsageError("folder-of-ours", path=str(target), own=str(used))
    check_writable(target)
    return target


def _is_free(data: DataDir, folder: Path) -> bool:
    """Whether nothing is in a folder, or only downloads of this data folder."""
    return not os.path.lexists(folder) or is_blank(folder) or belongs_to(folder, data.root)


def finish_move(data: DataDir) -> None:
    """Remove what a move that was cut off left in the folder that is not in use. The caller holds the data folder.

    Raises AppError where a program uses a file there.
    """
    record = read_record(data)
    if record.leftover is not None and place_downloads(data) is None:
        if Path(record.leftover) != data.downloads:
            _remove_downloads(_placed(data, Path(record.leftover)))
        write_record(data, DownloadsRecord(folder=record.folder))


class FinishMoveJob:
    """Removes what a move left that was cut off."""

    def __init__(self, data: DataDir) -> None:
        self._data = data

    def run(self, context: JobContext[Any]) -> Path:
        """The folder in which all downloads are. Raises AppError, "downloads-busy" among others."""
        context.check_cancelled()
        with data_folder_lock(self._data, "install", BUSY_CODE):
            finish_move(self._data)
        return self._data.downloads


class MoveDownloadsJob:
    """Reports MoveProgress. A cancelled or failed move leaves the downloads where they were."""

    def __init__(self, data: DataDir, system: System, folder: Path | None) -> None:
        """`folder` None: back into the cache."""
        self._data, self._system, self._folder = data, system, folder

    def run(self, context: JobContext[Any]) -> MoveResult:
        """Raises what `check_downloads_folder` raises, AppError "downloads-busy", "copy-differs", "disk-too-small" and
        those of `storage_error`; Cancelled.
        """
        data = self._data
        with (
            data_folder_lock(data, "install", BUSY_CODE),
            data_folder_lock(data, "benchmark", BUSY_CODE),
            self._system.keep_awake("Downloads are being moved"),
        ):
            finish_move(data)
            source = _placed(data, data.downloads)
            target = _placed(data, data.cache if self._folder is None else check_downloads_folder(data, self._folder))
            if target.downloads == source.downloads:
                return MoveResult(folder=str(target.downloads))
            self._copy_all(source, target, context)
            return self._switch(source, target, context)

    def _copy_all(self, source: DataDir, target: DataDir, context: JobContext[Any]) -> None:
        """Have every downloaded file in both folders; what is begun is removed where that fails."""
        record = DownloadsRecord(folder=_recorded(source))
        write_record(self._data, DownloadsRecord(folder=record.folder, leftover=str(target.downloads)))
        try:
            with storage_errors(target.downloads):
                target.claim(target.files)
                files = tuple(_files_below(source.files))
                sizes = {path: path.lstat().st_size for path in files}
                _check_room(target.files, files, sum(sizes.values()))
                done, total = 0, 2 * sum(sizes.values())
                for path in files:
                    context.check_cancelled()
                    copied = _Advance(context, done, total)
                    _transfer(path, target.files / path.relative_to(source.files), context, copied)
                    done += 2 * sizes[path]
                    context.report(MoveProgress(done=done, total=total))
        except BaseException:
            with suppress(AppError, OSError):
                _remove_downloads(target)
                write_record(self._data, record)
            raise

    def _switch(self, source: DataDir, target: DataDir, context: JobContext[Any]) -> MoveResult:
        """Use the new folder and remove the old files."""
        folder = _recorded(target)
        write_record(self._data, DownloadsRecord(folder=folder, leftover=str(source.downloads)))
        self._data.use_downloads(target.downloads)
        context.report(MoveProgress(state="removing", done=1, total=1))
        try:
            _remove_downloads(source, context.cancel.is_set)
        except AppError:
            return MoveResult(folder=str(target.downloads), leftover=str(source.downloads))
        write_record(self._data, DownloadsRecord(folder=folder))
        return MoveResult(folder=str(target.downloads))


class _Advance:
    """Counts the bytes of one file into the progress of all."""

    def __init__(self, context: JobContext[Any], done: int, total: int) -> None:
        self._context, self._done, self._total = context, done, total

    def __call__(self, count: int) -> None:
        self._done += count
        self._context.report(MoveProgress(done=self._done, total=self._total))


def _placed(data: DataDir, folder: Path) -> DataDir:
    placed = DataDir(data.root)
    placed.use_downloads(folder)
    return placed


def _recorded(data: DataDir) -> str | None:
    return None if data.downloads == data.cache else str(data.downloads)


def _files_below(folder: Path) -> Iterator[Path]:
    """The downloaded files, without links, locks and the folder's marker."""
    for parent, _folders, names in os.walk(folder):
        if is_real_folder(Path(parent)):
            for path in (Path(parent) / name for name in names):
                is_ours = path.name.startswith(MARKER_NAME.partition(".json")[0])
                if path.is_file() and not (path.is_symlink() or is_ours or path.suffix in (".lock", COPY_SUFFIX)):
                    yield path


def _check_room(target: Path, files: tuple[Path, ...], needed_bytes: int) -> None:
    """Raise InsufficientDiskSpace, unless the target can take the files as links."""
    if not files or _can_link(files[0], target):
        return
    free_bytes, required_bytes = shutil.disk_usage(target).free, needed_bytes + Limits().reserve_bytes
    if free_bytes < required_bytes:
        raise InsufficientDiskSpace(path=str(target), needed_bytes=required_bytes, free_bytes=free_bytes)


def _can_link(path: Path, target: Path) -> bool:
    probe = target / f"probe{COPY_SUFFIX}"
    try:
        filesystem.unlink(probe, missing_ok=True)
        os.link(path, probe)
        filesystem.unlink(probe)
    except OSError:
        return False
    return True


def _transfer(path: Path, copy: Path, context: JobContext[Any], advance: Callable[[int], None]) -> None:
    """Have a file under its name in the other folder: the same one where both are on one disk, else a copy that was
    read again and compared. Raises AppError("copy-differs"), Cancelled, OSError.
    """
    partial = copy.with_name(copy.name + COPY_SUFFIX)
    copy.parent.mkdir(parents=True, exist_ok=True)
    filesystem.unlink(partial, missing_ok=True)
    try:
        os.link(path, partial)
    except OSError:  # another disk, or one without links
        sha256 = _copy(path, partial, context, advance)
        if hash_file(partial, context.cancel, progress=advance) != sha256:
            raise AppError("copy-differs", path=str(copy)) from None
    filesystem.replace(partial, copy)


def _copy(path: Path, partial: Path, context: JobContext[Any], advance: Callable[[int], None]) -> str:
    """Copy and flush a file with its time; returns the SHA-256 of what was read."""
    digest = hashlib.sha256()
    with filesystem.open_regular(path) as source, partial.open("wb") as target:
        while chunk := source.read(CHUNK_BYTES):
            context.check_cancelled()
            digest.update(chunk)
            target.write(chunk)
            advance(len(chunk))
        target.flush()
        os.fsync(target.fileno())
    status = path.stat()
    os.utime(partial, ns=(status.st_atime_ns, status.st_mtime_ns))
    return digest.hexdigest()


def _remove_downloads(data: DataDir, is_cancelled: Callable[[], bool] | None = None) -> None:
    """Remove what was downloaded and unpacked there, where it is ours. Raises AppError."""
    for folder in (data.files, data.conda, data.uv_cache):
        place = data.marker_place(folder)
        if not data.owns(folder):
            if data.owns(data.downloads) and is_blank(folder):  # of a process that died before it was marked
                filesystem.rmtree(folder, ignore_errors=True)
            continue
        if folder == data.uv_cache:
            clear_cache(data, is_cancelled)
        with storage_errors(folder, permission_code="environment-in-use"):
            empty_owned_folder(folder, place)
        remove_marked_folder(folder, place)
    if data.downloads != data.cache:
        remove_marked_folder(data.downloads, data.root)
