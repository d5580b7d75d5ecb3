"""Archives of other publishers: unpacked within limits, and recorded file by file.

`unpack` takes zip and tar files, and treats them as hostile: nothing is written outside the destination, through a
link, or beyond `ArchiveLimits`. A `Receipt` in a folder lists what each archive put there, with hashes: by it a later
run knows which files are complete, and an uninstall which ones are ours.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import shutil
import stat
import struct
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, Literal, cast

import msgspec
from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import AppError, Cancelled, storage_error
from ...core.files import RemoteFile, hash_file
from ...core.plan import CurrentState
from ...fetch.request import DownloadRequest
from ...system.paths import max_path_length

# Stands before a link's target where a file has its sha256.
LINK_PREFIX = "-> "
BLOCK_BYTES = 1 << 20
_INVALID_NAME = re.compile(r"[\x00-\x1f\\:]")
# Windows takes these for devices in every folder, whatever follows the first dot, and drops dots and spaces at the end.
_RESERVED = re.compile(
    r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[1-9¹²³]) *(\..*)?|.*[. ]", re.IGNORECASE | re.DOTALL
)
_ZIP_MAGIC = b"PK\x03\x04"
MAGIC_BYTES = 6
ZIP_TAIL_BYTES = 22 + 0xFFFF + 20  # the record at the end, the longest comment after it, the locator before it
_DECOMPRESSORS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open, b"]\x00\x00": lzma.open}
_ARCHIVE_ERRORS = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error),
    *(EOFError, NotImplementedError),
)


class ArchiveLimits(Struct, frozen=True, kw_only=True):
    """What an archive may unpack to: `max_ratio` times its own size, or `ratio_floor_bytes` if that is more, headers
    included. `reserve_bytes` stay free on the disk. A tar's headers are read as a whole, with the long names and
    attributes before a member (`max_header_bytes`), and so is a zip's directory (`max_directory_bytes`).
    """

    max_members: int = 500_000
    max_header_bytes: int = 64 * 2**10
    max_directory_bytes: int = 64 * 2**20
    max_path_depth: int = 64
    max_path_bytes: int = 1024
    max_name_bytes: int = 255
    max_ratio: int = 100
    ratio_floor_bytes: int = 64 * 2**20
    reserve_bytes: int = 64 * 2**20


class _UnsafeArchiveError(Exception):
    """The archive has a member that we do not unpack."""


def unpack(
    archive: Path,
    destination: Path,
    *,
    sha256: str | None = None,
    open_archive: Callable[[Path], BinaryIO] = lambda path: path.open("rb"),
    path_for: Callable[[str], str | None] = lambda name: name,
    existing: Mapping[str, str] | None = None,
    cancel: threading.Event,
    progress: Callable[[int], None] = lambda _done: None,
    limits: ArchiveLimits | None = None,
) -> dict[str, str]:
    """Unpack an archive; returns each file's path below `destination` (with "/") and its sha256, or "-> " and a link's
    target.

    `path_for` maps a member's name (a folder's ends with "/") to its path; None leaves it out. A file in `existing`
    (path and hash), from another archive, is not written again but must be identical; any other file in the way is from
    an earlier attempt and is replaced. `progress` gets the bytes unpacked so far.

    With `sha256` the bytes that are unpacked are those with that hash, whatever the file was when it was checked
    before; what is in the destination after an error is not. A tar is hashed while it is read, a zip before, by the
    same handle.
    Raises Cancelled, AppError: archive-broken, archive-path-long, disk-too-small, disk-full, storage,
    local-file-broken (another hash).
    """
    try:
        destination.mkdir(parents=True, exist_ok=True)
        with open_archive(archive) as file:
            archive_bytes = os.fstat(file.fileno()).st_size
            writer = _ArchiveWriter(
                archive_bytes, destination, existing or {}, cancel, progress=progress, limits=limits or ArchiveLimits()
            )
            start = file.read(MAGIC_BYTES)
            file.seek(0)
            if start.startswith(_ZIP_MAGIC):
                found = hash_file(file, cancel) if sha256 is not None else None
                if found == sha256:
                    _unzip(file, writer, path_for)
            else:
                stream = _HashedStream(file)
                _untar(_decompressed(stream, start), archive_bytes, writer, path_for)
                found = stream.finish(cancel) if sha256 is not None else None
            if found != sha256:
                raise AppError("local-file-broken", path=str(archive))
    except (*_ARCHIVE_ERRORS, _UnsafeArchiveError) as error:
        raise AppError("archive-broken", name=archive.name) from error
    except OSError as error:
        raise storage_error(error, destination) from error
    return writer.files


def _unzip(file: BinaryIO, writer: _ArchiveWriter, path_for: Callable[[str], str | None]) -> None:
    if _zip_directory_bytes(file) > writer.limits.max_directory_bytes:
        raise _UnsafeArchiveError("directory")
    with zipfile.ZipFile(file) as zip_file:
        writer.check_free_space(sum(info.file_size for info in zip_file.infolist()))
        for info in zip_file.infolist():
            file_type = info.external_attr >> 16 & 0o170000
            # 0 if the archive was made on Windows; links and devices are refused.
            if file_type not in (0, 0o100000, 0o040000) or info.flag_bits & 0x1:
                raise _UnsafeArchiveError(info.filename)
            writer.count_member()
            name = writer.member_path(info.orig_filename, path_for, is_folder=info.is_dir())
            if name is None:
                continue
            if info.is_dir():
                writer.add_folder(name)
                continue
            with zip_file.open(info) as source:
                writer.add_file(name, source, executable=bool(info.external_attr >> 16 & 0o111))


def _untar(
    opened: IO[bytes], archive_bytes: int, writer: _ArchiveWriter, path_for: Callable[[str], str | None]
) -> None:
    # A tar tells its unpacked size only at its end; it is at least that of the packed file.
    writer.check_free_space(archive_bytes)
    with opened as stream:
        headers = _HeaderReader(stream, writer.limits.max_header_bytes)
        with tarfile.open(fileobj=cast("IO[bytes]", headers), mode="r:") as tar_file:
            _untar_members(tar_file, headers, writer, path_for)


def _untar_members(
    tar_file: tarfile.TarFile, headers: _HeaderReader, writer: _ArchiveWriter, path_for: Callable[[str], str | None]
) -> None:
    while (member := headers.next_member(tar_file)) is not None:
        writer.count_member(headers.member_bytes)
        name = writer.member_path(member.name, path_for, is_folder=member.isdir())
        if name is None:
            continue
        if member.isdir():
            writer.add_folder(name)
        elif member.issym():
            writer.add_link(name, member.linkname)
        elif member.islnk():
            writer.add_copy(name, writer.member_path(member.linkname, path_for))
        elif member.isreg() and not member.issparse():
            source = tar_file.extractfile(member)
            if source is None:
                raise _UnsafeArchiveError(member.name)
            with source:
                writer.add_file(name, source, executable=bool(member.mode & 0o111), modified=member.mtime)
        else:
            raise _UnsafeArchiveError(member.name)


def _safe_path(name: str) -> str:
    """A relative path that stays inside the destination on every system."""
    parts = [part for part in name.rstrip("/").split("/") if part != "."]
    if _INVALID_NAME.search(name) or name.startswith("/") or any(part in ("", "..") for part in parts if name):
        raise _UnsafeArchiveError(name)
    if any(reserved_on_windows(part) for part in parts):
        raise _UnsafeArchiveError(name)
    return "/".join(parts)


def reserved_on_windows(part: str) -> bool:
    """Whether Windows has no file of this name: it means a device there, or the file of another name."""
    return _RESERVED.fullmatch(part) is not None


def _is_link(path: Path) -> bool:
    """Whether it is a link, or a junction on Windows."""
    try:
        status = path.lstat()
    except OSError:
        return False
    junction = getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    return stat.S_ISLNK(status.st_mode) or bool(junction)


def _zip_directory_bytes(file: BinaryIO) -> int:
    """The size of a zip's central directory, from the record at its end; 0 where there is none.

    PKWARE's APPNOTE 4.3.14-4.3.16: a size of 0xFFFFFFFF is in the Zip64 record, to which a locator points.
    """
    tail_start = max(file.seek(0, os.SEEK_END) - ZIP_TAIL_BYTES, 0)
    file.seek(tail_start)
    tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        return 0
    (size,) = struct.unpack_from("<L", tail, end + 12)
    locator = end - 20
    if locator < 0 or tail[locator : locator + 4] != b"PK\x06\x07":
        return int(size)
    (record,) = struct.unpack_from("<Q", tail, locator + 8)
    file.seek(record)
    fields = file.read(48)
    return int(struct.unpack_from("<Q", fields, 40)[0]) if fields[:4] == b"PK\x06\x06" and len(fields) == 48 else 0


def _decompressed(stream: _HashedStream, start: bytes) -> IO[bytes]:
    """The tar in an archive with these first bytes. Closing it leaves the stream open."""
    buffered = io.BufferedReader(stream, BLOCK_BYTES)
    opener: Any = next((each for magic, each in _DECOMPRESSORS.items() if start.startswith(magic)), None)
    return buffered if opener is None else cast("IO[bytes]", opener(buffered, "rb"))


class _HashedStream(io.RawIOBase):
    """A file from its start to its end, hashed as it is read: nothing can be read twice. `close` does nothing."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._hash = hashlib.sha256()
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - what typeshed calls a WriteableBuffer
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._hash.update(data)
        self._position += len(data)
        return len(data)

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        """Forwards alone."""
        if whence != os.SEEK_SET or position < self._position:
            raise _UnsafeArchiveError("read twice")
        while self._position < position and self.read(min(position - self._position, BLOCK_BYTES)):
            pass
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        pass

    def finish(self, cancel: threading.Event) -> str:
        """The SHA-256 of the whole file; raises Cancelled."""
        while self.read(BLOCK_BYTES):
            if cancel.is_set():
                raise Cancelled
        return self._hash.hexdigest()


