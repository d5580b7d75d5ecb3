"""Fetching for a step: the files' places, with progress told."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.paths import DataDir
from ..fetch.limits import Limits
from ..fetch.wanted import Wanted
from ..system.base import System
from .place import Place
from .reporter import Reporter

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..fetch.many import Totals
    from .bundle.shelf import Shelf


class Getting(Place):
    """Where files go and come from: with a `shelf` all of them from there, and none over the network."""

    def __init__(
        self,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        reporter: Reporter,
        cancel: threading.Event,
        limits: Limits,
        shelf: Shelf | None = None,
    ) -> None:
        super().__init__(system, data, reporter=reporter, cancel=cancel)
        self.catalog = catalog
        self.limits = limits
        self.shelf = shelf


def fetch(getting: Getting, wanted: Sequence[Wanted]) -> tuple[Path, ...]:
    """The files, in order. Raises what `Fetch.run` raises, and AppError("bundle-lacks")."""

    from ..fetch.many import Fetch  # loads the network, which a plan does not need

    def progress(totals: Totals) -> None:
        getting.reporter.progress(
            done=totals.done,
            total=totals.total,
            unit="bytes",
            speed=totals.speed,
            bottleneck=totals.bottleneck,
            code="progress.fetching" if totals.name else None,
            data={"name": totals.name} if totals.name else None,
        )

    shelf = getting.shelf
    todo = [shelf.wanted(each) for each in wanted] if shelf is not None else wanted
    return Fetch(todo, cancel=getting.cancel, progress=progress, limits=getting.limits).run()
