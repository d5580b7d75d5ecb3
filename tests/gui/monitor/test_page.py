"""The monitor page on fake services: values, time range, selection of GPUs, what is drawn when."""

from __future__ import annotations

import itertools
import time

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.core.results import GpuSample
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.main_area import HOME, MONITOR, SETTINGS
from gpu_assistant.gui.monitor.plot.cards import gpu_line
from gpu_assistant.gui.monitor.plot.time_axis import SPANS, format_since
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


def test_monitor_without_nvidia_is_no_error(monitor):
    window, page = monitor
    feed(window, sample())
    assert page.subtitle_label.text() == "No NVIDIA GPU. CPU and memory are shown."
    assert [card.plotted_metric.key for card in page.plot_cards] == ["cpu", "ram"]
    assert [tile.value_widget.figure for _, _, tile in page.tiles] == ["37", "6.0"]


def test_gpu_plots_follow_detected_gpus(monitor):
    window, page = monitor
    feed(window, sample())
    feed(window, sample(gpu()))
    assert [card.plotted_metric.key for card in page.plot_cards] == ["util", "mem", "temp", "power", "cpu", "ram"]
    assert [tile.value_widget.figure for _, _, tile in page.tiles] == ["97", "5.6", "66", "112", "2,730", "41"]
    feed(window, sample())
    assert [card.plotted_metric.key for card in page.plot_cards] == ["cpu", "ram"]


def test_unreported_value_is_a_dash(monitor):
    window, page = monitor
    feed(window, sample(gpu(power_w=None, fan=None)))
    figures = {metric.key: tile.value_widget.figure for metric, _, tile in page.tiles}
    assert figures["power"] == figures["fan"] == "—"


def test_driver_state_is_shown(monitor):
    window, page = monitor
    feed(window, sample(), state="version-mismatch")
    assert "Restart" in page.subtitle_label.text()


def test_pause_is_shown_above_the_plots_and_leaves_the_status_whole(monitor, language):
    window, page = monitor
    feed(window, sample(gpu()))
    running, readout = page.subtitle_label.text(), page.plots.readout
    assert readout.time_label.text() == "Live"
    assert readout.pause_pill.isHidden()
    page.toolbar.pause_button.click()
    at = time.strftime("%H:%M:%S", time.localtime(page.time_axis.view()[1]))
    assert page.subtitle_label.text() == running
    assert readout.pause_pill.text == f"Paused at {at}"
    assert readout.pause_pill.isVisible()
    language.set("zh_CN")
    page.retranslate()
    assert readout.pause_pill.text == f"暂停于 {at}"
    page.toolbar.pause_button.click()
    assert readout.pause_pill.isHidden()
    assert readout.time_label.text() == "实时"


def test_the_line_above_the_plots_says_what_the_cross_hair_points_at(monitor, qtbot, language):
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    cards = [(gpu(0, temp=60, temp_max=83), gpu(1, temp=90, temp_max=83)) for _ in range(30)]
    feed(window, *(sample(*both, t=now - 30 + second) for second, both in enumerate(cards)))
    page.time_axis.pause(True)
    page.annotations.invalidate()
    page.draw()
    readout, height = page.plots.readout, page.plots.readout.height()
    for code, told in (("en", "GPU 1: hot"), ("zh_CN", "GPU 1：很热")):
        language.set(code)
        page.retranslate()
        page.time_axis.point(now - 4)
        assert readout.time_label.text() == time.strftime("%H:%M:%S", time.localtime(now - 4))
        assert told in readout.text_label.text().split(" · ")
        page.time_axis.point(now - 500)
        assert readout.text_label.text() == ""
        page.time_axis.point(None)
    assert readout.pause_pill.text.startswith("暂停于")
    assert readout.height() == height  # the plots keep their place under the pointer


def test_pause_freezes_plots_and_keeps_samples(monitor):
    window, page = monitor
    feed(window, sample())
    page.toolbar.pause_button.click()
    view, before = page.time_axis.view(), window.main_area.sampling.history.latest
    feed(window, sample())
    assert page.time_axis.view() == view
    assert window.main_area.sampling.history.latest.t > before.t
    assert page.toolbar.pause_button.text() == "Continue"
    page.toolbar.pause_button.click()
    assert page.time_axis.live


def test_crosshair_shared_by_all_plots(monitor, qtbot):
    window, page = monitor
    now = time.time()
    feed(window, *(sample(gpu(util=i), t=now - 60 + i, cpu=float(i)) for i in range(60)))
    # A queued sample may rebuild the plots.
    qtbot.waitUntil(lambda: len(page.plot_cards) > 2 and page.plot_cards[0].is_in_view(), timeout=5000)
    page.draw()
    qtbot.keyClick(page.plot_cards[0].plot, Qt.Key.Key_End)
    at = page.time_axis.cursor
    assert at is not None
    qtbot.keyClick(page.plot_cards[0].plot, Qt.Key.Key_Left)
    assert page.time_axis.cursor < at
    readings = [card.plot.readings() for card in page.plot_cards if card.is_in_view()]
    assert all(readings)
    assert readings[0][0].value == pytest.approx(54, abs=6)
    qtbot.keyClick(page.plot_cards[0].plot, Qt.Key.Key_Escape)
    assert page.time_axis.cursor is None


