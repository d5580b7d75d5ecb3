"""A benchmark, and the table of all stored benchmarks, as text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ...bench import scaling
from ...bench.child_protocol import CANCELLED_NOTE, CHILD_ENDINGS, NOTE_PREFIX, UNSAVED_NOTE, BenchmarkProgress
from ...bench.device_comparison import headline_comparison, readable_figure, relevant_gpu_logs
from ...bench.expected_ranges import judged_range, repair_steps, shortfall_percent
from ...bench.measurements import DOUBTFUL_NOTES, results_with_note, skip_details, skipped_main_workloads
from ...core.results import (
    BenchGpuLog,
    Benchmark,
    BenchmarkHistory,
    BenchmarkHistoryEntry,
    BenchResult,
    SkippedWorkload,
)
from ...core.types import Value, device_label, device_name
from ...texts.benchmark import (
    doubt_text,
    format_digits,
    format_ratio,
    missing_workloads_text,
    size_text,
    unit_name,
    verdict_text,
    with_label,
    workload_name,
)
from ..output import Output, display_width

THROTTLE_PREFIX = "monitor.throttle."
FAILURE_NOTES = frozenset(
    {UNSAVED_NOTE, *(NOTE_PREFIX + code for code in (*CHILD_ENDINGS, "lost", "reset", "wrong"))}
) - {CANCELLED_NOTE}


def render_announcement(environment: Path, output: Output, *, full: bool, device: str | None = None) -> None:
    """What will be measured and how long it takes; only `device` if one is given."""
    suffix = "-one" if device is not None else ""
    parameters: dict[str, Value] = {"device": device_name(device)} if device is not None else {}
    parameters["together_seconds"] = scaling.max_total_s(full=full)
    output.write_note(
        output.translate(f"bench-before{suffix}{'-full' if full else ''}", path=str(environment), **parameters)
    )


def failure_texts(benchmark: Benchmark, output: Output) -> tuple[str, ...]:
    """What went wrong: the test ended early, a device was lost or computed wrong results, the result is not stored."""
    return tuple(output.texts.translate(note) for note in benchmark.notes if note in FAILURE_NOTES)


def render_benchmark(benchmark: Benchmark, output: Output) -> None:
    """The comparison of devices, every result with its expected range, what was skipped and why, and the verdict."""
    comparison = headline_comparison(benchmark)
    if comparison is not None and comparison.cpu is not None and comparison.ratio is not None:
        best = comparison.fastest
        output.write_line(
            output.translate(
                "bench-headline",
                workload=workload_name(best.id, output.texts),
                card=_device_label(best.device, benchmark, output),
                how=_settings_text(best, output),
                factor=format_ratio(comparison.ratio),
                how_cpu=_settings_text(comparison.cpu, output),
            )
        )
    if missing := skipped_main_workloads(benchmark):
        several_devices = len(benchmark.devices) > 1
        names = [
            (_workload_name(omitted.id, omitted.device if several_devices else None, benchmark, output), omitted.why)
            for omitted in missing
        ]
        output.write_line(missing_workloads_text(names, output.texts))
    for device in benchmark.devices:
        if device.threads is not None:
            name = _device_label(device.id, benchmark, output)
            output.write_line(output.translate("bench-threads", device=name, threads=device.threads))
    for result in benchmark.results:
        output.write_line(
            labelled_text(
                _device_label(result.device, benchmark, output, result.processes),
                _result_text(result, benchmark, output),
                output,
            )
        )
    for card in relevant_gpu_logs(benchmark):
        output.write_line(_gpu_log_text(card, benchmark, output))
    silent_reasons = dict.fromkeys(omitted.why for omitted in benchmark.left_out if omitted.why not in benchmark.notes)
    for reason in silent_reasons:
        _render_note("–", reason, benchmark, output)
    if any(result.unit == "GB/s" for result in benchmark.results):
        output.write_line("  " + output.texts.translate("bench.units"))
    for note in benchmark.notes:
        _render_note("!", note, benchmark, output)
    if benchmark.verdict:
        output.write_line(verdict_text(benchmark, output.texts))
    _render_advice(benchmark, output)
    if benchmark.seconds is not None:
        output.write_line(output.translate("bench-took", took_seconds=float(benchmark.seconds)))


def render_judgement(benchmark: Benchmark, output: Output) -> None:
    """A judged benchmark of any computer; where nothing has a range, why."""
    if all(result.judgement == "unknown" for result in benchmark.results):
        benchmark = replace(benchmark, verdict=None)
    render_benchmark(benchmark, output)
    if benchmark.verdict is None:
        output.write_line(output.translate("bench-unjudged"))


def _render_advice(benchmark: Benchmark, output: Output) -> None:
    """Why a result is below its range, and what to do about it."""
    for cause in benchmark.causes:
        output.write_line("  • " + output.texts.translate(cause))
    for number, step in enumerate(repair_steps(benchmark), 1):
        output.write_line(f"    {number}. {output.texts.translate(step)}")


def _render_note(mark: str, note: str, benchmark: Benchmark, output: Output) -> None:
    """A note once, then the results and skipped workloads that it is about."""
    output.write_line(f"  {mark} {output.texts.translate(note)}")
    results, left_out = results_with_note(note, benchmark)
    for result in results if len(results) < len(benchmark.results) else ():
        device = _device_label(result.device, benchmark, output, result.processes)
        output.write_line("      " + labelled_text(device, workload_details(result, None, output), output))
    for omitted in left_out:
        text = workload_details(omitted, None, output)
        if (figures := skip_details(omitted)) is not None:
            text = labelled_text(text, output.texts.translate(*figures), output)
        output.write_line("      " + labelled_text(_device_label(omitted.device, benchmark, output), text, output))


def _workload_name(workload: str, device: str | None, benchmark: Benchmark, output: Output) -> str:
    """The name of a workload, and of its device if one is given."""
    name = workload_name(workload, output.texts)
    return name if device is None else f"{name} ({_device_label(device, benchmark, output)})"


def _result_text(result: BenchResult, benchmark: Benchmark, output: Output) -> str:
    """A result without its device: workload, median, quartiles, expected range."""
    (median, unit), (q1, _), (q3, _) = (
        formatted_value(number, result, output) for number in (result.median, result.q1, result.q3)
    )
    code = "bench-extrapolated" if result.extrapolated else "bench-figure"
    text = output.translate(code, median=median, q1=q1, q3=q3, unit=unit, runs=result.runs)
    details = []
    expected = judged_range(result, benchmark)
    if expected is not None:
        low, high = (formatted_value(number, result, output)[0] for number in expected)
        code = {"above": "bench-above", "below": "bench-below"}.get(result.judgement or "", "bench-usual")
        percent = shortfall_percent(result.median, expected)
        details.append(output.translate(code, low=low, high=high, unit=unit, percent=percent))
    if result.clock_sm is not None:
        load = output.texts.translate(f"bench.load.{result.load or 'burst'}")
        details.append(output.translate("bench-clock", load=load, clock=result.clock_sm))
    if result.efficiency is not None:
        details.append(output.translate("bench-efficiency", percent=f"{100 * result.efficiency:.0f}"))
    figure = labelled_text(workload_details(result, result.batch, output), text, output)
    if DOUBTFUL_NOTES & set(result.notes):
        figure = output.translate("bench-doubtful", figure=figure)
    return "\n    ".join([figure, *details])


def _gpu_log_text(gpu_log: BenchGpuLog, benchmark: Benchmark, output: Output) -> str:
    """Temperatures, clocks, power and throttling of a GPU during the test; a dash for unknown values."""
    texts = output.texts
    throttle_reasons = [
        texts.translate(THROTTLE_PREFIX + reason) if texts.has_text(THROTTLE_PREFIX + reason) else reason
        for reason in gpu_log.throttle
    ]
    return output.translate(
        "bench-along",
        card=_device_label(gpu_log.device or f"cuda:{gpu_log.index}", benchmark, output),
        first=gpu_log.temp_start,
        last=gpu_log.temp_end,
        most=gpu_log.temp_max,
        clock=gpu_log.clock_sm,
        memory_clock=gpu_log.clock_mem,
        power=None if gpu_log.power_max_w is None else round(gpu_log.power_max_w),
        limit=None if gpu_log.power_limit_w is None else round(gpu_log.power_limit_w),
        reasons=("；" if texts.language == "zh_CN" else "; ").join(throttle_reasons) or output.translate("bench-free"),
    )


def marked_median(result: BenchResult, output: Output) -> str:
    """The median with its unit, marked if it is doubtful."""
    text = " ".join(formatted_value(result.median, result, output))
    return output.translate("bench-doubtful", figure=text) if DOUBTFUL_NOTES & set(result.notes) else text


def formatted_value(number: float, reference: BenchResult, output: Output) -> tuple[str, str]:
    """A value (median, quartile, limit of a range) in the unit that suits the result's median."""
    value, unit = readable_figure(number, reference.unit, reference=reference.median)
    return format_digits(value), unit_name(unit, output.texts)


