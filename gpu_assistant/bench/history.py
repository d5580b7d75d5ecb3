"""The benchmarks stored in a folder, and each one compared with an earlier one that measured the same.

The files are untrusted: what is malformed, or of another version of this program, is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ..core import filesystem, json
from ..core.errors import UsageError
from ..core.results import WORKLOAD_UNITS, Benchmark, BenchmarkHistory, BenchmarkHistoryEntry, BenchResult
from .child_protocol import BENCHMARK_NOTES, RESULT_NOTES, SKIP_NOTES, VERDICTS, is_plausible
from .device_comparison import device_comparisons, headline_comparison
from .expected_ranges import CAUSES
from .measurements import comparable_history, doubtful_notes, is_complete, skipped_main_workloads, speed_ratio

# C0 and C1 control characters, and Unicode's line separators and marks of writing direction.
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
MAX_TIMESTAMP = 32_503_680_000.0  # the year 3000 in seconds since the epoch, which every system's calendar knows


class StoredBenchmarks(NamedTuple):
    """The benchmarks of a folder, oldest first, and the number of files that could not be read."""

    benchmarks: tuple[Benchmark, ...]
    unreadable: int


def read_benchmarks(folder: Path) -> StoredBenchmarks:
    """All benchmarks in a folder, which need not exist."""
    benchmarks = [read_benchmark(path) for path in folder.glob("[!.]*.json")]
    readable = [each for each in benchmarks if each is not None]
    return StoredBenchmarks(
        tuple(sorted(readable, key=lambda each: each.started or 0.0)), unreadable=len(benchmarks) - len(readable)
    )


def read_benchmark(path: Path) -> Benchmark | None:
    """The benchmark in a file, without control characters; None if it is malformed or has codes that this version does
    not know: another version wrote it, and its results may not be comparable.
    """
    try:
        benchmark = json.convert(_strip_control_characters(json.decode(filesystem.read_bytes(path), object)), Benchmark)
    # RecursionError: `_strip_control_characters` recurses less deep than `decode`.
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return benchmark if _is_known(benchmark) else None


def read_benchmark_file(path: Path) -> Benchmark:
    """The benchmark in a file that the user names, of any computer: without the conclusions of whoever wrote it, and
    without notes and skipped workloads that this version does not know.

    Raises UsageError("benchmark-file") with the fault, and what `json.read_file` raises.
    """
    benchmark = json.read_file(path, Benchmark, code="benchmark-file")
    benchmark = json.convert(_strip_control_characters(msgspec.to_builtins(benchmark)), Benchmark)
    benchmark = replace(
        benchmark,
        results=tuple(
            replace(result, notes=tuple(note for note in result.notes if note in RESULT_NOTES), judgement=None)
            for result in benchmark.results
        ),
        notes=tuple(note for note in benchmark.notes if note in BENCHMARK_NOTES),
        left_out=tuple(each for each in benchmark.left_out if each.why in SKIP_NOTES and each.id in WORKLOAD_UNITS),
        verdict=None,
        expected=None,
        causes=(),
    )
    wrong = next((index for index, result in enumerate(benchmark.results) if not is_plausible(result)), None)
    if wrong is not None or not _is_known(benchmark):
        where = f"results[{wrong}]" if wrong is not None else "started"
        raise UsageError("benchmark-file", path=str(path), fault="@bench.fault.implausible", where=where)
    if not benchmark.results:
        raise UsageError("benchmark-file", path=str(path), fault="@bench.fault.empty", where="results")
    return benchmark


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


def _is_known(benchmark: Benchmark) -> bool:
    return (
        (benchmark.verdict is None or benchmark.verdict in VERDICTS)
        and BENCHMARK_NOTES.issuperset(benchmark.notes)
        and CAUSES.issuperset(benchmark.causes)
        and all(skipped.why in SKIP_NOTES and skipped.id in WORKLOAD_UNITS for skipped in benchmark.left_out)
        and all(is_plausible(result) and RESULT_NOTES.issuperset(result.notes) for result in benchmark.results)
        and (benchmark.started is None or 0 <= benchmark.started < MAX_TIMESTAMP)
    )


def _strip_control_characters(value: object) -> object:
    if isinstance(value, str):
        return _CONTROL_CHARACTERS.sub("", value)
    if isinstance(value, list):
        return [_strip_control_characters(each) for each in value]
    if isinstance(value, dict):
        return {_strip_control_characters(key): _strip_control_characters(each) for key, each in value.items()}
    return value
