"""A card's own past: learned from even load alone, told apart by load, and compared only with the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from gpu_assistant.health.baselines import DAY_S, baseline_from_history, learn_baseline
from gpu_assistant.monitor.history import History

from .samples import BUSY, RULES, START, Time

SETTLING = RULES.settling
NOW = START


def month(days: int, temp: float, load: float, *, minutes: int = 120, noise: float = 0.0) -> tuple[np.ndarray, ...]:
    """On each of the days before NOW, some minutes of work."""
    rng = np.random.default_rng(3)
    t = np.concatenate([NOW - day * DAY_S + 60.0 * np.arange(minutes) for day in range(days, 0, -1)])
    return t, np.full(len(t), temp), load + rng.normal(0, 1, len(t)) * noise


def test_baseline_by_load() -> None:
    t, temp, load = month(20, 66.0, 0.85)
    assert learn_baseline(t, temp, load, NOW, SETTLING) == {8: pytest.approx(66.0)}


def test_short_history_has_no_baseline() -> None:
    assert learn_baseline(*month(4, 66.0, 0.85), NOW, SETTLING) == {}  # the last two days do not count
    assert learn_baseline(*month(20, 66.0, 0.85, minutes=10), NOW, SETTLING) == {}
    assert learn_baseline(*month(20, 66.0, 0.1), NOW, SETTLING) == {}  # at rest fans do as they like
    assert learn_baseline(np.array([]), np.array([]), np.array([]), NOW, SETTLING) == {}


def test_unsteady_load_is_ignored() -> None:
    t, temp, _ = month(20, 66.0, 0.85)
    swinging = np.where(np.arange(len(t)) // 5 % 2, 0.4, 0.9)
    assert learn_baseline(t, temp, swinging, NOW, SETTLING) == {}


def test_gaps_reset_steady_state() -> None:
    t, temp, load = month(20, 66.0, 0.85)
    temp[::9] = np.nan
    assert learn_baseline(t, temp, load, NOW, SETTLING) == {}


def test_single_hot_day_is_not_baseline() -> None:
    t, temp, load = month(20, 66.0, 0.85)
    temp[: 2 * 120] = 80.0
    assert learn_baseline(t, temp, load, NOW, SETTLING)[8] == pytest.approx(66.0)


def test_baseline_from_history(tmp_path: Path) -> None:
    history = History(tmp_path, clock=lambda: NOW)
    for day in range(10, 0, -1):
        for minute in range(60):
            for half in (0.0, 30.0):
                moment = {"gpu0.temp": 66.0, "gpu0.power_w": 98.0, "gpu0.power_limit_w": 115.0, "gpu0.util": 97}
                history.add(NOW - day * DAY_S + 60 * minute + half, moment)
    assert baseline_from_history(history, "gpu0", NOW, SETTLING) == {8: pytest.approx(66.0, rel=1e-3)}
    assert baseline_from_history(history, "gpu1", NOW, SETTLING) == {}


def test_hotter_than_baseline_rings() -> None:
    time = Time()
    time.watch.set_baseline(0, {8: 66.0})
    time.passes(900, replace(BUSY, temp=70))
    assert time.rings() == set()
    health = time.passes(900, replace(BUSY, temp=76))
    assert [alarm.id for alarm in health.alarms] == ["hotter-than-before"]
    assert health.alarms[0].data["usual"] == 66.0
    # Under another load nothing is known, and it ends.
    time.passes(60, replace(BUSY, temp=76, power_w=60.0))
    assert time.passes(300, replace(BUSY, temp=76, power_w=60.0)).alarms == ()


def test_warm_up_is_ignored() -> None:
    time = Time()
    time.watch.set_baseline(0, {8: 50.0})
    assert not any(health.alarms for health in time.moments(10 * 60 - 5, BUSY))
