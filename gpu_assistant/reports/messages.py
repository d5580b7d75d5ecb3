"""Texts of a benchmark in the current language: names, figures, headline, durations, dates.

Functions over `core.results`, for the window and for reports. The texts of a result's parts are in
`result_messages.py`. What the command line says in the same words is in `texts/benchmark.py`.

A GPU is called a card, as everywhere in the window. `pair` is always a `DeviceComparison`: one workload on GPU and CPU.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..bench.child_protocol import NOTE_PREFIX
from ..bench.device_comparison import (
    UNMEASURED_VERDICTS,
    DeviceComparison,
    device_comparisons,
    gpu_seconds_per_night,
    headline_comparison,
    readable_figure,
    result_without_graph,
)
from ..bench.expected_ranges import find_gpu_log
from ..bench.history import find_comparable
from ..bench.measurements import UNFINISHED_NOTES, doubtful_notes, skipped_main_workloads
from ..core.results import GRAPH_WORKLOADS, Benchmark, BenchResult
from ..core.types import short_device_name
from ..texts import benchmark as texts_benchmark
from ..texts import current
from ..texts.benchmark import (
    dimensions_text,
    format_digits,
    format_ratio,
    missing_workloads_text,
    verdict_text,
    with_label,
    workload_name,
)
from ..texts.current import translate
from ..texts.format import UNKNOWN_VALUE, format_counted, format_duration, short_name
from ..texts.translate import remove_cjk_gaps

REFERENCE_TOKEN, MEASURED_TOKEN = "s5", "accent"  # colours of bars


# Workloads, devices, formats


def workload_label(name: str, dtype: str = "", device: str = "cpu") -> str:
    """A workload, as it is named on a device, and its number format: "Matrix multiplication, float32"."""
    label = workload_name(name, current.texts(), device)
    dtype_label = dtype_name(dtype)
    if not dtype_label:
        return label
    return translate("BenchmarkMessages", "{workload}, {dtype}").format(workload=label, dtype=dtype_label)


def result_name(result: BenchResult) -> str:
    """Workload and number format of a result."""
    return workload_label(result.id, result.dtype, result.device)


def dtype_name(dtype: str) -> str:
    """A number format: "mixed precision", "float32"; "" for bytes that are only copied."""
    if dtype.startswith("mixed-"):
        return translate("BenchmarkMessages", "mixed precision")
    return "" if dtype == "uint8" else dtype


def result_device(result: BenchResult) -> str:
    """The label of the device that a result was measured on."""
    return short_device_name(result.device)


def with_device_label(device: str, text: str) -> str:
    """A text about one device, after the device's label."""
    return with_label(short_device_name(device), text, current.texts().language)


def run_details(result: BenchResult) -> str:
    """Number format and batch of a result: "mixed precision, batch 64"; "" for bytes that are only copied."""
    dtype_label = dtype_name(result.dtype)
    if result.batch is None or not dtype_label:
        return dtype_label
    template = translate("BenchmarkMessages", "{dtype}, batch {batch}")
    return template.format(dtype=dtype_label, batch=result.batch)


def cpu_label(result: BenchResult) -> str:
    """The CPU with number format and batch: "CPU (float32, batch 8)"."""
    details = run_details(result)
    return translate("BenchmarkMessages", "CPU ({dtype})").format(dtype=details) if details else "CPU"


def gpu_name(benchmark: Benchmark, device: str) -> str:
    """A GPU's short name: "RTX 4060"; its label where the name is unknown."""
    name = next((each.name for each in benchmark.devices if each.id == device), None)
    return short_name(name) if name else short_device_name(device)


def machine_labels(benchmark: Benchmark) -> list[str]:
    """What the figures depend on: names of GPUs and CPU, versions of PyTorch and CUDA."""
    names = [device.name for device in benchmark.devices if device.name and device.id != "cpu"]
    names += [device.name for device in benchmark.devices if device.name and device.id == "cpu"]
    labels = [name if count == 1 else f"{count} × {name}" for name, count in Counter(names).items()]
    labels.append(f"PyTorch {benchmark.torch}")
    if "cuda" in benchmark.versions and "+cu" not in benchmark.torch:
        labels.append(f"CUDA {benchmark.versions['cuda']}")
    return labels


