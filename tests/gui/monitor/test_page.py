"""The monitor page on fake services: values, time range, selection of GPUs, what is drawn when."""

from __future__ import annotations

import itertools
import time

import pytest
from PySide6.QtCore import Qt
from shiboken6 import isValid

from gpu_assistant.core.results import GpuSample
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.main_area import HOME, MONITOR, SETTINGS
from gpu_assistant.gui.monitor.metrics import GPU_METRICS
from gpu_assistant.gui.monitor.plot.cards import NEW_PER_TURN, gpu_line
from gpu_assistant.gui.monitor.plot.time_axis import SPANS, format_since
from gpu_assistant.gui.widgets.cards import MetricValue
from gpu_assistant.gui.widgets.text import TextLabel
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


def test_pause_is_shown_above_the_plots_and_leaves_the_status_whole(monitor, language, qtbot):
    window, page = monitor
    feed(window, sample(gpu()))
    running, readout = page.subtitle_label.text(), page.plots.readout
    assert readout.time_label.text() == "Live"
    assert readout.pause_pill.isHidden()
    page.toolbar.pause_button.click()
    at = time.strftime("%H:%M:%S", time.localtime(page.time_axis.view()[1]))
    assert page.subtitle_label.text() == running
    assert readout.pause_pill.text == f"Graphs paused at {at}"
    assert readout.pause_pill.isVisible()
    assert "Everything above is live" in readout.text_label.text().split(" · ")
    language.set("zh_CN")
    qtbot.waitUntil(lambda: readout.pause_pill.text == f"曲线已在 {at} 暂停", timeout=5000)
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
        page.draw()  # as it does with the next turn
        page.time_axis.point(now - 4)
        assert time.strftime("%H:%M:%S", time.localtime(now - 4)) in readout.time_label.text()
        assert told in readout.text_label.text().split(" · ")
        page.time_axis.point(now - 500)
        assert readout.text_label.text() == ""
        page.time_axis.point(None)
    assert readout.pause_pill.text.startswith("曲线已在")
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
    qtbot.waitUntil(lambda: all(card.plot.view is not None for card in page.plot_cards if card.is_in_view()))
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


@pytest.mark.parametrize("count", [2, 4])
def test_a_plot_of_several_gpus_has_its_unit_in_its_name(monitor, language, qtbot, count):
    window, page = monitor
    feed(window, sample(*(gpu(index, temp=60, temp_max=87) for index in range(count))))
    names = {
        "en": ["Load (0–100%)", "Memory (GB)", "Temperature (°C)", "Power (W)"],
        "zh_CN": ["占用（0–100%）", "显存（GB）", "温度（°C）", "功耗（W）"],
    }
    cards = page.plot_cards[: len(GPU_METRICS)]
    assert [bool(card.plot.limit) for card in cards] == [False, False, True, True]

    def heads() -> set[str]:
        return {label.text() for card in cards for label in card.findChildren(TextLabel)}

    for code, expected in names.items():
        language.set(code)
        qtbot.waitUntil(lambda names=expected: heads() >= set(names), timeout=5000)


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
    assert all(row.is_tagged for row in card.legend_rows.values())
    page.time_axis.point(None)
    card.plot.grab()
    assert shown() == newest


@pytest.mark.parametrize("count", [1, 2, 8])
def test_the_words_of_a_limit_are_above_the_plot(monitor, language, qtbot, count):
    """No curve and no label of an event can meet them, and the plot's name is whole beside them."""
    window, page = monitor
    feed(window, *(sample(*(gpu(index, temp=88, temp_max=87) for index in range(count))) for _ in range(3)))
    cards = {card.plotted_metric.key: card for card in page.plot_cards}

    def is_above(key: str, text: str) -> bool:
        row, plot = cards[key].limit_row, cards[key].plot
        is_whole = row.isVisible() and row.width() >= row.sizeHint().width()
        return row.text == text and is_whole and row.geometry().bottom() < plot.y()

    for code, slows, limit in (("en", "slows at 87 °C", "limit 115 W"), ("zh_CN", "87 °C 起降速", "上限 115 W")):
        language.set(code)
        qtbot.waitUntil(lambda text=slows: is_above("temp", text), timeout=5000)
        qtbot.waitUntil(lambda text=limit: is_above("power", text), timeout=5000)
    assert cards["util"].limit_row.isHidden()


