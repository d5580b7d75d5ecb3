"""The list of the packages that the user put into an environment, kept beside it: `pip install -r` brings them back.

Where a package came from is told as pip writes it down itself (PEP 610). What pip alone could not bring back stands
behind a "#": what conda installed, another build than the indexes have, a folder or file that is gone, and what
every environment of ours has in a fixed version.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import json
from ..fetch.local import local_path
from . import owned
from .manifest import CONSTRAINTS_FILE

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
    conda_packages: dict[str, owned.InstalledPackage] = {}
    if any(map(owned.is_conda_record, records)):
        conda_packages = {package.record_path: package for package in owned.installed_packages(folder) if package.record_path in records}
        conda_packages = {record: package for record, package in conda_packages.items() if owned.is_conda_record(record)}
    conda_files = {name for package in conda_packages.values() for name in package.files}
    constrained = _constrained_packages(folder)
    lines = {
        _conda_line(conda_packages[record]) if record in conda_packages else _pip_line(folder, record, constrained)
        for record in records
        if record in conda_packages or record not in conda_files
    }
    return ENCODING_LINE + "".join(f"{line}\n" for line in sorted(lines, key=lambda line: (line.startswith("#"), line.lower())))


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


def _conda_line(package: owned.InstalledPackage) -> str:
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
