"""The Monitor page on fake services: figures, time, what is drawn when."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.core.results import GpuSample
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.main_area import HOME, MONITOR, SETTINGS
from gpu_assistant.gui.monitor.gpu_summary import LiveMetricsCard
from gpu_assistant.gui.monitor.history_model import SampleHistory
from gpu_assistant.monitor.history import History as Store
from gpu_assistant.monitor.history_writer import HistoryWriter
from tests.fakes.main_window import feed, gpu, sample

time_axis = pytest.importorskip("gpu_assistant.gui.monitor.plot.time_axis")

pytestmark = pytest.mark.gui


def test_monitor_without_nvidia_is_no_error(monitor):
    window, page = monitor
    feed(window, sample())
    assert page.subtitle.text() == "No NVIDIA GPU. CPU and memory are shown."
    assert [card.of.key for card in page.plot_cards] == ["cpu", "ram"]
    assert [tile.figure.figure for _, _, tile in page.tiles] == ["37", "6.0"]


def test_gpu_plots_follow_detected_gpus(monitor):
    window, page = monitor
    feed(window, sample())
    feed(window, sample(gpu()))
    assert [card.of.key for card in page.plot_cards] == ["util", "mem", "temp", "power", "cpu", "ram"]
    assert [tile.figure.figure for _, _, tile in page.tiles] == ["97", "5.6", "66", "112", "2,730", "41"]
    feed(window, sample())
    assert [card.of.key for card in page.plot_cards] == ["cpu", "ram"]


def test_unreported_value_is_a_dash(monitor):
    window, page = monitor
    feed(window, sample(gpu(power_w=None, fan=None)))
    figures = {metric.key: tile.figure.figure for metric, _, tile in page.tiles}
    assert figures["power"] == figures["fan"] == "—"


def test_driver_state_is_shown(monitor):
    window, page = monitor
    feed(window, sample(), state="version-mismatch")
    assert "Restart" in page.subtitle.text()


def test_pause_is_shown_in_status(monitor, language):
    window, page = monitor
    feed(window, sample(gpu()))
    running = page.subtitle.text()
    page.toolbar.pause.click()
    at = time.strftime("%H:%M:%S", time.localtime(page.clock.view()[1]))
    assert page.subtitle.text() == f"{running} · graphs paused at {at}"
    language.set("zh_CN")
    page.retranslate()
    assert page.subtitle.text().endswith(f" · 曲线已暂停在 {at}")
    page.toolbar.pause.click()
    assert at not in page.subtitle.text()


def test_crosshair_shared_by_all_plots(monitor, qtbot):
    window, page = monitor
    now = time.time()
    feed(window, *(sample(gpu(util=i), t=now - 60 + i, cpu=float(i)) for i in range(60)))
    # A sample that was on its way may build the cards anew: never one that was taken before.
    qtbot.waitUntil(lambda: len(page.plot_cards) > 2 and page.plot_cards[0].in_sight(), timeout=5000)
    page.draw()
    qtbot.keyClick(page.plot_cards[0].plot, Qt.Key.Key_End)
    at = page.clock.cursor
    assert at is not None
    qtbot.keyClick(page.plot_cards[0].plot, Qt.Key.Key_Left)
    assert page.clock.cursor < at
    readings = [card.plot.readings() for card in page.plot_cards if card.in_sight()]
    assert all(readings)
    assert readings[0][0].value == pytest.approx(54, abs=6)
    qtbot.keyClick(page.plot_cards[0].plot, Qt.Key.Key_Escape)
    assert page.clock.cursor is None


def test_pause_freezes_plots_and_keeps_samples(monitor):
    window, page = monitor
    feed(window, sample())
    page.toolbar.pause.click()
    view, before = page.clock.view(), window.main_area.sampling.history.latest
    feed(window, sample())
    assert page.clock.view() == view
    assert window.main_area.sampling.history.latest.t > before.t
    assert page.toolbar.pause.text() == "Go on"
    page.toolbar.pause.click()
    assert page.clock.live


def test_nothing_is_drawn_while_hidden(monitor):
    window, page = monitor
    feed(window, sample())
    window.main_area.open_page(HOME)
    drawn = page.plot_cards[0].plot.view
    feed(window, sample(t=time.time() + 30))
    assert page.plot_cards[0].plot.view is drawn
    page.clock.choose(60)
    window.main_area.open_page(MONITOR)
    assert page.plot_cards[0].plot.view is not drawn


def test_minimised_window_draws_nothing(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu(temp=60)))
    qtbot.waitUntil(lambda: page.plot_cards[0].plot.view is not None)
    drawn, said = page.plot_cards[0].plot.view, page.tiles[2][2].figure.figure
    window.showMinimized()
    qtbot.waitUntil(lambda: not page.is_shown)
    feed(window, sample(gpu(temp=71), t=time.time() + 30))
    assert page.plot_cards[0].plot.view is drawn
    assert page.tiles[2][2].figure.figure == said == "60"
    window.showNormal()
    qtbot.waitUntil(lambda: page.tiles[2][2].figure.figure == "71")
    qtbot.waitUntil(lambda: page.plot_cards[0].plot.view is not drawn)


def test_lines_have_no_gaps_while_page_hidden(monitor):
    window, _ = monitor
    window.main_area.open_page(SETTINGS)
    assert window.main_area.sampling.running


def test_table_shows_plotted_values(monitor, qtbot):
    window, page = monitor
    page.toolbar.pause.click()
    now = page.clock.view()[1]
    feed(window, *(sample(t=now - 30 + i, cpu=float(i)) for i in range(30)))
    page.clock.choose(60)
    qtbot.keyClick(page, Qt.Key.Key_T)
    assert page.table.isVisible()
    head = [page.table.horizontalHeaderItem(i).text() for i in range(page.table.columnCount())]
    assert head == ["Time", "CPU load (%)", "Main memory (GB)"]
    assert page.table.rowCount() >= 25
    assert int(page.table.item(0, 1).text()) > int(page.table.item(20, 1).text())


def test_resize_draws_newly_visible_plots(monitor, qtbot):
    window, page = monitor
    window.resize(880, 520)
    feed(window, sample(gpu()))
    page.toolbar.pause.click()
    qtbot.waitUntil(lambda: page.plot_cards[0].in_sight() and not page.plot_cards[-1].in_sight(), timeout=5000)
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

    for place, span in enumerate(time_axis.SPANS):
        page.toolbar.range.buttons[place].click()
        assert page.clock.span == span
        qtbot.waitUntil(lambda span=span: drawn() == span, timeout=5000)


def test_theme_change_redraws_while_paused(worked, qapp, qtbot):
    _, page = worked
    qtbot.waitUntil(lambda: page.plot_cards[0].plot.view is not None, timeout=5000)
    page.toolbar.pause.click()

    def ground():
        return page.plot_cards[0].plot.grab().toImage().pixelColor(2, 2).name()

    light = ground()
    theme.set_theme(qapp, "dark")
    qtbot.waitUntil(lambda: ground() != light, timeout=5000)
    assert ground() == theme.color("card").name()


def test_reset_button_shown_only_when_needed(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu()))
    assert not page.toolbar.back.isVisible()
    page.clock.pan(-100)
    assert page.toolbar.back.isVisible()
    page.toolbar.back.setFocus()
    page.toolbar.back.click()
    assert not page.toolbar.back.isVisible()
    assert page.clock.live
    assert page.toolbar.pause.hasFocus()


def test_memory_scale_kept_while_gpu_silent(monitor):
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    feed(window, *(sample(gpu(), t=now - 10 + second) for second in range(10)))
    plot = next(card for card in page.plot_cards if card.of.key == "mem")
    for silent in (False, True):
        if silent:
            feed(window, sample(GpuSample(index=0, name="NVIDIA GeForce RTX 4060", state="silent")))
        plot.plot.apply_theme()
        plot.draw(window.main_area.sampling.history)
        assert plot.plot.view.ticks[-1] == 8


def test_zoom_clears_range_and_labels_reset(monitor):
    window, page = monitor
    feed(window, sample(gpu()))
    ranges = page.toolbar.range
    assert ranges.current() == 1
    page.clock.zoom(0.5, page.clock.view()[0])
    assert ranges.current() == -1
    assert page.toolbar.back.isVisible()
    assert page.toolbar.back.text() == "Back to 10 min"
    page.toolbar.back.click()
    assert ranges.current() == 1
    page.clock.pan(-100)
    assert ranges.current() == 1
    assert page.toolbar.back.text() == "Back to now"
    assert "Ctrl" in page.hint_label.text()


def test_table_scrolls_and_shows_date_for_day_range(monitor, qtbot):
    window, page = monitor
    window.resize(1000, 700)
    page.toolbar.pause.click()
    now = page.clock.view()[1]
    feed(window, *(sample(gpu(), t=now - 100 + second) for second in range(100)))
    page.toolbar.twin.click()
    head, table = page.table.horizontalHeader(), page.table
    qtbot.waitUntil(lambda: table.rowCount() > 5 and page.verticalScrollBar().maximum() == 0, timeout=5000)
    assert head.length() <= table.viewport().width()
    assert all(head.sectionSize(i) >= head.sectionSizeHint(i) for i in range(head.count()))
    assert table.item(0, 0).text().count(":") == 2
    feed(window, sample(gpu()))
    assert not page.gpu_details.isVisible()
    page.clock.choose(86_400)
    day = time.strftime("%m-%d ", time.localtime(now))
    qtbot.waitUntil(lambda: table.rowCount() > 0 and table.item(0, 0).text().startswith(day), timeout=5000)
    page.toolbar.twin.click()
    assert page.gpu_details.isVisible()
    assert page.plots.isVisible()


def test_partial_history_shows_start_date(worked, language):
    window, page = worked
    since = page.plots.legend.since
    page.clock.choose(60)
    page.draw()
    assert since.isHidden()
    page.clock.choose(30 * 86_400)
    page.draw()
    assert not since.isHidden()
    begins = window.main_area.sampling.history.store.begins
    assert since.text() == "History since " + time_axis.format_since(begins, time.time())
    language.set("zh_CN")
    page.draw()
    assert since.text().startswith("历史记录始于 ")


def test_first_minute_sparklines_span_available_data(qtbot):
    card, history = LiveMetricsCard(), SampleHistory(HistoryWriter(Store))
    qtbot.addWidget(card)
    told = []
    for second in range(90):
        history.add(sample(gpu(), t=1000.0 + second))
        card.show_history(history, None)
        told.append((card._span_label.text(), {figure.sparkline.span for figure in card.metrics}))
    assert told[5] == ("last 5 seconds", {5})
    assert told[0][0] == "last 2 seconds"
    assert told[-1] == ("last 60 seconds", {60})