@pytest.mark.parametrize("count", [2, 3, 8])
def test_each_of_several_gpus_has_a_strip_in_the_plot_of_load(monitor, count):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(count))))
    strips = {card.plotted_metric.key: card.plot.strips for card in page.plot_cards}
    assert strips == {"util": min(count, 4), "mem": 1, "temp": 1, "power": 1, "cpu": 1, "ram": 1}
    page.layout_control.buttons[1].click()
    assert {card.plot.strips for card in page.plot_cards} == {1}


def test_the_scale_of_strips_is_in_the_name_of_their_plot(monitor, language, qtbot):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(3))))
    labels = page.plot_cards[0].findChildren(TextLabel)
    for code, name in (("en", "Load (0–100%)"), ("zh_CN", "占用（0–100%）")):
        language.set(code)
        qtbot.waitUntil(lambda name=name: name in [each.text() for each in labels], timeout=5000)


@pytest.mark.parametrize("count", [2, 4])
def test_each_value_in_a_plot_names_its_gpu(monitor, count):
    window, page = monitor
    feed(window, sample(*(gpu(index, util=50) for index in range(count))))
    rows = list(page.plot_cards[0].legend_rows.values())
    assert [row.line.name for row in rows] == [f"GPU {index}" for index in range(count)]
    assert rows[1].accessibleName() == f"GPU 1: {rows[1].value}"
    page.layout_control.buttons[1].click()
    (alone,) = page.plot_cards[0].legend_rows.values()
    assert alone.line.name == "GPU 0"


@pytest.mark.parametrize("count", [1, 2, 8])
def test_the_time_axes_of_a_column_are_in_line(monitor, qtbot, count):
    """Also below a plot whose strips have wider names than the values of the others."""
    window, page = monitor
    window.resize(880, 1600)
    feed(window, sample(*(gpu(index) for index in range(count))))

    def starts() -> set[int]:
        cards = [card for card in page.plot_cards if card.plot.area().width() > 0]
        return {card.plot.area().left() for card in cards} if len(cards) > 3 else set()

    qtbot.waitUntil(lambda: len(starts()) == 1, timeout=5000)


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


@pytest.mark.parametrize(("count", "layout"), [(2, 1), (4, 0)], ids=["side by side", "four overlaid"])
def test_headers_name_their_values_where_the_window_has_room(monitor, qtbot, count, layout):
    window, page = monitor
    feed(window, sample(*(gpu(index, util=42 + index, temp=61 + index) for index in range(count))))

    def shown(kind):
        return [[each for each in header.findChildren(kind) if each.isVisible()] for header in page.gpu_headers]

    captions = {metric.title_text() for metric in GPU_METRICS}

    def are_named():
        return [captions & {each.text() for each in labels} for labels in shown(TextLabel)]

    page.layout_control.buttons[layout].click()
    for height, named in ((900, captions), (520, set()), (900, captions)):
        window.resize(1180, height)
        qtbot.waitUntil(lambda named=named: are_named() == [named] * count, timeout=5000)
        values = [[each.figure for each in figures] for figures in shown(MetricValue)]
        assert [(len(each), each[0], each[2]) for each in values] == [
            (4, str(42 + index), str(61 + index)) for index in range(count)
        ]
    # In a short window the units say what they are; the names are tool tips.
    assert {each.toolTip() for figures in shown(MetricValue) for each in figures} == captions


