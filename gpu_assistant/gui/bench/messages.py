"""A benchmark in words: headline, names, figures, fairness.

What the compared figures mean, in a few words below their names.

When a benchmark was, in words.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from ...bench import results as bench_results
from ...bench.child_protocol import NOTE_PREFIX, BenchmarkProgress
from ...bench.results import DeviceComparison, result_key
from ...core.results import Benchmark, BenchResult
from ...texts import benchmark as texts_benchmark
from ...texts.benchmark import format_digits, format_ratio, missing_workloads_text, verdict_text, with_label
from ...texts.format import UNKNOWN_VALUE, format_counted, format_duration, format_memory, short_name
from ...texts.translate import remove_cjk_gaps
from .. import language
from .running import ActivityText

translate = QCoreApplication.translate


class BenchmarkHeadline(NamedTuple):
    """The one figure and what it is; `missing` is what of the main ones is not there.

    `read_with` is what nobody may read the figure without: the formats that it compares, what speaks against it.
    """

    figure: str
    text: str
    detail: str
    missing: str = ""
    caveats: str = ""

    @property
    def brief(self) -> str:
        """As little as can stand beside the figure."""
        return "\n".join(part for part in (self.text, self.caveats) if part)


def workload_label(name: str, dtype: str = "") -> str:
    """What is measured: "Matrix product, float32"."""
    texts = language.texts()
    known = texts.has_text(f"bench.workload.{name}")
    label = texts.translate(f"bench.workload.{name}") if known else name
    dtype_label = dtype_name(dtype)
    return (
        translate("Scores", "{workload}, {dtype}").format(workload=label, dtype=dtype_label) if dtype_label else label
    )


def activity(report: BenchmarkProgress) -> ActivityText:
    """What is measured just now."""
    size = size_text(report.size) if report.workload == "matmul" else ""
    return ActivityText(f"{workload_label(report.workload, report.dtype)} · {device_label(report.device)}", size)


def dtype_name(dtype: str) -> str:
    """A format as people call it: "mixed precision", "float32"; none for bytes that are only copied."""
    if dtype.startswith("mixed-"):
        return translate("Scores", "mixed precision")
    return "" if dtype == "uint8" else dtype


def result_name(result: BenchResult) -> str:
    """What was measured."""
    return workload_label(result.id, result.dtype)


def result_detail(result: BenchResult) -> str:
    """Its size and how often it ran; what was only worked out says so."""
    if result.extrapolated:
        return translate("Scores", "{size}, worked out from a smaller size").format(size=size_text(result.size))
    return format_counted(translate("Scores", "{size}, {runs} runs"), size=size_text(result.size), runs=result.runs)


def size_text(size: tuple[int, ...]) -> str:
    """A size as people say it: square matrices are 4096 × 4096."""
    return " × ".join(str(side) for side in (size[:2] if len(set(size)) == 1 else size))


def bytes_text(count: int) -> str:
    """Bytes of a copy: "256 MB"."""
    return format_memory(count)


def device_label(name: str) -> str:
    """CPU or GPU, with its number only where it is not the first."""
    device_type, _, number = name.partition(":")
    return "CPU" if device_type == "cpu" else "GPU" if number in ("", "0") else f"GPU {number}"


def cpu_label(dtype: str) -> str:
    """The processor and the format in which it computed: "CPU (float32)"."""
    dtype_label = dtype_name(dtype)
    return translate("Scores", "CPU ({dtype})").format(dtype=dtype_label) if dtype_label else "CPU"


def with_device_label(device: str, text: str) -> str:
    """Something of one device, behind its label."""
    return with_label(device_label(device), text, language.texts().language)


def result_device(result: BenchResult) -> str:
    """Where it was measured."""
    return device_label(result.device)


def multi_gpu_label(result: BenchResult) -> str:
    """Several cards at one model, and how much of so many times one card's speed that is."""
    return " · ".join(part for part in (gpu_count_label(result), efficiency_text(result)) if part)


def gpu_count_label(result: BenchResult) -> str:
    """Several cards at one model."""
    return translate("Scores", "{count} GPUs together").format(count=result.processes)


