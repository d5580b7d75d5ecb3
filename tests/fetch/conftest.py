"""A server for each test, and patience short enough for tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_assistant.fetch.limits import Limits
from tests.fakes.fault_server import FaultServer, fault_server

QUICK = Limits(connect_seconds=2, stall_seconds=0.5, tries=3, pause_seconds=0.01, longest_pause_seconds=0.2)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@pytest.fixture
def limits() -> Limits:
    return QUICK
