"""Home shows the card that matters: the one that is not well, else the hottest."""

from __future__ import annotations

import pytest

from gpu_assistant.core.results import Alarm, Health
from gpu_assistant.gui.monitor.gpu_summary import HYSTERESIS_C, select_primary_gpu
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


def index(gpus, health=None, shown=None):
    found = select_primary_gpu(gpus, health, shown)
    return None if found is None else found.index


def alarmed(*gpus: int | None, level="warn") -> Health:
    alarms = tuple(Alarm(id="hot", level=level, gpu=each, since=0.0) for each in gpus)
    return Health(t=0.0, state="warn", alarms=alarms)


def test_hottest_gpu_selected_with_hysteresis():
    cards = (gpu(0, temp=50), gpu(1, temp=70), gpu(2, temp=None))
    assert index(()) is None
    assert index(cards) == 1
    assert index((gpu(0, temp=70), gpu(1, temp=70 + HYSTERESIS_C - 1)), shown=0) == 0
    assert index((gpu(0, temp=70), gpu(1, temp=70 + HYSTERESIS_C)), shown=0) == 1


def test_worst_alarm_outranks_temperature():
    cards = (gpu(0, temp=50), gpu(1, temp=80), gpu(2, temp=None, state="lost"))
    assert index(cards, alarmed(None, 0, 1)) == 0
    assert index(cards, alarmed(0, level="info")) == 1
    assert index(cards, alarmed(2)) == 2


def test_removed_gpu_is_never_selected():
    cards = (gpu(0, temp=50), gpu(1, temp=None, state="gone"))
    assert index(cards, alarmed(1)) == 0
    assert index(cards, alarmed(1), shown=1) == 0


def test_home_shows_gpu_name_and_index(home, app, seen):
    window, page = home(app)
    feed(window, sample(gpu(0, temp=50), gpu(1, temp=85)))
    assert "GPU 1 · NVIDIA GeForce RTX 4060" in seen(page.live_card)
    assert {figure.gpu for figure in page.live_card.metrics} == {1}
    feed(window, sample(gpu(0)))
    assert "GPU 0" not in seen(page.live_card)
