"""Fetching for a step: the files' places, with progress told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..fetch.download import Wanted
from ..fetch.many import Fetch, Totals
from .work import Work


def fetch(work: Work, wanted: Sequence[Wanted]) -> tuple[Path, ...]:
    """The files, in order. Raises what `Fetch.run` raises."""

    def progress(totals: Totals) -> None:
        work.reporter.progress(
            done=totals.done,
            total=totals.total,
            unit="bytes",
            speed=totals.speed,
            bottleneck=totals.bottleneck,
            code="progress.fetching" if totals.name else None,
            data={"name": totals.name} if totals.name else None,
        )

    return Fetch(wanted, cancel=work.cancel, progress=progress, limits=work.limits).run()