class _HeaderReader:
    """A tar's stream, of which the headers before one member are limited: tarfile reads each as a whole into memory,
    and keeps those of all members.
    """

    def __init__(self, stream: IO[bytes], max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._reads_header = True
        self.member_bytes = 0

    def next_member(self, tar_file: tarfile.TarFile) -> tarfile.TarInfo | None:
        """The next member; `member_bytes` is then the size of its headers."""
        self._reads_header, self.member_bytes = True, 0
        member = tar_file.next()
        self._reads_header = False
        tar_file.members.clear()  # type: ignore[attr-defined]
        return member

    def read(self, size: int = -1) -> bytes:
        if self._reads_header:
            if not 0 <= size <= self._max_bytes - self.member_bytes:
                raise _UnsafeArchiveError("headers")
            self.member_bytes += size
        return self._stream.read(size)

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        return self._stream.seek(position, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        self._stream.close()


class _ArchiveWriter:
    """Writes the members below one folder, never through a link, and counts them."""

    def __init__(
        self,
        archive_bytes: int,
        destination: Path,
        existing: Mapping[str, str],
        cancel: threading.Event,
        *,
        progress: Callable[[int], None],
        limits: ArchiveLimits,
    ) -> None:
        self.files: dict[str, str] = {}
        self._destination = destination
        self._existing = existing
        self._cancel = cancel
        self._progress = progress
        self.limits = limits
        self._max_bytes = max(limits.ratio_floor_bytes, limits.max_ratio * archive_bytes)
        self._max_path_length = max_path_length()
        self._real_folders = {destination}
        self._seen_names: set[str] = set()
        self._member_count = 0
        self._byte_count = self._header_bytes = 0

    def check_free_space(self, needed: int) -> None:
        """Raise AppError("disk-too-small") if so many bytes do not fit."""
        if needed > self._max_bytes:
            raise _UnsafeArchiveError(f"{needed} bytes")
        free = shutil.disk_usage(self._destination).free
        if needed + self.limits.reserve_bytes > free:
            raise AppError("disk-too-small", path=str(self._destination), needed_bytes=needed, free_bytes=free)

    def count_member(self, header_bytes: int = 0) -> None:
        self._member_count += 1
        self._header_bytes += header_bytes
        if self._member_count > self.limits.max_members or self._header_bytes + self._byte_count > self._max_bytes:
            raise _UnsafeArchiveError("members")
        if self._cancel.is_set():
            raise Cancelled

    def member_path(self, name: str, path_for: Callable[[str], str | None], *, is_folder: bool = False) -> str | None:
        """The path of a member; None for the destination itself and for what is left out."""
        parts = os.fsencode(name).split(b"/")
        if (
            len(parts) > self.limits.max_path_depth
            or sum(map(len, parts)) > self.limits.max_path_bytes
            or max(map(len, parts)) > self.limits.max_name_bytes
        ):
            raise _UnsafeArchiveError(name)
        path = path_for(_safe_path(name) + ("/" if is_folder else ""))
        return _safe_path(path) or None if path is not None else None

    def add_folder(self, name: str) -> None:
        self._make_folder(self._target_path(name))

    def add_file(self, name: str, source: IO[bytes], *, executable: bool, modified: float | None = None) -> None:
        path = self._prepare_path(name)
        hasher = hashlib.sha256()
        if name in self._existing:
            for block in self._read_blocks(source):
                hasher.update(block)
        else:
            with path.open("xb") as out:
                for block in self._read_blocks(source):
                    hasher.update(block)
                    out.write(block)
            if executable:
                path.chmod(0o755)
            if modified is not None:
                with suppress(OSError, OverflowError):  # a time that the file system cannot store
                    os.utime(path, (modified, modified))
        self._record_file(name, hasher.hexdigest())

    def add_link(self, name: str, target: str) -> None:
        """A link to a target inside the destination: ".." only at its start, at most as often as there are folders."""
        parts = PurePosixPath(target).parts
        parent_count = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
        stays_inside = parent_count <= len(PurePosixPath(name).parent.parts) and ".." not in parts[parent_count:]
        if not stays_inside or not parts or target.startswith("/") or _INVALID_NAME.search(target):
            raise _UnsafeArchiveError(f"{name} -> {target}")
        path = self._prepare_path(name)
        if name not in self._existing:
            path.symlink_to(target)
        self._record_file(name, LINK_PREFIX + target)

    def add_copy(self, name: str, original_name: str | None) -> None:
        """A hard link in the archive: a copy of a file that was unpacked before."""
        if (
            original_name is None
            or original_name not in self.files
            or self.files[original_name].startswith(LINK_PREFIX)
        ):
            raise _UnsafeArchiveError(name)
        original = self._target_path(original_name)
        with original.open("rb") as source:
            self.add_file(name, source, executable=os.access(original, os.X_OK), modified=original.stat().st_mtime)

    def _read_blocks(self, source: IO[bytes]) -> Iterable[bytes]:
        while block := source.read(BLOCK_BYTES):
            if self._cancel.is_set():
                raise Cancelled
            self._byte_count += len(block)
            if self._header_bytes + self._byte_count > self._max_bytes:
                raise _UnsafeArchiveError("bytes")
            self._progress(self._byte_count)
            yield block

    def _record_file(self, name: str, content_hash: str) -> None:
        if self._existing.get(name, content_hash) != content_hash:
            raise _UnsafeArchiveError(f"{name} twice")
        self.files[name] = content_hash

    def _prepare_path(self, name: str) -> Path:
        """The path for a file or link, after deleting what is there."""
        path = self._target_path(name)
        key = os.path.normcase(name)
        if key in self._seen_names:
            raise _UnsafeArchiveError(f"{name} twice")
        self._seen_names.add(key)
        self._make_folder(path.parent)
        if path.is_dir() and not path.is_symlink():
            raise _UnsafeArchiveError(name)
        if name not in self._existing:
            filesystem.unlink(path, missing_ok=True)
        return path

    def _target_path(self, name: str) -> Path:
        path = self._destination.joinpath(*name.split("/"))
        if self._max_path_length is not None and len(str(path)) > self._max_path_length:
            raise AppError("archive-path-long", path=str(path), most=self._max_path_length)
        return path

    def _make_folder(self, folder: Path) -> None:
        """Make a folder and those above it; raises if a link is in the place of one."""
        if folder in self._real_folders:
            return
        self._make_folder(folder.parent)
        if _is_link(folder) or (folder.exists() and not folder.is_dir()):
            raise _UnsafeArchiveError(str(folder))
        folder.mkdir(exist_ok=True)
        self._real_folders.add(folder)


class IndexSource(Struct, frozen=True, kw_only=True):
    """The index that named the archives; `pinned`: the catalog knew its sha256."""

    url: str
    sha256: str
    pinned: bool


class ArchiveRecord(Struct, frozen=True, kw_only=True):
    """An archive, and the part of a product that it holds, at its version."""

    part: str
    version: str
    url: str
    sha256: str
    bytes: int | None

    def download_request(self, folder: Path) -> DownloadRequest:
        """Its download into a folder of files, by hash: two indexes may give different files the same name."""
        name = self.url.rpartition("/")[2]
        file = RemoteFile(urls=(self.url,), name=name, sha256=self.sha256, bytes=self.bytes)
        return DownloadRequest(file=file, path=folder / self.sha256[:16] / name)


class ReceiptPart(Struct, frozen=True, kw_only=True):
    """One archive and its files: path below the folder to sha256, or to "-> " and a link's target."""

    archive: ArchiveRecord
    files: dict[str, str]


class Receipt(Struct, frozen=True, kw_only=True):
    """All that we put into a folder: the archives of an `index` (None: they are in the catalog), and our own links."""

    schema: Literal["gpu-assistant/receipt/1"]
    version: str
    platform: str
    index: IndexSource | None
    parts: tuple[ReceiptPart, ...]
    links: dict[str, str] = {}

    @property
    def files(self) -> dict[str, str]:
        """Every file and link of all parts."""
        link_files = {name: LINK_PREFIX + target for name, target in self.links.items()}
        return {name: content_hash for part in self.parts for name, content_hash in part.files.items()} | link_files


def read_receipt(path: Path) -> Receipt | None:
    """None where there is no readable one."""
    return _read_struct(path, Receipt)


def read_receipt_part(path: Path) -> ReceiptPart | None:
    """None where there is no readable one."""
    return _read_struct(path, ReceiptPart)


def _read_struct(path: Path, struct_type: type[json.T]) -> json.T | None:
    try:
        return json.decode(filesystem.read_bytes(path), struct_type)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def receipt_state(folder: Path, name: str, version: str, platform: str) -> CurrentState | None:
    """What a plan shows of a folder with the receipt `name`, judged by the names of its files; None without one."""
    receipt = read_receipt(folder / name)
    if receipt is None or (receipt.version, receipt.platform) != (version, platform):
        return None
    is_incomplete = any(not os.path.lexists(folder / file) for file in receipt.files)
    return CurrentState(code="now.repair" if is_incomplete else "now.here", data={"path": str(folder)})


def files_match(
    folder: Path, files: Mapping[str, str], cancel: threading.Event, progress: Callable[[int], None] | None = None
) -> bool:
    """Whether every file of a receipt is in the folder with its hash; `progress` gets the bytes of each chunk.

    Raises Cancelled.
    """
    for name, expected in files.items():
        path = folder.joinpath(*name.split("/"))
        try:
            if expected.startswith(LINK_PREFIX):
                is_match = path.readlink() == Path(expected.removeprefix(LINK_PREFIX))
            else:
                is_match = not path.is_symlink() and hash_file(path, cancel, progress=progress) == expected
        except OSError:
            is_match = False
        if not is_match:
            return False
    return True
