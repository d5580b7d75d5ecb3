"""The range of healthy GPUs of the same model beside a result: its verdict, its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ..bench.expected_ranges import CAUSE_PREFIX, result_key
from ..core.results import Benchmark, BenchResult
from ..texts import current
from ..texts.current import translate
from ..texts.format import format_percent
from .messages import gpu_name

if TYPE_CHECKING:
    from ..catalog.store import Catalog


BELOW_EXPECTED = "bench.verdict.below"
NORMAL_VERDICTS = frozenset({"bench.verdict.as-expected", "bench.verdict.above"})
UNKNOWN_CAUSE = CAUSE_PREFIX + "unknown"


class RangeSource(Struct, frozen=True):
    """Where the ranges are from: (low, high) in percent of the peak figures for copies; for products the page with the
    public results, and the date of all.
    """

    copy_percent: tuple[int, int]
    pcie_percent: tuple[int, int]
    url: str | None
    as_of: str


def read_range_source(catalog: Catalog) -> RangeSource:
    """Read the catalog's reference figures from disk: for a worker thread."""
    reference = catalog.reference
    healthy = reference.healthy
    copy_percent, pcie_percent = (
        (round(100 * low), round(100 * high)) for low, high in (healthy.copy_share, healthy.pcie_share)
    )
    urls = (reference.sources[share.source].url for share in reference.matmul.shares)
    return RangeSource(copy_percent, pcie_percent, next((url for url in urls if url), None), reference.as_of)


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
    """The verdict in a few words, for a pill."""
    return current.texts().translate(f"{benchmark.verdict}.short")


def slow_text(benchmark: Benchmark) -> tuple[str, str]:
    """How far a GPU is below its range at most, and the first thing to do about it; for a benchmark below its range.

    The share is that of the lowest usual value, so it is never exaggerated.
    """
    below = [(result, expected[0]) for result, expected in expected_results(benchmark) if result.judgement == "below"]
    advice = current.texts().translate(benchmark.causes[0]) if benchmark.causes else ""
    if not below:
        return verdict_label(benchmark), advice
    slowest, low = min(below, key=lambda each: each[0].median / each[1])
    share = max(round(100 * (1 - slowest.median / low)), 1)
    template = translate("ExpectedRangeCard", "Your {card} is slower than usual, by up to {percent}")
    title = template.format(card=gpu_name(benchmark, slowest.device), percent=format_percent(share))
    return title, advice


def advice_texts(benchmark: Benchmark) -> list[str]:
    """What to do about a result below its range, the most certain first.

    Where the cause is unknown: what was not seen to be in order during the test. Such a result has fast copies to and
    from the GPU, so neither its slot nor the computer's memory is in doubt.
    """
    texts = current.texts()
    sentences = [texts.translate(cause) for cause in benchmark.causes]
    if UNKNOWN_CAUSE in benchmark.causes:
        checks = {
            "power-plan": True,
            "battery": benchmark.on_battery is None,
            "heat": any(log.temp_max is None for log in benchmark.watched) or not benchmark.watched,
        }
        sentences += [texts.translate(f"bench.look.{check}") for check, is_open in checks.items() if is_open]
    return sentences


def expected_results(benchmark: Benchmark) -> list[tuple[BenchResult, tuple[float, float]]]:
    """Each measurement with a known range: the result of its best size, and (low, high)."""
    best: dict[str, BenchResult] = {}
    for result in benchmark.results:
        if not result.extrapolated and (
            result_key(result) not in best or result.median > best[result_key(result)].median
        ):
            best[result_key(result)] = result
    return [(best[name], expected) for name, expected in (benchmark.expected or {}).items() if name in best]