def labelled_text(name: str, text: str, output: Output) -> str:
    """A text behind the name of what it is about."""
    return with_label(name, text, output.texts.language)


def workload_details(item: BenchResult | SkippedWorkload, batch: int | None, output: Output) -> str:
    """Workload, format, size and batch."""
    parts = [workload_label(item, output), size_text(item.id, item.size, output.texts)]
    if batch is not None:
        parts.append(output.translate("bench-batch", batch=batch))
    return join_list([part for part in parts if part], output)


def workload_label(item: BenchResult | SkippedWorkload | BenchmarkProgress, output: Output) -> str:
    """Workload and format; copies have no format."""
    workload = item.workload if isinstance(item, BenchmarkProgress) else item.id
    name = workload_name(workload, output.texts, item.device)
    return name if item.dtype == "uint8" else join_list([name, _precision_name(item.dtype, output)], output)


def _settings_text(result: BenchResult, output: Output) -> str:
    """Format and batch."""
    batch = [] if result.batch is None else [output.translate("bench-batch", batch=result.batch)]
    return join_list([_precision_name(result.dtype, output), *batch], output)


def _precision_name(dtype: str, output: Output) -> str:
    """The name of a format; of mixed precision with its narrower format."""
    base_dtype = dtype.removeprefix("mixed-")
    return dtype if base_dtype == dtype else output.translate("bench-mixed", dtype=base_dtype)


