"""Archives of others, unpacked so that nothing leaves the folder and nothing grows without end: zip and tar."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import re
import shutil
import stat
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from msgspec import Struct

from ..core.errors import AppError, Cancelled
from ..core.json import storage_error
from ..system.path_limits import longest_path
from .receipt import LINK

BLOCK = 1 << 20
_ODD = re.compile(r"[\x00-\x1f\\:]")
_ZIP = b"PK\x03\x04"
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error),
    *(EOFError, NotImplementedError),
)


class Bounds(Struct, frozen=True, kw_only=True):
    """What no honest archive goes beyond: members, and `ratio` times its own size once that is more than `floor`
    bytes. `reserve` bytes stay free on the disk.
    """

    members: int = 500_000
    ratio: int = 100
    floor: int = 64 * 2**20
    reserve: int = 64 * 2**20


class _UnsafeError(Exception):
    """The archive has something in it that we do not unpack."""


def unpack(
    archive: Path,
    into: Path,
    *,
    place: Callable[[str], str | None] = lambda name: name,
    taken: Mapping[str, str] | None = None,
    cancel: threading.Event,
    progress: Callable[[int], None] = lambda _done: None,
    bounds: Bounds | None = None,
) -> dict[str, str]:
    """Every file's path below `into` (with "/") and its sha256, or "-> " and a link's target.

    `place` says where a member goes by its name in the archive (a folder's ends with "/"), None for nowhere. A file
    that is `taken` (path and sha256) is not written again, and must be the same. What lay there from an
    earlier try is replaced.
    Raises Cancelled, AppError: archive-broken, archive-path-long, disk-too-small, disk-full, storage.
    """
    try:
        into.mkdir(parents=True, exist_ok=True)
        writer = _Writer(archive, into, taken or {}, cancel, progress=progress, bounds=bounds or Bounds())
        with archive.open("rb") as file:
            packed = file.read(len(_ZIP)) == _ZIP
        (_unzip if packed else _untar)(archive, writer, place)
    except (*_BROKEN, _UnsafeError) as error:
        raise AppError("archive-broken", name=archive.name) from error
    except OSError as error:
        raise storage_error(error, into) from error
    return writer.files


def _unzip(archive: Path, writer: _Writer, place: Callable[[str], str | None]) -> None:
    with zipfile.ZipFile(archive) as packed:
        writer.make_room(sum(info.file_size for info in packed.infolist()))
        for info in packed.infolist():
            kind = info.external_attr >> 16 & 0o170000
            # 0 where the archive was made on Windows; links and devices have no place in a zip of ours.
            if kind not in (0, 0o100000, 0o040000) or info.flag_bits & 0x1:
                raise _UnsafeError(info.filename)
            name = _placed(info.orig_filename, place, folder=info.is_dir())
            writer.count()
            if name is None:
                continue
            if info.is_dir():
                writer.folder(name)
                continue
            with packed.open(info) as source:
                writer.file(name, source, executable=bool(info.external_attr >> 16 & 0o111))


def _untar(archive: Path, writer: _Writer, place: Callable[[str], str | None]) -> None:
    # How much it holds is seen only at its end: at least it is not smaller than it is packed.
    writer.make_room(archive.stat().st_size)
    with tarfile.open(archive, "r:*") as packed:
        for member in packed:
            name = _placed(member.name, place, folder=member.isdir())
            writer.count()
            if name is None:
                continue
            if member.isdir():
                writer.folder(name)
            elif member.issym():
                writer.link(name, member.linkname)
            elif member.islnk():
                writer.copy(name, _placed(member.linkname, place))
            elif member.isreg() and not member.issparse():
                source = packed.extractfile(member)
                if source is None:
                    raise _UnsafeError(member.name)
                with source:
                    writer.file(name, source, executable=bool(member.mode & 0o111), time=member.mtime)
            else:
                raise _UnsafeError(member.name)


def _placed(name: str, place: Callable[[str], str | None], *, folder: bool = False) -> str | None:
    """Where a member goes; None for the folder itself and for what is left out."""
    found = place(_plain(name) + ("/" if folder else ""))
    return _plain(found) or None if found is not None else None


def _plain(name: str) -> str:
    """A path that stays inside on every system."""
    parts = [part for part in name.rstrip("/").split("/") if part != "."]
    if _ODD.search(name) or name.startswith("/") or any(part in ("", "..") for part in parts if name):
        raise _UnsafeError(name)
    if any(PureWindowsPath(part).is_reserved() for part in parts):
        raise _UnsafeError(name)
    return "/".join(parts)


def _is_link(path: Path) -> bool:
    """A link, or a junction of Windows."""
    try:
        found = path.lstat()
    except OSError:
        return False
    junction = getattr(found, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    return stat.S_ISLNK(found.st_mode) or bool(junction)


class _Writer:
    """Writes below one folder, through no link, and keeps count."""

    def __init__(
        self,
        archive: Path,
        into: Path,
        taken: Mapping[str, str],
        cancel: threading.Event,
        *,
        progress: Callable[[int], None],
        bounds: Bounds,
    ) -> None:
        self.files: dict[str, str] = {}
        self._into = into
        self._taken = taken
        self._cancel = cancel
        self._progress = progress
        self._bounds = bounds
        self._most = max(bounds.floor, bounds.ratio * archive.stat().st_size)
        self._longest = longest_path()
        self._real = {into}
        self._seen: set[str] = set()
        self._members = 0
        self._bytes = 0

    def make_room(self, count: int) -> None:
        """Raise AppError("disk-too-small") where so many bytes do not fit."""
        if count > self._most:
            raise _UnsafeError(f"{count} bytes")
        free = shutil.disk_usage(self._into).free
        if count + self._bounds.reserve > free:
            raise AppError("disk-too-small", path=str(self._into), needed_bytes=count, free_bytes=free)

    def count(self) -> None:
        """One member more."""
        self._members += 1
        if self._members > self._bounds.members:
            raise _UnsafeError("members")
        if self._cancel.is_set():
            raise Cancelled

    def folder(self, name: str) -> None:
        """A folder, and those above it."""
        self._stand(self._path(name))

    def file(self, name: str, source: IO[bytes], *, executable: bool, time: float | None = None) -> None:
        """A file and its hash."""
        path = self._new(name)
        digest = hashlib.sha256()
        if name in self._taken:
            for block in self._blocks(source):
                digest.update(block)
        else:
            with path.open("xb") as out:
                for block in self._blocks(source):
                    digest.update(block)
                    out.write(block)
            if executable:
                path.chmod(0o755)
            if time is not None:
                with suppress(OSError, OverflowError):  # a time that this disk cannot hold
                    os.utime(path, (time, time))
        self._done(name, digest.hexdigest())

    def link(self, name: str, target: str) -> None:
        """A link whose target lies inside: ".." only in front, and not more of them than there are folders above."""
        parts = PurePosixPath(target).parts
        ups = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
        inside = ups <= len(PurePosixPath(name).parent.parts) and ".." not in parts[ups:]
        if not inside or not parts or target.startswith("/") or _ODD.search(target):
            raise _UnsafeError(f"{name} -> {target}")
        path = self._new(name)
        if name not in self._taken:
            path.symlink_to(target)
        self._done(name, LINK + target)

    def copy(self, name: str, of: str | None) -> None:
        """A second name of a file that was unpacked before."""
        if of is None or of not in self.files or self.files[of].startswith(LINK):
            raise _UnsafeError(name)
        first = self._path(of)
        with first.open("rb") as source:
            self.file(name, source, executable=os.access(first, os.X_OK), time=first.stat().st_mtime)

    def _blocks(self, source: IO[bytes]) -> Iterable[bytes]:
        while block := source.read(BLOCK):
            if self._cancel.is_set():
                raise Cancelled
            self._bytes += len(block)
            if self._bytes > self._most:
                raise _UnsafeError("bytes")
            self._progress(self._bytes)
            yield block

    def _done(self, name: str, digest: str) -> None:
        if self._taken.get(name, digest) != digest:
            raise _UnsafeError(f"{name} twice")
        self.files[name] = digest

    def _new(self, name: str) -> Path:
        """A place for a file or a link; whatever lies there goes."""
        path = self._path(name)
        key = os.path.normcase(name)
        if key in self._seen:
            raise _UnsafeError(f"{name} twice")
        self._seen.add(key)
        self._stand(path.parent)
        if path.is_dir() and not path.is_symlink():
            raise _UnsafeError(name)
        if name not in self._taken:
            path.unlink(missing_ok=True)
        return path

    def _path(self, name: str) -> Path:
        path = self._into.joinpath(*name.split("/"))
        if self._longest is not None and len(str(path)) > self._longest:
            raise AppError("archive-path-long", path=str(path), most=self._longest)
        return path

    def _stand(self, folder: Path) -> None:
        """A real folder, and no link in the place of one on the way."""
        if folder in self._real:
            return
        self._stand(folder.parent)
        if _is_link(folder) or (folder.exists() and not folder.is_dir()):
            raise _UnsafeError(str(folder))
        folder.mkdir(exist_ok=True)
        self._real.add(folder)
