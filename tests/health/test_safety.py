"""Looking on while cards work: where a test stops, what is kept of a long one."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.health.child_protocol import speed_loss
from gpu_assistant.health.curves import make_curve
from gpu_assistant.health.monitor import HealthMonitor
from gpu_assistant.health.safety import MAX_POINTS, SAMPLE_INTERVAL_S, SafetyMonitor, stop_temperature

from .samples import BUSY, RULES

TESTS = RULES.tests


class ScriptedSampler:
    """Tells what it is given, each time the next; the last one again and again."""

    def __init__(self, *gpus: GpuSample) -> None:
        self._gpus = gpus
        self.count = 0
        self.exhausted = threading.Event()

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        gpu = self._gpus[min(self.count, len(self._gpus) - 1)]
        self.count += 1
        if self.count > len(self._gpus):
            self.exhausted.set()
        return Sample(t=0.0, gpus=(gpu,), nvml="ready")


class ScriptedMultiGpuSampler(ScriptedSampler):
    """The same with several cards at a time."""

    def __init__(self, *samples: tuple[GpuSample, ...]) -> None:
        super().__init__(*(gpus[0] for gpus in samples))
        self._samples = samples

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        gpus = self._samples[min(self.count, len(self._samples) - 1)]
        return replace(super().sample(), gpus=gpus)


class FastClock:
    """A steady clock on which a period passes with each question."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += SAMPLE_INTERVAL_S
        return self.now


def safety_monitor(sampler: ScriptedSampler, cancel: threading.Event | None = None) -> SafetyMonitor:
    return SafetyMonitor(
        sampler, cancel or threading.Event(), lambda gpu: 90.0, HealthMonitor(RULES), clock=FastClock()
    )


@pytest.mark.parametrize(
    ("gpu", "allowed", "limit"),
    [
        (BUSY, 80.0, 89),  # the card slows itself down at 90
        (replace(BUSY, temp_slow=None), 80.0, 88),  # the driver allows 83
        (replace(BUSY, temp_slow=None, temp_max=None), 85.0, 90),
        (replace(BUSY, temp_slow=None, temp_max=None), None, 90),
        (replace(BUSY, temp_slow=None, temp_max=None, temp_shutdown=None), None, TESTS.stop_unknown_c),
        (replace(BUSY, temp_slow=None, temp_max=None, temp_shutdown=92), None, 87),
    ],
)
def test_stop_temperature(gpu: GpuSample, allowed: float | None, limit: float) -> None:
    assert stop_temperature(gpu, TESTS, lambda _: allowed) == limit


def test_overheating_at_first_sample() -> None:
    with safety_monitor(ScriptedSampler(replace(BUSY, temp=90))) as watched:
        assert watched.stop.is_set()
    assert watched.overheating is not None
    assert (watched.overheating.temp, watched.overheating.limit) == (90, 90.0)


def test_below_limit_continues() -> None:
    sampler = ScriptedSampler(BUSY, replace(BUSY, temp=89))
    with safety_monitor(sampler) as watched:
        assert sampler.exhausted.wait(60)
    assert not watched.stop.is_set()
    assert watched.overheating is None
    assert [gpu.temp for _, gpu in watched.readings[0]][:2] == [68, 89]


def test_sleeping_gpu_is_not_lost() -> None:
    sampler = ScriptedSampler(GpuSample(index=0, state="asleep"), GpuSample(index=0, state="asleep"), BUSY)
    with safety_monitor(sampler) as watched:
        assert sampler.exhausted.wait(60)
    assert not watched.stop.is_set()
    assert watched.readings[0][0][1] == BUSY


def test_removed_gpu_ends_test_with_its_curve() -> None:
    """The second of two has its number from then on."""
    both = (BUSY, replace(BUSY, index=1, uuid="GPU-b", temp=40))
    gone = GpuSample(index=1, name=BUSY.name, uuid=BUSY.uuid, state="gone")
    sampler = ScriptedMultiGpuSampler(both, (replace(both[1], index=0), gone))
    with safety_monitor(sampler) as watched:
        assert watched.stop.wait(60)
    assert watched.lost_gpu == gone
    assert {gpu.uuid for _, gpu in watched.readings[0]} == {BUSY.uuid}


def test_cancel_sets_stop() -> None:
    cancel = threading.Event()
    with safety_monitor(ScriptedSampler(BUSY), cancel) as watched:
        cancel.set()
        assert watched.stop.wait(60)


def test_long_test_has_bounded_curve() -> None:
    sampler = ScriptedSampler(BUSY)
    watched = safety_monitor(sampler)
    for _ in range(3 * MAX_POINTS):
        watched.take_sample()
    points = watched.readings[0]
    assert MAX_POINTS / 2 <= len(points) <= MAX_POINTS
    assert points[0][0] == 1.0
    assert sampler.count == 3 * MAX_POINTS  # it looked each time all the same
    assert len(make_curve(points, ()).t) == len(points)


def test_speed_loss() -> None:
    falling = [(float(t), "float32", 10.0 - t / 10) for t in range(30)]
    assert speed_loss(falling) == pytest.approx(0.2 / 0.95, rel=0.05)
    assert speed_loss([(float(t), "float32", 1.0 + t) for t in range(30)]) == 0.0
    assert speed_loss(falling[:8]) is None
    assert speed_loss([]) is None


def test_stopped_fan_on_overheating_gpu_is_alarm() -> None:
    """Nobody waits until it lasted ten seconds."""
    sampler = ScriptedSampler(BUSY, replace(BUSY, temp=92, fan=0, fan_rpm=0))
    with safety_monitor(sampler) as watched:
        assert watched.stop.wait(60)
        watched.wait_for_alarms(20)
    assert ("fan-stopped", 0) in watched.alarms


def test_turning_fan_is_no_alarm() -> None:
    with safety_monitor(ScriptedSampler(BUSY, replace(BUSY, temp=92))) as watched:
        assert watched.stop.wait(60)
        watched.wait_for_alarms(20)
    assert "fan-stopped" not in {name for name, _ in watched.alarms}
