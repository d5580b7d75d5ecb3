"""The list of what in a folder is ours, and what each file was like when it was written down; the one walk for it.

What we write into every environment that we made: it alone makes a folder ours.

Which files of an environment belong to packages, by what pip, uv and conda wrote down of them.

What in a folder of ours is somebody else's: packages that were put into it since, and files that nobody listed.

What of a folder of ours is deleted by its list; whatever else lies there stays.

What of a finished environment is damaged: files that are gone, cut short, or not as their package brought them.

The list of the packages that the user put into an environment, kept beside it: `pip install -r` brings them back.

Where a package came from is told as pip writes it down itself (PEP 610). What pip alone could not bring back stands
behind a "#": what conda installed, another build than the indexes have, a folder or file that is gone, and what
every environment of ours has in a fixed version.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import posixpath
import re
from collections.abc import Collection, Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from ...core import json
from ...core.json import storage_error
from ...core.recommendation import Recommendation
from ...fetch.partial_file import local_path
from ...system.base import Processes

FILE_MANIFEST = "gpu-assistant-files.txt"
# A folder with it is ours and not whole, whatever else it holds.
UNFINISHED_MARK = "gpu-assistant-unfinished.txt"
# Python writes these beside our files on its own.
BYTECODE_FOLDER = "__pycache__"
_STAMPED_LINE = re.compile(r"(.*)\t(-?\d+)\t(-?\d+)\Z", re.ASCII | re.DOTALL)


class FileStamp(NamedTuple):
    """By what a file is known to be as it was: its bytes, and when it was last written, in nanoseconds."""

    size: int
    mtime_ns: int


def walk(folder: Path) -> Iterator[str]:
    """Every file and link below a folder, and every empty folder with a "/" at its end, by its path from there with
    "/"; links are not followed. Raises OSError.
    """
    pending = [""]
    while pending:
        subfolder = pending.pop()
        with os.scandir(folder / subfolder) as entries:
            children = sorted(entries, key=lambda entry: entry.name)
        if subfolder and not children:
            yield subfolder
        for entry in children:
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{subfolder}{entry.name}/")
            else:
                yield f"{subfolder}{entry.name}"


def iter_files(folder: Path) -> Iterator[str]:
    """The same without the empty folders."""
    return (name for name in walk(folder) if not name.endswith("/"))


def write_file_manifest(folder: Path, names: Collection[str] | None = None) -> None:
    """Write down what in a folder is ours: these files, or all that it holds just now. Raises AppError.

    Empty folders are ours, too; where there was a list before, only those that were on it.
    """
    try:
        empty_folders = {name for name in walk(folder) if name.endswith("/")} if names is not None else set()
        if os.path.lexists(folder / FILE_MANIFEST):
            empty_folders &= read_file_manifest(folder).keys()
        json.remove_partial_files(folder, {FILE_MANIFEST, *(names or ())})
        _save_file_manifest(folder, _stamp_files(folder, walk(folder) if names is None else [*names, *empty_folders]))
    except OSError as error:
        raise storage_error(error, folder) from error


def read_file_manifest(folder: Path) -> dict[str, FileStamp | None]:
    """What is ours, as it was written down; a folder has no mark. Raises OSError where there is no list."""
    text = (folder / FILE_MANIFEST).read_bytes().decode("utf-8", "surrogateescape")
    return dict(_parse_line(line) for line in text.split("\n") if line)


def add_to_file_manifest(folder: Path, names: Iterable[str]) -> None:
    """Have these on the list, too, as they are just now; raises OSError, AppError."""
    _save_file_manifest(folder, read_file_manifest(folder) | _stamp_files(folder, names))


def is_unchanged(folder: str, name: str, stamp: FileStamp | None) -> bool:
    """Whether a file below a folder is as it was; one that is gone is not. Python's own copies of sources count as
    they are.
    """
    # An environment has tens of thousands of files: no Path is made of each.
    path = f"{folder}/{name}"
    if stamp is None or is_bytecode(name):
        return os.path.lexists(path)
    try:
        return _stamp_file(path) == stamp
    except OSError:
        return False


def parent_folders(names: Iterable[str]) -> set[str]:
    """All folders in which something of these lies, and those that are among them, by their paths without a "/"."""
    parents: set[str] = set()
    for name in names:
        parent = name[:-1] if name.endswith("/") else name.rpartition("/")[0]
        while parent and parent not in parents:
            parents.add(parent)
            parent = parent.rpartition("/")[0]
    return parents


def is_inside(name: str) -> bool:
    """Whether a path stays below the folder that it begins in."""
    parts = name.replace(os.sep, "/").split("/")
    return bool(parts[0]) and not os.path.splitdrive(name)[0] and os.pardir not in parts


def is_bytecode(name: str) -> bool:
    """Whether a path with "/" is that of Python's own copy of a source."""
    return name.endswith(".pyc") and name.rpartition("/")[0].rpartition("/")[2] == BYTECODE_FOLDER


