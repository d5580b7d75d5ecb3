"""Benchmarks of before as people read them in a terminal."""

from __future__ import annotations

import time

from ..core.results import BenchmarkHistory, BenchResult, BenchmarkHistoryEntry
from ..texts.measured import doubt_text, format_ratio
from .output import Output, display_width
from .show_bench import median_text, join_list, workload_label, labelled_text, workload_details

VERSION_NAMES = {"torch": "PyTorch", "cuda": "CUDA"}


def render_benchmark_history(history: BenchmarkHistory, output: Output) -> None:
    """A table, the newest last: when, how thorough, versions, the figure that stands for it, what has changed."""
    if not history.runs:
        output.write_line(output.translate("past-none"))
        _render_left_out_count(history, output)
        return
    header = tuple(output.translate(f"past-{name}") for name in ("when", "test", "versions", "figure", "change"))
    rows = [header, *(_history_row(run, output) for run in history.runs)]
    column_widths = [max(display_width(row[column]) for row in rows) for column in range(len(header))]
    for row in rows:
        padded = (text + " " * (width - display_width(text)) for text, width in zip(row, column_widths, strict=True))
        output.write_line("  ".join(padded).rstrip())
    output.write_line(output.translate("past-equal"))
    _render_left_out_count(history, output)


def _render_left_out_count(history: BenchmarkHistory, output: Output) -> None:
    if history.left_out:
        output.write_line(output.texts.translate("bench.kept-left-out", {"results": history.left_out}))


def _history_row(run: BenchmarkHistoryEntry, output: Output) -> tuple[str, ...]:
    scope = "" if run.scope is None else output.translate(f"past-{run.scope}")
    return _format_time(run.started), scope, _versions_text(run, output), _headline_text(run, output), _change_text(run, output)


def _format_time(started: float | None) -> str:
    return "—" if started is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(started))


def _versions_text(run: BenchmarkHistoryEntry, output: Output) -> str:
    parts = [f"{name} {run.versions[key]}" for key, name in VERSION_NAMES.items() if key in run.versions]
    if "driver" in run.versions:
        parts.append(output.translate("past-driver", version=run.versions["driver"]))
    return " · ".join(parts)


def _headline_text(run: BenchmarkHistoryEntry, output: Output) -> str:
    """What was measured, where, how much; then what is missing beside it."""
    headline = run.headline
    if headline is None:
        return "—"
    device = next((device_info.name for device_info in run.devices if device_info.id == headline.device), None) or headline.device
    parts = [f"{_headline_workload(headline, output)} · {device} · {median_text(headline, output)}"]
    if run.ratio is not None:
        parts.append(output.translate("past-ratio", factor=format_ratio(run.ratio)))
    if not run.finished:
        parts.append(output.translate("past-unfinished"))
    if run.missing:
        names = [output.texts.translate(f"bench.workload.{workload}") for workload in run.missing]
        parts.append(output.translate("past-without", workloads=join_list(names, output)))
    return " · ".join(parts)


def _change_text(run: BenchmarkHistoryEntry, output: Output) -> str:
    if run.compared_with is None:
        return output.translate("past-alone")
    compared_at, change = _format_time(run.compared_with), run.change
    if run.doubts:
        text = output.translate("past-doubtful", when=compared_at, why=doubt_text(run.doubts, output.texts))
    elif change is None:
        text = output.translate("past-same", when=compared_at)
    else:
        code = "past-faster" if change > 1 else "past-slower"
        text = output.translate(code, percent=f"{100 * abs(change - 1):.0f}", when=compared_at)
    compared = run.compared if run.compared != run.headline else None
    return text if compared is None else labelled_text(_headline_workload(compared, output), text, output)


def _headline_workload(result: BenchResult, output: Output) -> str:
    """What it was; of products the size too, since each size has a speed of its own."""
    return workload_details(result, None, output) if result.id == "matmul" else workload_label(result, output)