def _device_label(device: str, benchmark: Benchmark, output: Output, processes: int = 1) -> str:
    """The name of a device; of several GPUs with its number."""
    if processes > 1 or device == "cuda":
        count = processes if processes > 1 else sum(device_info.id != "cpu" for device_info in benchmark.devices)
        return output.translate("bench-together", count=count)
    name = next((device_info.name for device_info in benchmark.devices if device_info.id == device), None)
    gpu_count = sum(device_info.id != "cpu" for device_info in benchmark.devices)
    return device_label(device, name, several=device != "cpu" and gpu_count > 1)


def join_list(parts: Sequence[str], output: Output) -> str:
    """The parts with the commas of the language."""
    return ("，" if output.texts.language == "zh_CN" else ", ").join(parts)


VERSION_NAMES = {"torch": "PyTorch", "cuda": "CUDA"}


def render_benchmark_history(history: BenchmarkHistory, output: Output) -> None:
    """A table, the newest last: time, scope, versions, main result, change."""
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
    return (
        _format_time(run.started),
        scope,
        _versions_text(run, output),
        _headline_text(run, output),
        _change_text(run, output),
    )


def _format_time(started: float | None) -> str:
    return "—" if started is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(started))


def _versions_text(run: BenchmarkHistoryEntry, output: Output) -> str:
    parts = [f"{name} {run.versions[key]}" for key, name in VERSION_NAMES.items() if key in run.versions]
    if "driver" in run.versions:
        parts.append(output.translate("past-driver", version=run.versions["driver"]))
    return " · ".join(parts)


def _headline_text(run: BenchmarkHistoryEntry, output: Output) -> str:
    """The main result with its device; then what is missing."""
    headline = run.headline
    if headline is None:
        return "—"
    device = (
        next((device_info.name for device_info in run.devices if device_info.id == headline.device), None)
        or headline.device
    )
    parts = [f"{_headline_workload(headline, output)} · {device} · {marked_median(headline, output)}"]
    if run.ratio is not None:
        parts.append(output.translate("past-ratio", factor=format_ratio(run.ratio)))
    if not run.finished:
        parts.append(output.translate("past-unfinished"))
    if run.missing:
        names = [workload_name(workload, output.texts) for workload in run.missing]
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
    """Workload and format; of a matrix product also the size, since each has its own speed."""
    return workload_details(result, None, output) if result.id == "matmul" else workload_label(result, output)