def gpu_count_label(result: BenchResult) -> str:
    """How many GPUs worked on one model: "2 GPUs together"."""
    return translate("BenchmarkMessages", "{count} GPUs together").format(count=result.processes)


def efficiency_text(result: BenchResult) -> str:
    """Speed of several GPUs as a share of that many times one GPU's speed; "" where that is unknown."""
    if result.efficiency is None:
        return ""
    return translate("BenchmarkMessages", "{percent}% efficiency").format(percent=round(100 * result.efficiency))


def multi_gpu_label(result: BenchResult) -> str:
    """How many GPUs worked on one model, and their efficiency where it is known."""
    return " · ".join(part for part in (gpu_count_label(result), efficiency_text(result)) if part)


# Figures


def readable_value(number: float, unit: str) -> tuple[str, str]:
    """(figure, unit) in the unit that reads best: below 1 TFLOP/s it is GFLOP/s."""
    number, unit = readable_figure(number, unit)
    return format_digits(number), unit


def unit_label(unit: str) -> str:
    """A unit in the current language."""
    return texts_benchmark.unit_name(unit, current.texts())


def value_with_unit(number: float, unit: str) -> str:
    """A figure with its unit."""
    figure, unit = readable_value(number, unit)
    return f"{figure} {unit_label(unit)}"


def value_beside(result: BenchResult, reference: BenchResult) -> str:
    """The median in the unit in which `reference` is shown, and as short as one reads a chart: two significant digits
    below 10, three above.
    """
    number, unit = readable_figure(result.median, result.unit, reference=reference.median)
    digits = format_digits(number) if number >= 10 else f"{number:#.2g}"
    return f"{digits} {unit_label(unit)}"


def median_text(result: BenchResult) -> str:
    """The median with its unit."""
    return value_with_unit(result.median, result.unit)


def marked_median(result: BenchResult, among: Iterable[BenchResult], text: str = "") -> str:
    """The median with its unit, or this `text` for it; with a star where the result is doubtful and others `among`
    which it is shown are not.

    `doubt_legend` of the same results says what the star means, or the doubt that all of them share.
    """
    value = text or median_text(result)
    return f"{value} *" if is_doubtful(result) and _are_mixed(among) else value


def spoken_median(result: BenchResult) -> str:
    """The median for a screen reader, which passes over a star."""
    if not is_doubtful(result):
        return median_text(result)
    return translate("BenchmarkMessages", "{value} (doubtful)").format(value=median_text(result))


def doubt_legend(results: Iterable[BenchResult]) -> str:
    """Why results are doubtful, for all of them or for those with a star; "" where none is."""
    shown = tuple(results)
    reason = doubt_text(*shown)
    if not reason:
        return ""
    template = (
        translate("BenchmarkMessages", "* Doubtful: {why}.")
        if _are_mixed(shown)
        else translate("BenchmarkMessages", "Doubtful: {why}.")
    )
    return template.format(why=reason)


def _are_mixed(results: Iterable[BenchResult]) -> bool:
    return len({is_doubtful(each) for each in results}) > 1


def ratio_text(ratio: float) -> str:
    """A speed-up: "31×"."""
    return translate("BenchmarkMessages", "{times}×").format(times=format_ratio(ratio))


def operations_text(result: BenchResult) -> str:
    """TFLOP/s as operations a second; "" for other units."""
    if result.unit != "TFLOP/s":
        return ""
    text = translate("BenchmarkMessages", "{billions} billion operations per second")
    billions, hundred_millions = format_digits(result.median * 1e3), format_digits(result.median * 1e4)
    return text.format(billions=billions, hundred_millions=hundred_millions)


