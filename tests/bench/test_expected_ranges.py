"""What is right for a card: ranges by compute capability and format, judgements, and causes that fit the evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.bench.expected_ranges import judge_benchmark, matmul_peak, matmul_range, shortfall_percent
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import BenchDevice, BenchGpuLog, Benchmark, BenchResult

CATALOG = load_catalog(resources_dir() / "catalog")
REFERENCE = CATALOG.reference
RESULTS = Path(__file__).parents[1] / "fixtures" / "bench"
ROWS, OTHER_ROWS = (
    json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    for name in ("public_results", "other_results")
)
GIB = 2**30
RTX_4060, RTX_4060_LAPTOP = "NVIDIA GeForce RTX 4060", "NVIDIA GeForce RTX 4060 Laptop GPU"


def product(dtype: str, median: float, side: int = 8192, **fields: Any) -> BenchResult:
    figures = {"median": median, "q1": median, "q3": median, "runs": 3, "seconds": 1.0} | fields
    return BenchResult(
        id="matmul",
        device="cuda:0",
        dtype=dtype,  # type: ignore[arg-type]
        size=(side, side, side),
        unit="TFLOP/s",
        **figures,
    )


def copied(way: str, median: float) -> BenchResult:
    return replace(product("uint8", median, 1), id=f"copy-{way}", unit="GB/s", size=(1 << 28,))


def judged(name: str | None, *results: BenchResult, log: BenchGpuLog | None = None, **fields: Any) -> Benchmark:
    memory_bytes = fields.pop("memory_bytes", None)
    benchmark = Benchmark(
        schema="gpu-assistant/benchmark/1",
        torch="2.15.0",
        devices=(BenchDevice(id="cuda:0", name=name, memory_bytes=memory_bytes),),
        results=results,
        watched=(log,) if log is not None else (),
    )
    return judge_benchmark(replace(benchmark, **fields), CATALOG)


def judgements(benchmark: Benchmark) -> list[str | None]:
    return [result.judgement for result in benchmark.results]


def public_judgements(factor: float, rows: list[dict[str, Any]] = ROWS) -> list[str | None]:
    return [
        each
        for row in rows
        for dtype in ("float32", "tf32", "float16", "bfloat16")
        if row[dtype] is not None
        for each in judgements(judged(row["device"], product(dtype, factor * row[dtype])))
        if each != "unknown"
    ]


def copy_judgements(factor: float) -> list[str | None]:
    copies = [(row["device"], factor * row["copy_gb_s"]) for row in OTHER_ROWS if row["copy_gb_s"] is not None]
    found = [judgements(judged(name, copied("within", rate)))[0] for name, rate in copies]
    return [each for each in found if each != "unknown"]


def test_public_results_are_as_expected() -> None:
    found = public_judgements(1.0)
    assert len(found) > 100
    assert found.count("as-expected") >= 0.9 * len(found)


def test_halved_public_results_are_below() -> None:
    found = public_judgements(0.5)
    assert found.count("below") >= 0.95 * len(found)


def test_results_that_the_ranges_were_not_made_from_are_as_expected() -> None:
    """But for a TITAN RTX whose rate falls while it gets hot, and a T4 at 60 % of the others; both are called below."""
    found = public_judgements(1.0, OTHER_ROWS)
    assert len(found) > 150
    assert found.count("as-expected") >= 0.9 * len(found)
    assert found.count("below") <= 2
    assert public_judgements(0.5, OTHER_ROWS).count("below") >= 0.95 * len(found)


def test_copies_of_others_are_as_expected() -> None:
    """But for one at twice the bandwidth of its memory, which no card can reach."""
    found = copy_judgements(1.0)
    assert (found.count("as-expected"), found.count("above")) == (len(found) - 1, 1)
    assert len(found) > 10
    assert copy_judgements(0.5).count("below") == len(found) - 1


def test_no_range_is_wider_than_the_rule() -> None:
    rule = REFERENCE.matmul
    assert rule.max_width <= 2.2
    for card in REFERENCE.cards:
        for dtype in ("float32", "tf32", "float16", "bfloat16"):
            expected = matmul_range(card, dtype, rule, REFERENCE.rates, float(card.tdp_w))
            assert expected is None or expected[1] <= 2.2 * expected[0], (card.name, dtype)


def test_cards_have_what_their_kind_needs() -> None:
    for card in REFERENCE.cards:
        assert (card.kind == "laptop") == (card.power_clocks is not None), card.name
        assert card.source in REFERENCE.sources
        if card.power_clocks is not None:
            assert list(card.power_clocks) == sorted(card.power_clocks)
            assert card.power_clocks_source in REFERENCE.sources
            assert (card.tdp_w, card.boost_mhz) == card.power_clocks[-1]


@pytest.mark.parametrize(
    ("name", "memory_gib", "expected"),
    [
        ("NVIDIA A100-SXM4-80GB", 79.15, "A100 SXM4 80 GB"),
        ("NVIDIA H100 80GB HBM3", 79.1, "H100 SXM5 80 GB"),
        ("Tesla T4", 14.57, "Tesla T4"),
        ("NVIDIA GeForce RTX 5090", 31.36, "GeForce RTX 5090"),
        ("NVIDIA GeForce RTX 4090D 24GB", None, "GeForce RTX 4090 D"),
        ("NVIDIA GeForce RTX 4060 Ti", 15.6, "GeForce RTX 4060 Ti 16 GB"),
        ("NVIDIA GeForce RTX 4090", 47.5, None),
        ("NVIDIA GeForce RTX 3060", None, None),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", 4.75, None),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 95.0, None),
        ("Quadro RTX 6000", 24.0, "Quadro RTX 6000"),
        ("NVIDIA RTX 6000 Ada Generation", 47.5, "RTX 6000 Ada Generation"),
    ],
)
def test_card_by_name_and_memory(name: str, memory_gib: float | None, expected: str | None) -> None:
    memory_bytes = None if memory_gib is None else round(memory_gib * GIB)
    card = CATALOG.reference_card(name, memory_bytes)
    assert (card.name if card is not None else None) == expected


@pytest.mark.parametrize(("median", "expected"), [(8.3, "as-expected"), (4.2, "below"), (20.0, "above")])
def test_verdict_by_range(median: float, expected: str) -> None:
    benchmark = judged(RTX_4060, product("float32", median))
    assert judgements(benchmark) == [expected]
    assert benchmark.verdict == f"bench.verdict.{expected}"
    assert list(benchmark.expected or {}) == ["cuda:0/matmul-float32"]


@pytest.mark.parametrize("name", ["NVIDIA GeForce RTX 5060 Laptop GPU", "NVIDIA B200", "Voodoo 2", None])
def test_unknown_gpu_is_not_judged(name: str | None) -> None:
    benchmark = judged(name, product("float32", 1.0))
    assert judgements(benchmark) == ["unknown"]
    assert (benchmark.expected, benchmark.verdict, benchmark.causes) == (None, "bench.verdict.measured", ())


def test_half_precision_without_units_is_not_judged() -> None:
    results = [product("float16", 0.1), product("bfloat16", 0.1)]
    assert judgements(judged("NVIDIA GeForce GTX 1660 SUPER", *results)) == ["unknown", "unknown"]
    assert judgements(judged("NVIDIA GeForce RTX 2070", product("bfloat16", 4.42))) == ["unknown"]


def test_best_size_is_judged() -> None:
    small, large = product("float32", 5.0, 2048), product("float32", 8.3)
    assert judgements(judged(RTX_4060, small, large)) == ["unknown", "as-expected"]
    assert judgements(judged(RTX_4060, small)) == ["unknown"]  # too small to fill the card
    assert judgements(judged(RTX_4060, replace(large, median=5.0, notes=("wrong",)))) == ["unknown"]


def laptop_log(power_limit_w: float | None) -> BenchGpuLog:
    return BenchGpuLog(index=0, samples=9, power_limit_w=power_limit_w)


def test_weak_charger_of_a_laptop_is_no_matter_of_power_cables() -> None:
    log = replace(laptop_log(115.0), throttle=("hardware-slowdown", "power-brake"))
    assert judged(RTX_4060_LAPTOP, product("float32", 4.5), log=log).causes == ("bench.cause.charger",)


def test_laptop_is_judged_by_its_power_limit() -> None:
    def judgement(limit: float | None, median: float) -> str | None:
        return judgements(judged(RTX_4060_LAPTOP, product("float32", median), log=laptop_log(limit)))[0]

    assert judgement(115.0, 9.08) == "as-expected"
    assert judgement(140.0, 9.08) == "as-expected"
    assert judgement(115.0, 4.5) == "below"
    assert judgement(40.0, 4.5) == "as-expected"
    assert judgement(None, 4.5) == "unknown"
    assert judgement(20.0, 4.5) == "unknown"
    assert judgements(judged(RTX_4060_LAPTOP, product("float32", 4.5))) == ["unknown"]


def test_laptop_clock_between_two_limits() -> None:
    card = CATALOG.reference_card("NVIDIA GeForce RTX 3060 Laptop GPU", 6 * GIB)
    assert card is not None
    peak = matmul_peak(card, "float32", REFERENCE.rates)
    at = {w: matmul_range(card, "float32", REFERENCE.matmul, REFERENCE.rates, w) for w in (110.0, 115.0)}
    assert peak == pytest.approx(2 * 3840 * 1702e6 / 1e12, rel=1e-3)
    assert at[110.0] is not None
    assert at[115.0] is not None
    assert at[110.0][0] / at[115.0][0] == pytest.approx(1670 / 1702, rel=0.01)


@pytest.mark.parametrize(("generation", "most"), [(4, 15.75), (3, 7.88), (5, 15.75), (1, None), (None, None)])
def test_link_range_by_generation(generation: int | None, most: float | None) -> None:
    log = BenchGpuLog(index=0, samples=9, pcie_gen=generation, pcie_width=4)
    benchmark = judged(RTX_4060, copied("to-device-pinned", 6.3), log=log)
    if most is None:
        assert judgements(benchmark) == ["unknown"]
        return
    low, high = (benchmark.expected or {})["cuda:0/copy-to-device-pinned-uint8"]
    assert 0.5 * most < low < high < most


FINE_LOG = BenchGpuLog(
    index=0,
    samples=9,
    util_before=1,
    clock_sm=2500,
    power_limit_w=115.0,
    pcie_gen=4,
    pcie_width=8,
    throttle=("power-cap",),
)


def causes(log: BenchGpuLog | None, *results: BenchResult, **fields: Any) -> list[str]:
    found = judged(RTX_4060, *(results or (product("float32", 4.0),)), log=log, **fields).causes
    return [code.rpartition(".")[2] for code in found]


def test_causes_of_slow_products() -> None:
    assert causes(None) == causes(FINE_LOG) == ["unknown"]
    assert causes(replace(FINE_LOG, throttle=("hardware-thermal",), clock_sm=900)) == ["heat"]
    assert causes(replace(FINE_LOG, throttle=("power-brake",))) == ["power-supply"]
    assert causes(replace(FINE_LOG, power_limit_w=70.0)) == ["power-limit"]
    assert causes(replace(FINE_LOG, clock_sm=900)) == ["clocks"]
    assert causes(replace(FINE_LOG, util_before=60), notes=("bench.note.saving",)) == ["power-plan", "busy"]
    assert causes(FINE_LOG, on_battery=True) == ["battery"]
    assert causes(replace(FINE_LOG, pcie_width=4)) == ["unknown"]  # the link does not slow products down


def test_memory_that_windows_lent_is_the_first_cause() -> None:
    slow = product("float32", 4.0)
    assert causes(FINE_LOG, replace(slow, notes=("spilled",))) == ["spilled"]
    assert causes(replace(FINE_LOG, util_before=60), replace(slow, notes=("spilled",))) == ["spilled", "busy"]
    good = replace(product("float16", 31.0), notes=("spilled",))
    assert causes(FINE_LOG, slow, good) == ["unknown"]  # another result's note explains nothing


def test_causes_of_slow_link() -> None:
    slow_copy, good_product = copied("to-device-pinned", 3.0), product("float32", 8.3)
    assert causes(replace(FINE_LOG, pcie_width=4), slow_copy, good_product) == ["slot"]
    assert causes(replace(FINE_LOG, throttle=("hardware-thermal",)), slow_copy, good_product) == ["link"]


def test_normal_result_has_no_cause() -> None:
    hot = replace(FINE_LOG, throttle=("hardware-thermal",))
    assert judged(RTX_4060, product("float32", 8.3), log=hot).causes == ()


def test_cpu_alone_keeps_its_verdict() -> None:
    on_cpu = replace(product("float32", 0.3), device="cpu")
    benchmark = judged(RTX_4060, on_cpu, verdict="bench.verdict.cpu-chosen")
    assert (benchmark.verdict, judgements(benchmark)) == ("bench.verdict.cpu-chosen", ["unknown"])


def test_log_belongs_to_its_device() -> None:
    other = replace(laptop_log(115.0), index=0, device="cuda:1")
    own = replace(laptop_log(35.0), index=1, device="cuda:0")
    slow = product("float32", 4.5)
    assert judgements(judged(RTX_4060_LAPTOP, slow, watched=(other, own))) == ["as-expected"]
    assert judgements(judged(RTX_4060_LAPTOP, slow, watched=(other,))) == ["unknown"]


@pytest.mark.parametrize(("median", "percent"), [(10.0, 0), (12.0, 0), (15.0, 0), (9.0, 25), (6.0, 50)])
def test_shortfall_is_counted_from_the_middle_of_the_range(median: float, percent: int) -> None:
    assert shortfall_percent(median, (10.0, 14.0)) == percent


def test_value_just_below_a_narrow_range_is_at_least_one_percent_short() -> None:
    assert shortfall_percent(9.999, (10.0, 10.0)) == 1
