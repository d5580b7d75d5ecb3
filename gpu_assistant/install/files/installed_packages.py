"""The packages in an environment, as the tools that installed them recorded them.

pip and uv write `<name>.dist-info/RECORD` for a wheel, conda writes `conda-meta/<name>.json`; both list a package's
files with their hashes. `inventory.py` compares these with our own file manifest: what is in neither is the user's.

The packages that the user put into an environment are listed beside it when it is removed or replaced, in a
requirements file: `pip install -r` installs them again. Their origin is in `direct_url.json` (PEP 610). A package that
pip alone cannot install again is a comment in that file: one that conda installed, a build with a local version label,
a folder or file that is missing, and what our constraints hold at a fixed version.
"""

from __future__ import annotations

import binascii
import csv
import os
import posixpath
import re
import threading
import zipfile
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import Cancelled, storage_errors
from ...core.files import hash_file
from ...fetch.partial_file import local_path
from ...system.conda import META_FOLDER

# Where packages lie in an environment, or beside a Python.
SITE_PACKAGES = "site-packages"
SITE_PACKAGES_GLOBS = (f"Lib/{SITE_PACKAGES}", f"lib/python3*/{SITE_PACKAGES}")
DIST_INFO_SUFFIX = ".dist-info"
# What uv and pip write into a dist-info folder, beside RECORD.
INSTALLER_FILES = ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
BYTECODE_FOLDER = "__pycache__"  # Python writes it beside the sources
# Requirements that pip obeys in every environment of ours: the frameworks stay at the versions that we installed.
CONSTRAINTS_FILE = "gpu-assistant-constraints.txt"
# Without this line pip on Windows reads a requirements file in the ANSI code page.
ENCODING_LINE = "# -*- coding: utf-8 -*-\n"
_SIZE = re.compile(r"[0-9]{1,18}")
# Of a smaller file the calls around its hash, for which threads wait for each other, take longer than the hash, for
# which they do not.
SMALL_FILE_BYTES = 64 << 10
# What one thread hashes at a time.
BATCH_BYTES, BATCH_FILES = 8 << 20, 500


class ContentHash(Struct, frozen=True, gc=False):
    """A hash of a file's content: hashlib's name of the algorithm, and the digest in hex."""

    algorithm: str
    hex: str


class InstalledPackage(Struct, frozen=True, kw_only=True):
    """`name` is "numpy 2.4.1"; `record_path` is the RECORD or conda-meta file, last written at `recorded_ns`
    (nanoseconds since the epoch).

    `files` maps paths below the environment to the recorded hash, None where there is none; `sizes` in bytes, for the
    files whose size is recorded. `unproven` are recorded, too, but nothing shows that they are the package's: a wheel's
    files have a hash.
    """

    name: str
    record_path: str
    recorded_ns: int
    files: dict[str, ContentHash | None]
    sizes: dict[str, int] = {}
    unproven: tuple[str, ...] = ()


class RecordRow(NamedTuple):
    """A line of a RECORD; `size` in bytes."""

    path: str
    hash: ContentHash | None
    size: int | None


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


def installed_packages(environment: Path, known_lines: Container[str] = ()) -> tuple[InstalledPackage, ...]:
    """All packages that are in an environment now; unreadable records are skipped. What the `known_lines` of a RECORD
    say is left out.
    """
    return (*wheel_packages(environment, known_lines), *_conda_packages(environment))


def is_conda_record(record_path: str) -> bool:
    """Whether conda wrote the record, not a wheel's installer."""
    return record_path.startswith(f"{META_FOLDER}/")