def bar_colour(result: BenchResult, pair: DeviceComparison | None = None) -> str:
    """The colour token of a result's bar: grey for what the others are compared with.

    That is the CPU; in a comparison without a GPU it is the earlier run.
    """
    is_reference = result.device == "cpu" if pair is None or pair.gpus else result is pair.previous
    return REFERENCE_TOKEN if is_reference else MEASURED_TOKEN


# Doubts and omissions


def is_doubtful(result: BenchResult) -> bool:
    """Whether a note says that the figure may be wrong."""
    return bool(doubtful_notes(result))


def doubt_text(*results: BenchResult) -> str:
    """Why these results are doubtful; "" where none is."""
    return texts_benchmark.doubt_text(doubtful_notes(*results), current.texts())


def _doubt_note(*results: BenchResult) -> str:
    reason = doubt_text(*results)
    return translate("BenchmarkMessages", "Doubtful: {why}.").format(why=reason) if reason else ""


def omission_reason(note_key: str) -> str:
    """Why one workload was left out, from the key of the note that covers all that were left out for this reason."""
    texts, short_key = current.texts(), note_key.replace(NOTE_PREFIX, "bench.why.", 1)
    return texts.translate(short_key if texts.has_text(short_key) else note_key)


def missing_text(benchmark: Benchmark) -> str:
    """Which main workloads were left out, and why; "" where none was."""
    several = len(benchmark.devices) > 1
    names = []
    for omission in skipped_main_workloads(benchmark):
        label = workload_label(omission.id)
        names.append((f"{label} ({short_device_name(omission.device)})" if several else label, omission.why))
    return missing_workloads_text(names, current.texts())


def unmeasured_text(benchmark: Benchmark) -> str:
    """Why a GPU that the computer has was not measured; "" where all were."""
    return verdict_text(benchmark, current.texts()) if benchmark.verdict in UNMEASURED_VERDICTS else ""


def unfinished_text(benchmark: Benchmark) -> str:
    """Why the run ended early or lost a device; "" where it did not."""
    notes = (note for note in benchmark.notes if note in UNFINISHED_NOTES)
    return remove_cjk_gaps(" ".join(current.texts().translate(note) for note in notes))


# Comparisons


def pair_title(pair: DeviceComparison) -> str:
    """The workload of a comparison, short enough to begin a row with."""
    best = pair.fastest
    if best.id == "copy-to-device-pinned":
        return translate("BenchmarkMessages", "Copy to the card")
    if best.id == "copy-within":
        return workload_label(best.id, device=best.device)
    with_graph = {graph: workload for workload, graph in GRAPH_WORKLOADS.items()}
    return workload_label(with_graph.get(best.id, best.id))


def pair_description(pair: DeviceComparison, benchmark: Benchmark, *, is_brief: bool = False) -> str:
    """One line: what the workload computes, in which number format, and how its kernels start unless `is_brief`."""
    best = pair.fastest
    if best.id == "matmul":
        return _matmul_description(best, benchmark)
    if best.id.startswith("copy-to"):
        return _pcie_text(pair, benchmark)
    if best.id == "copy-within":
        if pair.gpus:
            return translate("BenchmarkMessages", "copying within the card's memory")
        return translate("BenchmarkMessages", "copying within the memory")
    purpose = workload_purpose(best.id)
    # Where both formats have a bar, each bar names its own.
    dtype_label = "" if pair.mixed is not None else run_details(best)
    if best.id in GRAPH_WORKLOADS.values() and not is_brief:
        dtype_label = _graph_details(best, benchmark)
    if purpose and dtype_label:
        return translate("BenchmarkMessages", "{what}, {kind}").format(what=purpose, kind=dtype_label)
    return purpose or dtype_label


def workload_purpose(name: str) -> str:
    """What the network of a workload does; "" for a workload without one."""
    return {
        "resnet50": translate("BenchmarkMessages", "recognises images"),
        "bert-base": translate("BenchmarkMessages", "reads sentences"),
        "decode": translate("BenchmarkMessages", "answers word by word"),
        "decode-graph": translate("BenchmarkMessages", "answers word by word"),
    }.get(name, "")