def _stamp_files(folder: Path, names: Iterable[str]) -> dict[str, FileStamp | None]:
    return {name: None if name.endswith("/") else _stamp_file(f"{folder}/{name}") for name in names}


def _stamp_file(path: str) -> FileStamp:
    status = os.lstat(path)
    return FileStamp(status.st_size, status.st_mtime_ns)


def _save_file_manifest(folder: Path, stamps: dict[str, FileStamp | None]) -> None:
    lines = [
        _format_line(name, stamp) for name, stamp in stamps.items() if name not in (FILE_MANIFEST, UNFINISHED_MARK)
    ]
    # Surrogates stand for bytes that are no text: a name on Linux may have them.
    json.write_file(folder / FILE_MANIFEST, "".join(lines).encode("utf-8", "surrogateescape"))


def _format_line(name: str, stamp: FileStamp | None) -> str:
    return f"{name}\n" if stamp is None else f"{name}\t{stamp.size}\t{stamp.mtime_ns}\n"


def _parse_line(line: str) -> tuple[str, FileStamp | None]:
    match = _STAMPED_LINE.match(line)
    return (line, None) if match is None else (match[1], FileStamp(int(match[2]), int(match[3])))


MANIFEST_FILE = "gpu-assistant.json"
LOCK_FILE = "pylock.toml"
CONSTRAINTS_FILE = "gpu-assistant-constraints.txt"


class EnvironmentManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is the folder it was made for, `created` seconds since the epoch, `lock` the lock's identity.

    `bytes` is what its files take on disk, `packages` name and exact version; by `recommendation` the checks
    know what was meant to be here.
    """

    schema: Literal["gpu-assistant/environment/1"]
    path: str
    created: float
    python: str
    torch: str | None
    variant: str | None
    lock: str
    packages: dict[str, str]
    recommendation: Recommendation
    bytes: int | None = None


def read_manifest(environment: Path) -> EnvironmentManifest | None:
    """The manifest of an environment; None if it has none, or not a whole one, or is unfinished, or lost its lock."""
    return None if os.path.lexists(environment / UNFINISHED_MARK) else read_unfinished_manifest(environment)


def read_unfinished_manifest(environment: Path) -> EnvironmentManifest | None:
    """The same of one that may be unfinished."""
    try:
        manifest = json.decode((environment / MANIFEST_FILE).read_bytes(), EnvironmentManifest)
        return manifest if (environment / LOCK_FILE).is_file() else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def missing_metadata(environment: Path) -> tuple[str, ...]:
    """Which of our own notes in an environment are gone or cannot be read."""
    try:
        json.decode((environment / MANIFEST_FILE).read_bytes(), EnvironmentManifest)
        is_readable = True
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        is_readable = False
    return (*(() if is_readable else (MANIFEST_FILE,)), *(() if (environment / LOCK_FILE).is_file() else (LOCK_FILE,)))


def write_manifest(folder: Path, manifest: EnvironmentManifest) -> None:
    """Write it whole; raises AppError."""
    json.write_file(folder / MANIFEST_FILE, json.encode_pretty(manifest) + "\n")


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
            inside_rows = {
                inner_path: row for inner_path, row in record_rows.items() if not inner_path.startswith(("../", "/"))
            }
            yield InstalledPackage(
                name=f"{name.replace('_', '-')} {version}",
                record_path=record.relative_to(folder).as_posix(),
                recorded_ns=recorded_ns,
                files={inner_path: _parse_hash(row[1]) for inner_path, row in inside_rows.items()},
                sizes={
                    inner_path: int(row[2]) for inner_path, row in inside_rows.items() if row[2:] and row[2].isdecimal()
                },
            )


def _conda_packages(folder: Path) -> Iterator[InstalledPackage]:
    metadata_files = [
        path.relative_to(folder).as_posix() for path in sorted((folder / CONDA_META).glob("*")) if path.is_file()
    ]
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


# So many are named; of more only the number is told.
MAX_NAMED = 5


class ForeignFiles(Struct, frozen=True):
    """`packages` were installed, or changed, by somebody else, and `theirs` are their files, which go with the folder;
    `records` say where it is written down what each of them is.

    `stay`: files that no package brought, or that were changed, and folders (with a "/" at their end) that are empty or
    hold nothing else. `notes` are our own that are damaged: nobody's work.
    """

    packages: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    package_files: tuple[str, ...] = ()
    user_files: tuple[str, ...] = ()
    damaged_metadata: tuple[str, ...] = ()


def find_foreign_files(folder: Path, removed: Collection[Path] = frozenset()) -> ForeignFiles:
    """Look through a whole folder of ours; what is `gone` by then is passed over. Raises AppError."""
    try:
        return _scan_foreign_files(folder, removed)
    except OSError as error:
        raise storage_error(error, folder) from error


def _scan_foreign_files(folder: Path, removed: Collection[Path]) -> ForeignFiles:
    managed = read_file_manifest(folder)
    package_records = installed_packages(folder)
    root, ignored = (
        os.fspath(folder),
        {path.relative_to(folder).as_posix() for path in removed if folder in path.parents},
    )

    def is_managed(name: str) -> bool:
        return name in managed and is_unchanged(root, name, managed[name])

    changed_packages = [package for package in package_records if not is_managed(package.record_path)]
    recorded_times = {package.name: package.recorded_ns for package in changed_packages}
    owners = {name: (digest, package) for package in package_records for name, digest in package.files.items()}
    managed_folders = parent_folders((*managed, *owners))
    damaged = tuple(name for name in missing_metadata(folder) if (folder / name).is_file())
    package_files, user_files = [], []
    for name in walk(folder):
        if name in (FILE_MANIFEST, UNFINISHED_MARK, *damaged) or name in ignored:
            continue
        if name.endswith("/"):
            if name[:-1] not in managed_folders and name[:-1].rpartition("/")[2] != BYTECODE_FOLDER:
                user_files.append(name)
        elif is_bytecode(name) or is_managed(name):
            continue
        elif name in owners and matches_hash(folder / name, owners[name][0], recorded_times.get(owners[name][1].name)):
            package_files.append(name)
        else:
            user_files.append(name)
    return ForeignFiles(
        packages=tuple(recorded_times),
        records=tuple(package.record_path for package in changed_packages),
        package_files=tuple(package_files),
        user_files=tuple(dict.fromkeys(_highest_foreign_folder(name, managed_folders) for name in user_files)),
        damaged_metadata=damaged,
    )


def _highest_foreign_folder(name: str, managed_folders: Container[str]) -> str:
    """The highest folder above it in which nothing is ours; else itself."""
    parts = name.rstrip("/").split("/")
    parents = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return next((f"{parent}/" for parent in parents if parent not in managed_folders), name)


def format_names(names: tuple[str, ...]) -> str:
    """Some of them, for people to read."""
    return ", ".join((*names[:MAX_NAMED], *(["…"] if len(names) > MAX_NAMED else [])))


def remove_listed_files(folder: Path) -> None:
    """Delete the files of a folder's list that are as they were, and the folders that are empty then; raises OSError.

    The list goes last: as long as it is there, the rest can be deleted by it.
    """
    try:
        managed = read_file_manifest(folder)
    except FileNotFoundError:
        return  # gone already: what is left is not ours
    root = os.fspath(folder)
    inside_stamps = {name: stamp for name, stamp in managed.items() if is_inside(name)}
    # Where somebody put a link in a folder's place, what lies behind it is not ours.
    link_free = {"": True}
    for name, stamp in inside_stamps.items():
        if name.endswith("/") or not _has_no_link(root, name.rpartition("/")[0], link_free):
            continue
        if is_unchanged(root, name, stamp):
            (folder / name).unlink()
    managed_folders = parent_folders(inside_stamps)
    for walked, folders, files in os.walk(folder, topdown=False):
        current = Path(walked)
        is_bytecode_folder = current.name == BYTECODE_FOLDER
        if is_bytecode_folder and not folders and all(file.endswith(".pyc") for file in files):
            for file in files:
                _remove_stale_bytecode(current / file)
        if current != folder and (is_bytecode_folder or current.relative_to(folder).as_posix() in managed_folders):
            with suppress(OSError):
                current.rmdir()  # only an empty one goes
    (folder / FILE_MANIFEST).unlink()


def _has_no_link(root: str, subfolder: str, checked: dict[str, bool]) -> bool:
    """Whether no folder on the way down is a link."""
    if subfolder not in checked:
        checked[subfolder] = (
            _has_no_link(root, subfolder.rpartition("/")[0], checked) and not Path(root, subfolder).is_symlink()
        )
    return checked[subfolder]


def _remove_stale_bytecode(file: Path) -> None:
    """Python's own copy of a source that is gone."""
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    if not source.exists():
        file.unlink()


