"""The Monitor page on fake services: figures, time, what is drawn when."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.core.results import GpuSample
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.area import HOME, MONITOR, SETTINGS
from gpu_assistant.gui.monitor import axis
from gpu_assistant.gui.monitor.clock import SPANS
from gpu_assistant.gui.monitor.history import SampleHistory
from gpu_assistant.gui.monitor.live_card import LiveMetricsCard
from gpu_assistant.monitor.history import History as Store
from gpu_assistant.monitor.recorder import HistoryWriter
from tests.fakes.main_window import feed, gpu, sample

pytest.importorskip("gpu_assistant.gui.monitor.plot_card")

pytestmark = pytest.mark.gui


def test_monitor_without_nvidia_is_no_error(monitor):
    window, page = monitor
    feed(window, sample())
    assert page.subtitle.text() == "No NVIDIA GPU. CPU and memory are shown."
    assert [card.of.key for card in page.cards] == ["cpu", "ram"]
    assert [tile.figure.figure for _, _, tile in page.tiles] == ["37", "6.0"]


def test_gpu_series_appear_and_go_by_themselves(monitor):
    window, page = monitor
    feed(window, sample())
    feed(window, sample(gpu()))
    assert [card.of.key for card in page.cards] == ["util", "mem", "temp", "power", "cpu", "ram"]
    assert [tile.figure.figure for _, _, tile in page.tiles] == ["97", "5.6", "66", "112", "2,730", "41"]
    feed(window, sample())
    assert [card.of.key for card in page.cards] == ["cpu", "ram"]


def test_what_a_card_does_not_report_is_a_dash(monitor):
    window, page = monitor
    feed(window, sample(gpu(power_w=None, fan=None)))
    figures = {metric.key: tile.figure.figure for metric, _, tile in page.tiles}
    assert figures["power"] == figures["fan"] == "—"


def test_the_drivers_state_is_said(monitor):
    window, page = monitor
    feed(window, sample(), state="version-mismatch")
    assert "Restart" in page.subtitle.text()


def test_that_the_graphs_stand_still_is_said(monitor, language):
    window, page = monitor
    feed(window, sample(gpu()))
    running = page.subtitle.text()
    page.controls.pause.click()
    at = time.strftime("%H:%M:%S", time.localtime(page.clock.view()[1]))
    assert page.subtitle.text() == f"{running} · graphs paused at {at}"
    language.set("zh_CN")
    page.retranslate()
    assert page.subtitle.text().endswith(f" · 曲线已暂停在 {at}")
    page.controls.pause.click()
    assert at not in page.subtitle.text()


def test_one_cross_hair_on_all_plots(monitor, qtbot):
    window, page = monitor
    now = time.time()
    feed(window, *(sample(gpu(util=i), t=now - 60 + i, cpu=float(i)) for i in range(60)))
    # A sample that was on its way may build the cards anew: never one that was taken before.
    qtbot.waitUntil(lambda: len(page.cards) > 2 and page.cards[0].in_sight(), timeout=5000)
    page.draw()
    qtbot.keyClick(page.cards[0].plot, Qt.Key.Key_End)
    at = page.clock.cursor
    assert at is not None
    qtbot.keyClick(page.cards[0].plot, Qt.Key.Key_Left)
    assert page.clock.cursor < at
    readings = [card.plot.readings() for card in page.cards if card.in_sight()]
    assert all(readings)
    assert readings[0][0][1] == pytest.approx(54, abs=6)
    qtbot.keyClick(page.cards[0].plot, Qt.Key.Key_Escape)
    assert page.clock.cursor is None


def test_pause_stands_still_while_samples_are_kept(monitor):
    window, page = monitor
    feed(window, sample())
    page.controls.pause.click()
    view, before = page.clock.view(), window.area.sampling.history.latest
    feed(window, sample())
    assert page.clock.view() == view
    assert window.area.sampling.history.latest.t > before.t
    assert page.controls.pause.text() == "Go on"
    page.controls.pause.click()
    assert page.clock.live


def test_nothing_is_drawn_while_hidden(monitor):
    window, page = monitor
    feed(window, sample())
    window.area.open(HOME)
    drawn = page.cards[0].plot._frame
    feed(window, sample(t=time.time() + 30))
    assert page.cards[0].plot._frame is drawn
    page.clock.choose(60)
    window.area.open(MONITOR)
    assert page.cards[0].plot._frame is not drawn


def test_nothing_is_drawn_nor_worded_while_the_window_is_minimised(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu(temp=60)))
    qtbot.waitUntil(lambda: page.cards[0].plot._frame is not None)
    drawn, said = page.cards[0].plot._frame, page.tiles[2][2].figure.figure
    window.showMinimized()
    qtbot.waitUntil(lambda: not page.seen)
    feed(window, sample(gpu(temp=71), t=time.time() + 30))
    assert page.cards[0].plot._frame is drawn
    assert page.tiles[2][2].figure.figure == said == "60"
    window.showNormal()
    qtbot.waitUntil(lambda: page.tiles[2][2].figure.figure == "71")
    qtbot.waitUntil(lambda: page.cards[0].plot._frame is not drawn)


def test_monitor_keeps_its_lines_without_holes_while_other_pages_are_open(monitor):
    window, _ = monitor
    window.area.open(SETTINGS)
    assert window.area.sampling.running


def test_the_table_is_the_plots_twin(monitor, qtbot):
    window, page = monitor
    page.controls.pause.click()
    now = page.clock.view()[1]
    feed(window, *(sample(t=now - 30 + i, cpu=float(i)) for i in range(30)))
    page.clock.choose(60)
    qtbot.keyClick(page, Qt.Key.Key_T)
    assert page.table.isVisible()
    head = [page.table.horizontalHeaderItem(i).text() for i in range(page.table.columnCount())]
    assert head == ["Time", "CPU load (%)", "Main memory (GB)"]
    assert page.table.rowCount() >= 25
    assert int(page.table.item(0, 1).text()) > int(page.table.item(20, 1).text())


def test_a_larger_window_draws_the_plots_that_come_into_sight(monitor, qtbot):
    window, page = monitor
    window.resize(880, 520)
    feed(window, sample(gpu()))
    page.controls.pause.click()
    qtbot.waitUntil(lambda: page.cards[0].in_sight() and not page.cards[-1].in_sight(), timeout=5000)
    last = page.cards[-1].plot
    last._frame = None
    page.draw()
    assert last._frame is None
    window.resize(1600, 1200)
    qtbot.waitUntil(lambda: last._frame is not None, timeout=5000)


def test_a_day_and_a_month_can_be_shown(worked, qtbot):
    _, page = worked

    def drawn():
        frame = page.cards[0].plot._frame
        return frame is not None and round(frame.end - frame.start)

    for place, span in enumerate(SPANS):
        page.controls.range.buttons[place].click()
        assert page.clock.span == span
        qtbot.waitUntil(lambda span=span: drawn() == span, timeout=5000)


def test_another_theme_is_drawn_while_paused(worked, qapp, qtbot):
    _, page = worked
    qtbot.waitUntil(lambda: page.cards[0].plot._frame is not None, timeout=5000)
    page.controls.pause.click()

    def ground():
        return page.cards[0].plot.grab().toImage().pixelColor(2, 2).name()

    light = ground()
    theme.set_theme(qapp, "dark")
    qtbot.waitUntil(lambda: ground() != light, timeout=5000)
    assert ground() == theme.color("card").name()


def test_the_way_back_to_now_shows_while_it_is_needed(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu()))
    assert not page.controls.back.isVisible()
    page.clock.pan(-100)
    assert page.controls.back.isVisible()
    page.controls.back.setFocus()
    page.controls.back.click()
    assert not page.controls.back.isVisible()
    assert page.clock.live
    assert page.controls.pause.hasFocus()


def test_while_the_card_is_silent_its_memory_keeps_its_scale(monitor):
    window, page = monitor
    window.area.sampling.hurry()
    now = time.time()
    feed(window, *(sample(gpu(), t=now - 10 + second) for second in range(10)))
    plot = next(card for card in page.cards if card.of.key == "mem")
    assert plot.plot._ticks(0.0)[-1] == 8
    feed(window, sample(GpuSample(index=0, name="NVIDIA GeForce RTX 4060", state="silent")))
    assert plot.plot._ticks(0.0)[-1] == 8


def test_while_zoomed_no_range_is_lit_and_the_way_back_says_where_to(monitor):
    window, page = monitor
    feed(window, sample(gpu()))
    ranges = page.controls.range
    assert ranges.current() == 1
    page.clock.zoom(0.5, page.clock.view()[0])
    assert ranges.current() == -1
    assert page.controls.back.isVisible()
    assert page.controls.back.text() == "Back to 10 min"
    page.controls.back.click()
    assert ranges.current() == 1
    page.clock.pan(-100)
    assert ranges.current() == 1
    assert page.controls.back.text() == "Back to now"
    assert "Ctrl" in page.hint.text()


def test_the_table_scrolls_in_itself_and_says_the_day_where_a_day_is_shown(monitor, qtbot):
    window, page = monitor
    window.resize(1000, 700)
    page.controls.pause.click()
    now = page.clock.view()[1]
    feed(window, *(sample(gpu(), t=now - 100 + second) for second in range(100)))
    page.controls.twin.click()
    head, table = page.table.horizontalHeader(), page.table
    qtbot.waitUntil(lambda: table.rowCount() > 5 and page.verticalScrollBar().maximum() == 0, timeout=5000)
    assert head.length() <= table.viewport().width()
    assert all(head.sectionSize(i) >= head.sectionSizeHint(i) for i in range(head.count()))
    assert table.item(0, 0).text().count(":") == 2
    feed(window, sample(gpu()))
    assert not page.inside.isVisible()
    page.clock.choose(86_400)
    day = time.strftime("%m-%d ", time.localtime(now))
    qtbot.waitUntil(lambda: table.rowCount() > 0 and table.item(0, 0).text().startswith(day), timeout=5000)
    page.controls.twin.click()
    assert page.inside.isVisible()
    assert page.plots.isVisible()


def test_a_range_that_history_does_not_fill_says_since_when_there_is_some(worked, language):
    _, page = worked
    since = page.plots.legend.since
    page.clock.choose(60)
    page.draw()
    assert since.isHidden()
    page.clock.choose(30 * 86_400)
    page.draw()
    assert not since.isHidden()
    assert since.text() == "History since " + axis.since(page._sampling.history.store.begins, time.time())
    language.set("zh_CN")
    page.draw()
    assert since.text().startswith("历史记录始于 ")


def test_the_first_minutes_lines_are_as_long_as_there_is_something_to_show(qtbot):
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