def _matmul_description(result: BenchResult, benchmark: Benchmark) -> str:
    """The number format, and where it was measured the figure after half a minute under load."""
    text = translate("BenchmarkMessages", "full precision ({kind})").format(kind=result.dtype)
    if result.dtype != "float32":
        text = translate("BenchmarkMessages", "half precision ({kind})").format(kind=result.dtype)
    sustained = next(
        (
            each
            for each in benchmark.results
            if (each.id, each.device, each.dtype) == ("matmul-sustained", result.device, result.dtype)
        ),
        None,
    )
    if sustained is None:
        return text
    return translate("BenchmarkMessages", "{text}, in a burst; {value} sustained").format(
        text=text, value=median_text(sustained)
    )


def _graph_details(result: BenchResult, benchmark: Benchmark) -> str:
    """Format and batch of a result with a CUDA graph, and the figure without one."""
    text = translate("BenchmarkMessages", "{kind}, as a CUDA graph").format(kind=run_details(result))
    eager = result_without_graph(result, benchmark)
    if eager is None:
        return text
    return translate("BenchmarkMessages", "{text} ({value} without)").format(text=text, value=median_text(eager))


def _pcie_text(pair: DeviceComparison, benchmark: Benchmark) -> str:
    """PCIe generation and lanes, where the driver reported the same for all GPUs."""
    logs = (find_gpu_log(result.device, benchmark.watched) for result in pair.gpus)
    slots = {(log.pcie_gen, log.pcie_width) if log is not None else (None, None) for log in logs}
    generation, lanes = slots.pop() if len(slots) == 1 else (None, None)
    if generation is not None and lanes is not None:
        template = translate("BenchmarkMessages", "through the slot (PCIe {gen}.0, {lanes} lanes)")
        return template.format(gen=generation, lanes=lanes)
    return translate("BenchmarkMessages", "through the PCIe slot")


def reference_result(benchmark: Benchmark) -> BenchResult | None:
    """The one result that represents the benchmark: the most telling workload on the fastest GPU, else on the CPU.

    It is taken at the largest size that all devices measured. The size with the highest figure changes from run to
    run, so that two runs could not be compared.
    """
    pair = headline_comparison(benchmark)
    return pair.fastest if pair is not None else None


def comparable_runs(benchmark: Benchmark, stored: Sequence[Benchmark]) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement in all benchmarks that have it, oldest first.

    It is the headline's measurement, else one that another benchmark has too.
    """
    return find_comparable(benchmark, stored)[1] if reference_result(benchmark) is not None else []


def device_results(benchmark: Benchmark) -> list[BenchResult]:
    """The headline's workload on each device at the largest common size, fastest first."""
    pair = headline_comparison(benchmark)
    results = [*pair.gpus, pair.cpu] if pair is not None else []
    return sorted((each for each in results if each is not None), key=lambda result: result.median, reverse=True)


TRAINING_UNITS = ("images/s", "sequences/s")
EXAMPLE_COUNT = 1000  # pictures or sentences of which `plain_results` tells the time


class PlainResult(NamedTuple):
    """What a workload does, and how fast, for whoever knows neither its name nor its unit; `workload` is the name,
    `doubt` what the figure must not be shown without, "" without a doubt.
    """

    name: str
    figure: str
    workload: str
    doubt: str


def plain_results(benchmark: Benchmark) -> tuple[PlainResult, ...]:
    """The main workloads on the CPU alone, in the format in which each is fastest; empty where a GPU was measured."""
    names = {
        "resnet50": translate("BenchmarkMessages", "Training on {total} images"),
        "bert-base": translate("BenchmarkMessages", "Training on {total} sentences"),
        "decode": translate("BenchmarkMessages", "Writing text"),
        "matmul": translate("BenchmarkMessages", "Matrix multiplication"),
    }
    pairs = device_comparisons(benchmark)
    if any(pair.gpus for pair in pairs):
        return ()
    fastest = (
        max((each for each in (pair.cpu, pair.mixed) if each is not None), key=lambda result: result.median)
        for pair in pairs
    )
    return tuple(
        PlainResult(
            names[each.id].format(total=f"{EXAMPLE_COUNT:,}"), _plain_speed(each), result_name(each), _doubt_note(each)
        )
        for each in fastest
        if each.id in names
    )


