"""Benchmarks of before, each by the one figure that stands for it, beside the last one that can be compared; pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..core.results import Benchmark, BenchmarkHistory, BenchmarkHistoryEntry
from . import compare, summary


def benchmark_history(stored: Sequence[Benchmark], left_out: int = 0) -> BenchmarkHistory:
    """All of them, oldest first, as the window compares them; beside them others were `left_out`."""
    return BenchmarkHistory(
        schema="gpu-assistant/benchmarks/1",
        runs=tuple(_history_entry(benchmark, stored[:index]) for index, benchmark in enumerate(stored)),
        left_out=left_out,
    )


def _history_entry(benchmark: Benchmark, earlier: Sequence[Benchmark]) -> BenchmarkHistoryEntry:
    comparison = summary.headline_comparison(benchmark)
    entry = BenchmarkHistoryEntry(
        started=benchmark.started,
        seconds=benchmark.seconds,
        scope=benchmark.scope,
        versions={"torch": benchmark.torch, **benchmark.versions},
        devices=benchmark.devices,
        finished=compare.is_complete(benchmark),
        missing=tuple(dict.fromkeys(skipped.id for skipped in summary.skipped_main_workloads(benchmark))),
    )
    if comparison is None:
        return entry
    result, matches = summary.find_comparable(benchmark, earlier)
    entry = replace(entry, headline=comparison.fastest, ratio=comparison.ratio)
    if not matches:
        return entry
    previous, previous_result = matches[-1]
    ratio = compare.speed_ratio(previous_result, result)
    notes = compare.doubtful_notes(previous_result, result)
    return replace(entry, compared_with=previous.started, change=ratio, compared=result, doubts=notes)
