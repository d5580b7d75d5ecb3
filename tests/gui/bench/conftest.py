"""The benchmark page, opened on fake services."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import Benchmark
from gpu_assistant.gui.bench.page import BenchmarkPage
from gpu_assistant.gui.main.main_area import BENCHMARK
from tests.fakes.main_window import ENVIRONMENT


@pytest.fixture
def open_page(home, app, qtbot) -> Callable[..., BenchmarkPage]:
    """Opens the page with these stored benchmarks, one a day up to yesterday."""

    def opened(*stored: Benchmark, variant: str = "cpu") -> BenchmarkPage:
        now = time.time()
        app.known = (replace(ENVIRONMENT, variant=variant),)
        app.stored = [replace(each, started=now - 86_400 * (len(stored) - at)) for at, each in enumerate(stored)]
        window, _ = home(app)
        window.main_area.open_page(BENCHMARK)
        page = window.main_area.pages[BENCHMARK]
        qtbot.waitUntil(lambda: page.is_loaded, timeout=10_000)
        return page

    return opened


@pytest.fixture
def open_result(open_page) -> Callable[..., BenchmarkPage]:
    """Opens the page of a computer with a GPU."""
    return lambda *stored: open_page(*stored, variant="cu130")