@pytest.mark.parametrize(
    ("temperature", "limit", "filled"), [(60, 80, 0.75), (89, 87, 1.0), (60, None, 0.6)], ids=["below", "above", "none"]
)
def test_bar_of_the_temperature_ends_at_its_limit(monitor, temperature, limit, filled):
    window, page = monitor
    feed(window, sample(gpu(0, temp=temperature, temp_max=limit, temp_slow=None)))
    bars = {metric.key: tile.progress_bar for metric, _, tile in page.tiles}
    assert bars["temp"].fraction() == pytest.approx(filled)


def test_new_plots_are_drawn_some_a_turn(monitor, qtbot):
    window, page = monitor
    window.resize(1366, 1400)
    feed(window, sample(*(gpu(index) for index in range(8))))
    overlaid, machine = list(page.plot_cards), page.plot_cards[-2:]
    qtbot.waitUntil(lambda: all(card.is_in_view() and card.plot.view is not None for card in overlaid), timeout=5000)
    page.layout_control.buttons[1].click()
    cards = page.plot_cards[:-2]
    assert [card.gpus for card in cards] == [*((index,) for index in range(4))] * 4
    qtbot.waitUntil(lambda: any(card.plot.view is not None for card in cards))
    for card in cards:
        card.plot.view = None  # as if it was never drawn
    for count in (NEW_PER_TURN, 2 * NEW_PER_TURN):
        page.draw()
        assert sum(card.plot.view is not None for card in cards) == count
    qtbot.waitUntil(lambda: all(card.plot.view is not None for card in cards if card.is_in_view()))
    qtbot.waitUntil(lambda: all(card.isVisible() for card in page.plot_cards), timeout=5000)
    assert [card.plotted_metric.key for card in page.plot_cards[::4]] == ["util", "mem", "temp", "power", "cpu"]
    assert page.plot_cards[-2:] == machine
    assert len({card.plot.minimumHeight() for card in page.plot_cards}) == 1
    qtbot.waitUntil(lambda: not any(isValid(card) for card in overlaid[:-2]), timeout=5000)


@pytest.mark.parametrize("change", ["lines", "theme"])
def test_plots_that_look_otherwise_are_drawn_some_a_turn(monitor, qapp, qtbot, change):
    window, page = monitor
    window.resize(1366, 1400)
    feed(window, sample(*(gpu(index) for index in range(8))))
    cards = page.plot_cards[:4]
    qtbot.waitUntil(lambda: all(card.is_in_view() and card.plot.view is not None for card in cards), timeout=5000)
    changes = {
        "lines": lambda: page.plots.show_latest(window.main_area.sampling.history, {0}),
        "theme": lambda: theme.set_theme(qapp, "dark"),
    }
    changes[change]()
    assert not any(card.plot.view for card in cards)
    for count in (NEW_PER_TURN, 2 * NEW_PER_TURN):
        page.draw()
        assert sum(card.plot.view is not None for card in cards) == count
    qtbot.waitUntil(lambda: all(card.plot.view is not None for card in cards), timeout=5000)


def test_another_layout_ends_a_build(monitor, qtbot):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(8))))
    page.layout_control.buttons[1].click()
    begun = list(page.plot_cards)
    page.layout_control.buttons[0].click()
    qtbot.waitUntil(lambda: not any(isValid(card) for card in begun[:-2]), timeout=5000)
    assert [card.gpus for card in page.plot_cards] == [(0, 1, 2, 3)] * 4 + [(-1,)] * 2
    assert all(card.isVisible() for card in page.plot_cards)


def test_table_has_the_columns_of_plots_that_follow(monitor, qtbot):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(8))))
    page.layout_control.buttons[1].click()
    page.toolbar.table_button.click()
    qtbot.waitUntil(lambda: page.table.columnCount() == 1 + 4 * 4 + 2, timeout=5000)


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