def corrupt_files(
    environment: Path,
    packages: Iterable[InstalledPackage],
    cancel: threading.Event | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    expected: Mapping[str, ContentHash | None] | None = None,
    scanned_sizes: Mapping[str, int] | None = None,
) -> tuple[str, ...]:
    """The files of these packages that are missing, or do not have their recorded content; every file is read, on all
    cores. A wheel's record takes precedence over conda's, and a hash that is `expected` over both. Files whose sizes
    are not in `scanned_sizes` are asked for them.

    `progress` gets the bytes read and those of all files, on the calling thread. Raises AppError, Cancelled.
    """
    by_precedence = sorted(packages, key=lambda package: not is_conda_record(package.record_path))
    # No wheel has links, whose content would be another file's.
    may_be_link = {name for each in by_precedence if is_conda_record(each.record_path) for name in each.files}
    hashes: dict[str, ContentHash | None] = {}
    recorded_sizes: dict[str, int] = {}
    for package in by_precedence:
        hashes |= {name: each for name, each in package.files.items() if not is_bytecode(name)}
        recorded_sizes |= package.sizes
    hashes |= {name: each for name, each in (expected or {}).items() if each is not None}
    root, scanned = os.fspath(environment), scanned_sizes or {}

    def find_corrupt(names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if not (name in may_be_link and Path(root, name).is_symlink())
            and not _has_hash(f"{root}/{name}", hashes[name], cancel)
        ]

    with storage_errors(environment):
        sizes = {name: scanned[name] if name in scanned else _file_size(f"{root}/{name}") for name in hashes}
        corrupt = {name for name, size in sizes.items() if size is None or size != recorded_sizes.get(name, size)}
        bytes_by_name = {name: size for name, size in sizes.items() if size is not None and name not in corrupt}
        total, done = sum(bytes_by_name.values()), 0
        small_batches, large_batches = _batches(bytes_by_name)
        with ThreadPoolExecutor(1) as one_thread, ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                batches = {one_thread.submit(find_corrupt, names): names for names in small_batches}
                batches |= {pool.submit(find_corrupt, names): names for names in large_batches}
                for batch in as_completed(batches):
                    done += sum(bytes_by_name[name] for name in batches[batch])
                    progress(done, total)
                    corrupt.update(batch.result())
            except BaseException:
                for executor in (one_thread, pool):
                    executor.shutdown(wait=False, cancel_futures=True)
                raise
    return tuple(sorted(corrupt))


def _batches(bytes_by_name: Mapping[str, int]) -> tuple[list[list[str]], list[list[str]]]:
    """The small files, and the others, in groups for one thread each. The largest come first, so that no core reads a
    library alone at the end; of small ones an environment has tens of thousands, and a task for each would take longer
    than its hash.
    """
    batches: tuple[list[list[str]], list[list[str]]] = ([], [])
    room = [0, 0]
    for name in sorted(bytes_by_name, key=lambda name: bytes_by_name[name], reverse=True):
        size = bytes_by_name[name]
        kind = 0 if size < SMALL_FILE_BYTES else 1
        if room[kind] <= 0 or len(batches[kind][-1]) >= BATCH_FILES:
            batches[kind].append([])
            room[kind] = BATCH_BYTES
        batches[kind][-1].append(name)
        room[kind] -= size
    return batches


def _has_hash(path: str, expected: ContentHash | None, cancel: threading.Event | None = None) -> bool:
    """Whether a file has its content; without a hash any is right. Raises OSError, Cancelled."""
    if cancel is not None and cancel.is_set():
        raise Cancelled
    if expected is None:
        return True
    try:
        return hash_file(path, cancel, algorithm=expected.algorithm) == expected.hex
    except (ValueError, FileNotFoundError):  # an algorithm that nobody knows, a link to nothing
        return False


def _file_size(path: str) -> int | None:
    # Strings, because making a Path for each file takes longer than asking for its size.
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return None


def present_packages(environment: Path, requirements: Collection[str]) -> dict[str, InstalledPackage]:
    """Those of the requirements ("jupyterlab==4.5.0") that are installed in an environment, by requirement."""
    from packaging.utils import canonicalize_name

    installed = {}
    for package in wheel_packages(environment):
        name, _, version = package.name.rpartition(" ")
        installed[f"{canonicalize_name(name)}=={version}"] = package
    return {requirement: installed[requirement] for requirement in requirements if requirement in installed}


