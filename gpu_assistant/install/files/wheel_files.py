"""What an environment has that its wheels did not bring: files that uv took from its cache, or that were changed since.

uv puts every file that lies in its unpacked copy of a wheel into an environment, also one that is in no RECORD, and a
RECORD that lies there may have been changed, too. So a new environment is compared with the wheels themselves, whose
hashes are known from the index: `scan_folder` before the packages come and once more afterwards, then `wheel_contents`,
`corrupt_files` and `find_strays`. `unlisted_files` is for an environment whose wheels are gone.
"""

from __future__ import annotations

import configparser
import os
import posixpath
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from ...core.errors import AppError, storage_errors
from .installed_packages import (
    DIST_INFO_SUFFIX,
    SITE_PACKAGES,
    SITE_PACKAGES_GLOBS,
    ContentHash,
    InstalledPackage,
    installed_packages,
    is_bytecode,
    parse_record,
)
from .inventory import FolderScan, is_unchanged, iter_files, read_file_manifest

# uv's lock of an environment, which it leaves there.
_UV_LOCK = ".lock"
PROGRAM_FOLDERS = ("bin", "Scripts")
_VERSIONED_PIP = re.compile(r"pip3\.\d+(?:\.exe)?", re.IGNORECASE)
# The tool virtualenv puts these into each environment.
_VIRTUALENV_FILES = ("_virtualenv.py", "_virtualenv.pth")


class WheelFiles(Struct, frozen=True, kw_only=True):
    """The files of a wheel by their paths in it, with their hashes where its RECORD has one, and the names of the
    programs that are made for it. `record_lines` are those of its RECORD.
    """

    dist_info: str
    files: dict[str, ContentHash | None]
    programs: tuple[str, ...] = ()
    record_lines: frozenset[str] = frozenset()

    def installed(self, site_packages: str) -> dict[str, ContentHash | None]:
        """The files by their paths in an environment. None has a hash whose content depends on the environment."""
        data_folder = f"{self.dist_info.removesuffix(DIST_INFO_SUFFIX)}.data/"
        found: dict[str, ContentHash | None] = {}
        for name, expected in self.files.items():
            scheme, _, rest = name.removeprefix(data_folder).partition("/")
            if not name.startswith(data_folder):
                found[f"{site_packages}/{name}"] = expected
            elif scheme in ("purelib", "platlib"):
                found[f"{site_packages}/{rest}"] = expected
            elif scheme == "data":
                found[rest] = expected
            elif scheme == "scripts":
                found |= {f"{folder}/{rest}": None for folder in PROGRAM_FOLDERS}
        found[f"{site_packages}/{self.dist_info}/RECORD"] = None
        for program in self.programs:
            found |= {f"{folder}/{program}{suffix}": None for folder in PROGRAM_FOLDERS for suffix in ("", ".exe")}
        return found


def read_wheel(path: Path) -> WheelFiles:
    """What a wheel holds; raises AppError("local-file-broken")."""
    try:
        with zipfile.ZipFile(path) as wheel:
            names = [posixpath.normpath(each.filename) for each in wheel.infolist() if not each.is_dir()]
            (record,) = (name for name in names if name.count("/") == 1 and name.endswith(f"{DIST_INFO_SUFFIX}/RECORD"))
            lines = wheel.read(record).decode("utf-8", "surrogateescape").splitlines()
            rows = parse_record(lines)
            dist_info = record.partition("/")[0]
            entry_points = f"{dist_info}/entry_points.txt"
            programs = _program_names(wheel.read(entry_points).decode()) if entry_points in names else ()
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, configparser.Error) as error:
        raise AppError("local-file-broken", path=str(path)) from error
    hashes = {posixpath.normpath(row.path): row.hash for row in rows}
    files = {name: hashes.get(name) for name in names}
    return WheelFiles(dist_info=dist_info, files=files, programs=programs, record_lines=frozenset(lines))


def _program_names(entry_points: str) -> tuple[str, ...]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    # Names keep their case.
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(entry_points)
    sections = [each for each in ("console_scripts", "gui_scripts") if parser.has_section(each)]
    return tuple(name for section in sections for name in parser.options(section))