def test_the_hottest_gpus_are_drawn_and_keep_their_place_until_others_are_clearly_hotter(monitor, qtbot):
    window, page = monitor

    def temperatures(*temps):
        feed(window, sample(*(gpu(index, temp=temp) for index, temp in enumerate(temps))))

    temperatures(60, 50, 61, 50, 62, 50, 63, 50)
    qtbot.waitUntil(lambda: page.selected_gpus == [0, 2, 4, 6], timeout=30_000)
    temperatures(60, 64, 61, 64, 62, 64, 63, 64)
    assert page.selected_gpus == [0, 2, 4, 6]
    temperatures(60, 50, 61, 66, 62, 50, 63, 50)
    assert page.selected_gpus == [2, 3, 4, 6]
    temperatures(None, 40, None, None, None, 40, 63, 40)
    assert page.selected_gpus == [1, 5, 6, 7]


def test_lost_gpus_are_drawn_last(monitor, qtbot):
    window, page = monitor
    feed(window, sample(*(gpu(index, state="lost" if index < 6 else "ready") for index in range(8))))
    qtbot.waitUntil(lambda: page.selected_gpus == [0, 1, 6, 7], timeout=5000)


def test_lost_gpu_is_named(monitor):
    window, page = monitor
    cards = (gpu(index, state="lost" if index == 6 else "ready") for index in range(8))
    feed(window, sample(*cards), state="lost")
    assert page.subtitle_label.text().startswith("GPU 6: The GPU no longer responds.")


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
    assert not load.pointed_label.isVisible()
    page.time_axis.point(now - 10)
    clock = time.strftime("%H:%M:%S", time.localtime(now - 10))
    qtbot.waitUntil(lambda: load.figure.tone == "soft", timeout=5000)
    assert load.pointed_label.text() == clock
    assert load.pointed_label.isVisible()
    assert page.plots.readout.time_label.text() == f"Values at {clock}"
    page.time_axis.point(None)
    qtbot.waitUntil(lambda: load.figure.tone == "text" and not load.pointed_label.isVisible(), timeout=5000)


@pytest.mark.parametrize("count", [1, 2])
def test_paused_plots_keep_their_values_while_those_above_are_live(monitor, qtbot, count):
    window, page = monitor
    now = time.time()
    page.time_axis.now = lambda: now

    def cards(load):
        return [gpu(index, util=load + index) for index in range(count)]

    feed(window, *(sample(*cards(50), t=now - 9 + second) for second in range(10)))
    qtbot.waitUntil(lambda: len(page.plot_cards) > 2 and page.plot_cards[0].is_in_view(), timeout=5000)
    page.draw()
    card = page.plot_cards[0]

    def shown() -> list[str]:
        return [row.value for row in card.legend_rows.values()] or [card.figure.accessibleName()]

    before = shown()
    assert before == ["50%", "51%"][:count]
    page.toolbar.pause_button.click()
    card.plot.grab()
    feed(window, sample(*cards(80), t=now + 1))
    assert shown() == before
    tiles = [tile.value_widget.figure for metric, _, tile in page.tiles if metric.key == "util"]
    assert count > 1 or tiles == ["80"]
    page.toolbar.pause_button.click()
    card.plot.grab()
    assert shown() == ["80%", "81%"][:count]


@pytest.mark.parametrize(
    "leave",
    [
        lambda axis: axis.pause(True),
        lambda axis: axis.pan(-axis.span),
        lambda axis: axis.zoom(0.5, axis.view()[0]),
        lambda axis: axis.zoom(0.5, axis.view()[1]),
    ],
    ids=["paused", "panned", "zoomed", "zoomed live"],
)
def test_a_range_that_is_not_live_as_chosen_keeps_its_gpus(monitor, leave):
    window, page = monitor
    feed(window, sample(*(gpu(index, temp=50) for index in range(8))))
    assert page.selected_gpus == [0, 1, 2, 3]
    leave(page.time_axis)
    hotter = sample(*(gpu(index, temp=80 if index == 7 else 50) for index in range(8)))
    feed(window, hotter)
    assert page.selected_gpus == [0, 1, 2, 3]
    page.time_axis.reset()
    feed(window, hotter)
    assert page.selected_gpus == [0, 1, 2, 7]
