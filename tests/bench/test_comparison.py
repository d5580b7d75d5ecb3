"""Figures side by side: speed-ups, history, before and after, what the GPUs did meanwhile."""

from __future__ import annotations

import itertools
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.bench import gpu_log
from gpu_assistant.bench.device_comparison import (
    device_comparisons,
    gpu_speedups,
    headline_comparison,
    result_without_graph,
)
from gpu_assistant.bench.expected_ranges import find_gpu_log
from gpu_assistant.bench.gpu_log import GpuLogger, summarize_snapshots
from gpu_assistant.bench.measurements import comparable_history, missing_measurements, speed_ratio
from gpu_assistant.core.results import BenchDevice, BenchGpuLog, BenchResult, GpuSample

from ..fakes.examples import cpu_benchmark


def measured(device: str, dtype: str, side: int, median: float) -> BenchResult:
    return BenchResult(
        id="matmul",
        device=device,
        dtype=dtype,  # type: ignore[arg-type]
        size=(side, side, side),
        unit="TFLOP/s",
        median=median,
        q1=median,
        q3=median,
        runs=3,
        seconds=1,
    )


def test_speedup_compares_equal_sizes_only() -> None:
    results = [
        measured("cpu", "float32", 1024, 0.1),
        measured("cpu", "float32", 4096, 0.2),
        measured("cuda:0", "float32", 4096, 10.0),
        measured("cuda:1", "float32", 4096, 12.0),
        measured("cuda:0", "float32", 8192, 99.0),
        measured("cuda:0", "float16", 1024, 5.0),
    ]
    assert gpu_speedups(results) == {"matmul-float32": pytest.approx(60), "matmul-float16": pytest.approx(50)}
    assert gpu_speedups(results[:2]) == {}
    assert gpu_speedups(results[2:]) == {}


def test_decoding_is_compared_in_the_way_in_which_each_device_is_fastest() -> None:
    cpu = replace(measured("cpu", "float32", 64, 20.0), id="decode", size=(64, 32), unit="tokens/s")
    one_by_one = replace(cpu, device="cuda:0", dtype="bfloat16", median=150.0)
    graph = replace(one_by_one, id="decode-graph", median=900.0)
    benchmark = replace(cpu_benchmark(), results=(cpu, one_by_one, graph))
    (comparison,) = device_comparisons(benchmark)
    assert (comparison.gpus, comparison.cpu, comparison.ratio) == ((graph,), cpu, 45.0)
    assert result_without_graph(graph, benchmark) == one_by_one
    assert gpu_speedups(benchmark.results) == {"decode-bfloat16": 7.5, "decode-graph-bfloat16": 45.0}
    (without,) = device_comparisons(replace(benchmark, results=(cpu, one_by_one)))
    assert (without.gpus, without.ratio) == ((one_by_one,), 7.5)


def test_other_size_is_not_missing() -> None:
    product = measured("cpu", "float32", 1024, 1.0)
    short, long = (replace(product, id="decode", size=(32, tokens)) for tokens in (8, 32))
    other = replace(long, dtype="float16")
    before = replace(cpu_benchmark(), results=(long, other))
    assert missing_measurements(replace(before, results=(short,)), [before]) == [other]
    sizes = replace(before, results=(product,))
    larger = replace(before, results=(replace(product, size=(4096, 4096, 4096)),))
    assert missing_measurements(sizes, [larger]) == [*larger.results]  # a product's size is named with it


def test_only_equal_measurements_are_compared() -> None:
    now, later = measured("cpu", "float32", 1024, 1.0), measured("cpu", "float32", 1024, 2.0)
    benchmark = replace(cpu_benchmark(), results=(now,))
    same = replace(benchmark, results=(later,))
    others = [
        replace(benchmark, results=(replace(later, version=2),)),
        replace(benchmark, results=(replace(later, batch=4),)),
        replace(benchmark, results=(replace(later, settings={"threads": 4}),)),
        replace(same, notes=("bench.note.killed",)),
        replace(same, notes=("bench.note.lost",)),
        replace(benchmark, results=(replace(later, extrapolated=True),)),
        replace(benchmark, results=(replace(later, size=(2048, 2048, 2048)),)),
        replace(benchmark, results=(later,), devices=(BenchDevice(id="cpu", name="another processor"),)),
    ]
    assert comparable_history(now, benchmark, [benchmark, *others, same]) == [
        (benchmark, now),
        (same, later),
    ]


