"""What publishers said of the sizes of files, kept so that a plan knows its price without asking anybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ...core import json
from ...core.errors import AppError
from ...core.machine import OperatingSystem
from ...core.paths import DataDir
from ...core.recommendation import Recommendation
from ...fetch.partial_file import local_path
from ...fetch.request import RemoteSize
from .lockfile import parse_lockfile
from .requirements import PackageRequest, build_request, lock_path, platform_for

if TYPE_CHECKING:
    from ...catalog.store import Catalog


SIZES_FILE = "sizes.json"
# So many wishes are remembered; the oldest are asked for again.
MAX_REQUESTS = 40


class PackageSize(Struct, frozen=True, kw_only=True):
    """One file of a lock: `unpacked` is what it takes once installed; a `local` one is not downloaded."""

    name: str
    sha256: str
    local: bool
    bytes: int | None
    unpacked: int | None

    def is_cached(self, data: DataDir) -> bool:
        """Whether an earlier download of it lies here."""
        return (data.files / self.sha256[:16] / self.name).is_file()


class SizeAnswer(Struct, frozen=True, kw_only=True):
    """What is to be downloaded and what it unpacks to, None where the size of a file is not known; `least` of the
    download is known all the same.
    """

    bytes: int | None
    unpacked_bytes: int | None
    least_bytes: int


class SizeCache(Struct, frozen=True, kw_only=True):
    """`packages` by the key of a wish, other `files` by their address."""

    packages: dict[str, tuple[PackageSize, ...]] = {}
    files: dict[str, RemoteSize] = {}

    def environment_sizes(self, request: PackageRequest, data: DataDir) -> SizeAnswer | None:
        """What is to be downloaded for a wish and what its environment takes, by what the publishers said, else by the
        lock of an earlier run; None where nobody asked.
        """
        remote_files = self.packages.get(request.cache_key) or _lockfile_files(request, data)
        if remote_files is None:
            return None
        download_sizes = [file.bytes for file in remote_files if not (file.local or file.is_cached(data))]
        unpacked_sizes = [file.unpacked for file in remote_files]
        return SizeAnswer(
            bytes=_sum_complete(download_sizes),
            unpacked_bytes=_sum_complete(unpacked_sizes),
            least_bytes=sum(count or 0 for count in download_sizes),
        )


def _lockfile_files(request: PackageRequest, data: DataDir) -> tuple[PackageSize, ...] | None:
    """The files of the lock that an earlier run kept, with the sizes that the index gave."""
    path = lock_path(data, request)
    if not path.is_file():
        return None
    try:
        lockfile = parse_lockfile(path.read_text(encoding="utf-8"), request.python, request.target)
    except (OSError, UnicodeDecodeError, AppError):
        return None
    return tuple(
        PackageSize(
            name=package.file.name,
            sha256=package.file.sha256 or "",
            local=local_path(package.file.url) is not None,
            bytes=package.file.bytes,
            unpacked=None,
        )
        for package in lockfile.packages
    )


def read_size_cache(data: DataDir) -> SizeCache:
    """What is kept; nothing where it cannot be read."""
    try:
        return json.decode((data.size_cache / SIZES_FILE).read_bytes(), SizeCache)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return SizeCache()


def write_size_cache(data: DataDir, cache: SizeCache) -> Path:
    """Write it; raises AppError."""
    path = data.size_cache / SIZES_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise json.storage_error(error, path.parent) from error
    newest = dict(list(cache.packages.items())[-MAX_REQUESTS:])
    json.write_file(path, json.encode_pretty(msgspec.structs.replace(cache, packages=newest)) + "\n")
    return path


def request_for_plan(
    recommendation: Recommendation,
    system: OperatingSystem,
    catalog: Catalog,
    *,
    python: str,
    wheelhouse: str | None,
    simulated: bool,
) -> PackageRequest:
    """The wish of a plan; a simulated machine's is for another computer. Raises CannotSetUp."""
    torch = recommendation.pytorch
    arch = system.arch or "x86_64"
    serves_variant = torch is not None and catalog.default_variant(torch.version, system.system, arch) == torch.variant
    platform = platform_for(system, torch.version if torch is not None else "") if simulated else None
    constraints = catalog.numpy_constraints(torch.version if torch is not None else None, system.system)
    return build_request(
        recommendation,
        python=python,
        wheelhouse_folder=wheelhouse,
        serves_variant=serves_variant,
        constraints=constraints,
        platform=platform,
    )


def _sum_complete(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
