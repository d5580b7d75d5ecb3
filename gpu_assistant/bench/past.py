"""Benchmarks of before, each by the one figure that stands for it, beside the last one that can be compared; pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..core.results import Benchmark, Benchmarks, PastBenchmark
from . import compare, summary


def past(kept: Sequence[Benchmark], left_out: int = 0) -> Benchmarks:
    """All of them, oldest first, as the window compares them; beside them others were `left_out`."""
    return Benchmarks(
        schema="gpu-assistant/benchmarks/1",
        runs=tuple(_one(each, kept[:at]) for at, each in enumerate(kept)),
        left_out=left_out,
    )


def _one(benchmark: Benchmark, earlier: Sequence[Benchmark]) -> PastBenchmark:
    pair = summary.headline(benchmark)
    told = PastBenchmark(
        started=benchmark.started,
        seconds=benchmark.seconds,
        scope=benchmark.scope,
        versions={"torch": benchmark.torch, **benchmark.versions},
        devices=benchmark.devices,
        finished=compare.whole(benchmark),
        missing=tuple(dict.fromkeys(left.id for left in summary.missing(benchmark))),
    )
    if pair is None:
        return told
    common, before = summary.compared(benchmark, earlier)
    told = replace(told, headline=pair.best, ratio=pair.ratio)
    if not before:
        return told
    then, result = before[-1]
    change = compare.change(result, common)
    doubts = compare.doubts(result, common)
    return replace(told, compared_with=then.started, change=change, compared=common, doubts=doubts)
