"""A driver that is slow or hangs: said in time, nothing else waits for it, and it is taken up again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gpu_assistant.core.results import Sample
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system.nvml.monitor import NvmlMonitor

from ..fakes.system import FakeSystem
from .scenario import Scenario

WAIT_S = 0.05


@contextmanager
def sampling(scenario: Scenario, hung_s: float = 60.0, wait_s: float = WAIT_S) -> Iterator[Sampler]:
    sampler = Sampler(NvmlMonitor(FakeSystem(), library=scenario.library), wait_s=wait_s, hung_s=hung_s)
    try:
        yield sampler
    finally:
        scenario.set(hang=None, delay=None)
        sampler.close()
        for thread in threading.enumerate():
            if thread.name == "nvml":
                thread.join(10)
                assert not thread.is_alive()


def until(sampler: Sampler, enough: Callable[[Sample], bool]) -> Sample:
    """Asks until it is so; the test's own time limit ends it."""
    while not enough(sample := sampler.sample()):
        pass
    return sample


def test_hung_driver_is_reported_and_recovers(scenario: Scenario) -> None:
    scenario.card()
    with sampling(scenario, hung_s=4 * WAIT_S) as sampler:
        well = until(sampler, lambda sample: sample.nvml == "ready")
        assert well.gpus[0].util == 37
        scenario.set(hang="nvmlDeviceGetTemperature")
        slow = sampler.sample()
        assert slow.nvml == "slow"
        assert [(gpu.state, gpu.name, gpu.util) for gpu in slow.gpus] == [("silent", well.gpus[0].name, None)]
        assert slow.ram_used is not None
        hung = until(sampler, lambda sample: sample.nvml != "slow")
        assert hung.nvml == "hung"
        scenario.set(hang=None)
        assert until(sampler, lambda sample: sample.nvml == "ready").gpus[0].util == 37


def test_hung_driver_is_awaited_only_once(scenario: Scenario) -> None:
    scenario.card()
    with sampling(scenario, wait_s=1.0) as sampler:
        until(sampler, lambda sample: sample.nvml == "ready")
        scenario.set(hang="nvmlDeviceGetUtilizationRates")
        assert sampler.sample().nvml == "slow"
        began = time.monotonic()
        assert {sampler.sample().nvml for _ in range(50)} == {"slow"}
        assert time.monotonic() - began < 25  # half of what it would take to wait each time


def test_unanswered_gpu_has_a_name(scenario: Scenario) -> None:
    scenario.card()
    scenario.set(hang="nvmlDeviceGetUtilizationRates")
    with sampling(scenario) as sampler:
        named = until(sampler, lambda sample: sample.gpus != ())
        assert [(gpu.state, gpu.name) for gpu in named.gpus] == [("silent", "NVIDIA GeForce RTX 4060")]
        assert named.nvml in ("slow", "hung")


def test_slow_driver_answers_late(scenario: Scenario) -> None:
    scenario.card()
    scenario.set(delay="10")  # a sample takes half a second
    with sampling(scenario) as sampler:
        assert sampler.sample().nvml == "slow"
        assert until(sampler, lambda sample: sample.nvml == "ready").gpus[0].temp == 51


@pytest.mark.parametrize("function", ["nvmlInitWithFlags", "nvmlDeviceGetCount_v2"])
def test_driver_hangs_on_init(scenario: Scenario, function: str) -> None:
    scenario.card()
    scenario.set(hang=function)
    with sampling(scenario, hung_s=0.0) as sampler:
        assert (sampler.sample().nvml, sampler.sample().gpus) == ("hung", ())
        scenario.set(hang=None)
        assert len(until(sampler, lambda sample: sample.nvml == "ready").gpus) == 1


def test_close_does_not_wait_for_hung_driver(scenario: Scenario) -> None:
    scenario.card()
    with sampling(scenario) as sampler:
        scenario.set(hang="nvmlInitWithFlags")
        sampler.sample()
        sampler.close()
        scenario.set(hang=None)
        # Once it comes back, what it opened is closed.
    calls = scenario.calls()
    assert calls.count("nvmlInitWithFlags") == calls.count("nvmlShutdown") == 1
