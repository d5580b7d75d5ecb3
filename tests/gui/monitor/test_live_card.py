"""The live card of Home: the primary GPU, the last minute, no plots to load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpu_assistant.core.results import Alarm, Health
from gpu_assistant.gui.monitor.gpu_rows import select_gpus
from gpu_assistant.gui.monitor.history_model import SampleHistory
from gpu_assistant.gui.monitor.live_card import LiveMetricsCard
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.history_writer import HistoryWriter
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui

LOADED_BY_HOME = """
import sys
import gpu_assistant.gui.main.main_area
print([name for name in ("numpy", "pyqtgraph") if name in sys.modules])
"""


def test_home_loads_no_plot_library():
    result = subprocess.run(
        [sys.executable, "-c", LOADED_BY_HOME], capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.stdout.strip(), result.stderr) == ("[]", "")


def health_with_alarms(*gpus: int | None, level="warn") -> Health:
    alarms = tuple(Alarm(id="hot", level=level, gpu=each, since=0.0) for each in gpus)
    return Health(t=0.0, state="warn", alarms=alarms)


def test_of_many_gpus_those_with_alarms_have_the_first_rows():
    cards = tuple(gpu(index) for index in range(8))
    assert [each.index for each in select_gpus(cards, None)] == [0, 1, 2, 3]
    assert [each.index for each in select_gpus(cards, health_with_alarms(None, 6, 2))] == [6, 2, 0, 1]
    assert [each.index for each in select_gpus(cards, health_with_alarms(6, level="info"))] == [0, 1, 2, 3]
    assert [each.index for each in select_gpus(cards[:3], health_with_alarms(2))] == [0, 1, 2]


def test_home_names_the_gpus_and_has_a_row_for_each(home, app, seen, qtbot):
    window, page = home(app)
    feed(window, sample(gpu(0, temp=50), gpu(1, temp=85)))
    assert "2 NVIDIA GeForce RTX 4060 GPUs" in seen(page.live_card)
    qtbot.waitUntil(lambda: "GPU 0" in seen(page.live_card) and "GPU 1" in seen(page.live_card), timeout=5000)
    assert page.live_card.metrics == []
    feed(window, sample(gpu(0)))
    assert "GPU 0" not in seen(page.live_card)
    assert {figure.gpu for figure in page.live_card.metrics} == {0}


@pytest.mark.parametrize("level", ["info", "warn", "error"])
def test_value_of_an_alarm_has_its_colour(qtbot, level):
    card, history = LiveMetricsCard(), SampleHistory(HistoryWriter(History))
    qtbot.addWidget(card)
    tone = "text" if level == "info" else level
    history.add(sample(gpu(0, temp=89), t=1000.0))
    card.show_history(history, health_with_alarms(0, level=level))
    tones = {metric.metric_spec.key: metric.value_widget.tone for metric in card.metrics}
    assert tones == {"util": "text", "mem": "text", "temp": tone, "power": "text"}
    card.show_history(history, None)
    assert {metric.value_widget.tone for metric in card.metrics} == {"text"}
    history.add(sample(gpu(0, temp=50), gpu(1, temp=89), t=1001.0))
    card.show_history(history, health_with_alarms(1, level=level))
    assert [row.values[2].tone for row in card.gpu_rows.rows] == ["text", tone]


def test_first_minute_sparklines_span_available_data(qtbot):
    card, history = LiveMetricsCard(), SampleHistory(HistoryWriter(History))
    qtbot.addWidget(card)
    spans = []
    for second in range(90):
        history.add(sample(gpu(), t=1000.0 + second))
        card.show_history(history, None)
        spans.append((card.span_label.text(), {metric.sparkline.span for metric in card.metrics}))
    assert spans[5] == ("last 5 seconds", {5})
    assert spans[0][0] == "last 2 seconds"
    assert spans[-1] == ("last 60 seconds", {60})
