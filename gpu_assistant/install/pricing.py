"""Asks the publishers how large everything in a plan is, so that the next plan knows its price."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ..core.jobs import JobContext
from ..core.machine import OperatingSystem
from ..core.paths import DataDir
from ..core.plan import Plan, PlanFile
from ..fetch.extent import Extent
from ..fetch.local import local_path
from ..fetch.measure import extent
from ..fetch.session import Sessions
from . import prices
from .lock import Lock
from .place import Ground
from .prices import PricedFile
from .resolve import Resolver
from .untrusted import check_file
from .uv import Uv

if TYPE_CHECKING:
    from .prices import Prices

AT_ONCE = 6


class PriceJob:
    """`system` is that of the machine that the plan is for. What is found is kept below the data folder; nothing is
    downloaded but lists and tables of contents. It may run beside an install.
    """

    def __init__(self, plan: Plan, system: OperatingSystem, ground: Ground) -> None:
        self._plan = plan
        self._for = system
        self._ground = ground

    def run(self, context: JobContext[Any]) -> Prices:
        """All that is known now. Raises Cancelled, AppError, and NetworkError where no index answers."""
        data, plan = self._ground.data, self._plan
        wanted = prices.wanted_of(
            plan.recommendation,
            self._for,
            self._ground.catalog,
            python=str(plan.recommendation.python),
            folder=plan.wheelhouse,
            simulated=plan.simulated,
        )
        uv = Uv(self._ground.system, data, cancel=context.cancel, log=context.log)
        # Its own folder for locks: an install may be at work in the other one.
        resolver = Resolver(wanted, uv, DataDir(data.prices), Path(sys.executable))
        lock = resolver.earlier() or resolver.resolve()
        known = prices.read(data)
        files = [package.file for package in lock.packages]
        for file in files:
            check_file(file)
        others = [file for step in plan.steps for file in step.files]
        sized = _ask([*files, *others], known, context)
        context.check_cancelled()
        now = structs.replace(
            known,
            packages={**known.packages, wanted.key: _priced(lock, sized)},
            files={**known.files, **{file.url: sized[file.url] for file in others}},
        )
        prices.keep(data, now)
        return now


def _priced(lock: Lock, sized: dict[str, Extent]) -> tuple[PricedFile, ...]:
    return tuple(
        PricedFile(
            name=package.file.name,
            sha256=package.file.sha256 or "",
            local=local_path(package.file.url) is not None,
            bytes=sized[package.file.url].bytes,
            unpacked=sized[package.file.url].unpacked,
        )
        for package in lock.packages
    )


def _ask(files: list[PlanFile], known: Prices, context: JobContext[Any]) -> dict[str, Extent]:
    """The size of every file by its address; what was told before with all its figures is not asked for again."""
    rows = (file for row in known.packages.values() for file in row)
    told = {file.sha256: file for file in rows if file.bytes is not None and file.unpacked is not None}
    sessions = Sessions()

    def one(file: PlanFile) -> Extent:
        before = told.get(file.sha256 or "")
        if before is not None:
            return Extent(bytes=before.bytes, unpacked=before.unpacked)
        context.check_cancelled()
        session = sessions.take()
        found = extent(file.url, file.name, session)
        sessions.give(session)
        return found if found.bytes is not None else structs.replace(found, bytes=file.bytes)

    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip((file.url for file in files), pool.map(one, files), strict=True))
    finally:
        sessions.close()
