"""Reads the benchmarks that were kept. Another version of the program may have written it, or somebody by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..core import json
from ..core.results import Benchmark
from .expected import CAUSES
from .lines import LEFT, NOTES, REMARKS, VERDICTS, WORKLOADS, sound

# Steers a terminal, or turns the direction of what follows.
_STEERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
YEAR_3000 = 32_503_680_000.0  # seconds since the epoch: what every system's calendar knows


class Kept(NamedTuple):
    """What a folder has: `benchmarks`, oldest first, and how many files of it `read` leaves out."""

    benchmarks: tuple[Benchmark, ...]
    left_out: int


def all_of(folder: Path) -> Kept:
    """The benchmarks in a folder that need not be there."""
    found = [read(path) for path in folder.glob("*.json")]
    read_ones = [each for each in found if each is not None]
    return Kept(tuple(sorted(read_ones, key=lambda each: each.started or 0.0)), left_out=len(found) - len(read_ones))


def read(path: Path) -> Benchmark | None:
    """The benchmark in a file, its words without signs that steer a terminal; None where it cannot be read, or says
    what this version has no words for: then another one wrote it, and nobody knows whether its figures compare.
    """
    try:
        benchmark = json.convert(_clean(json.decode(path.read_bytes(), object)), Benchmark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # `_clean` goes less deep than `decode`
        return None
    return benchmark if _ours(benchmark) else None


def _ours(benchmark: Benchmark) -> bool:
    return (
        (benchmark.verdict is None or benchmark.verdict in VERDICTS)
        and NOTES.issuperset(benchmark.notes)
        and CAUSES.issuperset(benchmark.causes)
        and all(left.why in LEFT and left.id in WORKLOADS for left in benchmark.left_out)
        and all(sound(result) and REMARKS.issuperset(result.notes) for result in benchmark.results)
        and (benchmark.started is None or 0 <= benchmark.started < YEAR_3000)
    )


def _clean(value: object) -> object:
    if isinstance(value, str):
        return _STEERS.sub("", value)
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    return value