def wheel_contents(
    environment: Path, packages: Iterable[InstalledPackage], wheels: Iterable[WheelFiles]
) -> dict[str, ContentHash | None]:
    """The files that these wheels brought into an environment, by their paths there; the `packages` are all that are
    in it. Raises AppError.
    """
    found: dict[str, ContentHash | None] = {}
    dist_infos = (posixpath.dirname(package.record_path) for package in packages)
    places = {posixpath.basename(folder): posixpath.dirname(folder) for folder in dist_infos}
    for wheel in wheels:
        found |= wheel.installed(places.get(wheel.dist_info, SITE_PACKAGES))
        if "pip" in wheel.programs:
            found |= dict.fromkeys(_versioned_pips(environment))
    return found


def _versioned_pips(environment: Path) -> Iterator[str]:
    """The program that uv makes of pip beside its entry points, with the name of Python's series ("bin/pip3.11")."""
    for folder in PROGRAM_FOLDERS:
        for path in (environment / folder).glob("pip3.*"):
            if _VERSIONED_PIP.fullmatch(path.name):
                yield f"{folder}/{path.name}"


def find_strays(
    scan: FolderScan,
    packages: Iterable[InstalledPackage],
    base: FolderScan,
    contents: Mapping[str, ContentHash | None],
    built: Collection[str],
) -> tuple[str, ...]:
    """The files of a new environment, as `scan` found them, that neither were there before, unchanged since `base`, nor
    came with a wheel; and links in the place of a wheel's files.

    The packages `built` from their source have only their RECORD, and each package has files in its .dist-info that
    its installer wrote: nothing reads them but installers, except for the entry points.
    """
    from packaging.utils import canonicalize_name

    known = {os.path.normcase(name) for name in contents}
    for package in packages:
        listed, own_folder = (*package.files, *package.unproven), posixpath.dirname(package.record_path)
        if canonicalize_name(package.name.partition(" ")[0]) not in built:
            listed = tuple(
                name for name in listed if _is_installers_note(name, own_folder) and package.record_path in contents
            )
        known.update(map(os.path.normcase, listed))
    # Of most files one look-up tells that they are a wheel's.
    return tuple(
        name
        for name, stamp in scan.stamps.items()
        if stamp is not None
        and (name not in contents or name in scan.links)
        and not _is_expected(name, scan, base, known)
    )


def _is_installers_note(name: str, dist_info: str) -> bool:
    return posixpath.dirname(name) == dist_info and posixpath.basename(name) != "entry_points.txt"


def _is_expected(name: str, scan: FolderScan, base: FolderScan, known: Collection[str]) -> bool:
    if name in base.stamps and (is_bytecode(name) or base.stamps[name] == scan.stamps[name]):
        return True
    if os.path.normcase(name) in known:
        return name not in scan.links
    # Python writes those of its own library, in conda's environments, as soon as it starts.
    return name == _UV_LOCK or (is_bytecode(name) and SITE_PACKAGES not in name.split("/"))


def unlisted_files(environment: Path) -> tuple[str, ...]:
    """The files among the packages and programs of an environment that no package lists. Those of an environment
    that has our list were there when it was made, where they are unchanged. Compiled copies are left out: Python
    writes them. Raises AppError.
    """
    with storage_errors(environment):
        packages = installed_packages(environment)
        listed = {os.path.normcase(name) for each in packages for name in (*each.files, *each.unproven)}
        folders = [path for pattern in SITE_PACKAGES_GLOBS for path in environment.glob(pattern) if path.is_dir()]
        try:
            ours = read_file_manifest(environment)
            folders += [path for name in PROGRAM_FOLDERS if (path := environment / name).is_dir()]
        except FileNotFoundError:
            ours = {}
        root = os.fspath(environment)
        return tuple(
            sorted(
                name
                for name in _files_below(environment, folders)
                if os.path.normcase(name) not in listed
                and not is_bytecode(name)
                and not (name in ours and is_unchanged(root, name, ours[name]))
                and (ours or name.rpartition("/")[2] not in _VIRTUALENV_FILES)
            )
        )


def _files_below(environment: Path, folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        below = folder.relative_to(environment).as_posix()
        yield from (f"{below}/{name}" for name in iter_files(folder))
