"""Texts of one result: was it a fair test, what the driver logged, what changed since the last run, all figures as the
rows of a table.

Functions over `core.results` without widgets, for the cards of `view.py` and the exports (`bench/export/`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ..bench.child_protocol import CHILD_ENDINGS, HARMLESS_REASONS, NOTE_PREFIX
from ..bench.device_comparison import DeviceComparison, relevant_gpu_logs
from ..bench.gpu_log import ABNORMAL_THROTTLE_REASONS, BUSY_GPU_PERCENT
from ..bench.measurements import missing_measurements, results_with_note, skip_details, speed_ratio
from ..core.results import BenchGpuLog, Benchmark, BenchResult, SkippedWorkload
from ..core.types import short_device_name
from ..texts import current
from ..texts.benchmark import dimensions_text, size_text
from ..texts.current import translate
from ..texts.format import UNKNOWN_VALUE, format_duration, join_list, short_name
from . import messages

# The comparison


def comparison_title(pairs: Sequence[DeviceComparison]) -> str:
    """What the comparison compares, or on what its only figures were measured."""
    if any(pair.ratio is not None for pair in pairs):
        return translate("ResultMessages", "GPU vs CPU")
    gpus = {gpu.device for pair in pairs for gpu in pair.gpus}
    if len(gpus) > 1:
        return translate("ResultMessages", "Measured on the GPUs")
    return (
        translate("ResultMessages", "Measured on the GPU")
        if gpus
        else translate("ResultMessages", "Measured on the CPU")
    )


# Was it a fair test?

# A result whose quartiles are further apart than this share of its median is not steady (docs/benchmark.md).
MAX_STEADY_SPREAD = 0.10
WRONG_RESULT = "wrong"
TIME_LIMIT_NOTE = "bench.note.time"
EARLY_END_NOTES = frozenset(NOTE_PREFIX + ending for ending in CHILD_ENDINGS)
EXPECTED_OMISSIONS = frozenset(NOTE_PREFIX + reason for reason in HARMLESS_REASONS)


class ValidityNote(NamedTuple):
    """One line of "Was it a fair test?"; `detail` is a list that is too long to stand as the value."""

    kind: Literal["ok", "warn", "neutral"]
    text: str
    value: str
    detail: str = ""


def validity_notes(benchmark: Benchmark, stored: Sequence[Benchmark] = ()) -> list[ValidityNote]:
    """What speaks for and against the figures; `stored` are earlier benchmarks, oldest first."""
    notes = [*_figure_notes(benchmark)]
    if any(result.device != "cpu" for result in benchmark.results):
        notes += _gpu_notes(benchmark)
    threads = next((device.threads for device in benchmark.devices if device.id == "cpu"), None)
    if threads is not None:
        notes.append(ValidityNote("neutral", translate("ResultMessages", "CPU threads"), str(threads)))
    separator = translate("ResultMessages", "; ")
    for note in benchmark.notes:
        items = separator.join(_affected_items(benchmark, note))
        notes.append(ValidityNote("warn", current.texts().translate(note), "", items))
    if benchmark.scope == "quick" and any(omission.why == TIME_LIMIT_NOTE for omission in benchmark.left_out):
        text = translate("ResultMessages", "The full test takes up to 15 minutes per device and measures more.")
        notes.append(ValidityNote("neutral", text, ""))
    if missing := missing_workloads(benchmark, stored):
        text = translate("ResultMessages", "Measured before, not this time")
        notes.append(ValidityNote("neutral", text, "", separator.join(missing)))
    if benchmark.seconds is not None:
        duration = format_duration(benchmark.seconds, current.texts().language)
        notes.append(ValidityNote("neutral", translate("ResultMessages", "Time"), duration))
    return notes


def max_spread(benchmark: Benchmark) -> float:
    """The largest distance of quartiles among the measured results, as a share of the median."""
    measured = (each for each in benchmark.results if not each.extrapolated and each.median > 0)
    return max(((each.q3 - each.q1) / each.median for each in measured), default=0.0)


def missing_workloads(benchmark: Benchmark, stored: Sequence[Benchmark]) -> list[str]:
    """What a comparable earlier benchmark measured and this one did not."""
    sizes: dict[str, list[tuple[int, ...]]] = {}
    for result in missing_measurements(benchmark, stored):
        sizes.setdefault(messages.result_name(result), []).append(result.size)
    return _list_sizes(sizes)


def _figure_notes(benchmark: Benchmark) -> Iterator[ValidityNote]:
    """Whether the computed results are right, and how much the runs differ."""
    measured = [each for each in benchmark.results if not each.extrapolated]
    if not measured:
        return
    yield _check_note(benchmark, measured)
    spread = max_spread(benchmark)
    spread_text = translate("ResultMessages", "at most {percent}%").format(percent=f"{100 * spread:.1f}")
    kind: Literal["ok", "warn"] = "ok" if spread <= MAX_STEADY_SPREAD else "warn"
    yield ValidityNote(kind, translate("ResultMessages", "Spread between runs"), spread_text)


def _check_note(benchmark: Benchmark, measured: Sequence[BenchResult]) -> ValidityNote:
    text = translate("ResultMessages", "Results checked")
    if wrong := sum(WRONG_RESULT in result.notes for result in measured):
        return ValidityNote("warn", text, translate("ResultMessages", "{count} wrong").format(count=wrong))
    checked = sum(result.error is not None for result in measured)
    ended_early = EARLY_END_NOTES & set(benchmark.notes) or any(
        omission.why not in EXPECTED_OMISSIONS for omission in benchmark.left_out
    )
    if checked < len(measured):
        template = translate("ResultMessages", "{checked} of {count}, no time for the rest")
    elif ended_early:
        template = translate("ResultMessages", "{checked} correct, the rest not measured")
    else:
        return ValidityNote("ok", text, translate("ResultMessages", "all correct"))
    return ValidityNote("neutral", text, template.format(checked=checked, count=len(measured)))


def _gpu_notes(benchmark: Benchmark) -> Iterator[ValidityNote]:
    """What the driver logged of the GPUs during the run."""
    gpus = relevant_gpu_logs(benchmark)
    temperatures = [(gpu.temp_start, gpu.temp_max) for gpu in gpus]
    known = [(start, maximum) for start, maximum in temperatures if start is not None and maximum is not None]
    if known:
        value = translate("ResultMessages", "{first} → {last} °C").format(
            first=min(start for start, _ in known), last=max(maximum for _, maximum in known)
        )
        yield ValidityNote("neutral", translate("ResultMessages", "Temperature"), value)
    if gpus:
        throttled = any(ABNORMAL_THROTTLE_REASONS & set(gpu.throttle) for gpu in gpus)
        value = translate("ResultMessages", "yes") if throttled else translate("ResultMessages", "none")
        text = translate("ResultMessages", "Slowed down by heat or power")
        yield ValidityNote("warn" if throttled else "ok", text, value)
    utilizations = [gpu.util_before for gpu in gpus if gpu.util_before is not None]
    if utilizations:
        is_busy = max(utilizations) > BUSY_GPU_PERCENT
        text = translate("ResultMessages", "Other programs on the card")
        yield ValidityNote("warn" if is_busy else "ok", text, _percent_text(max(utilizations)))


def _affected_items(benchmark: Benchmark, note: str) -> list[str]:
    """Which measurements have this note or were left out for it; [] where it is true of all results."""
    sizes: dict[str, list[tuple[int, ...]]] = {}
    results, left_out = results_with_note(note, benchmark)
    items: list[BenchResult | SkippedWorkload] = [*left_out]
    if len(results) < len(benchmark.results):
        items = [*results, *items]
    for item in items:
        name = messages.workload_label(item.id, item.dtype, item.device)
        label = messages.with_device_label(item.device, name) if len(benchmark.devices) > 1 else name
        sizes.setdefault(label, []).append(item.size)
    return _list_sizes(sizes)


def _list_sizes(sizes_by_label: Mapping[str, Sequence[tuple[int, ...]]]) -> list[str]:
    """The labels; those of matrix products with their sizes."""
    items = []
    for label, sizes in sizes_by_label.items():
        is_matmul = len(sizes[0]) == 3 and len(set(sizes[0])) == 1
        size_list = join_list(map(dimensions_text, sorted(sizes)), current.texts().language)
        items.append(f"{label} · {size_list}" if is_matmul else label)
    return items


# The driver's log

THROTTLE_KEY = "monitor.throttle."
THROTTLE_ROW = 4  # index in `gpu_log_rows`


def gpu_label(gpu: BenchGpuLog, gpus: Sequence[BenchGpuLog]) -> str:
    """The GPU's name, with its index where there are several."""
    name = short_name(gpu.name) if gpu.name else "GPU"
    return f"GPU {gpu.index} · {name}" if len(gpus) > 1 else name


