"""A computer with GPUs at work for the window: new samples each second, a benchmark and a health test that report."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from msgspec.structs import replace

from gpu_assistant.bench.child_protocol import BenchmarkProgress
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.results import Benchmark, Checks, GpuProcess, HealthTestCurve, Sample
from gpu_assistant.health.child_protocol import HealthProgress
from gpu_assistant.monitor.history import History
from gpu_assistant.monitor.series import SeriesExtractor
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import rtx4060
from tests.fakes.health_findings import health_checks
from tests.fakes.main_window import ENVIRONMENT, FakeMain, FakeSampler, gpu, sample

GIB = 2**30
DAY_S, HISTORY_STEP_S = 86_400, 10
CURVE_S = 120


class Reports:
    """A job that reports these one after the other, several times a second, for some seconds, and ends well."""

    PAUSE_S, SECONDS = 0.05, 6.0

    def __init__(self, reports: Iterator[object], result: object) -> None:
        self._reports, self._result = reports, result

    def run(self, context: JobContext[Any]) -> object:
        """Report until the time is over."""
        end = time.monotonic() + self.SECONDS
        for report in self._reports:
            context.report(report)
            if context.cancel.wait(self.PAUSE_S) or time.monotonic() > end:
                break
        context.check_cancelled()
        return self._result


class BusySampler(FakeSampler):
    """Cards at work, each figure another one each second; `hot`: one of them slows itself down."""

    def __init__(self, gpus: int) -> None:
        super().__init__()
        self._gpus = gpus
        self.hot = False

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        """A moment of now."""
        del detailed, processes
        time.sleep(0.02)
        return self.at(time.time())

    def at(self, t: float) -> Sample:
        """A moment."""
        cards = []
        for index in range(self._gpus):
            change = (round(t) * 7 + index * 3) % 10
            hot = self.hot and index == self._gpus - 1
            cards.append(
                gpu(
                    index,
                    util=90 + change,
                    mem_used=5 * GIB + change * GIB // 10,
                    temp=89 if hot else 60 + change,
                    temp_max=87,
                    power_w=103.0 + change,
                    clock_sm=1650 if hot else 2700 + change,
                    clock_mem=8501,
                    pcie_gen=4,
                    pcie_width=8,
                    throttle=("thermal",) if hot else (),
                    processes=(GpuProcess(pid=4711 + index, name="python3", mem_used=5 * GIB, kind="compute"),),
                )
            )
        return replace(sample(*cards, t=t, cpu=30.0 + t % 10), nvml="ready")


class BusyComputer(FakeMain):
    """A computer with these cards, an environment and a day of history; its benchmark and health test report for some
    seconds.
    """

    def __init__(self, folder: Path, gpus: int) -> None:
        super().__init__(folder, rtx4060())
        self.busy_sampler = self.samplers = BusySampler(gpus)
        self.known = (replace(ENVIRONMENT, variant="cu126"),)
        self._gpus = gpus
        self._history, extractor, begin = History(), SeriesExtractor(), time.time() - DAY_S
        for second in range(0, DAY_S, HISTORY_STEP_S):
            self._history.add(begin + second, extractor.values(self.busy_sampler.at(begin + second)))

    def history(self) -> History:
        return self._history

    def benchmark(  # type: ignore[override]
        self, environment: Path, *, full: bool = False, device: str | None = None
    ) -> Reports:
        del environment, full, device
        result = benchmark_of(self._gpus)
        return Reports(benchmark_reports(result), result)

    def health_test(  # type: ignore[override]
        self, *_given: object, level: int = 1, **_options: object
    ) -> Reports:
        result = health_of(self._gpus, level)
        progress = (
            HealthProgress(check="memory-test", device=f"cuda:{step % self._gpus}", done=step % 50 / 50, temp=61)
            for step in cycle(range(50))
        )
        return Reports(alternating(progress, iter(result.checks)), result)


def alternating(often: Iterator[object], seldom: Iterator[object]) -> Iterator[object]:
    """Four of the first kind, then one of the second, as long as there are any."""
    for number, each in enumerate(often):
        if number % 5 == 4 and (rare := next(seldom, None)) is not None:
            yield rare
        yield each


def benchmark_of(gpus: int) -> Benchmark:
    """The same card several times."""
    one = card_benchmark()
    cards = [device for device in one.devices if device.id != "cpu"]
    results = [result for result in one.results if result.device == "cpu"]
    for index in range(gpus):
        results += [replace(each, device=f"cuda:{index}") for each in one.results if each.device != "cpu"]
    devices = [one.devices[0], *(replace(cards[0], id=f"cuda:{index}") for index in range(gpus))]
    watched = tuple(replace(one.watched[0], index=index) for index in range(gpus))
    return replace(one, devices=tuple(devices), results=tuple(results), watched=watched, started=time.time())


def benchmark_reports(benchmark: Benchmark) -> Iterator[object]:
    """What begins, and what came of it, again and again."""
    for number, result in enumerate(benchmark.results, 1):
        yield BenchmarkProgress(
            index=number,
            total=len(benchmark.results),
            workload=result.id,
            device=result.device,
            dtype=result.dtype,
            size=result.size,
            limit_s=150.0,
        )
        yield result


def health_of(gpus: int, level: int) -> Checks:
    """The same findings for each card, with the curves of two minutes."""
    one = health_checks(level)
    times = tuple(map(float, range(CURVE_S)))
    curves = tuple(
        HealthTestCurve(
            gpu=index,
            name="NVIDIA GeForce RTX 4060",
            t=times,
            temp=tuple(50 + second // 4 for second in range(CURVE_S)),
            power_w=tuple(100.0 + second % 10 for second in range(CURVE_S)),
            clock_sm=tuple(2700 - second for second in range(CURVE_S)),
            throttle=((),) * CURVE_S,
            speed_t=times,
            speed=tuple(11.0 + second % 3 for second in range(CURVE_S)),
        )
        for index in range(gpus)
    )
    checks = tuple(
        replace(check, data={**check.data, "device": f"cuda:{index}"}) if "device" in check.data else check
        for index in range(gpus)
        for check in one.checks
        if index == 0 or "device" in check.data
    )
    return replace(one, checks=checks, curves=curves)
