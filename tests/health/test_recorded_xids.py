"""An error that the driver reported rings on where the program, or its session with the driver, begins anew."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.app.monitoring import HealthEvaluator
from gpu_assistant.core.results import Alarm, HealthState
from gpu_assistant.health.baselines import last_reported_xid
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.history_writer import HistoryWriter
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem
from ..nvml.scenario import Scenario
from .samples import RULES


class Window:
    """What a window does with each sample: keep it, then judge it. Its clock goes on by a second with every one."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self._app, self._scenario = App(data_dir=str(folder)), scenario
        self.now = time.time()
        self.start()

    def start(self) -> None:
        """As a new process, which knows nothing but what is on the disk."""
        self._recorder = HistoryWriter(
            lambda: History(self._app.data.history, clock=lambda: self.now), load_delay_s=3.0
        )
        self._judge = HealthEvaluator(self._app.monitoring.health_monitor, self._app.monitoring.load_baselines)
        self.open()

    def open(self) -> None:
        """A new session with the driver, which tells nothing of what was before."""
        nvml = NvmlMonitor(
            FakeSystem(), library=self._scenario.library, clock=lambda: self.now, wall_clock=lambda: self.now
        )
        self._sampler = Sampler(nvml, lambda: self.now, wait_s=60.0, hung_s=120.0)

    def pause(self) -> None:
        self._sampler.close()
        self._recorder.flush()

    def quit(self) -> None:
        self._sampler.close()
        self._recorder.close()

    def sample_for(self, seconds: int, **changes: Any) -> list[Alarm]:
        self.states: list[HealthState] = []
        for _ in range(seconds):
            self.now += 1
            sample = replace(self._sampler.sample(), **changes)
            self._recorder.add_sample(sample)
            health = self._judge.evaluate(sample, self._recorder.history)
            assert health is not None
            self.states.append(health.state)
        self.reported = health.reported
        return list(health.alarms)


@pytest.fixture
def window(scenario: Scenario, tmp_path: Path) -> Iterator[Window]:
    """A window that looked for a while, and saw the driver report an error; `now` is when."""
    scenario.card(events="1", xid="13 1")
    window = Window(scenario, tmp_path / "data")
    assert window.sample_for(5) == []
    scenario.card(xid="79 2")
    (alarm,) = window.sample_for(3)
    assert alarm.id == "xid-card"
    yield window
    window.quit()


def test_xid_alarm_survives_restart_until_expiry(window: Window) -> None:
    (before,) = window.sample_for(1)
    time_text = time.strftime("%H:%M", time.localtime(window.now - 3))
    window.quit()
    window.now += 600
    window.start()
    (alarm,) = window.sample_for(8)
    assert (alarm.id, alarm.data["xid"]) == ("xid-card", 79)
    known = window.reported[0]
    assert (known[0], time.strftime("%H:%M", time.localtime(known[1]))) == (79, time_text)
    for language in ("en", "zh_CN"):
        for each in (before, alarm):
            evidence = Texts(language).localize_alarm(each).evidence or ""
            assert time_text in evidence
            assert "79" in evidence
    window.now += 3600
    assert window.sample_for(3) == []


def test_state_is_unknown_until_history_is_loaded(window: Window) -> None:
    window.quit()
    window.now += 600
    window.start()
    assert [alarm.id for alarm in window.sample_for(5)] == ["xid-card"]
    assert window.states == ["unknown", "unknown", "unknown", "error", "error"]


def test_late_gpu_gets_its_recorded_xid(window: Window) -> None:
    window.quit()
    window.start()
    assert window.sample_for(5, gpus=()) == []
    assert [alarm.id for alarm in window.sample_for(1)] == ["xid-card"]


def test_xid_alarm_survives_new_driver_session(window: Window) -> None:
    window.pause()
    window.now += 300
    window.open()
    assert [alarm.id for alarm in window.sample_for(3)] == ["xid-card"]


def test_xid_before_boot_is_ignored(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    window.quit()
    window.now += 120
    monkeypatch.setattr(psutil, "boot_time", lambda: window.now - 30)
    window.start()
    assert window.sample_for(8) == []


def test_newest_xid_counts() -> None:
    now = time.time() // 1
    history = History(clock=lambda: now)
    for second, number in enumerate((48, 48, 0, 79, 79, 0, 31, 31, 0, 0)):
        history.add(now - 20 + second, {"gpu0.xid": float(number), "gpu1.xid": 48.0})
    assert last_reported_xid(history, "gpu0", now, RULES, since=0.0) == (31, now - 20 + 6.5)
    assert last_reported_xid(history, "gpu0", now, RULES, since=now - 13) is None
    assert last_reported_xid(history, "gpu1", now, RULES, since=0.0) is None
    assert last_reported_xid(history, "gpu2", now, RULES, since=0.0) is None
