"""Was it a fair test? What speaks for and against a benchmark's figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from ...bench import compare, summary
from ...bench.lines import CHILD_ENDINGS as HOW
from ...bench.lines import NOTE_PREFIX, HARMLESS_REASONS
from ...bench.watch import BUSY_GPU_PERCENT, ABNORMAL_THROTTLE_REASONS
from ...core.results import Benchmark, BenchResult, SkippedWorkload
from ...texts.format import format_duration
from .. import language
from . import scores

# Above this share of the median between the quartiles a figure is not steady (see the honesty rules of bench/).
MAX_STEADY_SPREAD = 0.10
WRONG_RESULT = "wrong"
TIME_LIMIT_NOTE = "bench.note.time"
EARLY_END_NOTES = frozenset(NOTE_PREFIX + how for how in HOW)
EXPECTED_OMISSIONS = frozenset(NOTE_PREFIX + why for why in HARMLESS_REASONS)

translate = QCoreApplication.translate


class ValidityNote(NamedTuple):
    """One line of “Was it a fair test?”: kind ok, warn or neutral; `below` is a list that is too long for a value."""

    kind: str
    text: str
    value: str
    detail: str = ""


def validity_notes(benchmark: Benchmark, stored: Sequence[Benchmark] = ()) -> list[ValidityNote]:
    """What speaks for and against the figures, as far as the benchmark and those of before say it."""
    lines = [*_figure_notes(benchmark)]
    if any(result.device != "cpu" for result in benchmark.results):
        lines += _gpu_notes(benchmark)
    threads = next((device.threads for device in benchmark.devices if device.id == "cpu"), None)
    if threads is not None:
        lines.append(ValidityNote("neutral", translate("Fairness", "CPU threads"), str(threads)))
    lines += [
        ValidityNote("warn", language.texts().translate(note), "", translate("Fairness", "; ").join(_affected_items(benchmark, note)))
        for note in benchmark.notes
    ]
    if benchmark.scope == "quick" and any(omission.why == TIME_LIMIT_NOTE for omission in benchmark.left_out):
        text = translate("Fairness", "The full test has up to 15 minutes for each device: more of it fits in.")
        lines.append(ValidityNote("neutral", text, ""))
    if missing := missing_workloads(benchmark, stored):
        text = translate("Fairness", "Measured before, not this time")
        lines.append(ValidityNote("neutral", text, "", translate("Fairness", "; ").join(missing)))
    if benchmark.seconds is not None:
        duration_text = format_duration(benchmark.seconds, language.texts().language)
        lines.append(ValidityNote("neutral", translate("Fairness", "Time"), duration_text))
    return lines


def max_spread(benchmark: Benchmark) -> float:
    """The widest middle half of all that was measured, as a share of its median."""
    measured = (r for r in benchmark.results if not r.extrapolated and r.median > 0)
    return max(((r.q3 - r.q1) / r.median for r in measured), default=0.0)


def _figure_notes(benchmark: Benchmark) -> Iterator[ValidityNote]:
    """Whether the results are right and the runs alike."""
    measured = [r for r in benchmark.results if not r.extrapolated]
    if not measured:
        return
    text = translate("Fairness", "Results checked")
    if wrong := sum(WRONG_RESULT in result.notes for result in measured):
        yield ValidityNote("warn", text, translate("Fairness", "{count} wrong").format(count=wrong))
    else:
        checked = sum(result.error is not None for result in measured)
        all_checked = checked == len(measured)
        template = translate("Fairness", "all right")
        if not all_checked:
            template = translate("Fairness", "{checked} of {count}, no time for the rest")
        elif EARLY_END_NOTES & set(benchmark.notes) or any(omission.why not in EXPECTED_OMISSIONS for omission in benchmark.left_out):
            all_checked, template = False, translate("Fairness", "{checked} right, the rest was not measured")
        yield ValidityNote("ok" if all_checked else "neutral", text, template.format(checked=checked, count=len(measured)))
    spread = max_spread(benchmark)
    spread_text = translate("Fairness", "at most {percent} %").format(percent=f"{100 * spread:.1f}")
    yield ValidityNote("ok" if spread <= MAX_STEADY_SPREAD else "warn", translate("Fairness", "Spread between runs"), spread_text)


def _gpu_notes(benchmark: Benchmark) -> Iterator[ValidityNote]:
    """What the cards' driver told along the run."""
    gpus = summary.relevant_gpu_logs(benchmark)
    temperatures = [(gpu.temp_start, gpu.temp_max) for gpu in gpus]
    known_temperatures = [(start, maximum) for start, maximum in temperatures if start is not None and maximum is not None]
    if known_temperatures:
        coolest, hottest = min(start for start, _ in known_temperatures), max(maximum for _, maximum in known_temperatures)
        value = translate("Fairness", "{first} → {last} °C").format(first=coolest, last=hottest)
        yield ValidityNote("neutral", translate("Fairness", "Temperature"), value)
    if gpus:
        throttled = any(ABNORMAL_THROTTLE_REASONS & set(gpu.throttle) for gpu in gpus)
        value = translate("Fairness", "yes") if throttled else translate("Fairness", "none")
        yield ValidityNote("warn" if throttled else "ok", translate("Fairness", "Slowed down by heat or power"), value)
    utilizations = [gpu.util_before for gpu in gpus if gpu.util_before is not None]
    if utilizations:
        value = translate("Fairness", "{percent} %").format(percent=max(utilizations))
        kind = "warn" if max(utilizations) > BUSY_GPU_PERCENT else "ok"
        yield ValidityNote(kind, translate("Fairness", "Other programs on the card"), value)


def _affected_items(benchmark: Benchmark, note: str) -> list[str]:
    """What bears this note or was left out for it, device by device; a product's sizes in one."""
    sizes: dict[str, list[tuple[int, ...]]] = {}
    results, left_out = summary.results_with_note(note, benchmark)
    items: list[BenchResult | SkippedWorkload] = [*left_out]
    if len(results) < len(benchmark.results):  # what is true of all of them needs no list
        items = [*results, *items]
    for item in items:
        name = scores.workload_label(item.id, item.dtype)
        label = scores.with_device_label(item.device, name) if len(benchmark.devices) > 1 else name
        sizes.setdefault(label, []).append(item.size)
    return _list_sizes(sizes)


def missing_workloads(benchmark: Benchmark, stored: Sequence[Benchmark]) -> list[str]:
    """What earlier runs measured and this one did not: a whole workload by its name, a product's sizes in one."""
    sizes: dict[str, list[tuple[int, ...]]] = {}
    for result in compare.missing_measurements(benchmark, stored):
        sizes.setdefault(scores.result_name(result), []).append(result.size)
    return _list_sizes(sizes)


def _list_sizes(sizes_by_name: dict[str, list[tuple[int, ...]]]) -> list[str]:
    """Names, those of products with their sizes."""
    separator = "、" if language.texts().language == "zh_CN" else ", "
    return [
        f"{name} · {separator.join(scores.size_text(size) for size in sorted(sizes))}"
        if len(sizes[0]) == 3 and len(set(sizes[0])) == 1
        else name
        for name, sizes in sizes_by_name.items()
    ]