def remove_packages(environment: Path, requirements: Collection[str], wheels: Path) -> tuple[str, ...]:
    """Delete the files of these packages as their RECORD lists them, and the folders that are empty then; returns the
    files that stay, because somebody changed them. A package's RECORD goes last, so that an interrupted removal can go
    on.

    Of a package whose installation was killed before its RECORD was there, the files go that one of the downloaded
    `wheels` (a folder of folders) has with the same hash. Raises AppError.
    """
    kept: list[str] = []
    with storage_errors(environment):
        present = present_packages(environment, requirements)
        for requirement in requirements:
            package = present.get(requirement)
            files = package.files if package is not None else _files_of_wheel(environment, requirement, wheels)
            record = package.record_path if package is not None else None
            kept += _remove_files(environment, {name: each for name, each in files.items() if name != record})
            if record is not None:
                filesystem.unlink(environment / record)
                _remove_empty_folders(environment, (record,))
            _remove_installer_files(environment, requirement)
    return tuple(kept)


def _remove_installer_files(environment: Path, requirement: str) -> None:
    """What an installer wrote beside a wheel's own files, before a RECORD names it."""
    from packaging.utils import canonicalize_name

    for pattern in SITE_PACKAGES_GLOBS:
        for folder in environment.glob(f"{pattern}/*{DIST_INFO_SUFFIX}"):
            name, version = _project_and_version(folder)
            if f"{canonicalize_name(name)}=={version}" == requirement and not folder.is_symlink():
                for file in INSTALLER_FILES:
                    filesystem.unlink(folder / file, missing_ok=True)
                filesystem.remove_if_empty(folder)


def _remove_files(environment: Path, files: dict[str, ContentHash | None]) -> list[str]:
    """Delete those that have their hash; returns the others."""
    root, kept = os.path.realpath(environment), []
    for name, expected in files.items():
        path = environment / name
        # Behind a link that somebody put in a folder's place nothing is the package's.
        parent = os.path.realpath(path.parent)
        if not (parent == root or parent.startswith(root + os.sep)) or not os.path.lexists(path):
            continue
        if matches_hash(path, expected, None):
            filesystem.unlink(path)
            _remove_bytecode(path)
        else:
            kept.append(name)
    _remove_empty_folders(environment, files)
    return kept


def _remove_empty_folders(environment: Path, names: Iterable[str]) -> None:
    """Delete the folders above these files that are empty: those of the environment itself never are."""
    folders: set[Path] = set()
    for name in names:
        for parent in (environment / name).parents:
            if parent == environment or parent.name == SITE_PACKAGES:
                break
            folders.add(parent)
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        filesystem.remove_if_empty(folder)


def _files_of_wheel(environment: Path, requirement: str, wheels: Path) -> dict[str, ContentHash | None]:
    """The files of a package by its wheel, as paths below the environment; none without a readable wheel."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    sites = [path for pattern in SITE_PACKAGES_GLOBS for path in environment.glob(pattern)]
    for wheel in wheels.glob("*/*.whl"):
        try:
            name, version, _build, _tags = parse_wheel_filename(wheel.name)
        except InvalidWheelFilename:
            continue
        if f"{name}=={version}" != requirement or not sites:
            continue
        site = sites[0].relative_to(environment).as_posix()
        try:
            with zipfile.ZipFile(wheel) as archive:
                record = next(each for each in archive.namelist() if each.endswith(f"{DIST_INFO_SUFFIX}/RECORD"))
                rows = list(csv.reader(archive.read(record).decode("utf-8", "surrogateescape").splitlines()))
        except (OSError, zipfile.BadZipFile, StopIteration, csv.Error):
            continue
        named = ((_place_of(row[0], site), row[1]) for row in rows if len(row) >= 2)
        return {place: _parse_hash(digest) for place, digest in named if digest and not place.startswith(("../", "/"))}
    return {}


def _place_of(name: str, site_packages: str) -> str:
    """Where an installer puts a file of a wheel (PEP 427): "x.data/data/" is the environment's own folder."""
    first, _, rest = name.partition("/")
    if first.endswith(".data"):
        scheme, _, inner = rest.partition("/")
        return posixpath.normpath(inner if scheme == "data" else f"{site_packages}/{inner}")
    return posixpath.normpath(f"{site_packages}/{name}")


