"""Asks the publishers how large everything in a plan is, so that the next plan knows its price."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ...core.jobs import JobContext
from ...core.machine import OperatingSystem
from ...core.paths import DataDir
from ...core.plan import Plan, PlanFile
from ...fetch.http import SessionPool
from ...fetch.partial_file import local_path
from ...fetch.remote_size import probe
from ...fetch.request import RemoteSize
from ..host import ValidationContext
from ..packages import sizes as packages_sizes
from ..packages.lockfile import Lockfile
from ..packages.resolver import Resolver
from ..packages.sizes import PackageSize
from ..packages.uv import Uv
from ..steps.base import check_file

if TYPE_CHECKING:
    from ..packages.sizes import SizeCache


MAX_WORKERS = 6


class SizeProbeJob:
    """`system` is that of the machine that the plan is for. What is found is kept below the data folder; nothing is
    downloaded but lists and tables of contents. It may run beside an install.
    """

    def __init__(self, plan: Plan, target_system: OperatingSystem, context: ValidationContext) -> None:
        self._plan = plan
        self._target_system = target_system
        self._context = context

    def run(self, context: JobContext[Any]) -> SizeCache:
        """All that is known now. Raises Cancelled, AppError, and NetworkError where no index answers."""
        data, plan = self._context.data, self._plan
        request = packages_sizes.request_for_plan(
            plan.recommendation,
            self._target_system,
            self._context.catalog,
            python=str(plan.recommendation.python),
            wheelhouse=plan.wheelhouse,
            simulated=plan.simulated,
        )
        uv = Uv(self._context.system, data, cancel=context.cancel, log=context.log)
        # Its own folder for locks: an install may be at work in the other one.
        resolver = Resolver(request, uv, DataDir(data.size_cache), Path(sys.executable))
        lockfile = resolver.read_cached_lockfile() or resolver.resolve()
        cache = packages_sizes.read_size_cache(data)
        files = [package.file for package in lockfile.packages]
        for file in files:
            check_file(file)
        other_files = [file for step in plan.steps for file in step.files]
        sizes = _probe_sizes([*files, *other_files], cache, context)
        context.check_cancelled()
        updated = structs.replace(
            cache,
            packages={**cache.packages, request.cache_key: _remote_files(lockfile, sizes)},
            files={**cache.files, **{file.url: sizes[file.url] for file in other_files}},
        )
        packages_sizes.write_size_cache(data, updated)
        return updated


def _remote_files(lockfile: Lockfile, sizes: dict[str, RemoteSize]) -> tuple[PackageSize, ...]:
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
    """The size of every file by its address; what was told before with all its figures is not asked for again."""
    rows = (file for remote_files in cache.packages.values() for file in remote_files)
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
