"""Reads the benchmarks that were kept. Another version of the program may have written it, or somebody by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..core import json
from ..core.results import Benchmark
from .expected import CAUSES
from .lines import SKIP_NOTES, BENCHMARK_NOTES, RESULT_NOTES, VERDICTS, WORKLOADS, is_plausible

# Steers a terminal, or turns the direction of what follows.
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
MAX_TIMESTAMP = 32_503_680_000.0  # seconds since the epoch: what every system's calendar knows


class StoredBenchmarks(NamedTuple):
    """What a folder has: `benchmarks`, oldest first, and how many files of it `read` leaves out."""

    benchmarks: tuple[Benchmark, ...]
    unreadable: int


def read_benchmarks(folder: Path) -> StoredBenchmarks:
    """The benchmarks in a folder that need not be there."""
    benchmarks = [read_benchmark(path) for path in folder.glob("*.json")]
    readable = [each for each in benchmarks if each is not None]
    return StoredBenchmarks(tuple(sorted(readable, key=lambda each: each.started or 0.0)), unreadable=len(benchmarks) - len(readable))


def read_benchmark(path: Path) -> Benchmark | None:
    """The benchmark in a file, its words without signs that steer a terminal; None where it cannot be read, or says
    what this version has no words for: then another one wrote it, and nobody knows whether its figures compare.
    """
    try:
        benchmark = json.convert(_strip_control_characters(json.decode(path.read_bytes(), object)), Benchmark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # `_clean` goes less deep than `decode`
        return None
    return benchmark if _is_known(benchmark) else None


def _is_known(benchmark: Benchmark) -> bool:
    return (
        (benchmark.verdict is None or benchmark.verdict in VERDICTS)
        and BENCHMARK_NOTES.issuperset(benchmark.notes)
        and CAUSES.issuperset(benchmark.causes)
        and all(skipped.why in SKIP_NOTES and skipped.id in WORKLOADS for skipped in benchmark.left_out)
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
