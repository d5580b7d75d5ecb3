"""The live card of Home: the primary GPU, the last minute, no plots to load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpu_assistant.core.results import Alarm, Health
from gpu_assistant.gui.monitor.history_model import SampleHistory
from gpu_assistant.gui.monitor.live_card import HYSTERESIS_C, LiveMetricsCard, select_primary_gpu
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


def primary_index(gpus, health=None, current=None):
    primary = select_primary_gpu(gpus, health, current)
    return None if primary is None else primary.index


def health_with_alarms(*gpus: int | None, level="warn") -> Health:
    alarms = tuple(Alarm(id="hot", level=level, gpu=each, since=0.0) for each in gpus)
    return Health(t=0.0, state="warn", alarms=alarms)


def test_hottest_gpu_selected_with_hysteresis():
    cards = (gpu(0, temp=50), gpu(1, temp=70), gpu(2, temp=None))
    assert primary_index(()) is None
    assert primary_index(cards) == 1
    assert primary_index((gpu(0, temp=70), gpu(1, temp=70 + HYSTERESIS_C - 1)), current=0) == 0
    assert primary_index((gpu(0, temp=70), gpu(1, temp=70 + HYSTERESIS_C)), current=0) == 1


def test_worst_alarm_outranks_temperature():
    cards = (gpu(0, temp=50), gpu(1, temp=80), gpu(2, temp=None, state="lost"))
    assert primary_index(cards, health_with_alarms(None, 0, 1)) == 0
    assert primary_index(cards, health_with_alarms(0, level="info")) == 1
    assert primary_index(cards, health_with_alarms(2)) == 2


def test_removed_gpu_is_never_selected():
    cards = (gpu(0, temp=50), gpu(1, temp=None, state="gone"))
    assert primary_index(cards, health_with_alarms(1)) == 0
    assert primary_index(cards, health_with_alarms(1), current=1) == 0


def test_home_shows_gpu_name_and_index(home, app, seen):
    window, page = home(app)
    feed(window, sample(gpu(0, temp=50), gpu(1, temp=85)))
    assert "GPU 1 · NVIDIA GeForce RTX 4060" in seen(page.live_card)
    assert {figure.gpu for figure in page.live_card.metrics} == {1}
    feed(window, sample(gpu(0)))
    assert "GPU 0" not in seen(page.live_card)


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
