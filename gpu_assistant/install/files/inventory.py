"""What in a folder of ours is ours: the file manifest, and what was added or changed since.

    write_file_manifest ──► gpu-assistant-files.txt: each file's path, size and time   (makes a folder ours)
                                     │
          ┌──────────────────────────┼───────────────────────────────┐
    find_foreign_files          find_damage                    remove_listed_files
    added or changed by others  missing or changed files of    deletes what is unchanged;
    since: stays with the user  ours: the environment is       everything else stays
                                rebuilt

`staging.py` makes, replaces and removes folders by this; `installed_packages.py` says which files belong to packages.
An environment also has `gpu-assistant.json` (`EnvironmentManifest`), which says what it was made of.
Paths in the lists are relative to the folder, with "/"; an empty folder ends with "/".
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Container, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import storage_errors
from ...core.ownership import MARKER_NAME
from ...core.recommendation import Recommendation
from ...system.base import Processes
from .installed_packages import (
    BYTECODE_FOLDER,
    DIST_INFO_SUFFIX,
    SITE_PACKAGES,
    InstalledPackage,
    installed_packages,
    is_bytecode,
    matches_hash,
)

FILE_MANIFEST = "gpu-assistant-files.txt"
# A folder of ours with this file in it is incomplete, whatever else it holds.
UNFINISHED_MARK = "gpu-assistant-unfinished.txt"
# What says of a folder that it is ours is not listed itself.
OWN_NAMES = (FILE_MANIFEST, UNFINISHED_MARK, MARKER_NAME)
MANIFEST_FILE = "gpu-assistant.json"
LOCK_FILE = "pylock.toml"
# So many names are shown to the user; the rest is counted.
MAX_NAMED = 5
_STAMPED_LINE = re.compile(r"(.*)\t(-?\d+)\t(-?\d+)\Z", re.ASCII | re.DOTALL)


class FileStamp(NamedTuple):
    """A file with the same size and modification time (nanoseconds since the epoch) counts as unchanged."""

    size: int
    mtime_ns: int


class FolderScan(NamedTuple):
    """All that is in a folder: the stamps of its files and links, None for an empty folder ("name/"), and which of them
    are links.
    """

    stamps: dict[str, FileStamp | None]
    links: frozenset[str]


def scan_folder(folder: Path) -> FolderScan:
    """Look at everything in a folder once; raises AppError."""
    stamps: dict[str, FileStamp | None] = {}
    links = []
    root = os.fspath(folder)
    with storage_errors(folder):
        for name in walk(folder):
            if name.endswith("/"):
                stamps[name] = None
                continue
            # Not what the folder's listing says: on Windows it may be out of date for a file with several names.
            status = os.lstat(f"{root}/{name}")
            stamps[name] = FileStamp(status.st_size, status.st_mtime_ns)
            if stat.S_ISLNK(status.st_mode):
                links.append(name)
    return FolderScan(stamps, frozenset(links))


def write_scanned_manifest(folder: Path, scan: FolderScan, names: Iterable[str]) -> None:
    """List what a scan found as it was then, and these files as they are now. Raises AppError."""
    with storage_errors(folder):
        _save_file_manifest(folder, scan.stamps | stamp_files(folder, names))


def write_file_manifest(folder: Path, names: Collection[str] | None = None) -> None:
    """List these files as ours, or all that are in the folder. Raises AppError.

    Empty folders are listed too; if there was a manifest before, only those that it listed.
    """
    with storage_errors(folder):
        empty_folders = {name for name in walk(folder) if name.endswith("/")} if names is not None else set()
        if os.path.lexists(folder / FILE_MANIFEST):
            empty_folders &= read_file_manifest(folder).keys()
        json.remove_partial_files(folder, {FILE_MANIFEST, *(names or ())})
        _save_file_manifest(folder, stamp_files(folder, walk(folder) if names is None else [*names, *empty_folders]))


def read_file_manifest(folder: Path) -> dict[str, FileStamp | None]:
    """The listed files; a folder has no stamp. A file without one is not listed: by its name alone it would be ours
    whatever is in it. Raises OSError if there is no manifest.
    """
    text = filesystem.read_bytes(folder / FILE_MANIFEST).decode("utf-8", "surrogateescape")
    parsed = (_parse_line(line) for line in text.split("\n") if line)
    return {name: stamp for name, stamp in parsed if stamp is not None or name.endswith("/")}


def add_to_file_manifest(folder: Path, names: Iterable[str]) -> None:
    """List more files, as they are now; raises OSError, AppError."""
    _save_file_manifest(folder, read_file_manifest(folder) | stamp_files(folder, names))


def _save_file_manifest(folder: Path, stamps: dict[str, FileStamp | None]) -> None:
    lines = [_format_line(name, stamp) for name, stamp in stamps.items() if name not in OWN_NAMES]
    # Names on Linux may hold bytes that are not UTF-8; Python has them as surrogates.
    json.write_file(folder / FILE_MANIFEST, "".join(lines).encode("utf-8", "surrogateescape"))


def _format_line(name: str, stamp: FileStamp | None) -> str:
    return f"{name}\n" if stamp is None else f"{name}\t{stamp.size}\t{stamp.mtime_ns}\n"


def _parse_line(line: str) -> tuple[str, FileStamp | None]:
    match = _STAMPED_LINE.match(line)
    return (line, None) if match is None else (match[1], FileStamp(int(match[2]), int(match[3])))


def stamp_files(folder: Path, names: Iterable[str]) -> dict[str, FileStamp | None]:
    """The stamps of these files below a folder; raises OSError."""
    return {name: None if name.endswith("/") else _stamp_file(f"{folder}/{name}") for name in names}


def _stamp_file(path: str) -> FileStamp:
    status = os.lstat(path)
    return FileStamp(status.st_size, status.st_mtime_ns)


def is_unchanged(folder: str, name: str, stamp: FileStamp | None) -> bool:
    """Whether a file below a folder is as listed; a missing one is not, and bytecode always is."""
    # Strings, because making a Path for each of an environment's tens of thousands of files takes seconds.
    path = f"{folder}/{name}"
    if stamp is None or is_bytecode(name):
        return os.path.lexists(path)
    try:
        return _stamp_file(path) == stamp
    except OSError:
        return False


def walk(folder: Path) -> Iterator[str]:
    """Every file and link below a folder, and every empty folder; links are not followed. Raises OSError."""
    pending = [""]
    root = os.fspath(folder)
    while pending:
        subfolder = pending.pop()
        with os.scandir(f"{root}/{subfolder}") as entries:
            children = sorted(entries, key=lambda entry: entry.name)
        if subfolder and not children:
            yield subfolder
        for entry in children:
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{subfolder}{entry.name}/")
            else:
                yield f"{subfolder}{entry.name}"


def iter_files(folder: Path) -> Iterator[str]:
    """`walk` without the empty folders."""
    return (name for name in walk(folder) if not name.endswith("/"))


def has_content(folder: Path) -> bool:
    """Whether there is anything but an empty folder at this path."""
    return os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir()))


def _is_inside(name: str) -> bool:
    """Whether a path that is read from a manifest stays below the folder."""
    parts = name.replace(os.sep, "/").split("/")
    return bool(parts[0]) and not os.path.splitdrive(name)[0] and os.pardir not in parts


def _parent_folders(names: Iterable[str]) -> set[str]:
    """All folders above these files, and the folders among these paths, without "/" at the end."""
    parents: set[str] = set()
    for name in names:
        parent = name[:-1] if name.endswith("/") else name.rpartition("/")[0]
        while parent and parent not in parents:
            parents.add(parent)
            parent = parent.rpartition("/")[0]
    return parents


class EnvironmentManifest(Struct, frozen=True, kw_only=True):
    """What an environment was made of. `path` is the folder it was made for, `created` in seconds since the epoch,
    `lock` the fingerprint of its lock file, `packages` names and exact versions, `bytes` the size of its files on disk;
    by the `recommendation` the checks know what it was made for.
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
    """The manifest of a complete environment; None without a readable one, or without a lock file."""
    return None if os.path.lexists(environment / UNFINISHED_MARK) else read_unfinished_manifest(environment)


