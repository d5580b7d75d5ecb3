"""A server for each test, pauses short enough for tests, and timeouts long enough for a busy computer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.fetch.request import Limits
from tests.fakes.fault_server import FaultServer, fault_server


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@pytest.fixture
def limits() -> Limits:
    return Limits(connect_seconds=20, stall_seconds=20, tries=3, backoff_seconds=0.01, max_backoff_seconds=0.2)


@pytest.fixture
def more_tries(limits: Limits) -> Limits:
    """Tries enough for several connections on a busy computer."""
    return msgspec.structs.replace(limits, tries=6, probe_seconds=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.bin"
