"""The table of more than four GPUs: what it shows, how it gives way, and what a sample costs."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.results import GpuProcess
from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.gpu_table import CELL_ROLE
from gpu_assistant.gui.monitor.plot.curves import LINE_WIDTH, STRONG_WIDTH, THIN_WIDTH
from tests.fakes.examples import GIB
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
    qtbot.waitUntil(lambda: page.selected_gpus == [4, 5, 6, 7], timeout=30_000)
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
    assert page.subtitle_label.text() == "8 RTX 4060 GPUs · GPU 7: slowed by heat · GPU 6: hot"
    assert page.status_pill.text == "2 alarms"


def shown_rows(page):
    header = page.gpu_table.verticalHeader()
    rows = [header.logicalIndex(place) for place in range(8)]
    return [row for row in rows if not page.gpu_table.isRowHidden(row)]


def test_cards_that_need_attention_come_first_and_the_others_fold_into_a_line(hot, qtbot):
    window, page = hot
    page.advice_panel.toggle_button.click()
    window.resize(1180, 760)
    qtbot.waitUntil(lambda: shown_rows(page) == [7, 6, 0, 1, 2, 3, 4, 5], timeout=5000)
    window.resize(880, 520)
    qtbot.waitUntil(lambda: shown_rows(page) == [7, 6], timeout=5000)
    others = page.summary_tiles.others_row
    assert (others.isVisible(), others.text_label.text()) == (True, "6 others: normal")
    others.button.click()
    assert shown_rows(page) == [7, 6, 0, 1, 2, 3, 4, 5]
    others.button.click()
    assert shown_rows(page) == [7, 6]


def test_alarms_are_in_one_order_everywhere_the_worst_first(hot, qtbot):
    window, page = hot
    panel = page.advice_panel
    qtbot.waitUntil(lambda: len(panel.alarms_card.rows) == 2, timeout=5000)
    assert [key[1] for key in panel.alarms_card.rows] == [7, 6]
    assert panel.alarms_card.others_label.text() == "Also GPU 6: hot"
    panel.toggle_button.click()
    assert page.subtitle_label.text() == "8 RTX 4060 GPUs · GPU 7: slowed by heat · GPU 6: hot"
    assert shown_rows(page)[:2] == [7, 6]
    drawn = [7, 6, 4, 5]
    assert all(list(card.gpus) == drawn for card in page.plot_cards if card.gpus != (-1,))
    page.layout_control.buttons[1].click()
    assert [card.gpus for card in page.plot_cards[:4]] == [(gpu,) for gpu in drawn]
    # GPU 6 is the worse one now: everything follows, and each keeps its colour.
    slots = dict(page.gpu_table.slots)
    now = time.time()
    cards = [*eight()[:6], gpu(6, temp=95, temp_max=87, temp_slow=90), eight()[7]]
    feed(window, *(sample(*cards, t=now + second) for second in range(20)))
    qtbot.waitUntil(lambda: shown_rows(page)[:2] == [6, 7], timeout=5000)
    qtbot.waitUntil(lambda: [card.gpus for card in page.plot_cards[:4]] == [(6,), (7,), (4,), (5,)], timeout=5000)
    assert page.gpu_table.slots == slots
    page.layout_control.buttons[0].click()
    assert page.plot_cards[0].gpus == (6, 7, 4, 5)


def test_an_overlaid_legend_follows_the_order_of_alarms(hot, qtbot):
    window, page = hot
    card = next(card for card in page.plot_cards if card.plotted_metric.key == "temp")

    def legend():
        rows = sorted(card.legend_rows.items(), key=lambda each: (each[1].y(), each[1].x()))
        return [gpu for gpu, _ in rows]

    qtbot.waitUntil(lambda: legend() == [7, 6, 4, 5], timeout=5000)
    now = time.time()
    cards = [*eight()[:6], gpu(6, temp=95, temp_max=87, temp_slow=90), eight()[7]]
    feed(window, *(sample(*cards, t=now + second) for second in range(20)))
    qtbot.waitUntil(lambda: legend() == [6, 7, 4, 5], timeout=5000)
    assert card in page.plot_cards  # nothing was built anew for it


def test_the_lines_of_cards_with_an_alarm_are_strong_and_the_others_thin(hot):
    _, page = hot

    def widths():
        card = page.plot_cards[0]
        assert {gpu: row.line for gpu, row in card.legend_rows.items()} == {
            int(key): line for key, line in card.plot.lines.items()
        }
        return {gpu: row.line.width for gpu, row in card.legend_rows.items()}

    assert widths() == {7: STRONG_WIDTH, 6: STRONG_WIDTH, 4: THIN_WIDTH, 5: THIN_WIDTH}
    # Where all lines are those of cards with an alarm, none of them stands out.
    page.toggle_gpu(4)
    page.toggle_gpu(5)
    assert widths() == {7: LINE_WIDTH, 6: LINE_WIDTH}


def test_the_bands_of_events_follow_the_order_of_alarms(hot, qtbot):
    _, page = hot
    plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "temp")
    qtbot.waitUntil(lambda: [band.gpu for band in plot.event_labels.bands] == [7, 6], timeout=5000)


def test_notes_are_counted_apart_from_alarms(monitor, qtbot):
    """What several GPUs only note is one note, and no alarm."""
    window, page = monitor
    limited = {"util": 97, "power_w": 113.0, "throttle": ("power-cap",), "clock_sm": 2700, "clock_sm_max": 3105}
    cards = [gpu(index, temp=60, temp_max=87, **(limited if index < 5 else {})) for index in range(6)]
    cards += [gpu(6, temp=86, temp_max=87), gpu(7, temp=90, temp_max=87, throttle=("thermal",))]
    now = time.time()
    feed(window, *(sample(*cards, t=now - 40 + second) for second in range(40)))
    card = page.advice_panel.alarms_card
    qtbot.waitUntil(lambda: card.others_label.text() == "Also GPU 6: hot · 1 note", timeout=30_000)
    assert page.status_pill.text == "2 alarms"
    assert card.expand_button.text() == "Show all"
    card.expand_button.click()
    assert [row.title_label.text() for row in card.rows.values()] == [
        "GPU 7: slowed by heat",
        "GPU 6: hot",
        "GPU 0–4: at the power limit",
    ]
    assert card.others_label.text() == ""


def test_advice_above_the_table_is_short_until_all_alarms_are_shown(hot, qtbot):
    window, page = hot
    window.resize(1180, 760)
    card = page.advice_panel.alarms_card
    qtbot.waitUntil(lambda: len(card.rows) == 2 and card.isVisible(), timeout=5000)
    first, second = card.rows.values()
    qtbot.waitUntil(lambda: first.title_label.text() == "GPU 7: slowed by heat · 90 °C · 2,730 MHz", timeout=5000)
    assert (first.fix_label.isVisible(), first.evidence_label.isVisible(), second.isVisible()) == (True, False, False)
    card.expand_button.click()
    assert first.title_label.text() == "GPU 7: slowed by heat"
    assert all(row.evidence_label.isVisible() and row.mute_button.isVisible() for row in (first, second))


def test_the_short_advice_leads_to_the_programs_of_the_worst_card_first(hot, qtbot):
    window, page = hot
    window.resize(1180, 760)
    card = page.advice_panel.alarms_card
    qtbot.waitUntil(lambda: bool(card.rows), timeout=5000)
    first = next(iter(card.rows.values()))
    qtbot.waitUntil(first.programs_button.isVisible, timeout=5000)
    first.programs_button.click()
    program = GpuProcess(pid=4711, name="python3", mem_used=5 * GIB, kind="compute")
    feed(window, *(sample(*(replace(each, processes=(program,)) for each in eight())) for _ in range(2)))
    table = page.gpu_details.processes_card.table
    qtbot.waitUntil(lambda: table.rowCount() == 8 and table.isVisible(), timeout=5000)
    assert [table.item(row, 0).text() for row in range(3)] == ["GPU 7", "GPU 6", "GPU 0"]
    card.expand_button.click()
    assert all(row.programs_button.isVisible() for row in card.rows.values())


def test_the_folded_line_unfolds_at_its_place(hot, qtbot):
    window, page = hot
    window.resize(880, 520)
    others = page.summary_tiles.others_row
    qtbot.waitUntil(others.text_label.isVisible, timeout=5000)
    right = others.button.geometry().right()
    others.button.click()
    qtbot.waitUntil(lambda: not others.text_label.isVisible(), timeout=5000)
    qtbot.waitUntil(lambda: others.button.geometry().right() == right, timeout=5000)  # below the pointer


def test_the_status_line_gives_its_row_to_the_graphs_where_it_has_room_behind_the_title(hot, qtbot):
    window, page = hot
    title, status = page.title_label, page.subtitle_label
    for height, is_behind in ((760, True), (1000, False), (760, True)):
        window.resize(1400, height)
        qtbot.waitUntil(lambda known=is_behind: (status.x() > title.geometry().right()) is known, timeout=5000)
        assert status.width() >= status.sizeHint().width()
    theme.set_text_scale(QApplication.instance(), 2.0)
    window.resize(880, 760)
    qtbot.waitUntil(lambda: status.y() > title.geometry().bottom(), timeout=5000)


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


def test_rows_that_were_hidden_are_whole_when_they_are_shown(monitor, qtbot):
    """Also where the rows got lower in the meantime."""
    window, page = monitor
    window.resize(1180, 1000)
    now = time.time()
    feed(window, *(sample(*(gpu(index, temp=60, temp_max=87) for index in range(8)), t=now - 30 + k) for k in range(3)))
    table = page.gpu_table
    qtbot.waitUntil(lambda: len(shown_rows(page)) == 8, timeout=5000)
    window.resize(880, 520)
    qtbot.waitUntil(lambda: not shown_rows(page), timeout=5000)
    feed(window, *(sample(*eight(), t=now - 20 + second) for second in range(20)))
    qtbot.waitUntil(lambda: shown_rows(page) == [7, 6], timeout=30_000)

    def are_whole() -> bool:
        rows = sum(table.rowHeight(row) for row in shown_rows(page))
        return table.height() == table.horizontalHeader().height() + rows

    qtbot.waitUntil(are_whole, timeout=5000)
    window.resize(1180, 1000)
    qtbot.waitUntil(lambda: len(shown_rows(page)) == 8 and are_whole(), timeout=5000)


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

    assert ticked() == [4, 5, 6, 7]
    place = table.visualItemRect(table.item(3, TEMPERATURE)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert ticked() == sorted(page.selected_gpus) == [3, 5, 6, 7]
    table.setCurrentCell(3, GPU)
    qtbot.keyClick(table, Qt.Key.Key_Space)
    assert ticked() == [5, 6, 7]


def test_the_boxes_tell_which_gpu_gives_way_to_a_fifth(hot):
    _, page = hot

    def hints():
        texts = [page.gpu_table.item(row, GPU).data(Qt.ItemDataRole.AccessibleDescriptionRole) for row in range(8)]
        assert all(text in page.gpu_table.item(row, GPU).toolTip() for row, text in enumerate(texts))
        return texts

    full = "4 GPUs are already shown. Selecting this one hides GPU 4."
    assert hints() == [full] * 4 + [""] * 4
    page.toggle_gpu(2)
    assert sorted(page.selected_gpus) == [2, 5, 6, 7]
    assert hints()[3:5] == ["4 GPUs are already shown. Selecting this one hides GPU 5."] * 2
    page.toggle_gpu(6)
    assert hints() == [""] * 8


@pytest.mark.parametrize("size", [(880, 520), (1180, 760), (1180, 1000)])
def test_rows_are_high_enough_for_a_pointer(hot, qtbot, size):
    window, page = hot
    window.resize(*size)
    qtbot.waitUntil(lambda: bool(shown_rows(page)), timeout=5000)
    assert all(page.gpu_table.rowHeight(row) >= 32 for row in shown_rows(page))


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
