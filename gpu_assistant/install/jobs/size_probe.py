"""Asks the publishers for the sizes of all files of a plan, so that the next plan shows what it downloads.

`Resolver` makes the lock file, `fetch.remote_size.probe` asks for each file's size and for the table of contents of a
wheel, and `packages/sizes.py` caches the answers for `steps/plan_builder.py`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import structs

from ...core.jobs import JobContext
from ...core.machine import OperatingSystem
from ...core.paths import DataDir
from ...core.plan import Plan, PlanFile
from ...fetch.http import SessionPool
from ...fetch.partial_file import local_path
from ...fetch.remote_size import probe
from ...fetch.request import RemoteSize
from ..host import PreviewContext
from ..packages.lockfile import Lockfile
from ..packages.requirements import build_request, platform_for, release_label
from ..packages.resolver import Resolver
from ..packages.sizes import PackageSize, SizeCache, read_size_cache, write_size_cache
from ..packages.uv import Uv, own_interpreter
from ..steps.base import check_file

MAX_WORKERS = 6


class SizeProbeJob:
    """`target_system` is that of the computer that the plan is for. Downloads nothing but index pages and tables of
    contents. It may run while an install runs.
    """

    def __init__(self, plan: Plan, target_system: OperatingSystem, context: PreviewContext) -> None:
        self._plan = plan
        self._target_system = target_system
        self._context = context

    def run(self, context: JobContext[Any]) -> SizeCache:
        """The updated cache. Raises Cancelled, AppError, and NetworkError if no index answers."""
        data, plan = self._context.data, self._plan
        advice, system = plan.recommendation, self._target_system
        target = platform_for(system, release_label(advice)) if plan.simulated else system
        request = build_request(advice, self._context.catalog, target, wheelhouse=plan.wheelhouse)
        uv = Uv(self._context.system, data, cancel=context.cancel, log=context.log)
        # Not the data folder's own lock files, which a running install may be writing.
        resolver = Resolver(request, uv, DataDir(data.size_cache), own_interpreter())
        lockfile = resolver.read_cached_lockfile() or resolver.resolve()
        cache = read_size_cache(data)
        files = [package.file for package in lockfile.packages]
        for file in files:
            check_file(file)
        other_files = [file for step in plan.steps for file in step.files]
        sizes = _probe_sizes([*files, *other_files], cache, context)
        context.check_cancelled()
        updated = structs.replace(
            cache,
            packages={**cache.packages, request.cache_key: _locked_files(lockfile, sizes)},
            files={**cache.files, **{file.url: sizes[file.url] for file in other_files}},
        )
        write_size_cache(data, updated)
        return updated


def _locked_files(lockfile: Lockfile, sizes: dict[str, RemoteSize]) -> tuple[PackageSize, ...]:
    return tuple(
        PackageSize(
            name=package.file.name,
            sha256=package.file.sha256 or "",
            local=local_path(package.file.url) is not None,
            bytes=sizes[package.file.url].bytes,
            unpacked=sizes[package.file.url].unpacked,
        )
        for package in lockfile.packages
    )


def _probe_sizes(files: list[PlanFile], cache: SizeCache, context: JobContext[Any]) -> dict[str, RemoteSize]:
    """The size of every file by its address; files whose sizes are cached completely are not asked for again."""
    rows = (file for locked_files in cache.packages.values() for file in locked_files)
    known_files = {file.sha256: file for file in rows if file.bytes is not None and file.unpacked is not None}
    sessions = SessionPool()

    def probe_file(file: PlanFile) -> RemoteSize:
        cached = known_files.get(file.sha256 or "")
        if cached is not None:
            return RemoteSize(bytes=cached.bytes, unpacked=cached.unpacked)
        context.check_cancelled()
        session = sessions.take()
        size = probe(file.url, file.name, session)
        sessions.give_back(session)
        return size if size.bytes is not None else structs.replace(size, bytes=file.bytes)

    try:
        with ThreadPoolExecutor(MAX_WORKERS) as pool:
            return dict(zip((file.url for file in files), pool.map(probe_file, files), strict=True))
    finally:
        sessions.close()