def gpu_log_rows(gpu: BenchGpuLog) -> list[tuple[str, str]]:
    """(name, value) of each figure; a dash for what the driver did not report."""
    return [
        (translate("ResultMessages", "Temperature, start to end"), _temperature_text(gpu)),
        (translate("ResultMessages", "Clock under load"), _clock_text(gpu.clock_sm)),
        (translate("ResultMessages", "Memory clock under load"), _clock_text(gpu.clock_mem)),
        (translate("ResultMessages", "Highest power"), _power_text(gpu)),
        (translate("ResultMessages", "Limited by"), throttle_text(gpu)),
        (
            translate("ResultMessages", "In use before the test"),
            UNKNOWN_VALUE if gpu.util_before is None else _percent_text(gpu.util_before),
        ),
    ]


def throttle_text(gpu: BenchGpuLog) -> str:
    """The driver's reasons for lower clocks, or "nothing"."""
    texts = current.texts()
    if not gpu.throttle:
        return translate("ResultMessages", "nothing")
    reasons = [
        texts.translate(THROTTLE_KEY + reason) if texts.has_text(THROTTLE_KEY + reason) else reason
        for reason in gpu.throttle
    ]
    return translate("ResultMessages", "; ").join(reasons)


def _temperature_text(gpu: BenchGpuLog) -> str:
    if gpu.temp_start is None and gpu.temp_end is None:
        return UNKNOWN_VALUE
    first, last = (UNKNOWN_VALUE if each is None else str(each) for each in (gpu.temp_start, gpu.temp_end))
    if gpu.temp_max is None:
        return translate("ResultMessages", "{first} → {last} °C").format(first=first, last=last)
    template = translate("ResultMessages", "{first} → {last} °C, at most {most} °C")
    return template.format(first=first, last=last, most=gpu.temp_max)


