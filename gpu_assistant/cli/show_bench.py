"""A benchmark as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..bench import scaling, summary
from ..bench.compare import DOUBTFUL_NOTES
from ..bench.expected import result_key
from ..bench.lines import CANCELLED_NOTE, CHILD_ENDINGS, NOTE_PREFIX, UNSAVED_NOTE, BenchmarkProgress
from ..core.names import Value, device_label, device_name
from ..core.results import Benchmark, BenchResult, BenchGpuLog, SkippedWorkload
from ..texts.format import format_memory
from ..texts.measured import format_digits, with_label, format_ratio
from ..texts.measured import unit_name as unit_name
from ..texts.missing import missing_workloads_text
from ..texts.verdict import verdict_text
from .output import Output

COPY_PREFIX = "copy-"
THROTTLE_PREFIX = "monitor.throttle."
FAILURE_NOTES = frozenset({UNSAVED_NOTE, *(NOTE_PREFIX + code for code in (*CHILD_ENDINGS, "lost", "wrong"))}) - {CANCELLED_NOTE}
TOKEN_WORKLOADS = ("bert-base", "bert-base-parallel", "decode")  # whose sizes count words


def render_announcement(environment: Path, output: Output, *, full: bool, device: str | None = None) -> None:
    """What comes and how long it takes; of one `device` alone, where only that is measured."""
    suffix = "-one" if device is not None else ""
    parameters: dict[str, Value] = {"device": device_name(device)} if device is not None else {}
    parameters["together_seconds"] = scaling.max_total_s(full=full)
    output.write_note(output.translate(f"bench-before{suffix}{'-full' if full else ''}", path=str(environment), **parameters))


def failure_texts(benchmark: Benchmark, output: Output) -> tuple[str, ...]:
    """What is wrong with the work or the machine, in sentences: it ended too soon, a device was lost or computes wrong,
    the result could not be saved.
    """
    return tuple(output.texts.translate(note) for note in benchmark.notes if note in FAILURE_NOTES)


def render_benchmark(benchmark: Benchmark, output: Output) -> None:
    """The comparison, every figure with what is usual, what was left out and why, the verdict and what to do."""
    comparison = summary.headline_comparison(benchmark)
    if comparison is not None and comparison.cpu is not None and comparison.ratio is not None:
        best = comparison.fastest
        output.write_line(
            output.translate(
                "bench-headline",
                workload=output.texts.translate(f"bench.workload.{best.id}"),
                card=_device_label(best.device, benchmark, output),
                how=_settings_text(best, output),
                factor=format_ratio(comparison.ratio),
                how_cpu=_settings_text(comparison.cpu, output),
            )
        )
    if missing := summary.skipped_main_workloads(benchmark):
        several_devices = len(benchmark.devices) > 1
        names = [(_workload_name(omitted.id, omitted.device if several_devices else None, benchmark, output), omitted.why) for omitted in missing]
        output.write_line(missing_workloads_text(names, output.texts))
    for device in benchmark.devices:
        if device.threads is not None:
            name = _device_label(device.id, benchmark, output)
            output.write_line(output.translate("bench-threads", device=name, threads=device.threads))
    for result in benchmark.results:
        output.write_line(
            labelled_text(_device_label(result.device, benchmark, output, result.processes), _result_text(result, benchmark, output), output)
        )
    for card in summary.relevant_gpu_logs(benchmark):
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
    for cause in benchmark.causes:
        output.write_line("  • " + output.texts.translate(cause))
    if benchmark.seconds is not None:
        output.write_line(output.translate("bench-took", took_seconds=float(benchmark.seconds)))


def _render_note(mark: str, note: str, benchmark: Benchmark, output: Output) -> None:
    """A warning once, then what it is about."""
    output.write_line(f"  {mark} {output.texts.translate(note)}")
    results, left_out = summary.results_with_note(note, benchmark)
    for result in results if len(results) < len(benchmark.results) else ():
        device = _device_label(result.device, benchmark, output, result.processes)
        output.write_line("      " + labelled_text(device, workload_details(result, None, output), output))
    for omitted in left_out:
        text = workload_details(omitted, None, output)
        if (figures := summary.skip_details(omitted)) is not None:
            text = labelled_text(text, output.texts.translate(*figures), output)
        output.write_line("      " + labelled_text(_device_label(omitted.device, benchmark, output), text, output))


def _workload_name(workload: str, device: str | None, benchmark: Benchmark, output: Output) -> str:
    """A workload, and where it was to be measured."""
    name = output.texts.translate(f"bench.workload.{workload}")
    return name if device is None else f"{name} ({_device_label(device, benchmark, output)})"


def _result_text(result: BenchResult, benchmark: Benchmark, output: Output) -> str:
    """One row behind its device."""
    (median, unit), (q1, _), (q3, _) = (
        formatted_value(number, result, output) for number in (result.median, result.q1, result.q3)
    )
    code = "bench-extrapolated" if result.extrapolated else "bench-figure"
    text = output.translate(code, median=median, q1=q1, q3=q3, unit=unit, runs=result.runs)
    details = []
    expected = (benchmark.expected or {}).get(result_key(result))
    if expected is not None and summary.is_best_size(result, benchmark):
        low, high = (formatted_value(number, result, output)[0] for number in expected)
        code = "bench-above" if result.median > expected[1] else "bench-usual"
        details.append(output.translate(code, low=low, high=high, unit=unit))
    if result.efficiency is not None:
        details.append(output.translate("bench-efficiency", percent=f"{100 * result.efficiency:.0f}"))
    figure = labelled_text(workload_details(result, result.batch, output), text, output)
    if DOUBTFUL_NOTES & set(result.notes):
        figure = output.translate("bench-doubtful", figure=figure)
    return "\n    ".join([figure, *details])


def _gpu_log_text(gpu_log: BenchGpuLog, benchmark: Benchmark, output: Output) -> str:
    """What a card did while it was measured; a dash for what its driver does not tell."""
    texts = output.texts
    throttle_reasons = [texts.translate(THROTTLE_PREFIX + reason) if texts.has_text(THROTTLE_PREFIX + reason) else reason for reason in gpu_log.throttle]
    return output.translate(
        "bench-along",
        card=_device_label(f"cuda:{gpu_log.index}", benchmark, output),
        first=gpu_log.temp_start,
        last=gpu_log.temp_end,
        most=gpu_log.temp_max,
        clock=gpu_log.clock_sm,
        memory_clock=gpu_log.clock_mem,
        power=None if gpu_log.power_max_w is None else round(gpu_log.power_max_w),
        limit=None if gpu_log.power_limit_w is None else round(gpu_log.power_limit_w),
        reasons=("；" if texts.language == "zh_CN" else "; ").join(throttle_reasons) or output.translate("bench-free"),
    )


def median_text(result: BenchResult, output: Output) -> str:
    """The median with its unit, and whether something speaks against it."""
    text = " ".join(formatted_value(result.median, result, output))
    return output.translate("bench-doubtful", figure=text) if DOUBTFUL_NOTES & set(result.notes) else text


def formatted_value(number: float, reference: BenchResult, output: Output) -> tuple[str, str]:
    """A figure of a result (its median, a quartile, what is usual) and its unit."""
    value, unit = summary.readable_figure(number, reference.unit, reference=reference.median)
    return format_digits(value), unit_name(unit, output.texts)


def labelled_text(name: str, text: str, output: Output) -> str:
    """What is said of something, behind its name."""
    return with_label(name, text, output.texts.language)


def workload_details(item: BenchResult | SkippedWorkload, batch: int | None, output: Output) -> str:
    """What was measured: workload, format, size and how many at a time."""
    parts = [workload_label(item, output), _size_text(item.id, item.size, output)]
    if batch is not None:
        parts.append(output.translate("bench-batch", batch=batch))
    return join_list([part for part in parts if part], output)


def workload_label(item: BenchResult | SkippedWorkload | BenchmarkProgress, output: Output) -> str:
    """A workload and its format; what is only copied has none."""
    workload = item.workload if isinstance(item, BenchmarkProgress) else item.id
    name = output.texts.translate(f"bench.workload.{workload}")
    return name if item.dtype == "uint8" else join_list([name, _precision_name(item.dtype, output)], output)


def _settings_text(result: BenchResult, output: Output) -> str:
    """In which format and how many at a time."""
    batch = [] if result.batch is None else [output.translate("bench-batch", batch=result.batch)]
    return join_list([_precision_name(result.dtype, output), *batch], output)


def _precision_name(dtype: str, output: Output) -> str:
    """Mixed precision by its name, with the narrower of its formats."""
    base_dtype = dtype.removeprefix("mixed-")
    return dtype if base_dtype == dtype else output.translate("bench-mixed", dtype=base_dtype)


def _size_text(workload: str, size: Sequence[int], output: Output) -> str:
    """4096 × 4096, 256 MB, 3 × 224 × 224, 128 words."""
    if workload in TOKEN_WORKLOADS:
        return output.translate("bench-words", words=sum(size))
    if workload.startswith(COPY_PREFIX):
        return format_memory(size[0])
    square = workload == "matmul" and len(set(size)) == 1
    return " × ".join(str(side) for side in (size[:2] if square else size))


def _device_label(device: str, benchmark: Benchmark, output: Output, processes: int = 1) -> str:
    """Its name; of several cards its number first."""
    if processes > 1 or device == "cuda":
        count = processes if processes > 1 else sum(device_info.id != "cpu" for device_info in benchmark.devices)
        return output.translate("bench-together", count=count)
    name = next((device_info.name for device_info in benchmark.devices if device_info.id == device), None)
    gpu_count = sum(device_info.id != "cpu" for device_info in benchmark.devices)
    return device_label(device, name, several=device != "cpu" and gpu_count > 1)


def join_list(parts: Sequence[str], output: Output) -> str:
    """As one enumerates them."""
    return ("，" if output.texts.language == "zh_CN" else ", ").join(parts)
