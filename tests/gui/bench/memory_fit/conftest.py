"""The memory estimate on the benchmark page of a computer with a GPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpu_assistant.gui.bench.memory_fit.view import MemoryFitView
from gpu_assistant.gui.bench.page import MEMORY_TAB, MEMORY_VIEW


@pytest.fixture
def page(open_result):
    page = open_result()
    page.tabs.buttons[MEMORY_TAB].click()
    assert page.current_view == MEMORY_VIEW
    return page


@pytest.fixture
def memory(page) -> MemoryFitView:
    return page.memory_view


@pytest.fixture
def wait_for_end(memory, qtbot) -> Callable[[], None]:
    return lambda: qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)


@pytest.fixture
def measure(memory, wait_for_end) -> Callable[[], None]:
    """Runs the estimate to its end."""

    def run() -> None:
        memory.measure_button.click()
        wait_for_end()

    return run
