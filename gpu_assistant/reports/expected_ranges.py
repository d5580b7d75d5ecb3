"""The range of healthy GPUs of the same model beside a result: its verdict, its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ..bench.device_comparison import DeviceComparison, device_comparisons, headline_comparison
from ..bench.expected_ranges import (
    BUSY_CAUSE,
    HEAT_CAUSE,
    LINK_WORKLOADS,
    UNKNOWN_CAUSE,
    find_gpu_log,
    judged_range,
    repair_steps,
    result_key,
    shortfall_percent,
    slow_devices,
)
from ..core.results import TRAINING_WORKLOADS, Benchmark, BenchResult
from ..texts import current
from ..texts.benchmark import format_ratio, with_label
from ..texts.current import translate
from ..texts.format import format_percent, join_list, uncapitalize
from .messages import gpu_name, pair_description, result_name, value_with_unit, workload_label

if TYPE_CHECKING:
    from ..catalog.store import Catalog


BELOW_EXPECTED, ABOVE_EXPECTED = "bench.verdict.below", "bench.verdict.above"
NORMAL_VERDICTS = frozenset({"bench.verdict.as-expected", ABOVE_EXPECTED})


class RangeSource(Struct, frozen=True):
    """Where the ranges are from: (low, high) in percent of the peak figures for copies; for products the page with the
    public results, and the date of all.

    `lane_gb_s` is what a PCIe lane carries at most in one direction, in GB/s by its generation.
    """

    copy_percent: tuple[int, int]
    pcie_percent: tuple[int, int]
    url: str | None
    as_of: str
    lane_gb_s: Mapping[str, float] = {}


def read_range_source(catalog: Catalog) -> RangeSource:
    """Read the catalog's reference figures from disk: for a worker thread."""
    reference = catalog.reference
    healthy = reference.healthy
    copy_percent, pcie_percent = (
        (round(100 * low), round(100 * high)) for low, high in (healthy.copy_share, healthy.pcie_share)
    )
    urls = (reference.sources[share.source].url for share in reference.matmul.shares)
    url, lane_gb_s = next((url for url in urls if url), None), reference.rates.pcie_gb_s_per_lane
    return RangeSource(copy_percent, pcie_percent, url, reference.as_of, lane_gb_s)


def pair_ranges(pair: DeviceComparison, benchmark: Benchmark) -> dict[str, tuple[float, float]]:
    """The usual range of each GPU that was judged by one, by device."""
    ranges = {result.device: judged_range(result, benchmark) for result in pair.gpus}
    return {device: expected for device, expected in ranges.items() if expected is not None}


def ordered_comparisons(
    benchmark: Benchmark, previous: Benchmark | None = None, max_count: int | None = None
) -> tuple[DeviceComparison, ...]:
    """`device_comparisons` in the order in which they are shown: what is below its usual range, then what is within or
    above it, then what has none.

    Of more than `max_count` the most important are kept, before them those that are below their range.
    """
    pairs = sorted(device_comparisons(benchmark, previous), key=lambda pair: not _is_slow(pair))
    return tuple(sorted(pairs[:max_count], key=lambda pair: (not _is_slow(pair), not pair_ranges(pair, benchmark))))


def _is_slow(pair: DeviceComparison) -> bool:
    return any(gpu.judgement == "below" for gpu in pair.gpus)


def described_pair(pair: DeviceComparison, benchmark: Benchmark, limit: float | None, *, is_brief: bool = False) -> str:
    """The description of a comparison with its `link_limit`."""
    description = pair_description(pair, benchmark, is_brief=is_brief)
    if limit is None:
        return description
    template = translate("ExpectedRangeCard", "{description}, at most {limit}")
    return template.format(description=description, limit=value_with_unit(limit, pair.fastest.unit))


def limit_text(limit: float, pair: DeviceComparison) -> str:
    """What the GPUs of a comparison could reach at most."""
    template = translate("ExpectedRangeCard", "slot limit: {limit}")
    return template.format(limit=value_with_unit(limit, pair.fastest.unit))


def link_limit(pair: DeviceComparison, benchmark: Benchmark, source: RangeSource | None) -> float | None:
    """GB/s that the slot of each GPU carries at most, by the generation and lanes that the driver reported under load.

    None for what is not copied through the slot, where the slots differ or one of them is unknown, and where a GPU is
    faster: it has another link, or the report is outdated.
    """
    if source is None:
        return None
    limits = {_slot_limit(result, benchmark, source) for result in pair.gpus}
    limit = limits.pop() if len(limits) == 1 else None
    return limit if limit is not None and limit >= pair.fastest.median else None