def has_content(folder: Path) -> bool:
    """Whether anything but an empty folder is there."""
    return os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir()))


DIST_INFO_SUFFIX = ".dist-info"
SITE_PACKAGES = "site-packages"


def find_damage(folder: Path, environment_manifest: EnvironmentManifest, system: Processes) -> tuple[str, ...]:
    """The damaged files by their paths from there, and the packages of its own list that are gone, by name.

    A package that the user put into it, or changed to another version, is none; nor are files of the user's. Files
    that nobody touched are not read. Raises AppError.
    """
    try:
        package_records = installed_packages(folder)
        return tuple(
            dict.fromkeys(
                (
                    *_missing_packages(package_records, environment_manifest),
                    *_damaged_files(folder, package_records),
                    *_missing_python(folder, system),
                )
            )
        )
    except OSError as error:
        raise storage_error(error, folder) from error


def _missing_packages(
    package_records: tuple[InstalledPackage, ...], environment_manifest: EnvironmentManifest
) -> Iterator[str]:
    """The packages of its list of which no version is there."""
    from packaging.utils import canonicalize_name

    installed = {canonicalize_name(package.name.partition(" ")[0]) for package in package_records}
    return (name for name in environment_manifest.packages if canonicalize_name(name) not in installed)


def _damaged_files(folder: Path, package_records: tuple[InstalledPackage, ...]) -> Iterator[str]:
    owners = {name: digest for package in package_records for name, digest in package.files.items()}
    root = os.fspath(folder)
    for name, stamp in read_file_manifest(folder).items():
        if name.endswith("/") or is_bytecode(name) or is_unchanged(root, name, stamp):
            continue
        path = folder / name
        if name in owners:
            if not matches_hash(path, owners[name], None):
                yield name
        elif _is_expected(folder, PurePosixPath(name)) and not (path.is_symlink() or _is_not_empty(path)):
            yield name


def _is_expected(folder: Path, name: PurePosixPath) -> bool:
    """Whether a file that no package's record has should be there: in the packages' own folder only what stands
    beside a record; what else is gone went with its package.
    """
    return SITE_PACKAGES not in name.parts or (
        name.parent.suffix == DIST_INFO_SUFFIX and (folder / name.parent).is_dir()
    )


def _is_not_empty(path: Path) -> bool:
    """What the user changed is the user's, but an empty file was not written on purpose."""
    return path.is_file() and path.stat().st_size > 0


def _missing_python(folder: Path, system: Processes) -> Iterator[str]:
    """Its Python, which may be a link to one that is gone."""
    python = system.environment_python(folder)
    if not python.is_file():
        yield python.relative_to(folder).as_posix()


# pip on Windows takes a list for the old code page's, unless it says otherwise.
ENCODING_LINE = "# -*- coding: utf-8 -*-\n"


class _VcsInfo(Struct, frozen=True):
    vcs: str
    commit_id: str