def efficiency_text(result: BenchResult) -> str:
    """How much of so many times one card's speed it is; "" where nobody knows."""
    if result.efficiency is None:
        return ""
    return translate("Scores", "{percent} % efficiency").format(percent=round(100 * result.efficiency))


def bar_colour(result: BenchResult, pair: bench_results.DeviceComparison | None = None) -> str:
    """The token of its bar: of a processor that stands alone in `pair` only what was before is grey."""
    is_reference = result.device == "cpu" if pair is None or pair.gpus else result is pair.previous
    return "s5" if is_reference else "accent"


def readable_value(number: float, unit: str) -> tuple[str, str]:
    """A figure and its unit as people read them: below 1 TFLOP/s it is GFLOP/s."""
    number, unit = bench_results.readable_figure(number, unit)
    return format_digits(number), unit


def unit_label(unit: str) -> str:
    """A unit as people call it."""
    return texts_benchmark.unit_name(unit, language.texts())


def value_with_unit(number: float, unit: str) -> str:
    """A figure with its unit."""
    figure, unit = readable_value(number, unit)
    return f"{figure} {unit_label(unit)}"


def median_text(result: BenchResult) -> str:
    """The median with its unit."""
    return value_with_unit(result.median, result.unit)


def marked_median(result: BenchResult) -> str:
    """The median with its unit, and whether something speaks against it."""
    if not is_doubtful(result):
        return median_text(result)
    return translate("Scores", "{value} (doubtful)").format(value=median_text(result))


def omission_reason(note_key: str) -> str:
    """Why one thing was left out, behind its name; by the key of what is said of all of them together."""
    texts, short_key = language.texts(), note_key.replace(NOTE_PREFIX, "bench.why.", 1)
    return texts.translate(short_key if texts.has_text(short_key) else note_key)


def is_doubtful(result: BenchResult) -> bool:
    """Whether something speaks against its figure."""
    return bool(bench_results.doubtful_notes(result))


def doubt_text(*results: BenchResult) -> str:
    """What speaks against the figures of these results; "" where nothing does."""
    return texts_benchmark.doubt_text(bench_results.doubtful_notes(*results), language.texts())


def reference_result(benchmark: Benchmark) -> BenchResult | None:
    """The one result that stands for all: the most telling workload, on the fastest GPU, else on the CPU.

    At the largest size that all devices did, never the highest figure: which size that is changes from run to run,
    and two runs could not be compared.
    """
    pair = bench_results.headline_comparison(benchmark)
    return pair.fastest if pair is not None else None


def comparable_runs(benchmark: Benchmark, stored: Sequence[Benchmark]) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement in every benchmark that has it: the headline's, else one that another one has too."""
    return bench_results.find_comparable(benchmark, stored)[1] if reference_result(benchmark) is not None else []


def device_results(benchmark: Benchmark) -> list[BenchResult]:
    """The results of the most telling workload, one for each device at the largest size that all did, fastest first."""
    pair = bench_results.headline_comparison(benchmark)
    results = [*pair.gpus, pair.cpu] if pair is not None else []
    return sorted((each for each in results if each is not None), key=lambda r: r.median, reverse=True)


def make_headline(benchmark: Benchmark) -> BenchmarkHeadline | None:
    """GPU over CPU where both were measured, else the figure there is."""
    pair = bench_results.headline_comparison(benchmark)
    if pair is None:
        return None
    best = pair.fastest
    reason = doubt_text(*(each for each in (best, pair.cpu) if each is not None))
    doubt_note = translate("Scores", "Doubtful: {why}.").format(why=reason) if reason else ""
    if pair.ratio is not None:
        ratio, formats_text = format_ratio(pair.ratio), _formats_text(pair)
        return BenchmarkHeadline(
            ratio_text(pair.ratio),
            (
                translate("Scores", "{workload}: one {card} is {times} times as fast as your CPU")
                if _has_identical_gpus(benchmark, best.device)
                else translate("Scores", "{workload}: your {card} is {times} times as fast as your CPU")
            ).format(workload=workload_label(best.id), card=gpu_name(benchmark, best.device), times=ratio),
            remove_cjk_gaps(" ".join((formats_text, doubt_note or _overnight_text(pair.ratio))).strip()),
            missing_text(benchmark),
            remove_cjk_gaps(" ".join((formats_text, doubt_note)).strip()),
        )
    threads = next((device.threads for device in benchmark.devices if device.id == best.device), None)
    device_text = translate("Scores", "the CPU") if best.device == "cpu" else gpu_name(benchmark, best.device)
    if _has_identical_gpus(benchmark, best.device):
        device_text = translate("Scores", "one {card}").format(card=device_text)
    text = translate("Scores", "{name} on {device}").format(name=result_name(best), device=device_text)
    value, unit = readable_value(best.median, best.unit)
    return BenchmarkHeadline(
        value,
        f"{unit_label(unit)} · {text}",
        " · ".join(
            part
            for part in (
                size_text(best.size) if best.id == "matmul" else "",
                operations_text(best),
                format_counted(translate("Scores", "{threads} threads"), threads=threads)
                if threads is not None
                else "",
                doubt_note,
            )
            if part
        ),
        missing_text(benchmark),
        doubt_note,
    )


