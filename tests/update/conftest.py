"""A publisher on a loopback server, and a program that listens to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.fault_server import fault_server
from tests.fakes.updates import Publisher


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with fault_server() as server:
        yield Publisher(server)