def test_nothing_is_drawn_while_hidden(monitor):
    window, page = monitor
    feed(window, sample())
    window.main_area.open_page(HOME)
    drawn = page.plot_cards[0].plot.view
    feed(window, sample(t=time.time() + 30))
    assert page.plot_cards[0].plot.view is drawn
    page.time_axis.choose(60)
    window.main_area.open_page(MONITOR)
    assert page.plot_cards[0].plot.view is not drawn


def test_minimised_window_draws_nothing(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu(temp=60)))
    qtbot.waitUntil(lambda: page.plot_cards[0].plot.view is not None)
    drawn, temperature = page.plot_cards[0].plot.view, page.tiles[2][2].value_widget
    window.showMinimized()
    qtbot.waitUntil(lambda: not page.is_shown)
    feed(window, sample(gpu(temp=71), t=time.time() + 30))
    assert page.plot_cards[0].plot.view is drawn
    assert temperature.figure == "60"
    window.showNormal()
    qtbot.waitUntil(lambda: temperature.figure == "71")
    seconds = itertools.count(31)

    def is_drawn_with_the_next_sample() -> bool:
        feed(window, sample(gpu(temp=71), t=time.time() + next(seconds)))
        return page.plot_cards[0].plot.view is not drawn

    qtbot.waitUntil(is_drawn_with_the_next_sample)


def test_lines_have_no_gaps_while_page_hidden(monitor):
    window, _ = monitor
    window.main_area.open_page(SETTINGS)
    assert window.main_area.sampling.running


def test_resize_draws_newly_visible_plots(monitor, qtbot):
    window, page = monitor
    window.resize(880, 520)
    feed(window, sample(gpu(), gpu(1)))
    page.layout_control.buttons[1].click()  # more rows of plots than any font brings into this window
    page.toolbar.pause_button.click()
    qtbot.waitUntil(lambda: page.plot_cards[0].is_in_view() and not page.plot_cards[-1].is_in_view(), timeout=5000)
    last = page.plot_cards[-1].plot
    drawn = last.view
    last.apply_theme()
    page.draw()
    assert last.view is drawn
    window.resize(1600, 1200)
    qtbot.waitUntil(lambda: last.view is not drawn, timeout=5000)


def test_a_day_and_a_month_can_be_shown(worked, qtbot):
    _, page = worked

    def drawn():
        view = page.plot_cards[0].plot.view
        return view is not None and round(view.end - view.start)

    for index, span in enumerate(SPANS):
        page.toolbar.range_control.buttons[index].click()
        assert page.time_axis.span == span
        qtbot.waitUntil(lambda span=span: drawn() == span, timeout=5000)


def test_theme_change_redraws_while_paused(worked, qapp, qtbot):
    _, page = worked
    qtbot.waitUntil(lambda: page.plot_cards[0].plot.view is not None, timeout=5000)
    page.toolbar.pause_button.click()

    def background():
        return page.plot_cards[0].plot.grab().toImage().pixelColor(2, 2).name()

    light = background()
    theme.set_theme(qapp, "dark")
    qtbot.waitUntil(lambda: background() != light, timeout=5000)
    assert background() == theme.color("card").name()


def test_memory_scale_kept_while_gpu_silent(monitor):
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    feed(window, *(sample(gpu(), t=now - 10 + second) for second in range(10)))
    card = next(card for card in page.plot_cards if card.plotted_metric.key == "mem")
    for silent in (False, True):
        if silent:
            feed(window, sample(GpuSample(index=0, name="NVIDIA GeForce RTX 4060", state="silent")))
        card.plot.apply_theme()
        card.draw(window.main_area.sampling.history)
        assert card.plot.view.ticks[-1] == 8


def test_partial_history_shows_start_date(worked, language):
    window, page = worked
    text_label = page.plots.readout.text_label
    page.time_axis.choose(60)
    page.draw()
    assert text_label.text() == ""
    page.time_axis.choose(30 * 86_400)
    page.draw()
    oldest = window.main_area.sampling.history.store.oldest_t
    assert text_label.text() == "History since " + format_since(oldest, time.time())
    language.set("zh_CN")
    page.draw()
    assert text_label.text().startswith("历史记录始于 ")