class _DirInfo(Struct, frozen=True):
    editable: bool = False


class _DirectUrl(Struct, frozen=True):
    """A direct_url.json."""

    url: str
    vcs_info: _VcsInfo | None = None
    dir_info: _DirInfo | None = None
    subdirectory: str | None = None


def format_user_packages(folder: Path, records: tuple[str, ...]) -> str:
    """The list's text for the packages whose records these are."""
    conda_packages: dict[str, InstalledPackage] = {}
    if any(map(is_conda_record, records)):
        conda_packages = {
            package.record_path: package for package in installed_packages(folder) if package.record_path in records
        }
        conda_packages = {record: package for record, package in conda_packages.items() if is_conda_record(record)}
    conda_files = {name for package in conda_packages.values() for name in package.files}
    constrained = _constrained_packages(folder)
    lines = {
        _conda_line(conda_packages[record]) if record in conda_packages else _pip_line(folder, record, constrained)
        for record in records
        if record in conda_packages or record not in conda_files
    }
    return ENCODING_LINE + "".join(
        f"{line}\n" for line in sorted(lines, key=lambda line: (line.startswith("#"), line.lower()))
    )


def user_packages_path(folder: Path, text: str) -> Path:
    """Where a list lies or will: "pytorch-packages.txt" beside the environment, another number where another lies."""
    number, candidate = 1, folder.with_name(f"{folder.name}-packages.txt")
    while not _is_available(candidate, text):
        number += 1
        candidate = folder.with_name(f"{folder.name}-packages-{number}.txt")
    return candidate


def write_user_packages(folder: Path, records: tuple[str, ...], *, environment: Path | None = None) -> Path | None:
    """Write the list of these packages; None where there are none. Raises AppError.

    `named` is the folder beside which it lies, where that is not the one that they are in.
    """
    if not records:
        return None
    text = format_user_packages(folder, records)
    path = user_packages_path(environment or folder, text)
    json.write_file(path, text)
    return path


def _is_available(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _conda_line(package: InstalledPackage) -> str:
    name, _, version = package.name.rpartition(" ")
    return f"# conda install {name}={version}"


def _pip_line(folder: Path, record: str, constrained: frozenset[str]) -> str:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    dist_info = folder / Path(record).parent
    name, _, version = dist_info.name.removesuffix(".dist-info").rpartition("-")
    name = name.replace("_", "-")
    direct_url = _read_direct_url(dist_info)
    if direct_url is None:
        line, is_installable = f"{name}=={version}", "+" not in version
    else:
        line, is_installable = _direct_requirement(direct_url, name), _source_exists(direct_url)
    try:
        if not line.startswith("-e "):
            Requirement(line)
        is_valid = line.isprintable()
    except InvalidRequirement:
        is_valid = False
    if not is_valid:
        return f"# {name}=={version}".encode("ascii", "backslashreplace").decode("ascii")
    return line if is_installable and canonicalize_name(name) not in constrained else f"# {line}"


def _direct_requirement(direct_url: _DirectUrl, name: str) -> str:
    fragment = f"#subdirectory={direct_url.subdirectory}" if direct_url.subdirectory else ""
    if direct_url.vcs_info is not None:
        return f"{name} @ {direct_url.vcs_info.vcs}+{direct_url.url}@{direct_url.vcs_info.commit_id}{fragment}"
    if direct_url.dir_info is not None and direct_url.dir_info.editable:
        return f"-e {direct_url.url}"
    return f"{name} @ {direct_url.url}{fragment}"


def _source_exists(direct_url: _DirectUrl) -> bool:
    path = local_path(direct_url.url)
    return path is None or path.exists()


def _read_direct_url(dist_info: Path) -> _DirectUrl | None:
    try:
        return json.decode((dist_info / "direct_url.json").read_bytes(), _DirectUrl)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _constrained_packages(folder: Path) -> frozenset[str]:
    """What pip holds in every environment of ours at the version that it came with."""
    from packaging.utils import canonicalize_name

    return frozenset(canonicalize_name(line.partition("==")[0]) for line in _read_lines(folder / CONSTRAINTS_FILE))


def _read_lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