def test_speedup_ignores_extrapolated_results() -> None:
    there = measured("cuda:0", "float32", 10000, 10.0)
    here = measured("cpu", "float32", 10000, 0.1)
    assert gpu_speedups([here, there]) == {"matmul-float32": pytest.approx(100)}
    assert gpu_speedups([replace(here, extrapolated=True), there]) == {}
    assert gpu_speedups([replace(here, version=7), there]) == {}


def test_speedup_ignores_disturbed_sizes() -> None:
    results = [
        measured("cpu", "float32", 2048, 0.064),
        measured("cpu", "float32", 4096, 0.016),
        measured("cuda:0", "float32", 2048, 8.0),
        measured("cuda:0", "float32", 4096, 10.0),
    ]
    assert gpu_speedups(results) == {"matmul-float32": pytest.approx(125)}


def trained(device: str, dtype: str, median: float, batch: int) -> BenchResult:
    plain = measured(device, dtype, 224, median)
    return replace(plain, id="resnet50", unit="images/s", size=(3, 224, 224), batch=batch)


def test_each_side_is_compared_in_its_best_format() -> None:
    results = (
        trained("cpu", "float32", 8.0, 8),
        trained("cpu", "mixed-bfloat16", 32.0, 32),
        trained("cuda:0", "mixed-float16", 100.0, 64),
        trained("cuda:0", "float32", 128.0, 64),  # a chip without tensor cores
    )
    benchmark = replace(cpu_benchmark(), results=results, devices=(BenchDevice(id="cpu"), BenchDevice(id="cuda:0")))
    pair = headline_comparison(benchmark)
    assert pair is not None
    assert (pair.fastest.dtype, pair.cpu and pair.cpu.dtype) == ("float32", "mixed-bfloat16")
    assert pair.ratio == pytest.approx(4.0)
    assert gpu_speedups(results)["resnet50-float32"] == pytest.approx(4.0)
    alone = headline_comparison(replace(benchmark, results=results[:2]))
    assert alone is not None
    assert (alone.fastest.dtype, alone.mixed and alone.mixed.dtype) == ("float32", "mixed-bfloat16")


@pytest.mark.parametrize("note", ["spread", "busy-cpu", "wrong"])
def test_doubtful_result_has_no_speed_ratio(note: str) -> None:
    before = measured("cpu", "float32", 1024, 1.0)
    after = replace(before, median=0.5, q1=0.4, q3=0.6)
    assert speed_ratio(before, after) == pytest.approx(0.5)
    assert speed_ratio(replace(before, notes=(note,)), after) is None
    assert speed_ratio(before, replace(after, notes=(note,))) is None


def test_overlapping_runs_have_no_speed_ratio() -> None:
    before = replace(measured("cpu", "float32", 1024, 1.0), q1=0.9, q3=1.1)
    assert speed_ratio(before, replace(before, median=1.2, q1=1.05, q3=1.3)) is None
    assert speed_ratio(before, replace(before, median=1.3, q1=1.2, q3=1.4)) == pytest.approx(1.3)
    assert speed_ratio(before, replace(before, median=0.5, q1=0.4, q3=0.6)) == pytest.approx(0.5)


def look(**figures: Any) -> tuple[GpuSample, ...]:
    return (GpuSample(**{"index": 0, "name": "NVIDIA GeForce RTX 4060"} | figures),)


def test_summarize_snapshots() -> None:
    (seen,) = summarize_snapshots(
        [
            look(util=3, temp=40, clock_sm=210, pcie_gen=1, pcie_width=8, power_limit_w=115.0),
            look(util=99, temp=70, clock_sm=2400, pcie_gen=4, pcie_width=8, power_w=110.0, throttle=("power-cap",)),
            look(util=99, temp=78, clock_sm=2300, power_w=114.0, throttle=("thermal", "power-cap")),
            look(util=0, temp=71, clock_sm=210, pcie_gen=1),
        ]
    )
    assert seen == BenchGpuLog(
        index=0,
        name="NVIDIA GeForce RTX 4060",
        samples=4,
        util_before=3,
        temp_start=40,
        temp_end=71,
        temp_max=78,
        clock_sm=2350,
        power_max_w=114.0,
        power_limit_w=115.0,
        pcie_gen=4,
        pcie_width=8,
        throttle=("power-cap",),  # the other one was seen once
    )
    assert summarize_snapshots([]) == summarize_snapshots([()]) == ()


