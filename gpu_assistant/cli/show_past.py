"""Benchmarks of before as people read them in a terminal."""

from __future__ import annotations

import time

from ..core.results import Benchmarks, BenchResult, PastBenchmark
from ..texts.measured import doubt, times
from .output import Output, cells
from .show_bench import amount, listed, measured, named, what

NAMES = {"torch": "PyTorch", "cuda": "CUDA"}


def benchmarks(value: Benchmarks, output: Output) -> None:
    """A table, the newest last: when, how thorough, versions, the figure that stands for it, what has changed."""
    if not value.runs:
        output.line(output.say("past-none"))
        _left_out(value, output)
        return
    heads = tuple(output.say(f"past-{name}") for name in ("when", "test", "versions", "figure", "change"))
    rows = [heads, *(_row(run, output) for run in value.runs)]
    wide = [max(cells(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        padded = (text + " " * (width - cells(text)) for text, width in zip(row, wide, strict=True))
        output.line("  ".join(padded).rstrip())
    output.line(output.say("past-equal"))
    _left_out(value, output)


def _left_out(value: Benchmarks, output: Output) -> None:
    if value.left_out:
        output.line(output.texts.say("bench.kept-left-out", {"results": value.left_out}))


def _row(run: PastBenchmark, output: Output) -> tuple[str, ...]:
    scope = "" if run.scope is None else output.say(f"past-{run.scope}")
    return _when(run.started), scope, _versions(run, output), _figure(run, output), _change(run, output)


def _when(started: float | None) -> str:
    return "—" if started is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(started))


def _versions(run: PastBenchmark, output: Output) -> str:
    found = [f"{name} {run.versions[key]}" for key, name in NAMES.items() if key in run.versions]
    if "driver" in run.versions:
        found.append(output.say("past-driver", version=run.versions["driver"]))
    return " · ".join(found)


def _figure(run: PastBenchmark, output: Output) -> str:
    """What was measured, where, how much; then what is missing beside it."""
    best = run.headline
    if best is None:
        return "—"
    device = next((each.name for each in run.devices if each.id == best.device), None) or best.device
    parts = [f"{_measured(best, output)} · {device} · {amount(best, output)}"]
    if run.ratio is not None:
        parts.append(output.say("past-ratio", factor=times(run.ratio)))
    if not run.finished:
        parts.append(output.say("past-unfinished"))
    if run.missing:
        names = [output.texts.say(f"bench.workload.{workload}") for workload in run.missing]
        parts.append(output.say("past-without", workloads=listed(names, output)))
    return " · ".join(parts)


def _change(run: PastBenchmark, output: Output) -> str:
    if run.compared_with is None:
        return output.say("past-alone")
    when, change = _when(run.compared_with), run.change
    if run.doubts:
        said = output.say("past-doubtful", when=when, why=doubt(run.doubts, output.texts))
    elif change is None:
        said = output.say("past-same", when=when)
    else:
        code = "past-faster" if change > 1 else "past-slower"
        said = output.say(code, percent=f"{100 * abs(change - 1):.0f}", when=when)
    other = run.compared if run.compared != run.headline else None
    return said if other is None else named(_measured(other, output), said, output)


def _measured(result: BenchResult, output: Output) -> str:
    """What it was; of products the size too, since each size has a speed of its own."""
    return what(result, None, output) if result.id == "matmul" else measured(result, output)
