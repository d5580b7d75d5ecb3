"""Events on the time axis: alarms of the past, errors, installs, benchmarks."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QRect

from gpu_assistant.core.results import GpuSample, Health
from gpu_assistant.gui.monitor.alarms import ALARM_METRICS
from gpu_assistant.gui.monitor.plot.annotations import MISSING, RULES, SILENT, AnnotationSource, Event
from gpu_assistant.gui.monitor.plot.legend import EVENT_WIDTH, EventLegendRow, Readout
from gpu_assistant.gui.monitor.plot.time_axis import TimeAxis
from gpu_assistant.gui.monitor.sampling import SamplingService
from gpu_assistant.monitor.history import History
from tests.fakes.examples import cpu_benchmark
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


def test_events_are_marked(worked):
    _, page = worked
    cards = {card.plotted_metric.key: card.plot for card in page.plot_cards}
    texts = {key: {event.text for event in plot.events if event.text} for key, plot in cards.items()}
    assert texts["temp"] == {"slowed by heat", "install"}
    assert texts["power"] == {"power limit", "install"}
    assert texts["cpu"] == {"install"}
    # Every plot is shaded; the key above them says why.
    assert {(event.tone, event.hatch) for event in cards["util"].events} == {
        ("warn", "rising"),
        ("soft", "plain"),
        ("accent", "plain"),
    }
    key = {sign.accessibleName() for sign in page.plots.readout.findChildren(EventLegendRow) if not sign.isHidden()}
    # The install was before; what is only for information has its text in the one plot that shows it.
    assert key == {"slowed by heat"}
    assert all(event.end == float("inf") for event in cards["temp"].events if event.tone == "warn")
    assert cards["temp"].limit.text == "slows at 88 °C"


def test_each_state_has_its_own_sign_in_the_key(qtbot, language):
    """Those of one colour differ in how they are shaded."""
    assert RULES.keys() <= ALARM_METRICS.keys()  # each has a plot that shows its text
    shadings = {(tone, hatch) for _, tone, hatch in RULES.values()}
    shadings |= {(tone, hatch) for _, tone, hatch in MISSING.values()}
    shadings |= {("error", hatch) for _, hatch in SILENT.values()}
    assert len(shadings) == len(RULES) + len(MISSING) + len(SILENT)
    readout = Readout()
    qtbot.addWidget(readout)
    events = (("hot", "plain", 1.0), ("slowed by heat", "rising", 3.0), ("hot", "plain", 5.0))
    readout.show_key([Event(start=t, end=9.0, text=text, tone="warn", hatch=hatch) for text, hatch, t in events])
    signs = readout.findChildren(EventLegendRow)
    assert [sign.accessibleName() for sign in signs] == ["slowed by heat", "hot"]  # the graver one first
    symbols = [sign.grab(QRect(0, 0, EVENT_WIDTH, sign.height())).toImage() for sign in signs]
    assert symbols[0] != symbols[1]


def test_a_text_above_the_plots_takes_no_width_from_the_time(qtbot):
    """Large text leaves hardly more than the time needs, which does not wrap."""
    readout = Readout()
    qtbot.addWidget(readout)
    readout.show_time("Values at 01:24:57", "GPU 6 and 7: slowed by heat")
    time_label = readout.time_label
    readout.resize(time_label.sizeHint().width() + 20, 40)
    readout.show()
    assert time_label.width() >= time_label.sizeHint().width()


def test_events_follow_language(worked, language, qtbot):
    _, page = worked
    language.set("zh_CN")
    plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "cpu")
    qtbot.waitUntil(lambda: {event.text for event in plot.events if event.text} == {"安装"}, timeout=5000)


def test_events_are_due_once_history_is_read(app, language):
    sampling, now = SamplingService(app.sampler, History), time.time()
    annotations, time_axis = AnnotationSource(app, sampling, sampling), TimeAxis()
    samples = [sample(gpu(temp=90, temp_max=88), t=now - 20 + i) for i in range(20)]
    for each in samples:
        sampling.deliver(each, Health(t=each.t, state="well"))
    assert annotations.events_if_due(time_axis, [0]) == ()
    assert annotations.events_if_due(time_axis, [0]) is None  # too early
    for each in samples:
        sampling.writer.add_sample(each)
    assert "hot" in {event.text for event in annotations.events_if_due(time_axis, [0])}


def test_pause_of_sampling_is_explained_by_the_key(monitor):
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    seconds = [*range(0, 60), *range(100, 160)]
    feed(window, *(sample(gpu(temp=50), t=now - 160 + second) for second in seconds))
    page.annotations.invalidate()
    page.draw()
    for card in page.plot_cards:
        (pause,) = (event for event in card.plot.events if event.hatch == "dotted")
        assert (pause.start, pause.end) == (pytest.approx(now - 101, abs=2), pytest.approx(now - 60, abs=2))
        assert pause.text == ""
    key = {sign.accessibleName() for sign in page.plots.readout.findChildren(EventLegendRow) if not sign.isHidden()}
    assert "no data" in key


def test_power_limit_marked_only_if_reached(monitor):
    """As the rule of the alarm judges: its thresholds are data."""
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    resting = {"util": 30, "power_w": 63.0, "throttle": ("power-cap",)}
    starved = {"util": 97, "power_w": 63.0, "throttle": ("power-cap",), "clock_sm": 600, "clock_sm_max": 3105}
    full = {**starved, "power_w": 113.0, "clock_sm": 2700}
    parts = [resting] * 30 + [starved] * 40 + [full] * 30
    feed(window, *(sample(gpu(**part), t=now - 100 + i) for i, part in enumerate(parts)))
    page.annotations.invalidate()
    page.draw()
    plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "power")
    marked = {event.text: event for event in plot.events if event.text not in ("", "install")}
    assert set(marked) == {"too little power", "power limit"}
    assert marked["power limit"].start == pytest.approx(now - 30, abs=2)
    assert marked["too little power"].end == pytest.approx(now - 30, abs=2)


def test_condition_shorter_than_its_rule_is_not_marked(monitor):
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    calm, still, hot = {"temp": 60}, {"temp": 75, "fan": 0}, {"temp": 87}
    parts = [calm] * 5 + [hot] * 4 + [calm] * 10 + [hot] * 9 + [calm] * 8 + [still] * 8 + [calm] * 8 + [still] * 15
    feed(window, *(sample(gpu(temp_max=88, **part), t=now - len(parts) + i) for i, part in enumerate(parts)))
    page.annotations.invalidate()
    page.draw()
    plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "temp")
    marked = sorted(
        ((event.text, event.start) for event in plot.events if event.text not in ("", "install")),
        key=lambda mark: mark[1],
    )
    began = now - len(parts)
    assert marked == [
        ("hot", pytest.approx(began + 19, abs=2)),
        ("fan stopped", pytest.approx(began + 52, abs=2)),
    ]


def test_event_ends_with_alarm_and_worse_one_hides_it(monitor):
    """`hot` begins 2 °C before the limit and ends 5 °C below it; being slowed down says it already."""
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    calm, hot, warm = {"temp": 60}, {"temp": 87}, {"temp": 84}
    slowed = {"temp": 87, "util": 97, "throttle": ("thermal",)}
    dying = {"temp": 99}
    parts = [hot] * 10 + [warm] * 20 + [calm] * 3 + [warm] * 20 + [calm] * 20 + [warm] * 10 + [calm] * 10
    parts += [hot] * 12 + [slowed] * 20 + [calm] * 10 + [dying] * 15
    feed(
        window,
        *(sample(gpu(temp_max=88, temp_slow=95, **part), t=now - len(parts) + i) for i, part in enumerate(parts)),
    )
    page.annotations.invalidate()
    page.draw()
    plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "temp")
    began = now - len(parts)
    marked = sorted(
        (event.start - began, event.end - began, event.text)
        for event in plot.events
        if event.text not in ("", "install")
    )
    assert marked == [
        (pytest.approx(0, abs=2), pytest.approx(53, abs=2), "hot"),
        (pytest.approx(93, abs=2), pytest.approx(105, abs=2), "hot"),
        (pytest.approx(105, abs=2), pytest.approx(125, abs=2), "slowed by heat"),
        (pytest.approx(135, abs=2), float("inf"), "far too hot"),
    ]


def test_events_name_their_gpu(monitor, qtbot):
    window, page = monitor
    window.main_area.sampling.load_now()
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
    page.annotations.invalidate()
    page.draw()
    cards = {card.plotted_metric.key: card.plot for card in page.plot_cards}
    texts = {key: {event.text for event in plot.events if event.tone != "accent"} for key, plot in cards.items()}
    # In the plot of another metric nothing would say whose state it is.
    assert texts["temp"] == {"GPU 0: hot"}
    assert texts["util"] == {"GPU 2: Xid 48"}
    assert texts["mem"] == {"GPU 1: memory errors"}
    page.layout_control.buttons[1].click()
    qtbot.waitUntil(lambda: len(page.plot_cards) == 3 * 4 + 2, timeout=5000)
    page.draw()
    own = {(card.plotted_metric.key, card.gpus): card.plot for card in page.plot_cards}
    assert {event.text for event in own["util", (2,)].events if event.tone != "accent"} == {"GPU 2: Xid 48"}


def test_stored_benchmark_is_marked(monitor, app, qtbot):
    window, page = monitor
    app.stored = [replace(cpu_benchmark(), started=time.time() - 300, seconds=60.0)]
    page.reload()
    feed(window, sample(gpu()))
    qtbot.waitUntil(lambda: "benchmark" in {event.text for event in page.plot_cards[0].plot.events}, timeout=5000)


@pytest.mark.parametrize(("state", "word"), [("version-mismatch", "driver updated"), ("hung", "driver hung")])
def test_driver_state_without_samples_is_marked(monitor, state, word):
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    feed(window, *(sample(gpu(), t=now - 120 + second) for second in range(60)))
    silent = GpuSample(index=0, name="NVIDIA GeForce RTX 4060", state="silent")
    feed(window, *(sample(silent, t=now - 60 + second) for second in range(30)), state=state)
    feed(window, *(sample(gpu(), t=now - 30 + second) for second in range(30)))
    page.annotations.invalidate()
    page.draw()
    plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "util")
    (marked,) = [event for event in plot.events if event.text == word]
    assert marked.start == pytest.approx(now - 60, abs=2)
    assert marked.end == pytest.approx(now - 30, abs=2)


def test_removed_gpu_is_not_marked_as_lost(monitor):
    window, page = monitor
    window.main_area.sampling.load_now()
    now = time.time()
    feed(window, *(sample(gpu(), t=now - 120 + second) for second in range(60)))
    gone = GpuSample(index=0, name="NVIDIA GeForce RTX 4060", state="gone")
    feed(window, *(sample(gone, t=now - 60 + second) for second in range(30)))
    feed(window, *(sample(gpu(), t=now - 30 + second) for second in range(30)))
    page.annotations.invalidate()
    page.draw()
    plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "util")
    (marked,) = [event for event in plot.events if event.text in ("no longer responds", "no longer there")]
    assert marked.text == "no longer there"
    assert marked.start == pytest.approx(now - 60, abs=2)
    assert marked.end == pytest.approx(now - 30, abs=2)


def test_event_keeps_its_text_if_gpu_is_lost(monitor):
    """A lost card tells its limits no more."""
    window, page = monitor
    window.main_area.sampling.load_now()
    now, texts = time.time(), []
    feed(window, *(sample(gpu(temp=101, temp_max=88, temp_shutdown=95), t=now - 60 + second) for second in range(50)))
    for lost in (False, True):
        if lost:
            feed(window, sample(GpuSample(index=0, uuid=gpu().uuid, name=gpu().name, state="lost"), t=now - 5))
        page.annotations.invalidate()
        page.draw()
        plot = next(card.plot for card in page.plot_cards if card.plotted_metric.key == "temp")
        texts.append({event.text for event in plot.events if event.text and event.tone != "accent"})
    assert texts[0] == texts[1] == {"far too hot"}
