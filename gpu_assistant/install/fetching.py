"""Fetching for a step: the files' places, with progress told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..fetch.wanted import Wanted
from .work import Work

if TYPE_CHECKING:
    from ..fetch.many import Totals


def fetch(work: Work, wanted: Sequence[Wanted]) -> tuple[Path, ...]:
    """The files, in order. Raises what `Fetch.run` raises."""

    from ..fetch.many import Fetch  # loads the network, which a plan does not need

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