def test_several_gpus_differ_by_colour_and_dash(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1, name="NVIDIA GeForce RTX 3090")))
    lines = page.plot_cards[0].plot.lines.values()
    assert [(line.name, line.colour_token, line.dash) for line in lines] == [("GPU 0", "s1", 0), ("GPU 1", "s2", 1)]
    assert len(page.gpu_headers) == 2


@pytest.mark.parametrize("count", [1, 2, 4])
def test_each_plots_head_has_its_values_at_the_cross_hair(monitor, qtbot, count):
    window, page = monitor
    now = time.time()
    feed(window, *(sample(*(gpu(k, util=20 * k + i // 2) for k in range(count)), t=now - 60 + i) for i in range(60)))
    qtbot.waitUntil(lambda: len(page.plot_cards) > 2 and page.plot_cards[0].is_in_view(), timeout=5000)
    page.draw()
    card = page.plot_cards[0]

    def shown() -> list[str]:
        return [row.value for row in card.legend_rows.values()] if count > 1 else [card.figure.accessibleName()]

    # Of many lines the unit stands once.
    unit = "%" if count <= 2 else ""
    newest = [f"{20 * index + 29}{unit}" for index in range(count)]
    assert shown() == newest
    page.time_axis.point(now - 30)
    card.plot.grab()
    at = [f"{reading.value:.0f}{unit}" for reading in card.plot.readings()]
    assert shown() == at != newest
    page.time_axis.point(None)
    card.plot.grab()
    assert shown() == newest


def test_side_by_side_plots_per_gpu(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    assert page.layout_control.isVisible()
    page.layout_control.buttons[1].click()
    assert [(card.plotted_metric.key, card.gpus) for card in page.plot_cards[:4]] == [
        ("util", (0,)),
        ("util", (1,)),
        ("mem", (0,)),
        ("mem", (1,)),
    ]


def test_four_of_eight_gpus_drawn_and_selectable(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(8))))
    assert page.plot_cards[0].gpus == (0, 1, 2, 3)
    assert page.gpu_headers == []
    page.gpu_table.cellClicked.emit(6, 0)
    assert page.plot_cards[0].gpus == (1, 2, 3, 6)
    page.gpu_table.cellClicked.emit(1, 0)
    assert page.plot_cards[0].gpus == (2, 3, 6)
    # Whichever are drawn together differ in colour and in dash, and keep both while they are drawn.
    slots = page.gpu_table.slots
    lines = [gpu_line(slots[gpu], gpu, fill=False) for gpu in (2, 3, 6)]
    assert len({line.colour_token for line in lines}) == len({line.dash for line in lines}) == 3
    page.gpu_table.cellClicked.emit(7, 0)
    assert page.gpu_table.slots.items() > slots.items()
    assert set(page.gpu_table.slots.values()) == {0, 1, 2, 3}


def test_gpus_with_alarms_are_drawn_first(monitor, qtbot):
    window, page = monitor
    hot = {"temp": 90, "temp_max": 83}
    now = time.time()
    for second in range(10):
        feed(window, sample(*(gpu(index, **(hot if index == 6 else {})) for index in range(8)), t=now - 10 + second))
    qtbot.waitUntil(lambda: page.selected_gpus == [0, 1, 2, 6], timeout=30_000)
    page.gpu_table.cellClicked.emit(7, 0)
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
    assert page.subtitle_label.text().startswith("GPU 6: The GPU no longer answers.")


def test_reused_index_draws_own_history(monitor):
    """The first of two GPUs is removed, and the second gets its index."""
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    both = (gpu(0, uuid="GPU-a", util=10), gpu(1, uuid="GPU-b", util=80))
    feed(window, *(sample(*both, t=now - 20 + second) for second in range(10)))
    moved = (gpu(0, uuid="GPU-b", util=80), gpu(1, uuid="GPU-a", state="gone", util=None))
    feed(window, *(sample(*moved, t=now - 10 + second) for second in range(10)))
    history, metric = window.main_area.sampling.history, page.plot_cards[0].plotted_metric
    assert {value for _, value in history.recent_values(metric, 0, 60)} == {80}


def test_a_value_at_the_pointer_is_marked_with_its_time_and_the_present_one_comes_back(monitor, qtbot):
    window, page = monitor
    now = time.time()
    feed(window, *(sample(gpu(temp=40 + i), t=now - 30 + i) for i in range(30)))
    qtbot.waitUntil(lambda: len(page.plot_cards) > 2 and page.plot_cards[0].is_in_view(), timeout=5000)
    page.draw()
    load = page.plot_cards[0]
    assert load.figure.tone == "text"
    page.time_axis.point(now - 10)
    clock = time.strftime("%H:%M:%S", time.localtime(now - 10))
    qtbot.waitUntil(lambda: load.figure.tone == "soft", timeout=5000)
    assert page.plots.readout.time_label.text() == clock
    page.time_axis.point(None)
    qtbot.waitUntil(lambda: load.figure.tone == "text", timeout=5000)
