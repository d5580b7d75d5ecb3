"""What the tests of the packages share."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True, scope="module")
def frozen() -> None:
    """pefile collects all garbage whenever it closes a file: what the tests before these made is not looked at each
    time, which took half a second of CPU for each of fifty files.
    """
    gc.freeze()
