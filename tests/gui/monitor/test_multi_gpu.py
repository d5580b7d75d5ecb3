"""Several GPUs on the Monitor page: laid over each other, side by side, picked."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.gui.widgets.table import CELL_MARGIN
from tests.fakes.main_window import feed, gpu, sample

gpu_line = pytest.importorskip("gpu_assistant.gui.monitor.plot.cards").gpu_line

pytestmark = pytest.mark.gui


def test_several_gpus_differ_by_colour_and_dash(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1, name="NVIDIA GeForce RTX 3090")))
    lines = page.plot_cards[0].plot.lines.values()
    assert [(line.name, line.colour, line.dash) for line in lines] == [("GPU 0", "s1", 0), ("GPU 1", "s2", 1)]
    assert len(page.gpu_headers) == 2


def test_side_by_side_plots_per_gpu(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    assert page.layout_control.isVisible()
    page.layout_control.buttons[1].click()
    assert [(card.of.key, card.gpus) for card in page.plot_cards[:4]] == [
        ("util", (0,)),
        ("util", (1,)),
        ("mem", (0,)),
        ("mem", (1,)),
    ]


def test_four_of_eight_gpus_drawn_and_selectable(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(8))))
    assert page.plot_cards[0].gpus == (0, 1, 2, 3)
    assert not page.gpu_headers[6].button.isHidden()
    page.gpu_headers[6].button.click()
    assert page.plot_cards[0].gpus == (1, 2, 3, 6)
    page.gpu_headers[1].button.click()
    assert page.plot_cards[0].gpus == (2, 3, 6)
    looks = {(line.colour, line.dash) for line in (gpu_line(place, 0, fill=False) for place in range(8))}
    assert len(looks) == 8


def test_gpus_with_alarms_are_drawn_first(monitor, qtbot):
    window, page = monitor
    hot = {"temp": 90, "temp_max": 83}
    now = time.time()
    for second in range(10):
        feed(window, sample(*(gpu(index, **(hot if index == 6 else {})) for index in range(8)), t=now - 10 + second))
    qtbot.waitUntil(lambda: page.selected_gpus == [0, 1, 2, 6], timeout=30_000)
    page.gpu_headers[7].button.click()
    feed(window, sample(*(gpu(index) for index in range(8))))
    assert page.selected_gpus == [1, 2, 6, 7]


def test_lost_gpus_are_drawn_last(monitor, qtbot):
    window, page = monitor
    feed(window, sample(*(gpu(index, state="lost" if index < 6 else "ready") for index in range(8))))
    qtbot.waitUntil(lambda: page.selected_gpus == [0, 1, 6, 7], timeout=5000)


def test_lost_gpu_is_named(monitor):
    window, page = monitor
    cards = (gpu(index, state="lost" if index == 6 else "ready") for index in range(8))
    feed(window, sample(*cards), state="lost")
    assert page.subtitle.text().startswith("GPU 6: The GPU no longer answers.")


def test_table_headers_whole_with_many_gpus(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(4))))
    page.toolbar.twin.click()
    head = page.table.horizontalHeader()
    assert all(head.sectionSize(i) >= head.sectionSizeHint(i) for i in range(head.count()))


@pytest.mark.parametrize("layout", [0, 1])
def test_table_columns_name_their_gpu(monitor, layout):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    page.layout_control.buttons[layout].click()
    page.toolbar.twin.click()
    heads = [page.table.horizontalHeaderItem(column).text() for column in range(page.table.columnCount())]
    assert heads[1:3] == ["GPU 0 Load (%)", "GPU 1 Load (%)"]
    assert len(set(heads)) == len(heads)
    assert heads[-2:] == ["CPU load (%)", "Main memory (GB)"]


def test_table_headers_are_not_elided(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    page.toolbar.twin.click()
    head = page.table.horizontalHeader()
    for column in range(head.count()):
        words = page.table.horizontalHeaderItem(column).text()
        room = head.sectionSize(column) - 2 * CELL_MARGIN
        assert head.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room) == words


def test_reused_index_draws_own_history(monitor):
    """Of two alike the first is pulled out, and the second is the first now."""
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    both = (gpu(0, uuid="GPU-a", util=10), gpu(1, uuid="GPU-b", util=80))
    feed(window, *(sample(*both, t=now - 20 + second) for second in range(10)))
    moved = (gpu(0, uuid="GPU-b", util=80), gpu(1, uuid="GPU-a", state="gone", util=None))
    feed(window, *(sample(*moved, t=now - 10 + second) for second in range(10)))
    history, metric = window.main_area.sampling.history, page.plot_cards[0].of
    assert {value for _, value in history.last(metric, 0, 60)} == {80}
