"""The publishers on a loopback server, and a refresh that asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.refresh.job import RefreshJob, RefreshResult
from tests.fakes.fault_server import fault_server
from tests.refresh.publisher_pages import Publishers

FLOOR = resources_dir() / "catalog"
TODAY = date(2026, 11, 30)
LAST_DAY = date(2026, 12, 31)  # of all that the tests refresh


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "catalog" / "current"


@pytest.fixture
def publishers() -> Iterator[Publishers]:
    with fault_server() as server:
        yield Publishers(server, load_catalog(FLOOR))


@pytest.fixture
def refresh(publishers: Publishers, folder: Path) -> Callable[..., RefreshResult]:
    def run(today: date = TODAY) -> RefreshResult:
        return RefreshJob(load_catalog(FLOOR, folder, today=LAST_DAY), publishers.source, folder, today=today).run(
            JobContext()
        )

    return run


@pytest.fixture
def refreshed(folder: Path) -> Callable[[], Catalog]:
    return lambda: load_catalog(FLOOR, folder, today=LAST_DAY)
