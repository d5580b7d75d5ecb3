"""The range of healthy GPUs of the same model beside a result: its verdict, its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ..bench.expected_ranges import result_key
from ..core.results import Benchmark, BenchResult
from ..texts import current
from ..texts.current import translate

if TYPE_CHECKING:
    from ..catalog.store import Catalog


BELOW_EXPECTED = "bench.verdict.below"
NORMAL_VERDICTS = frozenset({"bench.verdict.as-expected", "bench.verdict.above"})


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
        "copies we expect {low_copy} to {high_copy} % of the card's rated memory speed and {low_way} to "
        "{high_way} % of the slot's speed; we chose these limits ourselves. Data as of {date}.",
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


def expected_results(benchmark: Benchmark) -> list[tuple[BenchResult, tuple[float, float]]]:
    """Each measurement with a known range: the result of its best size, and (low, high)."""
    best: dict[str, BenchResult] = {}
    for result in benchmark.results:
        if not result.extrapolated and (
            result_key(result) not in best or result.median > best[result_key(result)].median
        ):
            best[result_key(result)] = result
    return [(best[name], expected) for name, expected in (benchmark.expected or {}).items() if name in best]
