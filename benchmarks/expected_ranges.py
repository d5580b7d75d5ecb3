"""The usual ranges of matrix products, computed from public results, and how well they hold.

    python benchmarks/expected_ranges.py [--write] [RESULTS]

RESULTS has public results (default: tests/fixtures/bench/public_results.json). The shares of the peak that they reach
are grouped as in `resources/catalog/reference.json` (compute capability, kinds of card, formats), widened by its rule,
and printed with their width (highest by lowest). Then each model of card is left out once, the ranges are computed from
the others, and its results are judged by them: a range that only repeats its own results would fail here. The same for
each result halved. Last, the catalog's ranges judge results that they were not made from
(tests/fixtures/bench/other_results.json). `--write` stores the shares in the catalog; without it a difference from the
catalog ends with 1.

GPUs of laptops are left out, since the results do not name their power limit, and so are cards the catalog lacks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gpu_assistant.bench.expected_ranges import matmul_peak, matmul_range  # noqa: E402 - the root is on the path first
from gpu_assistant.catalog.records.peak_specs import (  # noqa: E402
    MatmulShare,
    MatmulShares,
    ReferenceCard,
)
from gpu_assistant.catalog.store import Catalog, load_catalog  # noqa: E402

CATALOG = ROOT / "resources" / "catalog"
RESULTS = ROOT / "tests" / "fixtures" / "bench" / "public_results.json"
OTHER_RESULTS = RESULTS.with_name("other_results.json")
DTYPES = ("float32", "tf32", "float16", "bfloat16")


class PublicResult(NamedTuple):
    """TFLOP/s of one card in one format."""

    card: ReferenceCard
    dtype: str
    tflops: float


def main() -> int:
    """Print shares and coverage; 1 where the catalog's shares are others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    catalog = load_catalog(CATALOG)
    rule = catalog.reference.matmul
    results = public_results(given.results, catalog)
    shares = computed_shares(results, rule, catalog)
    print("capability  kinds                formats                  low    high   width  models  results")
    for share in shares:
        kinds, dtypes = " ".join(share.kinds), " ".join(share.dtypes)
        print(
            f"{share.compute_capability!s:10}  {kinds:19}  {dtypes:23}  {share.low:.3f}  {share.high:.3f}"
            f"  {share.high / share.low:.2f}   {share.models:6}  {share.results:7}"
            f"{'' if share.high <= rule.max_width * share.low else '  too wide: no range'}"
        )
    print("in the ranges:   ", coverage_text(results, replace(rule, shares=shares), catalog))
    print("model left out:  ", held_out_text(results, rule, catalog))
    print("others:          ", coverage_text(public_results(OTHER_RESULTS, catalog), rule, catalog))
    if given.write:
        write_shares(shares)
        return 0
    return int(shares != rule.shares)


def public_results(path: Path, catalog: Catalog) -> list[PublicResult]:
    """The results of cards that the catalog has, without laptops' GPUs."""
    results = []
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        card = catalog.reference_card(row["device"])
        if card is None or card.kind == "laptop":
            continue
        results += [
            PublicResult(card, dtype, row[dtype])
            for dtype in DTYPES
            if row.get(dtype) is not None and matmul_peak(card, dtype, catalog.reference.rates) is not None
        ]
    return results


def computed_shares(results: Sequence[PublicResult], rule: MatmulShares, catalog: Catalog) -> tuple[MatmulShare, ...]:
    """The catalog's rows, with shares computed from these results; rows without any result or source are left out."""
    rates = catalog.reference.rates
    computed = []
    for row in rule.shares:
        is_laptop = row.kinds == ("laptop",)
        kinds = ("desktop",) if is_laptop else row.kinds
        found = [
            (result.card.name, result.tflops / peak)
            for result in results
            if result.card.compute_capability == row.compute_capability
            and result.card.kind in kinds
            and result.dtype in row.dtypes
            and (peak := matmul_peak(result.card, result.dtype, rates)) is not None
        ]
        stated = [
            each
            for each in rule.stated
            if each.compute_capability == row.compute_capability
            and set(kinds) & set(each.kinds)
            and set(row.dtypes) & set(each.dtypes)
        ]
        models = len({name for name, _ in found})
        lows = [each.low / rule.stated_widening for each in stated]
        highs = [each.high * rule.stated_widening for each in stated]
        if found:
            factor = rule.widening[min(models, len(rule.widening)) - 1]
            lows.append(min(share for _, share in found) / factor)
            highs.append(max(share for _, share in found) * factor)
        if not lows:
            continue
        low = min(lows) * (rule.laptop_low if is_laptop else 1)
        computed.append(
            replace(
                row,
                low=round(low, 3),
                high=round(max(highs), 3),
                models=0 if is_laptop else models,
                results=0 if is_laptop else len(found),
            )
        )
    return tuple(computed)


def judged(result: PublicResult, tflops: float, rule: MatmulShares, catalog: Catalog) -> str:
    """ "below", "as-expected", "above", "unknown"."""
    expected = matmul_range(result.card, result.dtype, rule, catalog.reference.rates)
    if expected is None:
        return "unknown"
    return "below" if tflops < expected[0] else "above" if tflops > expected[1] else "as-expected"


def coverage_text(results: Sequence[PublicResult], rule: MatmulShares, catalog: Catalog) -> str:
    """How the results, and their halves, are judged by these ranges."""
    whole = Counter(judged(each, each.tflops, rule, catalog) for each in results)
    halves = Counter(judged(each, each.tflops / 2, rule, catalog) for each in results)
    return summary(whole, halves)


def held_out_text(results: Sequence[PublicResult], rule: MatmulShares, catalog: Catalog) -> str:
    """The same with ranges computed from the results of all other models."""
    whole: Counter[str] = Counter()
    halves: Counter[str] = Counter()
    for name in {result.card.name for result in results}:
        others = [each for each in results if each.card.name != name]
        rule_without = replace(rule, shares=computed_shares(others, rule, catalog))
        for result in (each for each in results if each.card.name == name):
            whole[judged(result, result.tflops, rule_without, catalog)] += 1
            halves[judged(result, result.tflops / 2, rule_without, catalog)] += 1
    return summary(whole, halves)


def summary(whole: Counter[str], halves: Counter[str]) -> str:
    """Counts, and shares of those that have a range."""
    known = sum(whole.values()) - whole["unknown"]
    return (
        f"{whole['as-expected']} of {known} as expected ({100 * whole['as-expected'] / known:.1f} %), "
        f"{whole['below']} below, {whole['above']} above, {whole['unknown']} without a range; "
        f"halved: {halves['below']} of {known} below ({100 * halves['below'] / known:.1f} %)"
    )


def write_shares(shares: Sequence[MatmulShare]) -> None:
    """Store the computed numbers in the catalog's rows; the rest of the file stays as it is."""
    path = CATALOG / "reference.json"
    text = path.read_text(encoding="utf-8")
    before, marker, after = text.partition('"shares": [')
    _, end, rest = after.partition("\n    ]")
    lines = []
    for share in shares:
        row: dict[str, Any] = {
            "compute_capability": str(share.compute_capability),
            "kinds": list(share.kinds),
            "dtypes": list(share.dtypes),
            "low": share.low,
            "high": share.high,
            "models": share.models,
            "results": share.results,
            "source": share.source,
        }
        lines.append("      " + json.dumps(row))
    path.write_text(before + marker + "\n" + ",\n".join(lines) + end + rest, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
