"""The lock file of an environment: the exact files to install, as `pylock.toml` (PEP 751)."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from ...core.errors import AppError
from ...core.plan import PlanFile
from .requirements import Platform

if TYPE_CHECKING:
    from packaging.markers import Environment
    from packaging.pylock import Package, PackageSdist, PackageWheel
    from packaging.tags import Tag

FILE_SCHEMES = ("https", "http", "file")


class LockedPackage(Struct, frozen=True, kw_only=True):
    """A package at its exact version, and the wheel, or source, that is installed."""

    name: str
    version: str
    file: PlanFile


class Lockfile(Struct, frozen=True, kw_only=True):
    """`text` is the file as the resolver wrote it."""

    packages: tuple[LockedPackage, ...]
    text: str

    @property
    def fingerprint(self) -> str:
        """Equal for lock files that make the same environment, whatever the addresses of the files."""
        lines = sorted(f"{package.name}=={package.version} {package.file.sha256}" for package in self.packages)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def version(self, name: str) -> str | None:
        """A package's exact version ("2.13.0+cpu"); None if it is not locked."""
        return next((package.version for package in self.packages if package.name == name), None)


def parse_lockfile(text: str, series: str, platform: Platform | None = None, sdists: Collection[str] = ()) -> Lockfile:
    """Read a lock file and select the wheels for a Python of a series like "3.11", on this computer or on `platform`.
    Of the packages `sdists` the source is taken.

    Raises AppError("lock-broken").
    """
    from packaging.pylock import PackageSdist, PackageWheel, Pylock, PylockSelectError, PylockValidationError
    from packaging.utils import InvalidWheelFilename

    try:
        pylock = Pylock.from_dict(tomllib.loads(text))
        packages = []
        for package, source in pylock.select(
            environment=_marker_environment(series, platform), tags=_wheel_tags(series, platform)
        ):
            is_source = isinstance(source, PackageSdist) and package.name in sdists
            if not isinstance(source, PackageWheel | PackageSdist) or isinstance(source, PackageSdist) != is_source:
                raise ValueError(f"{package.name} is no wheel")
            packages.append(_locked_package(package, source))
    except (
        *(tomllib.TOMLDecodeError, PylockValidationError, PylockSelectError, InvalidWheelFilename),
        *(KeyError, ValueError),
    ) as error:
        raise AppError("lock-broken", detail=str(error)) from error
    return Lockfile(packages=tuple(packages), text=text)


def _locked_package(package: Package, source: PackageWheel | PackageSdist) -> LockedPackage:
    url, sha256 = source.url or "", source.hashes["sha256"].lower()
    if len(sha256) != 64 or urlsplit(url).scheme not in FILE_SCHEMES:
        raise ValueError(url)
    file = PlanFile(url=url, name=source.filename, sha256=sha256, bytes=source.size)
    return LockedPackage(name=package.name, version=str(package.version), file=file)


def _marker_environment(series: str, platform: Platform | None) -> Environment:
    """What environment markers are compared with; of a Python that is not this one only the series is known."""
    from packaging.markers import default_environment

    environment = default_environment()
    environment["python_version"], environment["python_full_version"] = series, f"{series}.0"
    if platform is not None:
        is_windows = platform.system == "windows"
        environment["os_name"] = "nt" if is_windows else "posix"
        environment["sys_platform"] = "win32" if is_windows else "linux"
        environment["platform_system"] = "Windows" if is_windows else "Linux"
    return environment


def _wheel_tags(series: str, platform: Platform | None) -> list[Tag]:
    """The tags of the wheels that a Python can install, best first."""
    from packaging.tags import compatible_tags, cpython_tags

    major, minor = (int(number) for number in series.split(".")[:2])
    interpreter = f"cp{major}{minor}"
    platforms = platform.platform_tags if platform is not None else None
    abis = [interpreter] if platform is not None else None  # else those that the running Python supports
    return [
        *cpython_tags((major, minor), abis, platforms),
        *compatible_tags((major, minor), interpreter, platforms),
    ]
