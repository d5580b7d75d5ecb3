"""A benchmark in words: headline, names, figures, fairness."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from ...bench import compare
from ...core.results import Benchmark, BenchResult
from .. import language

# Above this share of the median between the quartiles a figure is not steady (see the honesty rules of bench/).
STEADY = 0.10

translate = QCoreApplication.translate


class Headline(NamedTuple):
    """The one figure and what it is."""

    figure: str
    text: str
    detail: str


def workload(name: str, dtype: str) -> str:
    """What is measured: "Matrix product, float32"."""
    texts = language.texts()
    known = texts.has(f"bench.workload.{name}")
    said = texts.say(f"bench.workload.{name}") if known else name
    return translate("Scores", "{workload}, {dtype}").format(workload=said, dtype=dtype)


def name(result: BenchResult) -> str:
    """What was measured."""
    return workload(result.id, result.dtype)


def detail(result: BenchResult) -> str:
    """Its size and how often it ran; what was only worked out says so."""
    if result.extrapolated:
        return translate("Scores", "{size}, worked out from a smaller size").format(size=extent(result.size))
    return translate("Scores", "{size}, {runs} runs").format(size=extent(result.size), runs=result.runs)


def extent(size: tuple[int, ...]) -> str:
    """A size as people say it: square matrices are 4096 × 4096."""
    return " × ".join(str(side) for side in (size[:2] if len(set(size)) == 1 else size))


def device(name: str) -> str:
    """CPU or GPU, with its number only where it is not the first."""
    kind, _, number = name.partition(":")
    return "CPU" if kind == "cpu" else "GPU" if number in ("", "0") else f"GPU {number}"


def device_name(result: BenchResult) -> str:
    """Where it was measured."""
    return device(result.device)


def colour(result: BenchResult) -> str:
    """The token of its bar."""
    return "s5" if result.device == "cpu" else "accent"


def figure(number: float) -> str:
    """Digits that mean something: 0.041, 0.48, 11.8, 262."""
    if number >= 100:
        return f"{number:,.0f}"
    if number >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def shown(number: float, unit: str) -> tuple[str, str]:
    """A figure and its unit as people read them: below 1 TFLOP/s it is GFLOP/s."""
    if unit == "TFLOP/s" and number < 1:
        return figure(number * 1e3), "GFLOP/s"
    return figure(number), unit


def value(result: BenchResult) -> str:
    """The median with its unit."""
    return " ".join(shown(result.median, result.unit))


def reference(benchmark: Benchmark) -> BenchResult | None:
    """The one result that stands for all: the first workload on the first GPU, else on the CPU.

    At the largest size that all devices did, never the highest figure: which size that is changes from run to run,
    and two runs could not be compared.
    """
    return min(comparable(benchmark), key=lambda r: (r.device == "cpu", r.device), default=None)


def history(benchmark: Benchmark, kept: Sequence[Benchmark]) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement in every benchmark that has it."""
    best = reference(benchmark)
    return compare.history(best, benchmark, kept) if best is not None else []


def left_out(benchmark: Benchmark, kept: Sequence[Benchmark]) -> list[tuple[int, ...]]:
    """Sizes that an earlier run measured and this one did not, of the measurement that stands for all."""
    best = reference(benchmark)
    if best is None:
        return []
    before = {r.size for each in kept for r in each.results if compare.what(r) == compare.what(best)}
    return sorted(before - {r.size for r in benchmark.results if compare.what(r) == compare.what(best)})


def comparable(benchmark: Benchmark) -> list[BenchResult]:
    """The results of the first workload, one for each device at the largest size that all did, fastest first."""
    results = _measured(benchmark)
    if not results:
        return []
    first = next((r for r in results if r.device != "cpu"), results[0])
    same = [r for r in results if (r.id, r.dtype) == (first.id, first.dtype)]
    sizes = [{r.size for r in same if r.device == device} for device in {r.device for r in same}]
    common = set.intersection(*sizes)
    same = [r for r in same if r.size in common] or same
    by_device = {r.device: r for r in sorted(same, key=lambda r: r.size)}
    return sorted(by_device.values(), key=lambda r: r.median, reverse=True)


