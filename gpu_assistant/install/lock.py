"""The lock: exactly which files make an environment, as PEP 751 `pylock.toml` says it."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ..core.errors import AppError
from ..core.plan import PlanFile
from .target import Target


class LockedPackage(Struct, frozen=True, kw_only=True):
    """One package at its exact version, and the one wheel that serves here."""

    name: str
    version: str
    file: PlanFile


class Lock(Struct, frozen=True, kw_only=True):
    """`text` is the file as the resolver wrote it."""

    packages: tuple[LockedPackage, ...]
    text: str

    @property
    def identity(self) -> str:
        """Equal for locks that make the same environment, wherever the files come from."""
        rows = sorted(f"{p.name}=={p.version} {p.file.sha256}" for p in self.packages)
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()

    def version(self, name: str) -> str | None:
        """A package's exact version ("2.13.0+cpu"); None if it is not in the lock."""
        return next((package.version for package in self.packages if package.name == name), None)


def parse(text: str, series: str, target: Target | None = None) -> Lock:
    """Read a lock for a "3.11" Python on this computer, or on another one; raises AppError("lock-broken")."""
    from packaging.utils import InvalidWheelFilename

    try:
        rows = tomllib.loads(text)["packages"]
        packages = tuple(_package(row, series, target) for row in rows)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, InvalidWheelFilename) as error:
        raise AppError("lock-broken", detail=str(error)) from error
    return Lock(packages=packages, text=text)


def _package(row: dict[str, Any], series: str, target: Target | None) -> LockedPackage:
    name, version = str(row["name"]), str(row["version"])
    wheels = [_file(wheel) for wheel in row["wheels"]]
    return LockedPackage(name=name, version=version, file=_best(name, wheels, series, target))


def _file(wheel: dict[str, Any]) -> PlanFile:
    url = str(wheel["url"])
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    size = wheel.get("size")
    sha256 = str(wheel["hashes"]["sha256"]).lower()
    if len(sha256) != 64 or urlsplit(url).scheme not in ("https", "http", "file"):
        raise ValueError(url)
    return PlanFile(url=url, name=name, sha256=sha256, bytes=size if isinstance(size, int) else None)


def _best(name: str, files: list[PlanFile], series: str, target: Target | None) -> PlanFile:
    """The most fitting wheel; a lock for one platform usually holds just one."""
    from packaging.tags import compatible_tags, cpython_tags
    from packaging.utils import parse_wheel_filename

    version = (int(series.partition(".")[0]), int(series.partition(".")[2]))
    platforms = target.platforms if target is not None else None
    short = f"cp{version[0]}{version[1]}"
    abis = [short] if platforms is not None else None  # else those of the Python that runs this
    tags = [*cpython_tags(version, abis, platforms), *compatible_tags(version, short, platforms)]
    ranks = {tag: n for n, tag in enumerate(tags)}
    fitting = []
    for file in files:
        fits = [ranks[tag] for tag in parse_wheel_filename(file.name)[3] if tag in ranks]
        if fits:
            fitting.append((min(fits), file.name, file))
    if not fitting:
        raise ValueError(f"no wheel of {name} fits")
    return min(fitting)[2]
