"""The stored benchmarks of a folder, which are untrusted: what is malformed or of another version is left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..core import json
from ..core.results import (
    WORKLOAD_UNITS,
    Benchmark,
)
from .child_protocol import (
    BENCHMARK_NOTES,
    RESULT_NOTES,
    SKIP_NOTES,
    VERDICTS,
    is_plausible,
)
from .expected_ranges import CAUSES

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
        benchmark = json.convert(_strip_control_characters(json.decode(path.read_bytes(), object)), Benchmark)
    # RecursionError: `_strip_control_characters` recurses less deep than `decode`.
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return benchmark if _is_known(benchmark) else None


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
