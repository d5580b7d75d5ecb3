"""The publishers on a loopback server, and a refresh that asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from gpu_assistant.catalog.load import Catalog, load
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import resources
from gpu_assistant.refresh.job import Refresh, RefreshJob
from tests.fakes.fault_server import fault_server
from tests.refresh.publishers import Publishers

FLOOR = resources() / "catalog"
TODAY = date(2026, 11, 30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "catalog" / "current"


@pytest.fixture
def publishers() -> Iterator[Publishers]:
    with fault_server() as server:
        yield Publishers(server, load(FLOOR))


@pytest.fixture
def refresh(publishers: Publishers, folder: Path) -> Callable[..., Refresh]:
    def run(today: date = TODAY) -> Refresh:
        return RefreshJob(load(FLOOR, folder), publishers.source, folder, today=today).run(JobContext())

    return run


@pytest.fixture
def refreshed(folder: Path) -> Callable[[], Catalog]:
    return lambda: load(FLOOR, folder)