def _remove_bytecode(source: Path) -> None:
    """Delete the compiled copies of a file that was deleted."""
    if source.suffix == ".py":
        folder = source.parent / BYTECODE_FOLDER
        for compiled in folder.glob(f"{source.stem}.*.pyc"):
            filesystem.unlink(compiled)
        filesystem.remove_if_empty(folder)


def is_bytecode(name: str) -> bool:
    """Whether it is the path of a compiled copy of a source file."""
    return name.endswith(".pyc") and name.rpartition("/")[0].rpartition("/")[2] == BYTECODE_FOLDER


def matches_hash(path: Path, expected: ContentHash | None, recorded_ns: int | None) -> bool:
    """Whether a file has its recorded content; one without a recorded hash always does.

    A file that has not changed since `recorded_ns` is not read (None: every file is).
    """
    try:
        status = path.lstat()
        if expected is None or path.is_symlink():
            return True
        if recorded_ns is not None and max(status.st_mtime_ns, status.st_ctime_ns) <= recorded_ns:
            return True
        return hash_file(path, algorithm=expected.algorithm) == expected.hex
    except (OSError, ValueError):
        return False


def wheel_packages(environment: Path, known_lines: Container[str] = ()) -> Iterator[InstalledPackage]:
    """Those that pip or uv installed, without what the `known_lines` of a RECORD say.

    Reads RECORD itself: `importlib.metadata` leaves missing files out since Python 3.12, and fails on names that are
    not UTF-8.
    """
    for pattern in SITE_PACKAGES_GLOBS:
        for record in sorted(environment.glob(f"{pattern}/*{DIST_INFO_SUFFIX}/RECORD")):
            site_packages = record.parent.parent.relative_to(environment).as_posix()
            name, version = _project_and_version(record.parent)
            try:
                lines = filesystem.read_text(record, errors="surrogateescape").splitlines()
                rows = parse_record(line for line in lines if line not in known_lines)
                recorded_ns = record.stat().st_mtime_ns
            except (OSError, ValueError):
                continue
            rows_by_path = {posixpath.normpath(f"{site_packages}/{row.path}"): row for row in rows}
            own_folder = f"{site_packages}/{record.parent.name}/"
            # A wheel's files all have a hash, but for RECORD itself and what was compiled since: a name alone does not
            # make a file the package's, which is removed with it.
            inside = {
                path: row
                for path, row in rows_by_path.items()
                if not path.startswith(("../", "/")) and (row.hash or path.startswith(own_folder) or is_bytecode(path))
            }
            yield InstalledPackage(
                name=f"{name} {version}",
                record_path=record.relative_to(environment).as_posix(),
                recorded_ns=recorded_ns,
                files={path: row.hash for path, row in inside.items()},
                sizes={path: row.size for path, row in inside.items() if row.size is not None},
                unproven=tuple(rows_by_path.keys() - inside.keys()),
            )