def test_removed_gpu_is_not_mixed_with_its_successor() -> None:
    def card(index: int, uuid: str | None, temp: int) -> tuple[GpuSample, ...]:
        return look(index=index, uuid=uuid, temp=temp, util=99)

    seen = summarize_snapshots(
        [
            (*card(0, None, 40), *card(1, "B", 50)),  # the first does not say yet who it is
            (*card(0, "A", 60), *card(1, "B", 51)),
            (*card(0, "B", 52), *look(index=1, uuid="A", state="gone")),
            (*card(0, "B", 53), *card(1, "C", 30)),
        ]
    )
    rows = [(each.index, each.samples, each.temp_start, each.temp_max, each.util_before) for each in seen]
    assert rows == [(0, 2, 40, 60, 99), (1, 4, 50, 53, 99), (1, 1, 30, 30, None)]


def test_throttling_counts_with_two_loaded_samples() -> None:
    def throttle(*snapshots: tuple[GpuSample, ...]) -> tuple[str, ...]:
        (log,) = summarize_snapshots([look(util=0), *snapshots])
        return log.throttle

    hot, cool = look(util=99, throttle=("hardware-thermal",)), look(util=99)
    assert throttle(cool, hot, cool) == ()
    assert throttle(hot, cool, hot) == ("hardware-thermal",)
    idle = look(util=0, throttle=("hardware-thermal",))
    assert throttle(hot, idle, idle) == ()


def test_clock_is_that_of_the_card_and_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = iter([(210, 2500), (1400, 300), (1500, 310), (1600, 320), (210, 2500)])
    moments = itertools.count(10.0)
    monkeypatch.setattr(gpu_log, "time", SimpleNamespace(time=lambda: next(moments)))
    all_read = threading.Event()

    def read() -> tuple[GpuSample, ...]:
        pair = next(clocks, None)
        if pair is None:
            all_read.set()
            return ()
        return tuple(
            GpuSample(index=index, uuid=uuid, clock_sm=clock)
            for index, (uuid, clock) in enumerate(zip(("GPU-AAAA", "GPU-BBBB"), pair, strict=True))
        )

    monkeypatch.setattr(gpu_log, "INTERVAL_S", 0.001)
    with GpuLogger(read) as logger:
        assert all_read.wait(60)
    assert logger.clock_during("cuda:0", None, (10.5, 13.5)) == 1500
    assert logger.clock_during("cuda:0", "bbbb", (10.5, 13.5)) == 310  # CUDA_VISIBLE_DEVICES=1
    assert logger.clock_during("cuda:0", "cccc", (10.5, 13.5)) is None
    assert logger.clock_during("cuda:0", None, (10.1, 10.9)) is None


def test_lent_memory_counts_where_two_samples_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sample with 2 GiB may be a blip; in the second one the card has room, and nobody counts."""
    full = iter([True, False, True, True, False])
    counted: list[int] = []
    moments = itertools.count(10.0)
    monkeypatch.setattr(gpu_log, "time", SimpleNamespace(time=lambda: next(moments)))
    all_read = threading.Event()

    def read() -> tuple[GpuSample, ...]:
        is_full = next(full, None)
        if is_full is None:
            all_read.set()
            return ()
        return look(mem_used=8000 if is_full else 4000, mem_total=8000)

    monkeypatch.setattr(gpu_log, "INTERVAL_S", 0.001)
    logger = GpuLogger(read, lambda pid: counted.append(pid) or 2 << 30)
    logger.watched_pid = 77
    with logger:
        assert all_read.wait(60)
    assert counted == [77, 77, 77]
    assert logger.was_memory_lent((11.5, 14.5))
    assert not logger.was_memory_lent((9.5, 11.5))  # the first sample alone
    assert not logger.was_memory_lent((13.5, 20.0))


def test_instance_named_by_its_gpu_is_matched() -> None:
    """As drivers before 470 name it."""
    cards = (*look(index=0, uuid="GPU-AAAA", util=0), *look(index=1, uuid="GPU-bbbb", util=0))
    logs = summarize_snapshots([cards, cards], {"MIG-GPU-BBBB/1/0": "cuda:0"})
    assert [(each.index, each.device) for each in logs] == [(0, None), (1, "cuda:0")]


def test_log_is_matched_by_uuid() -> None:
    cards = (*look(index=0, uuid="GPU-AAAA", util=0), *look(index=1, uuid="GPU-bbbb", util=0))
    logs = summarize_snapshots([cards, cards], {"BBBB": "cuda:0"})  # CUDA_VISIBLE_DEVICES=1
    assert [(each.index, each.device) for each in logs] == [(0, None), (1, "cuda:0")]
    found = find_gpu_log("cuda:0", logs)
    assert found is not None
    assert found.index == 1
    assert find_gpu_log("cuda:1", logs) is None
    by_number = summarize_snapshots([cards])
    assert find_gpu_log("cuda:1", by_number) == by_number[1]
