"""The machines of the grid and what each is told, asked once for all tests that a process runs."""

from __future__ import annotations

from functools import cache

import msgspec

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import Choice, Recommendation

from .oracle.grid import Case, grid
from .oracle.published import PublishedFacts

CATALOG = resources_dir() / "catalog"


@cache
def published() -> PublishedFacts:
    return PublishedFacts()


@cache
def cases() -> tuple[Case, ...]:
    return tuple(grid(published()))


def ask(case: Case, catalog: Catalog) -> Recommendation | str:
    """The recommendation, or the code of a refusal; the present driver: `test_driver_update.py`."""
    box = msgspec.convert(case.machine, Machine)
    try:
        return recommend(
            box,
            catalog,
            goal=case.goal,  # type: ignore[arg-type]
            channel=case.channel,  # type: ignore[arg-type]
            choice=Choice(way="newest"),
        )
    except AppError as error:
        return error.code


@cache
def answers() -> tuple[Recommendation | str, ...]:
    """What each machine of the grid is told, with the catalog of today."""
    catalog = load_catalog(CATALOG)
    return tuple(ask(case, catalog) for case in cases())