def _measured(benchmark: Benchmark) -> list[BenchResult]:
    """What was really measured, on each device alone."""
    return [r for r in benchmark.results if not r.extrapolated and r.processes == 1]


def headline(benchmark: Benchmark) -> Headline | None:
    """GPU over CPU where both were measured, else the CPU's figure."""
    best = reference(benchmark)
    if best is None:
        return None
    if benchmark.speedup:
        ratio = max(benchmark.speedup.values())
        times = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
        return Headline(
            translate("Scores", "{times}×").format(times=times),
            translate("Scores", "The GPU is {times} times as fast as the CPU").format(times=times),
            value(best),
        )
    threads = next((device.threads for device in benchmark.devices if device.id == best.device), None)
    said = translate("Scores", "{name} on the CPU").format(name=name(best))
    number, unit = shown(best.median, best.unit)
    return Headline(
        number,
        f"{unit} · {said}",
        " · ".join(
            part
            for part in (
                extent(best.size),
                in_words(best),
                translate("Scores", "{threads} threads").format(threads=threads) if threads is not None else "",
            )
            if part
        ),
    )


def in_words(result: BenchResult) -> str:
    """What the unit means: TFLOP/s as operations a second."""
    if result.unit != "TFLOP/s":
        return ""
    text = translate("Scores", "{billions} billion operations a second")
    return text.format(billions=f"{result.median * 1e3:,.0f}", hundred_millions=f"{result.median * 1e4:,.0f}")


def when(benchmark: Benchmark) -> str:
    """Measured today at …, or on a day."""
    if benchmark.started is None:
        return ""
    moment = time.localtime(benchmark.started)
    clock = time.strftime("%H:%M", moment)
    if moment[:3] == time.localtime()[:3]:
        return translate("Scores", "Measured today, {time}").format(time=clock)
    return translate("Scores", "Measured {date}, {time}").format(date=time.strftime("%Y-%m-%d", moment), time=clock)


class Fairness(NamedTuple):
    """One line of “Was it a fair test?”: kind ok, warn or neutral."""

    kind: str
    text: str
    value: str


def fairness(benchmark: Benchmark, kept: Sequence[Benchmark] = ()) -> list[Fairness]:
    """What speaks for and against the figures, as far as the benchmark and those of before say it."""
    found: list[Fairness] = []
    measured = [r for r in benchmark.results if not r.extrapolated]
    errors = [r.error for r in measured if r.error is not None]
    if measured:
        checked = len(errors) == len(measured)
        found.append(
            Fairness(
                "ok" if checked else "neutral",
                translate("Scores", "Results checked"),
                translate("Scores", "all right")
                if checked
                else translate("Scores", "{checked} of {count}").format(checked=len(errors), count=len(measured)),
            )
        )
        spread = max((r.q3 - r.q1) / r.median for r in measured if r.median > 0)
        found.append(
            Fairness(
                "ok" if spread <= STEADY else "warn",
                translate("Scores", "Spread between runs"),
                translate("Scores", "at most {percent} %").format(percent=f"{100 * spread:.1f}"),
            )
        )
    threads = next((device.threads for device in benchmark.devices if device.id == "cpu"), None)
    if threads is not None:
        found.append(Fairness("neutral", translate("Scores", "CPU threads"), str(threads)))
    found += [Fairness("warn", language.texts().say(note), "") for note in benchmark.notes]
    if missing := left_out(benchmark, kept):
        found.append(
            Fairness(
                "neutral",
                translate("Scores", "Measured before, not this time"),
                ", ".join(extent(size) for size in missing),
            )
        )
    if benchmark.seconds is not None:
        found.append(
            Fairness(
                "neutral",
                translate("Scores", "Time"),
                translate("Scores", "{seconds} s").format(seconds=round(benchmark.seconds)),
            )
        )
    return found


def day(benchmark: Benchmark) -> str:
    """When, short enough for a bar's label."""
    if benchmark.started is None:
        return "—"
    moment = time.localtime(benchmark.started)
    today = moment[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if today else "%m-%d %H:%M", moment)