def _clock_text(clock_mhz: int | None) -> str:
    return UNKNOWN_VALUE if clock_mhz is None else f"{clock_mhz:,} MHz"


def _power_text(gpu: BenchGpuLog) -> str:
    if gpu.power_max_w is None:
        return UNKNOWN_VALUE
    if gpu.power_limit_w is None:
        return f"{gpu.power_max_w:.0f} W"
    template = translate("ResultMessages", "{power} W of {limit} W")
    return template.format(power=round(gpu.power_max_w), limit=round(gpu.power_limit_w))


def _percent_text(percent: int) -> str:
    return translate("ResultMessages", "{percent}%").format(percent=percent)


# Change since the last run

VERSION_NAMES = {"torch": "PyTorch", "cuda": "CUDA", "cudnn": "cuDNN", "python": "Python", "driver": None}


def measurement_label(result: BenchResult) -> str:
    """Workload and number format, with the size of a matrix product."""
    size_label = dimensions_text(result.size) if result.id == "matmul" else ""
    return " · ".join(part for part in (messages.result_name(result), size_label) if part)


def change_text(previous: tuple[Benchmark, BenchResult], current: tuple[Benchmark, BenchResult], date: str) -> str:
    """Faster, slower or no significant difference, or why the two cannot be compared; then changed versions.

    `date` is the label of the previous run.
    """
    ratio = speed_ratio(previous[1], current[1])
    if reason := messages.doubt_text(previous[1], current[1]):
        text = translate(
            "ResultMessages", "This test cannot be compared with the previous one ({when}): {why}."
        ).format(when=date, why=reason)
    elif ratio is None:
        text = translate("ResultMessages", "This test shows no significant difference from the previous one ({when}).")
        text = text.format(when=date)
    elif ratio > 1:
        text = translate("ResultMessages", "This test was {percent}% faster than the previous one ({when}).")
        text = text.format(percent=round(100 * (ratio - 1)), when=date)
    else:
        text = translate("ResultMessages", "This test was {percent}% slower than the previous one ({when}).")
        text = text.format(percent=round(100 * (1 - ratio)), when=date)
    changes = translate("ResultMessages", ", ").join(_version_changes(previous[0].versions, current[0].versions))
    if not changes:
        return text
    return f"{text} {translate('ResultMessages', 'Changed since then: {changed}.').format(changed=changes)}"


def version_name(key: str) -> str:
    """The name of an entry of `Benchmark.versions`."""
    return VERSION_NAMES.get(key, key) or translate("ResultMessages", "driver")


def _version_changes(previous: Mapping[str, str], current: Mapping[str, str]) -> list[str]:
    return [
        f"{version_name(key)} {previous[key]} → {current[key]}"
        for key in VERSION_NAMES
        if key in previous and key in current and previous[key] != current[key]
    ]


# All figures


def _size_text(name: str, sides: tuple[int, ...], batch: int | None = None) -> str:
    """Bytes of a copy, tokens, or sides of a matrix or image; with the batch size."""
    text = size_text(name, sides, current.texts())
    if batch is None:
        return text
    return translate("ResultsTable", "{size}, batch {batch}").format(size=text, batch=batch)


def table_rows(benchmark: Benchmark) -> list[tuple[str, ...]]:
    """Each measurement: name, device, size, median, quartiles, runs. Then what was left out, with the reason in place
    of the last three cells.
    """
    rows: list[tuple[str, ...]] = []
    for result in benchmark.results:
        low, high = (messages.value_with_unit(each, result.unit) for each in (result.q1, result.q3))
        unit = messages.unit_label(messages.readable_value(result.q3, result.unit)[1])
        low = low.removesuffix(f" {unit}")  # where both have the same unit, name it once
        extrapolated = result.extrapolated
        rows.append(
            (
                messages.result_name(result),
                messages.result_device(result),
                _size_text(result.id, result.size, result.batch),
                ("≈ " if extrapolated else "") + messages.marked_median(result, benchmark.results),
                f"{low} … {high}",
                translate("ResultsTable", "estimated") if extrapolated else str(result.runs),
            )
        )
    texts = current.texts()
    for omission in benchmark.left_out:
        name = messages.workload_label(omission.id, omission.dtype, omission.device)
        reason = messages.omission_reason(omission.why)
        if (message := skip_details(omission)) is not None:
            reason = texts.translate(*message)  # of this measurement; the validity card has the reason for all
            reason = reason[:1].upper() + reason[1:]
        rows.append((name, short_device_name(omission.device), _size_text(omission.id, omission.size), reason))
    return rows