def _conda_packages(environment: Path) -> Iterator[InstalledPackage]:
    metadata_files = [
        path.relative_to(environment).as_posix()
        for path in sorted((environment / META_FOLDER).glob("*"))
        if path.is_file()
    ]
    for path in sorted((environment / META_FOLDER).glob("*.json")):
        try:
            record = json.decode(filesystem.read_bytes(path), _CondaRecord)
            recorded_ns = path.stat().st_mtime_ns
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
        files: dict[str, ContentHash | None] = dict.fromkeys([*metadata_files, *record.files])
        for path_data in record.paths_data.paths:
            sha256 = path_data.sha256_in_prefix or path_data.sha256
            files[path_data.path] = ContentHash("sha256", sha256) if sha256 is not None else None
        yield InstalledPackage(
            name=f"{record.name} {record.version}",
            record_path=path.relative_to(environment).as_posix(),
            recorded_ns=recorded_ns,
            files=files,
        )


def _project_and_version(dist_info: Path) -> tuple[str, str]:
    """ "nvidia_cublas-12.8.dist-info" → ("nvidia-cublas", "12.8")."""
    name, _, version = dist_info.name.removesuffix(DIST_INFO_SUFFIX).rpartition("-")
    return name.replace("_", "-"), version


def parse_record(lines: Iterable[str]) -> list[RecordRow]:
    """The lines of a RECORD; raises ValueError."""
    try:
        rows = [row for row in csv.reader(lines) if len(row) >= 2]
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return [
        RecordRow(
            row[0].replace("\\", "/"), _parse_hash(row[1]), int(row[2]) if _SIZE.fullmatch("".join(row[2:3])) else None
        )
        for row in rows
    ]


def _parse_hash(text: str) -> ContentHash | None:
    """RECORD has "sha256=" and base64 without padding."""
    algorithm, separator, encoded = text.partition("=")
    if not separator:
        return None
    try:
        digest = binascii.a2b_base64(encoded.replace("-", "+").replace("_", "/") + "=" * (-len(encoded) % 4))
    except ValueError:
        return None
    return ContentHash(algorithm, digest.hex())


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


def write_user_packages(folder: Path, records: tuple[str, ...], *, environment: Path | None = None) -> Path | None:
    """Write the requirements file of the packages with these records; None without records. Raises AppError.

    It is put beside `environment` where that is not the `folder` that the packages are in.
    """
    if not records:
        return None
    text = format_user_packages(folder, records)
    path = user_packages_path(environment or folder, text)
    json.write_file(path, text)
    return path


def user_packages_path(environment: Path, text: str) -> Path:
    """The path for a requirements file with this text: "pytorch-packages.txt" beside the environment, or with a number
    if another file has that name.
    """
    number, candidate = 1, environment.with_name(f"{environment.name}-packages.txt")
    while not _is_available(candidate, text):
        number += 1
        candidate = environment.with_name(f"{environment.name}-packages-{number}.txt")
    return candidate


def _is_available(path: Path, text: str) -> bool:
    try:
        return filesystem.read_bytes(path) == text.encode()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def format_user_packages(folder: Path, records: tuple[str, ...]) -> str:
    """The requirements file of the packages with these records."""
    conda_packages: dict[str, InstalledPackage] = {}
    if any(map(is_conda_record, records)):
        conda_packages = {
            package.record_path: package for package in _conda_packages(folder) if package.record_path in records
        }
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


def _conda_line(package: InstalledPackage) -> str:
    name, _, version = package.name.rpartition(" ")
    return f"# conda install {name}={version}"


def _pip_line(folder: Path, record: str, constrained: frozenset[str]) -> str:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    dist_info = folder / Path(record).parent
    name, version = _project_and_version(dist_info)
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
        return json.decode(filesystem.read_bytes(dist_info / "direct_url.json"), _DirectUrl)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _constrained_packages(folder: Path) -> frozenset[str]:
    """The normalized names of the packages that our constraints file pins."""
    from packaging.utils import canonicalize_name

    try:
        lines = filesystem.read_text(folder / CONSTRAINTS_FILE).splitlines()
    except (OSError, UnicodeDecodeError):
        return frozenset()
    return frozenset(canonicalize_name(line.partition("==")[0]) for line in lines)