def _formats_text(pair: bench_results.DeviceComparison) -> str:
    """In which format each of both computed, where that is not the same."""
    gpu_dtype, cpu_dtype = (dtype_name(each.dtype) if each is not None else "" for each in (pair.fastest, pair.cpu))
    if gpu_dtype == cpu_dtype:
        return ""
    return translate("Scores", "On the card {card}, on the CPU {cpu}.").format(card=gpu_dtype, cpu=cpu_dtype)


def missing_text(benchmark: Benchmark) -> str:
    """Which main measurements are not in this result, and why; nothing where all are."""
    several = len(benchmark.devices) > 1
    names = [
        (
            f"{workload_label(omission.id)} ({device_label(omission.device)})"
            if several
            else workload_label(omission.id),
            omission.why,
        )
        for omission in bench_results.skipped_main_workloads(benchmark)
    ]
    return missing_workloads_text(names, language.texts())


def unmeasured_text(benchmark: Benchmark) -> str:
    """That a card which is there was not measured, and why; "" where all were."""
    return verdict_text(benchmark, language.texts()) if benchmark.verdict in bench_results.UNMEASURED_VERDICTS else ""


def expected_range(pair: bench_results.DeviceComparison, benchmark: Benchmark) -> tuple[float, float] | None:
    """The range of healthy cards beside the fastest card's bar; None where another size stands for the card."""
    best = pair.fastest
    expected = (benchmark.expected or {}).get(result_key(best))
    return expected if expected is not None and bench_results.is_best_size(best, benchmark) else None


def ratio_text(ratio: float) -> str:
    """A ratio as it stands at the end of a row: "31×"."""
    return translate("Scores", "{times}×").format(times=format_ratio(ratio))


def gpu_name(benchmark: Benchmark, device: str) -> str:
    """A card as people call it: "RTX 4060"."""
    name = next((each.name for each in benchmark.devices if each.id == device), None)
    return short_name(name) if name else device_label(device)


def _has_identical_gpus(benchmark: Benchmark, device: str) -> bool:
    """Whether there are several cards of this one's name, which then says nothing of how many computed."""
    names = [gpu_name(benchmark, each.id) for each in benchmark.devices if each.id != "cpu"]
    return device != "cpu" and names.count(gpu_name(benchmark, device)) > 1


def _overnight_text(ratio: float) -> str:
    seconds = bench_results.gpu_seconds_per_night(ratio)
    if seconds >= bench_results.NIGHT_S:
        return translate("Scores", "For this the CPU is the better device here.")
    return translate("Scores", "What takes the CPU a night of 8 hours, the card does in {time}.").format(
        time=format_duration(seconds, language.texts().language)
    )


def operations_text(result: BenchResult) -> str:
    """What the unit means: TFLOP/s as operations a second."""
    if result.unit != "TFLOP/s":
        return ""
    text = translate("Scores", "{billions} billion operations a second")
    return text.format(billions=f"{result.median * 1e3:,.0f}", hundred_millions=f"{result.median * 1e4:,.0f}")


def unfinished_text(benchmark: Benchmark) -> str:
    """That it ended too soon, or lost a device, and what that means; "" where it did not."""
    return remove_cjk_gaps(
        " ".join(language.texts().translate(note) for note in benchmark.notes if note in bench_results.UNFINISHED_NOTES)
    )


