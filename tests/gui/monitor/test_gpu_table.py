"""The table of more than four GPUs: what it shows, how it gives way, and what a sample costs."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.gpu_table import CELL_ROLE
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui

GPU, LOAD, MEMORY, TEMPERATURE, POWER, STATE = range(6)


def eight(**changes):
    """Eight cards, GPU 6 hot and GPU 7 slowed by heat."""
    cards = [gpu(index, temp=60 + index, temp_max=87, **changes) for index in range(6)]
    return (*cards, gpu(6, temp=86, temp_max=87), gpu(7, temp=90, temp_max=87, throttle=("thermal",)))


@pytest.fixture
def hot(monitor, qtbot):
    """A page whose hottest cards have their alarms."""
    window, page = monitor
    now = time.time()
    feed(window, *(sample(*eight(), t=now - 20 + second) for second in range(20)))
    qtbot.waitUntil(lambda: page.selected_gpus == [0, 1, 6, 7], timeout=30_000)
    return window, page


def column(page, number):
    return [page.gpu_table.item(row, number).text() for row in range(8)]


def test_row_has_values_and_state_of_its_gpu(hot):
    _, page = hot
    assert column(page, GPU) == [f"GPU {index}" for index in range(8)]
    assert column(page, TEMPERATURE) == ["60 °C", "61 °C", "62 °C", "63 °C", "64 °C", "65 °C", "86 °C", "90 °C"]
    assert column(page, STATE) == ["Normal"] * 6 + ["Hot", "Slowed by heat"]
    assert [page.gpu_table.item(row, GPU).data(CELL_ROLE).row_kind for row in (0, 6, 7)] == [None, "warn", "warn"]
    page.advice_panel.toggle_button.click()  # what it says is not said twice
    assert page.subtitle_label.text() == "8 × RTX 4060 · GPU 7: slowed by heat · GPU 6: hot"
    assert page.status_pill.text == "2 alarms"


def shown_rows(page):
    header = page.gpu_table.verticalHeader()
    rows = [header.logicalIndex(place) for place in range(8)]
    return [row for row in rows if not page.gpu_table.isRowHidden(row)]


def test_cards_that_need_attention_come_first_and_the_others_fold_into_a_line(hot, qtbot):
    window, page = hot
    page.advice_panel.toggle_button.click()
    window.resize(1180, 760)
    qtbot.waitUntil(lambda: shown_rows(page) == [6, 7, 0, 1, 2, 3, 4, 5], timeout=5000)
    window.resize(880, 520)
    qtbot.waitUntil(lambda: shown_rows(page) == [6, 7], timeout=5000)
    others = page.summary_tiles.others_row
    assert (others.isVisible(), others.text_label.text()) == (True, "6 others: normal")
    others.button.click()
    assert shown_rows(page) == [6, 7, 0, 1, 2, 3, 4, 5]
    others.button.click()
    assert shown_rows(page) == [6, 7]


def test_a_short_window_with_many_cards_shows_a_whole_plot(hot, qtbot, language):
    window, page = hot
    temperature = next(card for card in page.plot_cards if card.plotted_metric.key == "temp")
    for code in ("en", "zh_CN"):
        language.set(code)
        window.resize(880, 520)
        qtbot.waitUntil(lambda: temperature.visibleRegion().boundingRect().size() == temperature.size(), timeout=5000)


def test_healthy_cards_of_a_short_window_are_one_line(monitor, qtbot):
    window, page = monitor
    window.resize(880, 520)
    feed(window, *(sample(*(gpu(index, temp=60, temp_max=87) for index in range(8))) for _ in range(3)))
    others = page.summary_tiles.others_row
    qtbot.waitUntil(lambda: others.text_label.text() == "All 8: normal", timeout=5000)
    assert not page.gpu_table.isVisible()


def test_names_are_shown_where_the_gpus_differ(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index, name=f"NVIDIA GeForce RTX {3 + index % 2}090") for index in range(8))))
    assert column(page, GPU)[:2] == ["GPU 0 · RTX 3090", "GPU 1 · RTX 4090"]


def test_temperature_comes_first_where_heat_is_the_alarm(hot, qtbot):
    """Also without scrolling: the table has all temperatures, and the plot follows it."""
    window, page = hot
    window.resize(1180, 760)
    temperature = next(card for card in page.plot_cards if card.plotted_metric.key == "temp")
    parts = temperature, page.gpu_table.viewport()
    qtbot.waitUntil(
        lambda: all(part.visibleRegion().boundingRect().size() == part.size() for part in parts), timeout=5000
    )
    others = [card for card in page.plot_cards if card is not temperature]
    assert all((card.y(), card.x()) > (temperature.y(), temperature.x()) for card in others)


def test_only_changed_cells_are_written(hot):
    window, page = hot
    changed = set()
    page.gpu_table.itemChanged.connect(lambda item: changed.add((item.row(), item.column())))
    feed(window, sample(*eight()))
    assert changed == set()
    feed(window, sample(*eight(util=12)[:1], *eight()[1:]))
    assert changed == {(0, LOAD)}


def test_click_and_space_toggle_lines(hot, qtbot):
    _, page = hot
    page.advice_panel.toggle_button.click()
    table = page.gpu_table
    qtbot.waitUntil(lambda: len(shown_rows(page)) == 8, timeout=5000)

    def ticked():
        return [row for row in range(8) if table.item(row, GPU).checkState() == Qt.CheckState.Checked]

    assert ticked() == [0, 1, 6, 7]
    place = table.visualItemRect(table.item(3, TEMPERATURE)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert ticked() == sorted(page.selected_gpus) == [1, 3, 6, 7]
    table.setCurrentCell(3, GPU)
    qtbot.keyClick(table, Qt.Key.Key_Space)
    assert ticked() == [1, 6, 7]


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_columns_give_way_in_a_narrow_window_and_with_large_text(hot, language, qtbot, code):
    window, page = hot
    table = page.gpu_table
    language.set(code)
    window.resize(1180, 760)
    qtbot.waitUntil(lambda: table.shows_long_texts, timeout=5000)
    assert not any(table.isColumnHidden(number) for number in range(6))
    theme.set_text_scale(QApplication.instance(), 2.0)
    window.resize(880, 520)
    qtbot.waitUntil(lambda: not table.shows_long_texts and table.isColumnHidden(POWER), timeout=5000)
    assert not any(table.isColumnHidden(number) for number in (GPU, TEMPERATURE, STATE))
    width = sum(table.columnWidth(number) for number in range(6) if not table.isColumnHidden(number))
    assert width <= table.viewport().width()
    assert page.horizontalScrollBar().maximum() == 0
