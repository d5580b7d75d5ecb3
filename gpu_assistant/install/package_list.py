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
from .manifest import CONSTRAINTS

# pip on Windows takes a list for the old code page's, unless it says otherwise.
HEAD = "# -*- coding: utf-8 -*-\n"


class _Repository(Struct, frozen=True):
    vcs: str
    commit_id: str


class _Folder(Struct, frozen=True):
    editable: bool = False


class _Origin(Struct, frozen=True):
    """A direct_url.json."""

    url: str
    vcs_info: _Repository | None = None
    dir_info: _Folder | None = None
    subdirectory: str | None = None


def listed(folder: Path, records: tuple[str, ...]) -> str:
    """The list's text for the packages whose records these are."""
    conda: dict[str, owned.Package] = {}
    if any(map(owned.by_conda, records)):
        conda = {package.record: package for package in owned.packages(folder) if package.record in records}
        conda = {record: package for record, package in conda.items() if owned.by_conda(record)}
    behind = {name for package in conda.values() for name in package.files}
    fixed = _fixed(folder)
    lines = {
        _of_conda(conda[record]) if record in conda else _of_pip(folder, record, fixed)
        for record in records
        if record in conda or record not in behind
    }
    return HEAD + "".join(f"{line}\n" for line in sorted(lines, key=lambda line: (line.startswith("#"), line.lower())))


def place(folder: Path, text: str) -> Path:
    """Where a list lies or will: "pytorch-packages.txt" beside the environment, another number where another lies."""
    number, found = 1, folder.with_name(f"{folder.name}-packages.txt")
    while not _free(found, text):
        number += 1
        found = folder.with_name(f"{folder.name}-packages-{number}.txt")
    return found


def keep(folder: Path, records: tuple[str, ...], *, named: Path | None = None) -> Path | None:
    """Write the list of these packages; None where there are none. Raises AppError.

    `named` is the folder beside which it lies, where that is not the one that they are in.
    """
    if not records:
        return None
    text = listed(folder, records)
    path = place(named or folder, text)
    json.write_file(path, text)
    return path


def _free(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _of_conda(package: owned.Package) -> str:
    name, _, version = package.name.rpartition(" ")
    return f"# conda install {name}={version}"


def _of_pip(folder: Path, record: str, fixed: frozenset[str]) -> str:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    info = folder / Path(record).parent
    name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
    name = name.replace("_", "-")
    origin = _origin(info)
    if origin is None:
        line, there = f"{name}=={version}", "+" not in version
    else:
        line, there = _from(origin, name), _is_there(origin)
    try:
        if not line.startswith("-e "):
            Requirement(line)
        sound = line.isprintable()
    except InvalidRequirement:
        sound = False
    if not sound:
        return f"# {name}=={version}".encode("ascii", "backslashreplace").decode("ascii")
    return line if there and canonicalize_name(name) not in fixed else f"# {line}"


def _from(origin: _Origin, name: str) -> str:
    part = f"#subdirectory={origin.subdirectory}" if origin.subdirectory else ""
    if origin.vcs_info is not None:
        return f"{name} @ {origin.vcs_info.vcs}+{origin.url}@{origin.vcs_info.commit_id}{part}"
    if origin.dir_info is not None and origin.dir_info.editable:
        return f"-e {origin.url}"
    return f"{name} @ {origin.url}{part}"


def _is_there(origin: _Origin) -> bool:
    path = local_path(origin.url)
    return path is None or path.exists()


def _origin(info: Path) -> _Origin | None:
    try:
        return json.decode((info / "direct_url.json").read_bytes(), _Origin)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _fixed(folder: Path) -> frozenset[str]:
    """What pip holds in every environment of ours at the version that it came with."""
    from packaging.utils import canonicalize_name

    return frozenset(canonicalize_name(line.partition("==")[0]) for line in _lines(folder / CONSTRAINTS))


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