def _plain_speed(result: BenchResult) -> str:
    """How long EXAMPLE_COUNT examples take, else the operations a second, else the figure with its unit."""
    if result.unit in TRAINING_UNITS:
        return format_duration(EXAMPLE_COUNT / result.median, current.texts().language)
    return operations_text(result) or median_text(result)


# Headline


class BenchmarkHeadline(NamedTuple):
    """The one figure of a benchmark with its explanation.

    `formats` names the number formats and batches that a ratio compares, "" for a single figure. `detail` is longer and
    has both; `missing` names main workloads that were left out; `caveats` are the doubts that the figure must not be
    shown without. `plain_figure` and `plain_text` are those of whoever does not know the unit, "" where they are the
    same.
    """

    figure: str
    text: str
    detail: str
    missing: str = ""
    caveats: str = ""
    formats: str = ""
    plain_figure: str = ""
    plain_text: str = ""

    @property
    def remark(self) -> str:
        """`detail` without `formats`, for where each bar names its own."""
        return self.detail.removeprefix(self.formats).strip()

    @property
    def brief_figure(self) -> str:
        """The figure that `brief` is about."""
        return self.plain_figure or self.figure

    @property
    def brief(self) -> str:
        """The least that may be shown beside `brief_figure`."""
        return "\n".join(part for part in (self.plain_text or self.text, self.formats, self.caveats) if part)


def make_headline(benchmark: Benchmark) -> BenchmarkHeadline | None:
    """How many times faster the GPU is than the CPU where both were measured, else the reference result.

    None without any result.
    """
    pair = headline_comparison(benchmark)
    if pair is None:
        return None
    # One figure has one reason, whichever of its two parts is doubtful.
    doubt_note = _doubt_note(*(each for each in (pair.fastest, pair.cpu) if each is not None))
    if pair.ratio is not None:
        return _ratio_headline(benchmark, pair, pair.ratio, doubt_note)
    return _value_headline(benchmark, pair.fastest, doubt_note)


def _ratio_headline(benchmark: Benchmark, pair: DeviceComparison, ratio: float, doubt_note: str) -> BenchmarkHeadline:
    best, cpu = pair.fastest, pair.cpu
    if _has_identical_gpus(benchmark, best.device):
        template = translate("BenchmarkMessages", "{workload}: one {card} is {times} times as fast as your CPU")
    else:
        template = translate("BenchmarkMessages", "{workload}: your {card} is {times} times as fast as your CPU")
    text = template.format(
        workload=workload_label(best.id), card=gpu_name(benchmark, best.device), times=format_ratio(ratio)
    )
    template = translate("BenchmarkMessages", "The card in {how}, the CPU in {how_cpu}.")
    formats = remove_cjk_gaps(
        template.format(how=run_details(best), how_cpu=run_details(cpu) if cpu is not None else "")
    )
    detail = remove_cjk_gaps(f"{formats} {doubt_note or _overnight_text(benchmark, best.device, ratio)}".rstrip())
    return BenchmarkHeadline(ratio_text(ratio), text, detail, missing_text(benchmark), doubt_note, formats)


