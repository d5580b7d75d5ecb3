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
from .mirrors import with_mirrors
from .place import Host
from .reporter import ProgressReporter

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..fetch.many import Totals
    from .bundle.shelf import BundleSource


class DownloadContext(Host):
    """Where files go and come from: with a `shelf` all of them from there, and none over the network; else from
    their publishers and, as `mirrors` says, from those who mirror them.
    """

    def __init__(
        self,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        reporter: ProgressReporter,
        cancel: threading.Event,
        limits: Limits,
        mirrors: MirrorUse = "when-slow",
        rate_limiter: Pace | None = None,
        bundle: BundleSource | None = None,
    ) -> None:
        super().__init__(system, data, reporter=reporter, cancel=cancel)
        self.catalog = catalog
        self.limits = limits
        self.mirrors: MirrorUse = mirrors
        self.rate_limiter = rate_limiter or Pace()
        self.bundle = bundle


def download_files(context: DownloadContext, requests: Sequence[Wanted]) -> tuple[Path, ...]:
    """The files, in order; one that another install fetches just now is waited for. Raises what `Fetch.run` raises, and
    AppError("bundle-lacks").
    """

    from ..fetch.many import Fetch  # loads the network, which a plan does not need

    def progress(totals: Totals) -> None:
        activity = totals.bottleneck if totals.bottleneck in ("elsewhere", "mending") else "fetching"
        context.reporter.report_progress(
            done=totals.done,
            total=totals.total,
            unit="bytes",
            speed=totals.speed,
            bottleneck=totals.bottleneck,
            code=f"progress.{activity}" if totals.name else None,
            data={"name": totals.name} if totals.name else None,
        )

    bundle, catalog, mirror_use = context.bundle, context.catalog, context.mirrors
    resolved = [bundle.local_request(request) if bundle is not None else with_mirrors(request, catalog, mirror_use) for request in requests]
    resolved = [structs.replace(request, patient=True) for request in resolved]
    return Fetch(resolved, cancel=context.cancel, progress=progress, limits=context.limits, pace=context.rate_limiter).run()
