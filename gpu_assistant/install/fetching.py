"""Fetching for a step: the files' places, with progress told."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from ..core.names import MirrorUse
from ..core.paths import DataDir
from ..fetch.limits import Limits
from ..fetch.pace import Pace
from ..fetch.wanted import Wanted
from ..system.base import System
from .mirrors import sourced
from .place import Place
from .reporter import Reporter

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..fetch.many import Totals
    from .bundle.shelf import Shelf


class Getting(Place):
    """Where files go and come from: with a `shelf` all of them from there, and none over the network; else from
    their publishers and, as `mirrors` says, from those who mirror them.
    """

    def __init__(
        self,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        reporter: Reporter,
        cancel: threading.Event,
        limits: Limits,
        mirrors: MirrorUse = "when-slow",
        pace: Pace | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        super().__init__(system, data, reporter=reporter, cancel=cancel)
        self.catalog = catalog
        self.limits = limits
        self.mirrors: MirrorUse = mirrors
        self.pace = pace or Pace()
        self.shelf = shelf


def fetch(getting: Getting, wanted: Sequence[Wanted]) -> tuple[Path, ...]:
    """The files, in order; one that another install fetches just now is waited for. Raises what `Fetch.run` raises, and
    AppError("bundle-lacks").
    """

    from ..fetch.many import Fetch  # loads the network, which a plan does not need

    def progress(totals: Totals) -> None:
        doing = totals.bottleneck if totals.bottleneck in ("elsewhere", "mending") else "fetching"
        getting.reporter.progress(
            done=totals.done,
            total=totals.total,
            unit="bytes",
            speed=totals.speed,
            bottleneck=totals.bottleneck,
            code=f"progress.{doing}" if totals.name else None,
            data={"name": totals.name} if totals.name else None,
        )

    shelf, catalog, use = getting.shelf, getting.catalog, getting.mirrors
    todo = [shelf.wanted(each) if shelf is not None else sourced(each, catalog, use) for each in wanted]
    todo = [structs.replace(each, patient=True) for each in todo]
    return Fetch(todo, cancel=getting.cancel, progress=progress, limits=getting.limits, pace=getting.pace).run()
