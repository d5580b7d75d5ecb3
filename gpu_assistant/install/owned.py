"""Which files of an environment belong to packages, by what pip, uv and conda wrote down of them."""

from __future__ import annotations

import base64
import csv
import hashlib
import posixpath
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import json
from ..core.json import storage_error

# Where packages lie in an environment, or beside a Python.
SITE_PACKAGES_GLOBS = ("Lib/site-packages", "lib/python3*/site-packages")
CONDA_META = "conda-meta"


class FileHash(Struct, frozen=True):
    """A file's hash, in hex, as its package's record has it."""

    algorithm: str
    hex: str


class InstalledPackage(Struct, frozen=True, kw_only=True):
    """`name` is "numpy 2.4.1"; `record` names what was written down of it, at `since` in nanoseconds.

    `files` by their paths from the environment; one that has no hash may be as it likes. `sizes` in bytes, of those
    of which the record tells it.
    """

    name: str
    record_path: str
    recorded_ns: int
    files: dict[str, FileHash | None]
    sizes: dict[str, int] = {}


class _CondaPath(Struct, frozen=True):
    path: str = msgspec.field(name="_path")
    sha256: str | None = None
    sha256_in_prefix: str | None = None


class _CondaPaths(Struct, frozen=True):
    paths: tuple[_CondaPath, ...] = ()


class _CondaRecord(Struct, frozen=True):
    name: str
    version: str = ""
    files: tuple[str, ...] = ()
    paths_data: _CondaPaths = _CondaPaths()


def installed_packages(folder: Path) -> tuple[InstalledPackage, ...]:
    """All that are there now; what cannot be read is passed over."""
    return (*_wheel_packages(folder), *_conda_packages(folder))


def is_conda_record(record_path: str) -> bool:
    """Whether conda wrote it down, and not a wheel's installer."""
    return record_path.startswith(f"{CONDA_META}/")


def truncated_files(folder: Path) -> tuple[str, ...]:
    """The files below a folder that do not have the size that their package's record tells, or are not there.

    Raises AppError.
    """
    truncated = []
    for package in _wheel_packages(folder):
        for name, size in package.sizes.items():
            try:
                if (folder / name).lstat().st_size != size:
                    truncated.append(name)
            except FileNotFoundError:
                truncated.append(name)
            except OSError as error:
                raise storage_error(error, folder) from error
    return tuple(truncated)


def matches_hash(path: Path, expected: FileHash | None, recorded_ns: int | None) -> bool:
    """Whether a file is as its package brought it.

    One that nobody touched `since` is not read (None: every one is).
    """
    try:
        status = path.lstat()
        if expected is None or path.is_symlink():
            return True
        if recorded_ns is not None and max(status.st_mtime_ns, status.st_ctime_ns) <= recorded_ns:
            return True
        with path.open("rb") as file:
            return hashlib.file_digest(file, expected.algorithm).hexdigest() == expected.hex
    except (OSError, ValueError):
        return False


def _wheel_packages(folder: Path) -> Iterator[InstalledPackage]:
    for pattern in SITE_PACKAGES_GLOBS:
        for record in sorted(folder.glob(f"{pattern}/*.dist-info/RECORD")):
            site_packages = record.parent.parent.relative_to(folder).as_posix()
            name, _, version = record.parent.name.removesuffix(".dist-info").rpartition("-")
            try:
                text = record.read_text(encoding="utf-8", errors="surrogateescape")
                rows = [row for row in csv.reader(text.splitlines()) if len(row) >= 2]
                recorded_ns = record.stat().st_mtime_ns
            except (OSError, csv.Error):
                continue
            record_rows = {posixpath.normpath(f"{site_packages}/{row[0]}".replace("\\", "/")): row for row in rows}
            inside_rows = {inner_path: row for inner_path, row in record_rows.items() if not inner_path.startswith(("../", "/"))}
            yield InstalledPackage(
                name=f"{name.replace('_', '-')} {version}",
                record_path=record.relative_to(folder).as_posix(),
                recorded_ns=recorded_ns,
                files={inner_path: _parse_hash(row[1]) for inner_path, row in inside_rows.items()},
                sizes={inner_path: int(row[2]) for inner_path, row in inside_rows.items() if row[2:] and row[2].isdecimal()},
            )


def _conda_packages(folder: Path) -> Iterator[InstalledPackage]:
    metadata_files = [path.relative_to(folder).as_posix() for path in sorted((folder / CONDA_META).glob("*")) if path.is_file()]
    for path in sorted((folder / CONDA_META).glob("*.json")):
        try:
            record = json.decode(path.read_bytes(), _CondaRecord)
            recorded_ns = path.stat().st_mtime_ns
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
        files: dict[str, FileHash | None] = dict.fromkeys([*metadata_files, *record.files])
        for path_data in record.paths_data.paths:
            sha256 = path_data.sha256_in_prefix or path_data.sha256
            files[path_data.path] = FileHash("sha256", sha256) if sha256 is not None else None
        yield InstalledPackage(
            name=f"{record.name} {record.version}",
            record_path=path.relative_to(folder).as_posix(),
            recorded_ns=recorded_ns,
            files=files,
        )


def _parse_hash(text: str) -> FileHash | None:
    """As a RECORD has it: "sha256=" and base64 without its end."""
    algorithm, separator, encoded = text.partition("=")
    if not separator:
        return None
    try:
        return FileHash(algorithm, base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).hex())
    except ValueError:
        return None
