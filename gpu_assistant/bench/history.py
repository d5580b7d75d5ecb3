"""Benchmarks over time: each one compared with an earlier one that measured the same; pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..core.results import (
    Benchmark,
    BenchmarkHistory,
    BenchmarkHistoryEntry,
    BenchResult,
)
from .device_comparison import device_comparisons, headline_comparison
from .measurements import comparable_history, doubtful_notes, is_complete, skipped_main_workloads, speed_ratio


def find_comparable(
    benchmark: Benchmark, stored: Sequence[Benchmark]
) -> tuple[BenchResult, list[tuple[Benchmark, BenchResult]]]:
    """A result that can be compared with another benchmark in `stored`, and its history there.

    It is the headline's, else the most important one that another benchmark has too; the history includes this
    benchmark where it is in `stored`. The history is empty where no other benchmark has a comparable result (quick and
    full tests differ in sizes). Raises ValueError where nothing was measured.
    """
    candidates = [pair.fastest for pair in device_comparisons(benchmark)]
    best_comparison = headline_comparison(benchmark)
    if best_comparison is None:
        raise ValueError("nothing was measured")
    measured = [result for result in benchmark.results if not result.extrapolated]
    for candidate in (best_comparison.fastest, *candidates, *measured):
        matches = comparable_history(candidate, benchmark, stored)
        if any(other is not benchmark for other, _ in matches):
            return candidate, matches
    return best_comparison.fastest, comparable_history(best_comparison.fastest, benchmark, stored)


def previous_benchmark(benchmark: Benchmark, stored: Sequence[Benchmark]) -> Benchmark | None:
    """The benchmark to compare with: the newest other one in `stored` with a comparable result."""
    if headline_comparison(benchmark) is None:
        return None
    return next((each for each, _ in reversed(find_comparable(benchmark, stored)[1]) if each is not benchmark), None)


def benchmark_history(stored: Sequence[Benchmark], left_out: int = 0) -> BenchmarkHistory:
    """All benchmarks, oldest first, each compared with an earlier one; `left_out` could not be read."""
    return BenchmarkHistory(
        schema="gpu-assistant/benchmarks/1",
        runs=tuple(_history_entry(benchmark, stored[:index]) for index, benchmark in enumerate(stored)),
        left_out=left_out,
    )


def _history_entry(benchmark: Benchmark, earlier: Sequence[Benchmark]) -> BenchmarkHistoryEntry:
    comparison = headline_comparison(benchmark)
    entry = BenchmarkHistoryEntry(
        started=benchmark.started,
        seconds=benchmark.seconds,
        scope=benchmark.scope,
        versions={"torch": benchmark.torch, **benchmark.versions},
        devices=benchmark.devices,
        finished=is_complete(benchmark),
        missing=tuple(dict.fromkeys(skipped.id for skipped in skipped_main_workloads(benchmark))),
    )
    if comparison is None:
        return entry
    result, matches = find_comparable(benchmark, earlier)
    entry = replace(entry, headline=comparison.fastest, ratio=comparison.ratio)
    if not matches:
        return entry
    previous, previous_result = matches[-1]
    ratio = speed_ratio(previous_result, result)
    notes = doubtful_notes(previous_result, result)
    return replace(entry, compared_with=previous.started, change=ratio, compared=result, doubts=notes)