def _slot_limit(result: BenchResult, benchmark: Benchmark, source: RangeSource) -> float | None:
    log = find_gpu_log(result.device, benchmark.watched) if result.id in LINK_WORKLOADS else None
    if log is None or log.pcie_gen is None or log.pcie_width is None:
        return None
    lane_gb_s = source.lane_gb_s.get(str(log.pcie_gen))
    return None if lane_gb_s is None else lane_gb_s * log.pcie_width


def range_source_text(source: RangeSource) -> str:
    """Where the ranges are from, and the date of the figures."""
    return translate(
        "ExpectedRangeCard",
        "The ranges for matrix multiplication come from public results for such cards, slightly widened. For "
        "copies we expect {low_copy} to {high_copy}% of the card's rated memory speed and {low_way} to "
        "{high_way}% of the slot's speed; we chose these limits ourselves. Data as of {date}.",
    ).format(
        low_copy=source.copy_percent[0],
        high_copy=source.copy_percent[1],
        low_way=source.pcie_percent[0],
        high_way=source.pcie_percent[1],
        date=source.as_of,
    )


def verdict_label(benchmark: Benchmark) -> str:
    """That the card is slow, in a few words; for a benchmark below its range."""
    return current.texts().translate(f"{benchmark.verdict}.short")


def normal_text(benchmark: Benchmark) -> str:
    """That the GPUs with known ranges are as fast as others, in one sentence; for one of `NORMAL_VERDICTS`."""
    devices = dict.fromkeys(result.device for result in benchmark.results if result.judgement not in (None, "unknown"))
    is_above = benchmark.verdict == ABOVE_EXPECTED
    if len(devices) == 1:
        template = (
            translate("ExpectedRangeCard", "Your {card} runs at its usual speed, or faster")
            if is_above
            else translate("ExpectedRangeCard", "Your {card} runs at its usual speed")
        )
        return template.format(card=gpu_name(benchmark, *devices))
    if {each.id for each in benchmark.devices} - {"cpu"} - devices.keys():
        template = (
            translate("ExpectedRangeCard", "These cards run at their usual speed, or faster: {cards}")
            if is_above
            else translate("ExpectedRangeCard", "These cards run at their usual speed: {cards}")
        )
        return template.format(cards=_gpu_names(benchmark, devices))
    if is_above:
        return translate("ExpectedRangeCard", "Your cards run at their usual speed, or faster")
    return translate("ExpectedRangeCard", "Your cards run at their usual speed")


def compared_text(benchmark: Benchmark) -> str:
    """What `normal_text` was found in: the workloads of `device_comparisons` that have a known range, each once; ""
    without any.
    """
    shown = (gpu for pair in device_comparisons(benchmark) for gpu in pair.gpus)
    judged = (gpu for gpu in shown if judged_range(gpu, benchmark) is not None)
    names = dict.fromkeys(uncapitalize(workload_label(each.id, device=each.device)) for each in judged)
    if not names:
        return ""
    template = translate("ExpectedRangeCard", "Compared with healthy cards of the same model: {workloads}.")
    return template.format(workloads=join_list(names, current.texts().language))


def verdict_sentence(benchmark: Benchmark) -> str:
    """What a result that is not below its range says of this computer: that its GPUs are as fast as usual where that is
    known, else which of GPU and CPU is faster; "" without any result.
    """
    if benchmark.verdict in NORMAL_VERDICTS:
        return normal_text(benchmark)
    pair = headline_comparison(benchmark)
    if pair is None:
        return ""
    if not pair.gpus:
        if has_trained_on_cpu(benchmark):
            return translate("ExpectedRangeCard", "Your CPU can train small models")
        return translate("ExpectedRangeCard", "PyTorch runs on your CPU")
    ratio = float(format_ratio(pair.ratio)) if pair.ratio is not None else None  # as it is shown
    if ratio is None:
        template = translate("ExpectedRangeCard", "PyTorch runs on your {card}")
    elif ratio > 1:
        template = translate("ExpectedRangeCard", "Your {card} is faster than your CPU")
    elif ratio < 1:
        template = translate("ExpectedRangeCard", "Your {card} is slower than your CPU")
    else:
        template = translate("ExpectedRangeCard", "Your {card} is as fast as your CPU")
    return template.format(card=gpu_name(benchmark, pair.fastest.device))


def has_trained_on_cpu(benchmark: Benchmark) -> bool:
    """Whether the CPU alone was measured, and trained."""
    return any(result.id in TRAINING_WORKLOADS for result in benchmark.results) and all(
        result.device == "cpu" for result in benchmark.results
    )