def read_unfinished_manifest(environment: Path) -> EnvironmentManifest | None:
    """The same for an environment that may be incomplete."""
    manifest = _decode_manifest(environment)
    return manifest if (environment / LOCK_FILE).is_file() else None


def missing_metadata(environment: Path) -> tuple[str, ...]:
    """The names of our own files in an environment that are missing or unreadable."""
    return (
        *(() if _decode_manifest(environment) is not None else (MANIFEST_FILE,)),
        *(() if (environment / LOCK_FILE).is_file() else (LOCK_FILE,)),
    )


def write_manifest(environment: Path, manifest: EnvironmentManifest) -> None:
    """Write the environment's manifest; raises AppError."""
    json.write_file(environment / MANIFEST_FILE, json.encode_pretty(manifest) + "\n")


def _decode_manifest(environment: Path) -> EnvironmentManifest | None:
    try:
        return json.decode(filesystem.read_bytes(environment / MANIFEST_FILE), EnvironmentManifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


class ForeignFiles(Struct, frozen=True):
    """What others did in a folder of ours. `packages` were installed or changed since, recorded in `records`;
    `package_files` are their files, which are removed with the folder.

    `user_files` stay: files of no package, files of packages that somebody changed, and folders ("name/") that are
    empty or hold nothing else. `damaged_metadata` are our own unreadable files, which are nobody's work.
    """

    packages: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    package_files: tuple[str, ...] = ()
    user_files: tuple[str, ...] = ()
    damaged_metadata: tuple[str, ...] = ()


def find_foreign_files(folder: Path, removed: Collection[Path] = frozenset()) -> ForeignFiles:
    """Compare a folder of ours with its file manifest; paths that will be `removed` by then are left out.

    Raises AppError.
    """
    with storage_errors(folder):
        return _scan_foreign_files(folder, removed)


def _scan_foreign_files(folder: Path, removed: Collection[Path]) -> ForeignFiles:
    root, managed, packages = os.fspath(folder), read_file_manifest(folder), installed_packages(folder)
    ignored = {path.relative_to(folder).as_posix() for path in removed if folder in path.parents}

    def is_managed(name: str) -> bool:
        return name in managed and is_unchanged(root, name, managed[name])

    changed_packages = [
        package for package in packages if package.record_path not in ignored and not is_managed(package.record_path)
    ]
    recorded_times = {package.name: package.recorded_ns for package in changed_packages}
    owners = {name: (digest, package) for package in packages for name, digest in package.files.items()}
    managed_folders = _parent_folders((*managed, *owners))
    damaged = tuple(name for name in missing_metadata(folder) if (folder / name).is_file())
    package_files, user_files = [], []
    for name in walk(folder):
        if name in (*OWN_NAMES, *damaged) or name in ignored:
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
    """The highest folder above a file in which nothing is ours; the file itself if there is none."""
    parts = name.rstrip("/").split("/")
    parents = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return next((f"{parent}/" for parent in parents if parent not in managed_folders), name)


def format_names(names: tuple[str, ...]) -> str:
    """The first few names, for people to read."""
    return ", ".join((*names[:MAX_NAMED], *(["…"] if len(names) > MAX_NAMED else [])))


def remove_listed_files(folder: Path) -> None:
    """Delete the unchanged files of the manifest, and the folders that are empty then; raises OSError.

    The manifest goes last: as long as it is there, an interrupted removal can be continued.
    """
    try:
        managed = read_file_manifest(folder)
    except FileNotFoundError:
        return  # removed already: nothing that is left is ours
    root = os.fspath(folder)
    stamps = {name: stamp for name, stamp in managed.items() if _is_inside(name)}
    # Behind a link that somebody put in a folder's place nothing is ours.
    link_free = {"": True}
    for name, stamp in stamps.items():
        if name.endswith("/") or not _has_no_link(root, name.rpartition("/")[0], link_free):
            continue
        if is_unchanged(root, name, stamp):
            filesystem.unlink(folder / name)
    managed_folders = _parent_folders(stamps)
    for walked, folders, files in os.walk(folder, topdown=False):
        current = Path(walked)
        is_bytecode_folder = current.name == BYTECODE_FOLDER
        if is_bytecode_folder and not folders and all(file.endswith(".pyc") for file in files):
            for file in files:
                _remove_stale_bytecode(current / file)
        if current != folder and (is_bytecode_folder or current.relative_to(folder).as_posix() in managed_folders):
            filesystem.remove_if_empty(current)
    filesystem.unlink(folder / FILE_MANIFEST)


def _has_no_link(root: str, subfolder: str, checked: dict[str, bool]) -> bool:
    """Whether no folder on the way down to `subfolder` is a link; `checked` caches the answers."""
    if subfolder not in checked:
        checked[subfolder] = (
            _has_no_link(root, subfolder.rpartition("/")[0], checked) and not Path(root, subfolder).is_symlink()
        )
    return checked[subfolder]


def _remove_stale_bytecode(file: Path) -> None:
    """Delete a compiled file whose source is gone."""
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    if not source.exists():
        filesystem.unlink(file)


def find_damage(environment: Path, manifest: EnvironmentManifest, system: Processes) -> tuple[str, ...]:
    """The paths of damaged files, and the names of missing packages, of a complete environment.

    Packages that the user added or changed, and the user's files, are not damage. Unchanged files are not read.
    Raises AppError.
    """
    with storage_errors(environment):
        packages = installed_packages(environment)
        return tuple(
            dict.fromkeys(
                (
                    *_missing_packages(packages, manifest),
                    *_damaged_files(environment, packages),
                    *_missing_python(environment, system),
                )
            )
        )


def _missing_packages(packages: tuple[InstalledPackage, ...], manifest: EnvironmentManifest) -> Iterator[str]:
    """The packages of the manifest that are there in no version."""
    from packaging.utils import canonicalize_name

    installed = {canonicalize_name(package.name.partition(" ")[0]) for package in packages}
    return (name for name in manifest.packages if canonicalize_name(name) not in installed)


def _damaged_files(environment: Path, packages: tuple[InstalledPackage, ...]) -> Iterator[str]:
    owners = {name: digest for package in packages for name, digest in package.files.items()}
    root = os.fspath(environment)
    for name, stamp in read_file_manifest(environment).items():
        if name.endswith("/") or is_bytecode(name) or is_unchanged(root, name, stamp):
            continue
        path = environment / name
        if name in owners:
            if not matches_hash(path, owners[name], None):
                yield name
        elif _is_expected(environment, PurePosixPath(name)) and not (path.is_symlink() or _is_not_empty(path)):
            yield name


def _is_expected(environment: Path, name: PurePosixPath) -> bool:
    """Whether a file that no package has recorded should be there. In site-packages only a file in a .dist-info folder
    that still exists: anything else went with its package.
    """
    return SITE_PACKAGES not in name.parts or (
        name.parent.suffix == DIST_INFO_SUFFIX and (environment / name.parent).is_dir()
    )


def _is_not_empty(path: Path) -> bool:
    """A changed file is the user's, but an empty one was not written on purpose."""
    return path.is_file() and path.stat().st_size > 0


def _missing_python(environment: Path, system: Processes) -> Iterator[str]:
    """The environment's Python, if it is missing or a link to a missing file."""
    python = system.environment_python(environment)
    if not python.is_file():
        yield python.relative_to(environment).as_posix()