def _value_headline(benchmark: Benchmark, best: BenchResult, doubt_note: str) -> BenchmarkHeadline:
    device = translate("BenchmarkMessages", "the CPU") if best.device == "cpu" else gpu_name(benchmark, best.device)
    if _has_identical_gpus(benchmark, best.device):
        device = translate("BenchmarkMessages", "one {card}").format(card=device)
    text = translate("BenchmarkMessages", "{name} on {device}").format(name=result_name(best), device=device)
    value, unit = readable_value(best.median, best.unit)
    details = [dimensions_text(best.size) if best.id == "matmul" else "", operations_text(best)]
    threads = next((each.threads for each in benchmark.devices if each.id == best.device), None)
    if threads is not None:
        details.append(format_counted(translate("BenchmarkMessages", "{threads} threads"), threads=threads))
    details.append(doubt_note)
    plain_figure, _, plain_unit = operations_text(best).partition(" ")
    return BenchmarkHeadline(
        value,
        f"{unit_label(unit)} · {text}",
        " · ".join(part for part in details if part),
        missing_text(benchmark),
        doubt_note,
        plain_figure=plain_figure,
        plain_text=f"{plain_unit} · {text}" if plain_unit else "",
    )


def _has_identical_gpus(benchmark: Benchmark, device: str) -> bool:
    """Whether another GPU has the same name, so that the name alone does not say how many computed."""
    names = [gpu_name(benchmark, each.id) for each in benchmark.devices if each.id != "cpu"]
    return device != "cpu" and names.count(gpu_name(benchmark, device)) > 1


def _overnight_text(benchmark: Benchmark, device: str, ratio: float) -> str:
    """How long a night's work of the CPU takes this GPU, which has its name where there are several."""
    shown = float(format_ratio(ratio))  # so that one can check what follows from it
    if shown == 1:
        return ""
    if shown < 1:
        return translate("BenchmarkMessages", "The CPU is faster at this.")
    duration = format_duration(gpu_seconds_per_night(shown), current.texts().language)
    if card := _card_among_several(benchmark, device):
        template = translate("BenchmarkMessages", "What takes the CPU all night (8 hours) takes {card} {time}.")
        return template.format(card=card, time=duration)
    template = translate("BenchmarkMessages", "What takes the CPU all night (8 hours) takes the card {time}.")
    return template.format(time=duration)


class HeadlineFigure(NamedTuple):
    """The one figure of a benchmark; `caption` says in lines what it counts and in which workload, `doubt` is what it
    must not be shown without, "" without a doubt.
    """

    figure: str
    caption: str
    doubt: str = ""


def headline_figure(benchmark: Benchmark) -> HeadlineFigure:
    """The figure; empty without any result."""
    pair = headline_comparison(benchmark)
    if pair is None:
        return HeadlineFigure("", "")
    best, plain = pair.fastest, plain_results(benchmark)
    if pair.ratio is not None:
        workload = _name_with_gpu(benchmark, best.device, workload_label(best.id))
        doubt = _doubt_note(*(each for each in (best, pair.cpu) if each is not None))
        caption = f"{translate('BenchmarkMessages', 'as fast as your CPU')}\n{workload}"
        return HeadlineFigure(ratio_text(pair.ratio), caption, doubt)
    if plain and best.unit in TRAINING_UNITS:
        return HeadlineFigure(plain[0].figure, plain[0].name, plain[0].doubt)
    value, unit = readable_value(best.median, best.unit)
    name = _name_with_gpu(benchmark, best.device, result_name(best))
    return HeadlineFigure(value, f"{_explained_unit(unit)}\n{name}", _doubt_note(best))


def _explained_unit(unit: str) -> str:
    """The unit that its bars have, too, with what it counts where few know that."""
    if unit == "GFLOP/s":
        template = translate("BenchmarkMessages", "billion operations per second ({unit})")
    elif unit == "TFLOP/s":
        template = translate("BenchmarkMessages", "trillion operations per second ({unit})")
    else:
        return unit_label(unit)
    return template.format(unit=unit_label(unit))


def _name_with_gpu(benchmark: Benchmark, device: str, name: str) -> str:
    """The name of a workload, and in a line of its own the GPU that computed where there are several."""
    card = _card_among_several(benchmark, device)
    if not card:
        return name
    return f"{name}\n{translate('BenchmarkMessages', 'on {device}').format(device=card)}"


