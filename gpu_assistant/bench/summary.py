"""A benchmark's many figures as the few that people compare: devices side by side; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..core.names import Value
from ..core.results import Benchmark, BenchResult, BenchWatch, DType, LeftOut
from .compare import fallen, history
from .expected import key
from .lines import NOTE

MIXED: tuple[DType, ...] = ("mixed-bfloat16", "mixed-float16")
NARROW: tuple[DType, ...] = ("float16", "bfloat16")
# What stands beside each other, the most telling first: workload, formats of a card, formats of the processor. What
# one would not compute with on a processor is compared with its float32.
KINDS: tuple[tuple[str, tuple[DType, ...], tuple[DType, ...]], ...] = (
    ("resnet50", (*MIXED, "float32"), ("float32",)),
    ("bert-base", (*MIXED, "float32"), ("float32",)),
    ("matmul", ("float32",), ("float32",)),
    ("matmul", NARROW, ("float32",)),
    ("decode", (*NARROW, "float32"), (*NARROW, "float32")),
    ("copy-to-device-pinned", ("uint8",), ()),
    ("copy-within", ("uint8",), ("uint8",)),
)
SHOWN = 6
NIGHT_S = 8 * 3600.0


def watched(benchmark: Benchmark) -> tuple[BenchWatch, ...]:
    """The cards along the run, where one of them was measured; of others the driver's figures say nothing about it."""
    return benchmark.watched if any(result.device != "cpu" for result in benchmark.results) else ()


# What the guides' table has; a result without one of these says so beside its headline.
MAIN = ("matmul", "resnet50", "bert-base", "decode", "copy-within", "copy-to-device-pinned", "copy-to-host-pinned")


# Verdicts that say of a card which is there that it was not measured, and why.
UNMEASURED = frozenset(f"bench.verdict.{why}" for why in ("cpu-build", "card-unseen", "card-failed"))


class Pair(NamedTuple):
    """One thing measured on every device at the same size: `gpus` in the devices' order, `together` on all of them in
    the same format.

    `ratio` is the fastest card over the processor, None where they cannot be compared. A processor that stands alone
    has its own `mixed` precision beside it, and what it reached `before`, as far as that was measured.
    """

    gpus: tuple[BenchResult, ...]
    cpu: BenchResult | None
    together: BenchResult | None = None
    ratio: float | None = None
    mixed: BenchResult | None = None
    before: BenchResult | None = None

    @property
    def results(self) -> tuple[BenchResult, ...]:
        """All of it, cards first, what was before last."""
        found = (*self.gpus, self.together, self.cpu, self.mixed, self.before)
        return tuple(each for each in found if each is not None)

    @property
    def best(self) -> BenchResult:
        """The fastest card, else the processor."""
        one = max(self.gpus, key=lambda result: result.median, default=self.cpu)
        assert one is not None  # noqa: S101 - a pair has one of them
        return one


def pairs(benchmark: Benchmark, before: Benchmark | None = None) -> tuple[Pair, ...]:
    """The figures worth a bar, the most telling first. Only what was measured; a figure worked out stands for none.
    Where there is no card, those of the benchmark `before` stand beside them.
    """
    told = [result for result in benchmark.results if not result.extrapolated]
    shown = []
    for name, of_cards, of_cpu in KINDS:
        same = [result for result in told if result.id == name and result.processes == 1]
        cards = [found for device in _cards(benchmark) if (found := _only(same, device, of_cards))]
        if not cards and of_cards == NARROW:
            continue  # the processor's float32 has its own row
        pair = _pair(cards, _only(same, "cpu", of_cpu), told)
        if pair is not None:
            shown.append(pair if pair.gpus else _alone(pair, benchmark, before, same))
    return tuple(shown[:SHOWN])


def scales(shown: Sequence[Pair]) -> dict[str, float]:
    """The largest figure of each unit among what has a bar: one scale for all rows of a unit, to compare lengths."""
    most: dict[str, float] = {}
    for pair in shown:
        if len(pair.results) > 1:
            most[pair.best.unit] = max(most.get(pair.best.unit, 0.0), *(each.median for each in pair.results))
    return most


def headline(benchmark: Benchmark) -> Pair | None:
    """The pair that stands for all: the first that compares card and processor, else the first at all."""
    known = pairs(benchmark)
    return next((pair for pair in known if pair.ratio is not None), known[0] if known else None)


def compared(
    benchmark: Benchmark, kept: Sequence[Benchmark]
) -> tuple[BenchResult, list[tuple[Benchmark, BenchResult]]]:
    """What can be compared with another one that was `kept`, and its history there (this benchmark's own figure among
    it, where it is kept): the headline, else the most telling measurement that another one has too. Empty where none
    has; a quick and a full test differ in sizes. Raises ValueError where nothing was measured.
    """
    candidates = [pair.best for pair in pairs(benchmark)]
    first = headline(benchmark)
    if first is None:
        raise ValueError("nothing was measured")
    measured = [result for result in benchmark.results if not result.extrapolated]
    for each in (first.best, *candidates, *measured):
        found = history(each, benchmark, kept)
        if any(other is not benchmark for other, _ in found):
            return each, found
    return first.best, history(first.best, benchmark, kept)


