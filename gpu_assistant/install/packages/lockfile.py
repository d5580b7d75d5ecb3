"""The lock: exactly which files make an environment, as PEP 751 `pylock.toml` says it."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ...core.errors import AppError
from ...core.plan import PlanFile
from .requirements import Platform


class LockedPackage(Struct, frozen=True, kw_only=True):
    """One package at its exact version, and the one wheel that serves here."""

    name: str
    version: str
    file: PlanFile


class Lockfile(Struct, frozen=True, kw_only=True):
    """`text` is the file as the resolver wrote it."""

    packages: tuple[LockedPackage, ...]
    text: str

    @property
    def fingerprint(self) -> str:
        """Equal for locks that make the same environment, wherever the files come from."""
        rows = sorted(f"{package.name}=={package.version} {package.file.sha256}" for package in self.packages)
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()

    def version(self, name: str) -> str | None:
        """A package's exact version ("2.13.0+cpu"); None if it is not in the lock."""
        return next((package.version for package in self.packages if package.name == name), None)


def parse_lockfile(text: str, series: str, platform: Platform | None = None) -> Lockfile:
    """Read a lock for a "3.11" Python on this computer, or on another one; raises AppError("lock-broken")."""
    from packaging.utils import InvalidWheelFilename

    try:
        rows = tomllib.loads(text)["packages"]
        packages = tuple(_parse_package(row, series, platform) for row in rows)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, InvalidWheelFilename) as error:
        raise AppError("lock-broken", detail=str(error)) from error
    return Lockfile(packages=packages, text=text)


def _parse_package(row: dict[str, Any], series: str, platform: Platform | None) -> LockedPackage:
    name, version = str(row["name"]), str(row["version"])
    wheels = [_parse_wheel(wheel) for wheel in row["wheels"]]
    return LockedPackage(name=name, version=version, file=_best_wheel(name, wheels, series, platform))


def _parse_wheel(wheel: dict[str, Any]) -> PlanFile:
    url = str(wheel["url"])
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    size = wheel.get("size")
    sha256 = str(wheel["hashes"]["sha256"]).lower()
    if len(sha256) != 64 or urlsplit(url).scheme not in ("https", "http", "file"):
        raise ValueError(url)
    return PlanFile(url=url, name=name, sha256=sha256, bytes=size if isinstance(size, int) else None)


def _best_wheel(name: str, files: list[PlanFile], series: str, platform: Platform | None) -> PlanFile:
    """The most fitting wheel; a lock for one platform usually holds just one."""
    from packaging.tags import compatible_tags, cpython_tags
    from packaging.utils import parse_wheel_filename

    version = (int(series.partition(".")[0]), int(series.partition(".")[2]))
    platforms = platform.platform_tags if platform is not None else None
    interpreter = f"cp{version[0]}{version[1]}"
    abis = [interpreter] if platforms is not None else None  # else those of the Python that runs this
    tags = [*cpython_tags(version, abis, platforms), *compatible_tags(version, interpreter, platforms)]
    ranks = {tag: rank for rank, tag in enumerate(tags)}
    candidates = []
    for file in files:
        matching_ranks = [ranks[tag] for tag in parse_wheel_filename(file.name)[3] if tag in ranks]
        if matching_ranks:
            candidates.append((min(matching_ranks), file.name, file))
    if not candidates:
        raise ValueError(f"no wheel of {name} fits")
    return min(candidates)[2]