def pair_title(pair: DeviceComparison) -> str:
    """What was measured, short enough for the beginning of a row."""
    best = pair.fastest
    return translate("Meaning", "Copy to the card") if best.id == "copy-to-device-pinned" else workload_label(best.id)


def pair_description(pair: DeviceComparison, benchmark: Benchmark) -> str:
    """One line: what it computes, and in which format."""
    best = pair.fastest
    # Where both formats have a bar, each says its own.
    dtype_label = "" if pair.mixed is not None else dtype_name(best.dtype)
    if best.id == "matmul":
        return _matmul_description(best.dtype, on_gpu=best.device != "cpu")
    description = {
        "resnet50": translate("Meaning", "recognises pictures"),
        "bert-base": translate("Meaning", "reads sentences"),
        "decode": translate("Meaning", "answers word by word"),
    }.get(best.id, "")
    if best.id.startswith("copy-to"):
        return _pcie_text(benchmark, best.device)
    if best.id == "copy-within":
        return (
            translate("Meaning", "how fast the card's memory is")
            if pair.gpus
            else translate("Meaning", "how fast the memory is")
        )
    return (
        translate("Meaning", "{what}, {kind}").format(what=description, kind=dtype_label)
        if description and dtype_label
        else description or dtype_label
    )


def _matmul_description(dtype: str, *, on_gpu: bool) -> str:
    if dtype != "float32":
        return translate("Meaning", "{kind}, on the tensor cores").format(kind=dtype)
    return translate("Meaning", "float32, TF32 switched off") if on_gpu else dtype


def _pcie_text(benchmark: Benchmark, device: str) -> str:
    """The way between processor and card, as its driver told it."""
    number = device.partition(":")[2] or "0"
    for gpu in benchmark.watched:
        if str(gpu.index) == number and gpu.pcie_gen is not None and gpu.pcie_width is not None:
            template = translate("Meaning", "PCIe {gen}.0, {lanes} lanes")
            return template.format(gen=gpu.pcie_gen, lanes=gpu.pcie_width)
    return translate("Meaning", "over the PCIe slot")


def measured_when(benchmark: Benchmark) -> str:
    """Measured today at …, or on a day."""
    if benchmark.started is None:
        return ""
    local_time = time.localtime(benchmark.started)
    time_text = time.strftime("%H:%M", local_time)
    if local_time[:3] == time.localtime()[:3]:
        return translate("Scores", "Measured today, {time}").format(time=time_text)
    return measured_on(benchmark)


def measured_on(benchmark: Benchmark) -> str:
    """Measured on a day, for what is read on another day."""
    if benchmark.started is None:
        return ""
    local_time = time.localtime(benchmark.started)
    day, time_text = time.strftime("%Y-%m-%d", local_time), time.strftime("%H:%M", local_time)
    return translate("Scores", "Measured {date}, {time}").format(date=day, time=time_text)


def previous_date_label(previous: Benchmark | None) -> str:
    """When the one before was, for a bar's name."""
    return date_labels([previous], with_year=True)[0] if previous is not None else ""


def date_labels(benchmarks: Sequence[Benchmark], *, with_year: bool = False) -> list[str]:
    """When each was, no two alike: to the second where minutes do not tell them apart, and full tests are marked.

    Short enough for a bar's label unless `whole`, which has the year, for what is read on another day.
    """
    labels: list[str] = []
    for time_format in ("%H:%M", "%H:%M:%S"):
        labels = [_date_label(benchmark, time_format, with_year=with_year) for benchmark in benchmarks]
        if len(set(labels)) == len(labels):
            break
    return labels


def _date_label(benchmark: Benchmark, time_format: str, *, with_year: bool) -> str:
    if benchmark.started is None:
        return UNKNOWN_VALUE
    local_time = time.localtime(benchmark.started)
    is_today = local_time[:3] == time.localtime()[:3]
    label = time.strftime(
        f"%Y-%m-%d {time_format}" if with_year else time_format if is_today else f"%m-%d {time_format}", local_time
    )
    return translate("Scores", "{when}, full").format(when=label) if benchmark.scope == "full" else label
