"""A slow computer has a figure of each kind, and hears of everything else why it has none."""

from __future__ import annotations

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_assistant.bench.child import schedule, timing, training
from gpu_assistant.bench.child_protocol import CHILD_PROGRAM
from gpu_assistant.core.results import WORKLOAD_UNITS
from gpu_assistant.system import current_system

SLOW = """
class Slow(workload.Workload):
    unit = "images/s"
    is_checked_last = True
    amount = 1.0

    def __init__(self, name, time_share):
        super().__init__(devices.CpuDevice(torch, 1), "float32", (1,), 60.0)
        self.id, self.time_share, self.amount = name, time_share, 1.0

    def min_seconds(self, operations_per_s):
        return 0.5

    def required_bytes(self):
        return 0

    def prepare(self):
        self.last_s = 0.25

    def run(self):
        time.sleep(0.25)

    def check(self):
        return 0.0, 1.0
"""


def answers(environment: Path, seconds: float) -> list[dict[str, Any]]:
    """What a child says of three workloads that never have enough and run for 0.25 s, in so many seconds for all."""
    program = f"""
import runpy, sys, time
sys.argv = ["child", "--device", "cpu"]
launcher = runpy.run_path({str(CHILD_PROGRAM)!r})
launcher["load"]()
import torch
from gpu_assistant_bench import devices, program, schedule, timing, workload
{SLOW}
timing.MAX_WARM_UP_S = 0.1
schedule.QUICK_DEVICE_S = ({seconds}, {seconds})
timing.clock_at_epoch = lambda since: time.perf_counter()
schedule.device_workloads = lambda device, **_: [
    Slow(name, schedule.TIME_SHARES.get(name, 1.0)) for name in ("resnet50", "bert-base", "decode")
]
program.main()
"""
    python = str(current_system().environment_python(environment))
    command = [python, "-I", "-X", "utf8", "-c", program]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_first_workload_leaves_time_for_later(with_card: Path) -> None:
    lines = answers(with_card, 5.0)
    results = [line["result"] for line in lines if "result" in line]
    assert [result["id"] for result in results] == ["resnet50", "bert-base", "decode"]
    assert lines[-1] == {"end": True}


def test_no_time_left_gives_no_wanted_seconds(with_card: Path) -> None:
    lines = answers(with_card, 0.4)
    assert [line for line in lines if "left" in line] == [{"left": "time"}] * 3


def test_cpu_main_workloads_have_time_shares() -> None:
    device: Any = SimpleNamespace(kind="cpu", id="cpu", torch=None, free_bytes=lambda: None)
    main = schedule.device_workloads(device, full=False)[:4]
    assert [each.id for each in main] == ["matmul", "copy-within", "resnet50", "bert-base"]
    assert all(0 < each.time_share < 1 for each in main)


def test_headline_format_of_a_cpu_with_bfloat16_comes_early() -> None:
    torch = SimpleNamespace(ops=SimpleNamespace(mkldnn=SimpleNamespace(_is_mkldnn_bf16_supported=lambda: True)))
    device: Any = SimpleNamespace(kind="cpu", id="cpu", torch=torch, free_bytes=lambda: None)
    order = [(each.id, each.dtype) for each in schedule.device_workloads(device, full=False)]
    assert order[2:6] == [
        ("resnet50", "float32"),
        ("resnet50", "mixed-bfloat16"),
        ("bert-base", "float32"),
        ("decode", "float32"),
    ]
    assert (len(order), len(set(order))) == (10, 7)  # products in four sizes, everything else once


def test_each_format_of_a_gpu_has_a_product_before_any_has_two() -> None:
    workloads = schedule.device_workloads(device_of_kind("gpu"), full=False)
    order = [(each.id, each.dtype) for each in workloads]
    products = [dtype for workload_id, dtype in order if workload_id == "matmul"]
    formats = set(products)
    assert {"float32", "tf32", "float16", "bfloat16"} <= formats
    assert set(products[1 : 1 + len(formats)]) == formats  # after the main one, in float32
    last_other = max(index for index, (workload_id, _) in enumerate(order) if workload_id != "matmul")
    assert len(order[last_other + 1 :]) == len(products) - 1 - len(formats)  # the other sizes come after everything
    assert len({id(each) for each in workloads}) == len(workloads)


def test_every_scheduled_workload_is_known_with_its_unit() -> None:
    devices = [device_of_kind(kind) for kind in ("cpu", "gpu")]
    units = {
        workload.id: workload.unit for device in devices for workload in schedule.device_workloads(device, full=True)
    } | {f"{model}-parallel": unit for model, unit in training.TRAINING_UNITS.items()}
    assert units == WORKLOAD_UNITS


def test_model_too_slow_by_estimate_is_skipped() -> None:
    switches = SimpleNamespace(mkldnn=SimpleNamespace(matmul=SimpleNamespace(fp32_precision="none")))
    torch = SimpleNamespace(get_num_threads=lambda: 2, backends=switches)
    device: Any = SimpleNamespace(kind="cpu", id="cpu", torch=torch)
    resnet = training.TrainingWorkload(device, "resnet50", "float32", 6.0)
    bert = training.TrainingWorkload(device, "bert-base", "float32", 6.0)
    resnet.amount, resnet.step = 1.0, SimpleNamespace(spec=SimpleNamespace(optimizer_name="SGD"), channels_last=False)
    resnet.result([4.0, 4.0, 4.0], (None, None), 16.0)
    assert resnet.operations_per_s is not None
    assert bert.min_seconds(resnet.operations_per_s) > 20
    assert bert.min_seconds(80e9) == 3.0


