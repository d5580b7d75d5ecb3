"""The Monitor page, opened on fake services."""

from __future__ import annotations

import time

import pytest

from gpu_assistant.gui.main.main_area import MONITOR
from tests.fakes.main_window import feed, gpu, sample


@pytest.fixture
def monitor(home, app, qtbot):
    window, _ = home(app)
    window.main_area.open_page(MONITOR)
    qtbot.waitUntil(lambda: window.main_area.current_page == MONITOR, timeout=20_000)
    return window, window.main_area.pages[MONITOR]


@pytest.fixture
def worked(monitor, qtbot):
    """A page whose card has worked for two minutes, hot and held by its power limit for the last half."""
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    calm = [sample(gpu(temp=60, temp_max=88), t=now - 120 + i) for i in range(60)]
    hot = {"temp": 90, "temp_max": 88, "throttle": ("thermal", "power-cap")}
    feed(window, *calm, *(sample(gpu(**hot), t=now - 60 + i) for i in range(60)))
    page.annotations.invalidate()
    page.draw()
    return window, page
