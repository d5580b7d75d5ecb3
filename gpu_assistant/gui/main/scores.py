"""A benchmark in words: headline, names, figures, fairness."""

from __future__ import annotations

import time
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from ...core.results import Benchmark, BenchResult

# Above this share of the median between the quartiles a figure is not steady (see the honesty rules of bench/).
STEADY = 0.10


class Headline(NamedTuple):
    """The one figure and what it is."""

    figure: str
    text: str
    detail: str


def tr(text: str) -> str:
    """Our words, in the language that is on."""
    return QCoreApplication.translate("Scores", text)


def name(result: BenchResult) -> str:
    """What was measured: "Matrix product, float32"."""
    names = {"matmul": tr("Matrix product"), "copy": tr("Copy to the GPU"), "resnet50": tr("Training ResNet-50")}
    return f"{names.get(result.id, result.id)}, {result.dtype}"


def detail(result: BenchResult) -> str:
    """Its size and how often it ran."""
    shape = " × ".join(str(side) for side in result.size)
    return tr("{size}, {runs} runs").format(size=shape, runs=result.runs)


def device_name(result: BenchResult) -> str:
    """CPU or GPU, with its number only where it is not the first."""
    kind, _, number = result.device.partition(":")
    return "CPU" if kind == "cpu" else "GPU" if number in ("", "0") else f"GPU {number}"


def colour(result: BenchResult) -> str:
    """The token of its bar."""
    return "s5" if result.device == "cpu" else "accent"


def figure(number: float) -> str:
    """Three digits that mean something: 0.482, 11.8, 262."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2g}" if (
        number < 0.1
    ) else f"{number:.2f}"


def value(result: BenchResult) -> str:
    """The median with its unit."""
    return f"{figure(result.median)} {result.unit}"


def comparable(benchmark: Benchmark) -> list[BenchResult]:
    """The results of the first workload, one for each device, fastest first."""
    results = benchmark.results
    if not results:
        return []
    first = next((r for r in results if r.device != "cpu"), results[0])
    same = [r for r in results if (r.id, r.dtype) == (first.id, first.dtype)]
    by_device = {r.device: r for r in sorted(same, key=lambda r: r.median)}
    return sorted(by_device.values(), key=lambda r: r.median, reverse=True)


def headline(benchmark: Benchmark) -> Headline | None:
    """GPU over CPU where both were measured, else the highest figure of the CPU."""
    if not benchmark.results:
        return None
    best = max(benchmark.results, key=lambda r: (r.unit == benchmark.results[0].unit, r.median))
    if benchmark.speedup:
        ratio = max(benchmark.speedup.values())
        times = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
        return Headline(
            tr("{times}×").format(times=times),
            tr("The GPU is {times} times as fast as the CPU").format(times=times),
            value(best),
        )
    threads = next((device.threads for device in benchmark.devices if device.id == best.device), None)
    said = tr("{name} on the CPU").format(name=name(best))
    return Headline(
        f"{figure(best.median)}",
        f"{best.unit} · {said}",
        tr("{threads} threads").format(threads=threads) if threads is not None else "",
    )


def when(benchmark: Benchmark) -> str:
    """Measured today at …, or on a day."""
    if benchmark.started is None:
        return ""
    moment = time.localtime(benchmark.started)
    clock = time.strftime("%H:%M", moment)
    if moment[:3] == time.localtime()[:3]:
        return tr("Measured today, {time}").format(time=clock)
    return tr("Measured {date}, {time}").format(date=time.strftime("%Y-%m-%d", moment), time=clock)


class Fairness(NamedTuple):
    """One line of “Was it a fair test?”: kind ok, warn or neutral."""

    kind: str
    text: str
    value: str


def fairness(benchmark: Benchmark) -> list[Fairness]:
    """What speaks for and against the figures, as far as the benchmark says it."""
    found: list[Fairness] = []
    errors = [r.error for r in benchmark.results if r.error is not None]
    if benchmark.results:
        checked = len(errors) == len(benchmark.results)
        found.append(
            Fairness(
                "ok" if checked else "neutral",
                tr("Results checked"),
                tr("all right") if checked else tr("{checked} of {count}").format(
                    checked=len(errors), count=len(benchmark.results)
                ),
            )
        )
        spread = max((r.q3 - r.q1) / r.median for r in benchmark.results if r.median > 0)
        found.append(
            Fairness(
                "ok" if spread <= STEADY else "warn",
                tr("Spread between runs"),
                tr("at most {percent} %").format(percent=f"{100 * spread:.1f}"),
            )
        )
    threads = next((device.threads for device in benchmark.devices if device.id == "cpu"), None)
    if threads is not None:
        found.append(Fairness("neutral", tr("CPU threads"), str(threads)))
    if benchmark.seconds is not None:
        found.append(Fairness("neutral", tr("Time"), tr("{seconds} s").format(seconds=round(benchmark.seconds))))
    return found


def day(benchmark: Benchmark) -> str:
    """When, short enough for a bar's label."""
    if benchmark.started is None:
        return "—"
    moment = time.localtime(benchmark.started)
    today = moment[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if today else "%m-%d %H:%M", moment)