class Clock:
    """A device on which each run takes as long as the clock is moved on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, run_s: float) -> None:
        self.now, self._run_s = 0.0, run_s
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)

    def time_runs(self, work: object, count: int = 1) -> list[float]:
        self.now += self._run_s * count
        return [self._run_s] * count


class WakingGpu(Clock):
    """A GPU that was idle: for 0.2 s it computes at a quarter of its clock, then at all of it."""

    kind = "gpu"

    def time_runs(self, work: object, count: int = 1) -> list[float]:
        self._run_s = 0.004 if self.now < 0.2 else 0.001
        return super().time_runs(work, count)


def test_warm_up_outlasts_the_low_clock_of_an_idle_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu: Any = WakingGpu(monkeypatch, 0.004)
    assert timing.warm_up(gpu, print, 2.0) == 0.001
    assert 0.3 <= gpu.now < 0.4
    assert timing.warm_up(gpu, print, 0.1) == 0.001  # no longer than it may
    assert gpu.now < 0.51


class Steps:
    """A model whose steps take `first_s` and `more_s` for each example after the first, on a clock of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first_s: float, more_s: float) -> None:
        self.now, self._first_s, self._more_s = 0.0, first_s, more_s
        self.channels_last, self.dtype, self.batch = True, "float32", 0
        self.base_model = SimpleNamespace(modules=lambda: [], train=lambda: None)
        self.model = self.base_model
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(training, "TrainingStep", lambda *_, **__: self)

    def make_batch(self, batch: int) -> tuple[int, int]:
        return batch, batch

    def forward(self, inputs: int, classes: int) -> float:
        return 7.0

    def run(self, inputs: int, classes: int) -> None:
        self.now += self._first_s + (inputs - 1) * self._more_s


@pytest.mark.parametrize(
    ("first_s", "more_s", "batch"),
    [
        (0.05, 0.05, 8),  # a fast CPU that gains nothing from more: the usual batch
        (0.45, 0.05, 8),  # every step is slow, as beside another program: eight examples at once are 4.5 times as fast
        (0.45, 0.45, 1),  # eight take four seconds
        (4.0, 0.1, 1),
    ],
)
def test_batch_of_a_cpu_follows_its_steps(
    monkeypatch: pytest.MonkeyPatch, first_s: float, more_s: float, batch: int
) -> None:
    steps = Steps(monkeypatch, first_s, more_s)

    def time_runs(work: Any, count: int = 1) -> list[float]:
        times = []
        for _ in range(count):
            started_at = steps.now
            work()
            times.append(steps.now - started_at)
        return times

    torch = SimpleNamespace(no_grad=nullcontext, nn=SimpleNamespace(Dropout=int))
    device: Any = SimpleNamespace(kind="cpu", id="cpu", torch=torch, free_bytes=lambda: None, time_runs=time_runs)
    workload = training.TrainingWorkload(device, "resnet50", "float32", 6.0)
    workload.deadline = 20.0
    workload.prepare()
    assert workload.batch == batch
    assert steps.now < 10.0


class HeatingGpu(Clock):
    """A GPU whose runs take 0.01 s for ten seconds, and 0.015 s once it is hot."""

    kind, id, torch = "gpu", "cuda:0", None

    def time_runs(self, work: object, count: int = 1) -> list[float]:
        self._run_s = 0.01 if self.now < 10 else 0.015
        return super().time_runs(work, count)


def test_burst_and_sustained_speed_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu: Any = HeatingGpu(monkeypatch, 0.01)
    gpu.torch = SimpleNamespace(backends=SimpleNamespace(cuda=SimpleNamespace(matmul=None)))
    found = {}
    for workload in schedule.device_workloads(device_of_kind("gpu"), full=True):
        if workload.dtype == "bfloat16" and workload.size[0] == 10000:
            workload.device, gpu.now = gpu, 0.0
            samples = workload.time_samples(15.0, 0.01, 600.0)
            assert workload.timed_period is not None
            result = workload.result(samples, (None, None), 1.0)
            found[workload.id] = result["load"], round(workload.amount / result["median"], 4)
    assert found == {"matmul": ("burst", 0.01), "matmul-sustained": ("sustained", 0.015)}
    assert not [each for each in schedule.device_workloads(device_of_kind("gpu"), full=False) if "sustained" in each.id]


def device_of_kind(kind: str) -> Any:
    return SimpleNamespace(kind=kind, id=kind, torch=None, capability=(8, 9), free_bytes=lambda: None)


def measured(monkeypatch: pytest.MonkeyPatch, most_s: float) -> list[float]:
    """Runs of four seconds, of which some shall be made in six and none after `most_s`."""
    clock: Any = Clock(monkeypatch, 4.0)
    return timing.measure_runs(clock, print, 6.0, 4.0, most_s)


def test_two_runs_suffice_when_late(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(measured(monkeypatch, 9.0)) == 2
    assert len(measured(monkeypatch, 20.0)) == 3
