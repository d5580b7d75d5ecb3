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
SITE = ("Lib/site-packages", "lib/python3*/site-packages")
META = "conda-meta"


class Digest(Struct, frozen=True):
    """A file's hash, in hex, as its package's record has it."""

    kind: str
    hex: str


class Package(Struct, frozen=True, kw_only=True):
    """`name` is "numpy 2.4.1"; `record` names what was written down of it, at `since` in nanoseconds.

    `files` by their paths from the environment; one that has no hash may be as it likes. `sizes` in bytes, of those
    of which the record tells it.
    """

    name: str
    record: str
    since: int
    files: dict[str, Digest | None]
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


def packages(folder: Path) -> tuple[Package, ...]:
    """All that are there now; what cannot be read is passed over."""
    return (*_wheels(folder), *_condas(folder))


def by_conda(record: str) -> bool:
    """Whether conda wrote it down, and not a wheel's installer."""
    return record.startswith(f"{META}/")


def cut_short(folder: Path) -> tuple[str, ...]:
    """The files below a folder that do not have the size that their package's record tells, or are not there.

    Raises AppError.
    """
    found = []
    for package in _wheels(folder):
        for name, size in package.sizes.items():
            try:
                if (folder / name).lstat().st_size != size:
                    found.append(name)
            except FileNotFoundError:
                found.append(name)
            except OSError as error:
                raise storage_error(error, folder) from error
    return tuple(found)


def whole(path: Path, digest: Digest | None, since: int | None) -> bool:
    """Whether a file is as its package brought it.

    One that nobody touched `since` is not read (None: every one is).
    """
    try:
        found = path.lstat()
        if digest is None or path.is_symlink():
            return True
        if since is not None and max(found.st_mtime_ns, found.st_ctime_ns) <= since:
            return True
        with path.open("rb") as file:
            return hashlib.file_digest(file, digest.kind).hexdigest() == digest.hex
    except (OSError, ValueError):
        return False


def _wheels(folder: Path) -> Iterator[Package]:
    for pattern in SITE:
        for record in sorted(folder.glob(f"{pattern}/*.dist-info/RECORD")):
            site = record.parent.parent.relative_to(folder).as_posix()
            name, _, version = record.parent.name.removesuffix(".dist-info").rpartition("-")
            try:
                text = record.read_text(encoding="utf-8", errors="surrogateescape")
                rows = [row for row in csv.reader(text.splitlines()) if len(row) >= 2]
                since = record.stat().st_mtime_ns
            except (OSError, csv.Error):
                continue
            named = {posixpath.normpath(f"{site}/{row[0]}".replace("\\", "/")): row for row in rows}
            inside = {inner: row for inner, row in named.items() if not inner.startswith(("../", "/"))}
            yield Package(
                name=f"{name.replace('_', '-')} {version}",
                record=record.relative_to(folder).as_posix(),
                since=since,
                files={inner: _digest(row[1]) for inner, row in inside.items()},
                sizes={inner: int(row[2]) for inner, row in inside.items() if row[2:] and row[2].isdecimal()},
            )


def _condas(folder: Path) -> Iterator[Package]:
    own = [path.relative_to(folder).as_posix() for path in sorted((folder / META).glob("*")) if path.is_file()]
    for path in sorted((folder / META).glob("*.json")):
        try:
            found = json.decode(path.read_bytes(), _CondaRecord)
            since = path.stat().st_mtime_ns
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
        files: dict[str, Digest | None] = dict.fromkeys([*own, *found.files])
        for each in found.paths_data.paths:
            sha256 = each.sha256_in_prefix or each.sha256
            files[each.path] = Digest("sha256", sha256) if sha256 is not None else None
        yield Package(
            name=f"{found.name} {found.version}",
            record=path.relative_to(folder).as_posix(),
            since=since,
            files=files,
        )


def _digest(text: str) -> Digest | None:
    """As a RECORD has it: "sha256=" and base64 without its end."""
    kind, equals, said = text.partition("=")
    if not equals:
        return None
    try:
        return Digest(kind, base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)).hex())
    except ValueError:
        return None