def _card_among_several(benchmark: Benchmark, device: str) -> str:
    """A GPU in a sentence where there are several: "the RTX 4060", "one RTX 4060" where they are alike; else ""."""
    if device == "cpu" or sum(each.id != "cpu" for each in benchmark.devices) < 2:
        return ""
    card = gpu_name(benchmark, device)
    if _has_identical_gpus(benchmark, device):
        return translate("BenchmarkMessages", "one {card}").format(card=card)
    return translate("BenchmarkMessages", "the {card}").format(card=card)


# Before and after a run


def result_subtitle(benchmark: Benchmark) -> str:
    """Versions of PyTorch and CUDA, scope and duration of the run, and when it was."""
    parts = [f"PyTorch {benchmark.torch.partition('+')[0]}"]
    if "cuda" in benchmark.versions:
        parts.append(f"CUDA {benchmark.versions['cuda']}")
    if benchmark.seconds is not None:
        if benchmark.scope == "full":
            template = translate("BenchmarkMessages", "full test, {time}")
        else:
            template = translate("BenchmarkMessages", "quick test, {time}")
        parts.append(template.format(time=format_duration(benchmark.seconds, current.texts().language)))
    if benchmark.started is not None:
        parts.append(date_text(benchmark.started))
    return " · ".join(parts)


def date_text(timestamp: float) -> str:
    """ "today 14:02", or the date and time of another day; `timestamp` in seconds since the epoch."""
    return _dated(time.localtime(timestamp), "%H:%M", names_today=True)


def measured_when(benchmark: Benchmark) -> str:
    """ "Measured today, 14:02", or the date; "" where it is unknown."""
    if benchmark.started is None:
        return ""
    local_time = time.localtime(benchmark.started)
    if not _is_today(local_time):
        return measured_on(benchmark)
    template = translate("BenchmarkMessages", "Measured today, {time}")
    return template.format(time=time.strftime("%H:%M", local_time))


def measured_on(benchmark: Benchmark) -> str:
    """ "Measured 2026-11-22, 14:02", for what may be read on another day; "" where it is unknown."""
    if benchmark.started is None:
        return ""
    local_time = time.localtime(benchmark.started)
    day, time_text = time.strftime("%Y-%m-%d", local_time), time.strftime("%H:%M", local_time)
    return translate("BenchmarkMessages", "Measured {date}, {time}").format(date=day, time=time_text)


def previous_date_label(previous: Benchmark | None, *, names_today: bool = False) -> str:
    """The date of the previous run, as the name of its bar; `names_today` as in `date_labels`."""
    return date_labels([previous], names_today=names_today)[0] if previous is not None else ""


def date_labels(benchmarks: Sequence[Benchmark], *, names_today: bool = False) -> list[str]:
    """The date of each run, all different: with seconds where minutes are not enough. Full tests are marked.

    They can be read on another day. With `names_today` they are in the form of `date_text`, for the window.
    """
    labels: list[str] = []
    for time_format in ("%H:%M", "%H:%M:%S"):
        labels = [_date_label(benchmark, time_format, names_today=names_today) for benchmark in benchmarks]
        if len(set(labels)) == len(labels):
            break
    return labels


def _date_label(benchmark: Benchmark, time_format: str, *, names_today: bool) -> str:
    if benchmark.started is None:
        return UNKNOWN_VALUE
    label = _dated(time.localtime(benchmark.started), time_format, names_today=names_today)
    return translate("BenchmarkMessages", "{when}, full").format(when=label) if benchmark.scope == "full" else label


def _dated(local_time: time.struct_time, time_format: str, *, names_today: bool) -> str:
    if names_today and _is_today(local_time):
        template = translate("BenchmarkMessages", "today {time}")
        return template.format(time=time.strftime(time_format, local_time))
    return time.strftime(f"%Y-%m-%d {time_format}", local_time)


def _is_today(local_time: time.struct_time) -> bool:
    return local_time[:3] == time.localtime()[:3]