def before(benchmark: Benchmark, kept: Sequence[Benchmark]) -> Benchmark | None:
    """The one that this benchmark is compared with: the newest of the others in `kept` that has what it has."""
    if headline(benchmark) is None:
        return None
    return next((each for each, _ in reversed(compared(benchmark, kept)[1]) if each is not benchmark), None)


def missing(benchmark: Benchmark) -> tuple[LeftOut, ...]:
    """The main measurements that this one wanted to make and has in no format, each once."""
    measured = {(result.id, result.device) for result in benchmark.results if not result.extrapolated}
    wanted: dict[tuple[str, str], LeftOut] = {}
    for left in benchmark.left_out:
        if left.id in MAIN:
            wanted.setdefault((left.id, left.device), left)
    return tuple(left for which, left in wanted.items() if which not in measured)


def wanted(left: LeftOut) -> tuple[str, dict[str, Value]] | None:
    """How much it would have taken and how much there was: a text's key and its figures; None where nobody knows."""
    if left.wanted_bytes is not None and left.had_bytes is not None:
        return "bench.left.memory", {"wanted_memory_bytes": left.wanted_bytes, "had_memory_bytes": left.had_bytes}
    if left.wanted_s is not None and left.had_s is not None:
        # Rounded apart: 4 seconds wanted and 4 given would be no reason.
        had, wanted_s = math.floor(left.had_s), math.ceil(left.wanted_s)
        return (
            ("bench.left.time", {"wanted_seconds": wanted_s, "had_seconds": had})
            if had
            else ("bench.left.no-time", {"wanted_seconds": wanted_s})
        )
    return None


def concerned(note: str, benchmark: Benchmark) -> tuple[tuple[BenchResult, ...], tuple[LeftOut, ...]]:
    """The figures that bear a note of a benchmark, and what was left out for it."""
    code = note.removeprefix(NOTE)
    return (
        tuple(result for result in benchmark.results if code in result.notes),
        tuple(left for left in benchmark.left_out if left.why == note),
    )


def readable(number: float, unit: str, *, like: float | None = None) -> tuple[float, str]:
    """A figure and its unit as people read them: below 1 TFLOP/s it is GFLOP/s; `like` decides where several stand
    beside each other.
    """
    small = unit == "TFLOP/s" and (number if like is None else like) < 1
    return (number * 1e3, "GFLOP/s") if small else (number, unit)


def of_a_night(ratio: float) -> float:
    """Seconds that the card takes for what the processor does in a night of 8 hours."""
    return NIGHT_S / ratio


def best_of_its_key(result: BenchResult, benchmark: Benchmark) -> bool:
    """Whether no other size came out faster: the range that is right for a card is one for its best size."""
    return all(key(each) != key(result) or each.median <= result.median for each in benchmark.results)


def _cards(benchmark: Benchmark) -> list[str]:
    named = [device.id for device in benchmark.devices if device.id != "cpu"]
    return named or sorted({result.device for result in benchmark.results} - {"cpu"})


def _only(results: Sequence[BenchResult], device: str, formats: Sequence[DType]) -> list[BenchResult]:
    """A device's results in the first of these formats that it has."""
    here = [result for result in results if result.device == device]
    for dtype in formats:
        if found := [result for result in here if result.dtype == dtype]:
            return found
    return []


def _pair(cards: Sequence[list[BenchResult]], cpu: list[BenchResult], told: Sequence[BenchResult]) -> Pair | None:
    every = [*cards, *([cpu] if cpu else [])]
    if not every:
        return None
    common = set.intersection(*({result.size for result in each} for each in every))
    # A size at which one of them was disturbed, or was not filled, stands only where there is no other.
    disturbed = {result.size for each in every for result in each if fallen(result, each)}
    common = (common - disturbed) or common
    gpus = tuple(_largest(each, common) for each in cards)
    here = _largest(cpu, common) if cpu else None
    fastest = max(gpus, key=lambda result: result.median, default=None)
    ratio = None
    if fastest is not None and here is not None and common and here.median > 0 and here.version == fastest.version:
        ratio = fastest.median / here.median if here.dtype in ("float32", fastest.dtype) else None
    together = None
    if fastest is not None:
        with_all = [
            r for r in told if r.processes > 1 and r.id == f"{fastest.id}-parallel" and r.dtype == fastest.dtype
        ]
        together = max(with_all, key=lambda result: result.processes, default=None)
    return Pair(gpus, here, together, ratio)


def _alone(pair: Pair, benchmark: Benchmark, before: Benchmark | None, same: Sequence[BenchResult]) -> Pair:
    """A processor's figure beside what else it did with the same: in mixed precision, and in the benchmark before."""
    here = pair.best
    mixed = next((r for r in _only(same, "cpu", MIXED) if r.size == here.size and r.version == here.version), None)
    earlier = history(here, benchmark, (before,)) if before is not None else []
    return pair._replace(mixed=mixed, before=earlier[-1][1] if earlier else None)


def _largest(results: Sequence[BenchResult], common: set[tuple[int, ...]]) -> BenchResult:
    return max([r for r in results if r.size in common] or results, key=lambda result: result.size)
