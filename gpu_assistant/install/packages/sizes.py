"""The sizes of the files of a plan, cached from an earlier probe, so that a plan is made without network access.

`jobs/size_probe.py` asks the publishers and writes the cache; `steps/plan_builder.py` reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import AppError
from ...core.paths import DataDir
from ...fetch.partial_file import local_path
from ...fetch.request import RemoteSize
from .lockfile import parse_lockfile
from .requirements import PackageRequest, cached_lock_path

if TYPE_CHECKING:
    pass


SIZES_FILE = "sizes.json"
# So many requests are cached; the oldest are dropped.
MAX_REQUESTS = 40


class PackageSize(Struct, frozen=True, kw_only=True):
    """A file of a lock file: bytes to download and bytes once installed, None if unknown. A `local` one, from the
    wheelhouse, is not downloaded.
    """

    name: str
    sha256: str
    local: bool
    bytes: int | None
    unpacked: int | None

    def is_cached(self, data: DataDir) -> bool:
        """Whether it was downloaded before."""
        return (data.files / self.sha256[:16] / self.name).is_file()


class SizeAnswer(Struct, frozen=True, kw_only=True):
    """Bytes to download and to unpack, None if the size of any file is unknown; `least_bytes` is the sum of the known
    downloads.
    """

    bytes: int | None
    unpacked_bytes: int | None
    least_bytes: int


class SizeCache(Struct, frozen=True, kw_only=True):
    """The files of `packages` by the request's cache key, and other `files` by their address."""

    packages: dict[str, tuple[PackageSize, ...]] = {}
    files: dict[str, RemoteSize] = {}

    def environment_sizes(self, request: PackageRequest, data: DataDir) -> SizeAnswer | None:
        """The sizes for a request, from the last probe, else from the cached lock file; None without either."""
        locked_files = self.packages.get(request.cache_key) or _lockfile_files(request, data)
        if locked_files is None:
            return None
        download_sizes = [file.bytes for file in locked_files if not (file.local or file.is_cached(data))]
        unpacked_sizes = [file.unpacked for file in locked_files]
        return SizeAnswer(
            bytes=_sum_complete(download_sizes),
            unpacked_bytes=_sum_complete(unpacked_sizes),
            least_bytes=sum(count or 0 for count in download_sizes),
        )


def _lockfile_files(request: PackageRequest, data: DataDir) -> tuple[PackageSize, ...] | None:
    """The files of the cached lock file, with the sizes that the index gave."""
    path = cached_lock_path(data, request)
    if not path.is_file():
        return None
    try:
        lockfile = parse_lockfile(filesystem.read_text(path), request.python, request.platform, request.sdists)
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
    """An empty cache if it cannot be read."""
    try:
        return json.decode(filesystem.read_bytes(data.size_cache / SIZES_FILE), SizeCache)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return SizeCache()


def write_size_cache(data: DataDir, cache: SizeCache) -> Path:
    """Write the cache and return its path; raises AppError."""
    path = data.claim(data.size_cache) / SIZES_FILE
    newest = dict(list(cache.packages.items())[-MAX_REQUESTS:])
    json.write_file(path, json.encode_pretty(msgspec.structs.replace(cache, packages=newest)) + "\n")
    return path


def _sum_complete(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
