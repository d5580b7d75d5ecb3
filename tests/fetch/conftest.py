"""A server for each test, and timeouts short enough for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.fetch.request import Limits
from tests.fakes.fault_server import FaultServer, fault_server

QUICK = Limits(connect_seconds=2, stall_seconds=0.5, tries=3, backoff_seconds=0.01, max_backoff_seconds=0.2)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@pytest.fixture
def limits() -> Limits:
    return QUICK


@pytest.fixture
def long_timeouts(limits: Limits) -> Limits:
    """Timeouts long enough for several connections on a busy computer."""
    return msgspec.structs.replace(limits, stall_seconds=5, tries=6, probe_seconds=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.bin"