def _gpu_names(benchmark: Benchmark, devices: Iterable[str]) -> str:
    """The names of GPUs, each once: "2 × RTX 4060, RTX 3090"."""
    counts = Counter(gpu_name(benchmark, device) for device in devices)
    names = (name if count == 1 else f"{count} × {name}" for name, count in counts.items())
    return join_list(names, current.texts().language)


def slow_text(benchmark: Benchmark) -> str:
    """How much slower than usual the slowest GPU is, in one sentence; for a benchmark below its range.

    What is usual is the middle of the range, as `middle_note` says.
    """
    shares = [
        (shortfall_percent(result.median, expected), result.device)
        for result, expected in expected_results(benchmark)
        if result.judgement == "below"
    ]
    if not shares:
        return verdict_label(benchmark)
    most, slowest = max(shares)
    least = min(share for share, device in shares if device == slowest)
    card = gpu_name(benchmark, slowest)
    if least == most:
        template = translate("ExpectedRangeCard", "Your {card} is {percent} slower than usual")
        return template.format(card=card, percent=format_percent(most))
    template = translate("ExpectedRangeCard", "Your {card} is {least}–{most}% slower than usual")
    return template.format(card=card, least=least, most=most)


def middle_note() -> str:
    """What "slower than usual" is compared with."""
    return translate("ExpectedRangeCard", "Compared with the middle of the usual range.")


def cause_texts(benchmark: Benchmark) -> list[str]:
    """Why a result is below its range, the most certain first; nothing where no cause was found."""
    return [current.texts().translate(cause) for cause in benchmark.causes if cause != UNKNOWN_CAUSE]


def conditions_text(benchmark: Benchmark) -> str:
    """The highest figures of all slow GPUs: what heat or another program as the cause was seen by, or all of them where
    no cause was found, which it says too; "" without such figures.
    """
    is_unknown = UNKNOWN_CAUSE in benchmark.causes
    logs = [find_gpu_log(device, benchmark.watched) for device in slow_devices(benchmark)]
    temperature = _highest([log.temp_max if log is not None else None for log in logs])
    utilization = _highest([log.util_before if log is not None else None for log in logs])
    if is_unknown and temperature is not None and utilization is not None:
        template = translate(
            "ExpectedRangeCard",
            "No reason was found. Highest temperature: {temperature} °C. Highest load before the test: {percent}.",
        )
    elif is_unknown and temperature is not None:
        template = translate("ExpectedRangeCard", "No reason was found. Highest temperature: {temperature} °C.")
    elif is_unknown and utilization is not None:
        template = translate("ExpectedRangeCard", "No reason was found. Highest load before the test: {percent}.")
    elif HEAT_CAUSE in benchmark.causes and temperature is not None:
        template = translate("ExpectedRangeCard", "Highest temperature: {temperature} °C.")
    elif BUSY_CAUSE in benchmark.causes and utilization is not None:
        template = translate("ExpectedRangeCard", "Highest load before the test: {percent}.")
    else:
        return ""
    return template.format(temperature=temperature, percent=format_percent(utilization or 0))


def _highest(figures: Sequence[int | None]) -> int | None:
    """The highest of figures; None where one of them is unknown, for that may be higher."""
    known = [each for each in figures if each is not None]
    return max(known, default=None) if len(known) == len(figures) else None


def step_texts(benchmark: Benchmark) -> list[str]:
    """What to do about a result below its range, in the order in which to do it."""
    return [current.texts().translate(step) for step in repair_steps(benchmark)]


def expected_results(benchmark: Benchmark) -> list[tuple[BenchResult, tuple[float, float]]]:
    """Each measurement that was judged by a range: the result of its best size, and (low, high)."""
    best: dict[str, BenchResult] = {}
    for result in benchmark.results:
        if not result.extrapolated and (
            result_key(result) not in best or result.median > best[result_key(result)].median
        ):
            best[result_key(result)] = result
    judged = ((best[name], judged_range(best[name], benchmark)) for name in benchmark.expected or {} if name in best)
    return [(result, expected) for result, expected in judged if expected is not None]


def compared_name(result: BenchResult, benchmark: Benchmark) -> str:
    """Workload and number format of a measurement with a known range; after the GPU's number, unless ranges are known
    of the first one alone.
    """
    name = result_name(result)
    if all(key.startswith("cuda:0/") for key in benchmark.expected or {}):
        return name
    return with_label(f"GPU {result.device.partition(':')[2]}", name, current.texts().language)
