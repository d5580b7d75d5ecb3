"""The Monitor page on fake services."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.results import GpuSample
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.area import HOME, MONITOR, SETTINGS
from gpu_assistant.gui.monitor.clock import SPANS
from tests.fakes.examples import cpu_benchmark
from tests.fakes.main_window import feed, gpu, sample

line_of = pytest.importorskip("gpu_assistant.gui.monitor.plot_card").line_of

pytestmark = pytest.mark.gui


@pytest.fixture
def monitor(home, app, qtbot):
    window, _ = home(app)
    window.area.open(MONITOR)
    qtbot.waitUntil(lambda: window.area.current == MONITOR, timeout=20_000)
    return window, window.area.pages[MONITOR]


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


def test_several_gpus_differ_by_colour_and_dash(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1, name="NVIDIA GeForce RTX 3090")))
    lines = page.cards[0].plot._lines.values()
    assert [(line.name, line.colour, line.dash) for line in lines] == [("GPU 0", "s1", 0), ("GPU 1", "s2", 1)]
    assert len(page.heads) == 2


def test_what_a_card_does_not_report_is_a_dash(monitor):
    window, page = monitor
    feed(window, sample(gpu(power_w=None, fan=None)))
    figures = {metric.key: tile.figure.figure for metric, _, tile in page.tiles}
    assert figures["power"] == figures["fan"] == "—"


def test_the_drivers_state_is_said(monitor):
    window, page = monitor
    feed(window, sample(), state="version-mismatch")
    assert "Restart" in page.subtitle.text()


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


# What was wrong once


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


# Ranges, several GPUs, events, what is saved


@pytest.fixture
def worked(monitor, qtbot):
    """A page whose card has worked for two minutes, hot and held by its power limit for the last half."""
    window, page = monitor
    window.area.sampling.hurry()
    now = time.time()
    calm = [sample(gpu(temp=60, temp_max=88), t=now - 120 + i) for i in range(60)]
    hot = {"temp": 90, "temp_max": 88, "throttle": ("thermal", "power-cap")}
    feed(window, *calm, *(sample(gpu(**hot), t=now - 60 + i) for i in range(60)))
    page._marker.forget()
    page.draw()
    return window, page


def test_what_happened_is_marked(worked):
    _, page = worked
    cards = {card.of.key: card.plot for card in page.cards}
    said = {key: {event.text for event in plot._events if event.text} for key, plot in cards.items()}
    assert said["temp"] == {"slowed by heat", "hot", "install"}
    assert said["power"] == {"power limit", "install"}
    assert said["cpu"] == {"install"}
    assert all(event.end == float("inf") for event in cards["temp"]._events if event.tone == "warn")
    assert cards["temp"]._limit.text == "slows down at 88 °C"


def test_a_power_limit_is_marked_only_where_the_card_draws_as_much(monitor):
    """As the rule of the alarm judges: its thresholds are data."""
    window, page = monitor
    window.area.sampling.hurry()
    now = time.time()
    resting = {"util": 30, "power_w": 63.0, "throttle": ("power-cap",)}
    starved = {"util": 97, "power_w": 63.0, "throttle": ("power-cap",), "clock_sm": 600, "clock_sm_max": 3105}
    full = {**starved, "power_w": 113.0, "clock_sm": 2700}
    parts = [resting] * 30 + [starved] * 40 + [full] * 30
    feed(window, *(sample(gpu(**part), t=now - 100 + i) for i, part in enumerate(parts)))
    page._marker.forget()
    page.draw()
    plot = next(card.plot for card in page.cards if card.of.key == "power")
    marked = {event.text: event for event in plot._events if event.text not in ("", "install")}
    assert set(marked) == {"too little power", "power limit"}
    assert marked["power limit"].start == pytest.approx(now - 30, abs=2)
    assert marked["too little power"].end == pytest.approx(now - 30, abs=2)


def test_what_did_not_last_as_long_as_its_alarm_wants_is_not_marked(monitor):
    window, page = monitor
    window.area.sampling.hurry()
    now = time.time()
    calm, still, hot = {"temp": 60}, {"temp": 75, "fan": 0}, {"temp": 87}
    parts = [calm] * 5 + [hot] * 4 + [calm] * 10 + [hot] * 9 + [calm] * 8 + [still] * 8 + [calm] * 8 + [still] * 15
    feed(window, *(sample(gpu(temp_max=88, **part), t=now - len(parts) + i) for i, part in enumerate(parts)))
    page._marker.forget()
    page.draw()
    plot = next(card.plot for card in page.cards if card.of.key == "temp")
    marked = sorted(
        ((event.text, event.start) for event in plot._events if event.text not in ("", "install")),
        key=lambda mark: mark[1],
    )
    began = now - len(parts)
    assert marked == [
        ("hot", pytest.approx(began + 19, abs=2)),
        ("fan stands still", pytest.approx(began + 52, abs=2)),
    ]


def test_of_several_gpus_each_mark_says_whose_it_is(monitor):
    window, page = monitor
    window.area.sampling.hurry()
    now = time.time()
    sick = [
        sample(
            gpu(0, temp=90, temp_max=88),
            gpu(1, ecc_uncorrected=4 if i >= 20 else 0),
            gpu(2, xid=48 if i >= 25 else 0, xid_t=now),
            t=now - 60 + i,
        )
        for i in range(60)
    ]
    feed(window, *sick)
    page._marker.forget()
    page.draw()
    cards = {card.of.key: card.plot for card in page.cards}
    said = {key: {event.text for event in plot._events if event.tone != "accent"} for key, plot in cards.items()}
    assert said["temp"] == {"GPU 0 hot", "GPU 1", "GPU 2"}
    assert said["util"] == {"GPU 0", "GPU 1", "GPU 2 Xid 48"}
    assert said["mem"] == {"GPU 0", "GPU 1 memory errors", "GPU 2"}
    page.layout_.buttons[1].click()
    page.draw()
    own = {(card.of.key, card.gpus): card.plot for card in page.cards}
    assert {event.text for event in own["util", (2,)]._events if event.tone != "accent"} == {"GPU 2 Xid 48"}


def test_several_alarms_are_one_sentence_whose_advice_unfolds(monitor, qtbot):
    window, page = monitor
    sick = {"temp": 95, "temp_max": 83, "temp_slow": 90, "ecc_uncorrected": 3, "remap_pending": True, "throttle": ()}
    now = time.time()
    feed(window, *(sample(gpu(**sick), t=now - 12 + i) for i in range(12)))
    qtbot.waitUntil(lambda: page.subtitle.text().endswith(" · and 2 more"), timeout=10_000)
    advice = page.advice
    assert advice.button.isVisible()
    assert not advice.alarms.isVisible()
    advice.button.click()
    first, *others = advice.alarms.rows.values()
    assert first.fix.isVisible()
    assert not others[0].isVisible()
    advice.alarms.more.click()
    assert others[0].isVisible()


def test_the_sentence_and_the_pill_say_how_the_card_is(worked, qtbot):
    _, page = worked
    # A sample of before may have been on its way.
    said = "NVIDIA GeForce RTX 4060 · Your GPU is hot and slows itself down"
    qtbot.waitUntil(lambda: page.subtitle.text() == said, timeout=10_000)
    assert page.pill.kind == "warn"


def test_a_benchmark_of_before_is_marked(monitor, app, qtbot):
    window, page = monitor
    app.kept = [replace(cpu_benchmark(), started=time.time() - 300, seconds=60.0)]
    page.look()
    feed(window, sample(gpu()))
    qtbot.waitUntil(lambda: "benchmark" in {event.text for event in page.cards[0].plot._events}, timeout=5000)


def test_side_by_side_each_gpu_has_plots_of_its_own(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    assert page.layout_.isVisible()
    page.layout_.buttons[1].click()
    assert [(card.of.key, card.gpus) for card in page.cards[:4]] == [
        ("util", (0,)),
        ("util", (1,)),
        ("mem", (0,)),
        ("mem", (1,)),
    ]


def test_of_eight_gpus_four_are_drawn_and_others_can_be_picked(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(8))))
    assert page.cards[0].gpus == (0, 1, 2, 3)
    assert not page.heads[6].button.isHidden()
    page.heads[6].button.click()
    assert page.cards[0].gpus == (1, 2, 3, 6)
    page.heads[1].button.click()
    assert page.cards[0].gpus == (2, 3, 6)
    looks = {(line.colour, line.dash) for line in (line_of(place, 0, fill=False) for place in range(8))}
    assert len(looks) == 8


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


def test_of_eight_gpus_those_that_are_not_well_are_drawn(monitor, qtbot):
    window, page = monitor
    hot = {"temp": 90, "temp_max": 83}
    now = time.time()
    for second in range(10):
        feed(window, sample(*(gpu(index, **(hot if index == 6 else {})) for index in range(8)), t=now - 10 + second))
    qtbot.waitUntil(lambda: page.picked == [0, 1, 2, 6], timeout=30_000)
    page.heads[7].button.click()
    feed(window, sample(*(gpu(index) for index in range(8))))
    assert page.picked == [1, 2, 6, 7]


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


def test_the_table_of_many_gpus_keeps_its_heads_whole(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(4))))
    page.controls.twin.click()
    head = page.table.horizontalHeader()
    assert all(head.sectionSize(i) >= head.sectionSizeHint(i) for i in range(head.count()))


def test_the_picture_says_what_it_is_and_has_no_buttons(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(8))))
    seen = page.content.grab().toImage()
    picture = page.picture()
    assert picture.width() == seen.width()
    assert all(head.button.isVisibleTo(head) for head in page.heads)
    corner = [picture.pixelColor(x, y).name() for x in range(16, 120) for y in range(10, 40)]
    assert theme.color("text").name() in corner


def test_plots_are_saved_as_a_picture(worked, tmp_path, qtbot):
    _, page = worked
    with qtbot.waitSignal(page.exports.saved, timeout=10_000):
        page.exports.save_picture(page.picture(), tmp_path / "plots.png")
    saved = QImage(str(tmp_path / "plots.png"))
    assert (saved.width(), saved.height()) > (600, 300)
    assert "plots.png" in page.said.label.text()


def test_figures_are_saved_as_a_table(worked, tmp_path, qtbot):
    window, page = worked
    seen = window.area.sampling.history
    with qtbot.waitSignal(page.exports.saved, timeout=10_000):
        page.exports.save_table(seen.store, 600, tmp_path / "figures.csv", seen.gpus())
    head, *rows = (tmp_path / "figures.csv").read_text("utf-8-sig").splitlines()
    assert "GPU 0 NVIDIA GeForce RTX 4060.temp" in head
    assert len(rows) >= 118


def test_what_cannot_be_saved_is_said(worked, tmp_path, qtbot):
    window, page = worked
    (tmp_path / "a").write_text("a file")
    with qtbot.waitSignal(page.exports.failed, timeout=10_000):
        page.exports.save_table(window.area.sampling.history.store, 600, tmp_path / "a" / "figures.csv")
    assert page.said.kind == "warn"
    assert page.said.isVisible()


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


def test_what_was_saved_is_told_for_a_while_what_was_not_until_it_is_closed(monitor, tmp_path, qtbot):
    _, page = monitor
    page.exports.saved.emit(tmp_path / "plots.png")
    assert page.said.isVisible()
    page.said.gone.start(1)
    qtbot.waitUntil(lambda: not page.said.isVisible(), timeout=5000)
    page.exports.failed.emit(AppError("disk-full", path="D:"))
    assert page.said.isVisible()
    assert not page.said.gone.isActive()
    page.said.button.click()
    assert not page.said.isVisible()


@pytest.mark.parametrize(("state", "word"), [("version-mismatch", "driver updated"), ("hung", "driver hung")])
def test_why_the_driver_told_nothing_is_marked(monitor, state, word):
    window, page = monitor
    window.area.sampling.hurry()
    now = time.time()
    feed(window, *(sample(gpu(), t=now - 120 + second) for second in range(60)))
    silent = GpuSample(index=0, name="NVIDIA GeForce RTX 4060", state="silent")
    feed(window, *(sample(silent, t=now - 60 + second) for second in range(30)), state=state)
    feed(window, *(sample(gpu(), t=now - 30 + second) for second in range(30)))
    page._marker.forget()
    page.draw()
    plot = next(card.plot for card in page.cards if card.of.key == "util")
    (marked,) = [event for event in plot._events if event.text == word]
    assert marked.start == pytest.approx(now - 60, abs=2)
    assert marked.end == pytest.approx(now - 30, abs=2)


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
