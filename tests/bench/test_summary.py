"""The few figures that people compare."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.bench.device_comparison import (
    device_comparisons,
    gpu_seconds_per_night,
    headline_comparison,
    readable_figure,
)
from gpu_assistant.bench.expected_ranges import is_best_size
from gpu_assistant.bench.history import benchmark_history, previous_benchmark
from gpu_assistant.bench.measurements import skip_details
from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.texts.localized import Texts

from ..fakes.benchmarks import card_benchmark, figure, two_cards
from ..fakes.examples import cpu_benchmark


def test_headline_compares_gpu_and_cpu_training() -> None:
    pair = headline_comparison(card_benchmark())
    assert pair is not None
    assert pair.cpu is not None
    assert (pair.fastest.id, pair.fastest.dtype, pair.cpu.dtype) == ("resnet50", "mixed-bfloat16", "float32")
    assert pair.ratio == pytest.approx(262 / 8.4)
    assert round(gpu_seconds_per_night(pair.ratio or 1) / 60) == 15


def test_each_workload_once_in_usual_dtype() -> None:
    pairs = [(pair.fastest.id, pair.fastest.dtype) for pair in device_comparisons(card_benchmark())]
    assert pairs == [
        ("resnet50", "mixed-bfloat16"),
        ("bert-base", "mixed-bfloat16"),
        ("matmul", "float32"),
        ("matmul", "float16"),
        ("copy-to-device-pinned", "uint8"),
        ("copy-within", "uint8"),
    ]


def test_compared_at_largest_common_size() -> None:
    benchmark = cpu_benchmark()
    cpu = benchmark.results[0]
    card = replace(cpu, device="cuda:0", median=9.0)
    larger = replace(card, size=(8192, 8192, 8192), median=12.0)
    (pair,) = device_comparisons(replace(benchmark, results=(cpu, larger, card)))
    assert (pair.gpus, pair.cpu, pair.ratio) == ((card,), cpu, pytest.approx(9.0 / 0.141))
    assert not is_best_size(card, replace(benchmark, results=(cpu, larger, card)))
    assert is_best_size(larger, replace(benchmark, results=(cpu, larger, card)))


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"extrapolated": True}, {"size": (512, 512, 512)}, {"dtype": "bfloat16"}, {"median": 0.0}],
    ids=str,
)
def test_unequal_measurements_have_no_ratio(change: dict[str, object]) -> None:
    benchmark = cpu_benchmark()
    card = replace(benchmark.results[0], device="cuda:0", median=9.0)
    other = replace(benchmark.results[0], **change)
    pairs = device_comparisons(replace(benchmark, results=(other, card)))
    assert pairs[0].ratio is None


def test_cpu_only_has_headline() -> None:
    benchmark = cpu_benchmark()
    training = figure("resnet50", "cpu", "float32", (3, 224, 224), "images/s", 1.9)
    pair = headline_comparison(replace(benchmark, results=(*benchmark.results, training)))
    assert pair is not None
    assert (pair.fastest, pair.gpus, pair.ratio) == (training, (), None)
    assert headline_comparison(replace(benchmark, results=())) is None


def test_cpu_only_shows_mixed_and_previous() -> None:
    size = (3, 224, 224)
    training = figure("resnet50", "cpu", "float32", size, "images/s", 1.9)
    mixed = figure("resnet50", "cpu", "mixed-bfloat16", size, "images/s", 3.1)
    now = replace(cpu_benchmark(), results=(training, mixed, *cpu_benchmark().results))
    old = replace(now, results=(replace(training, median=1.8),), started=1.0)
    whole = previous_benchmark(now, (old, replace(old, notes=("bench.note.crashed",)), now))
    assert whole is old
    first, second = device_comparisons(now, whole)
    assert (first.cpu, first.mixed, first.previous) == (training, mixed, old.results[0])
    assert (first.fastest, first.ratio) == (training, None)
    assert (second.mixed, second.previous) == (None, None)
    assert previous_benchmark(now, (now,)) is None
    assert previous_benchmark(replace(now, results=()), (old,)) is None
    assert all(
        pair.previous is None and pair.mixed is None for pair in device_comparisons(card_benchmark(), card_benchmark())
    )


def test_several_gpus_single_and_parallel() -> None:
    pair = device_comparisons(two_cards())[0]
    assert [each.device for each in pair.results] == ["cuda:0", "cuda:1", "cuda", "cpu"]
    assert {each.dtype for each in pair.results if each.device != "cpu"} == {pair.fastest.dtype}
    assert pair.fastest.device == "cuda:0"
    assert pair.parallel is not None
    assert pair.parallel.processes == 2


def test_parallel_only_beside_same_dtype() -> None:
    """Two cards in float32 are no slower than one in mixed precision."""
    both = two_cards()
    plain = [replace(r, dtype="float32") if r.processes > 1 else r for r in both.results]
    assert device_comparisons(replace(both, results=tuple(plain)))[0].parallel is None


def test_disturbed_size_is_not_headline() -> None:
    cpu = replace(cpu_benchmark().results[0], size=(2048, 2048, 2048), median=0.064, q1=0.063, q3=0.065)
    slow = replace(cpu, size=(4096, 4096, 4096), median=0.0158, q1=0.0157, q3=0.0159, runs=3)
    card, larger = replace(cpu, device="cuda:0", median=9.0), replace(slow, device="cuda:0", median=10.0)
    (alone,) = device_comparisons(replace(cpu_benchmark(), results=(cpu, slow)))
    assert alone.fastest == cpu
    (pair,) = device_comparisons(replace(cpu_benchmark(), results=(cpu, slow, card, larger)))
    assert (pair.cpu, pair.fastest, pair.ratio) == (cpu, card, pytest.approx(9.0 / 0.064))
    noisy = replace(slow, median=0.07, notes=("spread",))
    (other,) = device_comparisons(replace(cpu_benchmark(), results=(cpu, noisy)))
    assert other.fastest == cpu


def test_readable_figure_unit() -> None:
    assert readable_figure(0.0743, "TFLOP/s") == (pytest.approx(74.3), "GFLOP/s")
    assert readable_figure(1.2, "TFLOP/s", reference=0.9) == (1200, "GFLOP/s")
    assert readable_figure(0.5, "images/s") == (0.5, "images/s")


def test_quick_and_full_compared_by_common_results() -> None:
    """The headline's size is another one; the next most telling measurement is the same."""
    quick = card_benchmark()
    larger = tuple(replace(r, size=(3, 448, 448)) if r.id == "resnet50" else r for r in card_benchmark(0.5).results)
    full = replace(quick, results=larger, scope="full", started=2.0)
    one, two = benchmark_history((replace(quick, started=1.0), full)).runs
    assert one.compared is None
    assert two.headline is not None
    assert two.headline.id == "resnet50"
    assert two.compared is not None
    assert (two.compared.id, two.compared_with) == ("bert-base", 1.0)
    assert two.change is not None


def test_doubtful_result_is_not_compared() -> None:
    first = replace(card_benchmark(), started=1.0)
    busy = tuple(replace(each, notes=("busy-cpu",)) for each in first.results)
    _, two = benchmark_history((first, replace(first, results=busy, started=2.0))).runs
    assert (two.compared_with, two.change, two.doubts) == (1.0, None, ("busy-cpu",))
    _, same = benchmark_history((first, replace(first, started=2.0))).runs
    assert (same.compared_with, same.change, same.doubts) == (1.0, None, ())


@pytest.mark.parametrize(
    ("wanted", "had", "expected"),
    [
        (3.2, 3.1, "takes about 4 seconds here; only 3 seconds remained"),
        (3.2, 0.4, "takes about 4 seconds here; no time was left"),
        (None, None, None),
        (3.2, None, None),
    ],
)
def test_skip_details_state_wanted_and_available(wanted: float | None, had: float | None, expected: str | None) -> None:
    left = SkippedWorkload(
        id="bert-base",
        device="cpu",
        dtype="float32",
        size=(128,),
        why="bench.note.time",
        wanted_s=wanted,
        had_s=had,
    )
    details = skip_details(left)
    assert (None if details is None else Texts("en").translate(*details)) == expected
