"""Texts of one result: validity notes, and the change since an earlier run."""

from __future__ import annotations

from msgspec.structs import replace

from gpu_assistant.bench.device_comparison import device_comparisons
from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.gui.bench.export.image import warnings_text
from gpu_assistant.reports.benchmark import render_html
from gpu_assistant.reports.messages import pair_description, pair_title, result_name
from gpu_assistant.reports.result_messages import (
    change_text,
    comparison_title,
    missing_workloads,
    table_rows,
    validity_notes,
)
from tests.fakes.benchmarks import card_benchmark, figure, two_cards
from tests.fakes.examples import cpu_benchmark


def test_size_measured_before_is_named():
    large = cpu_benchmark().results[0]
    small = replace(large, size=(1024, 1024, 1024), median=0.2)
    first = replace(cpu_benchmark(), results=(small, large))
    second = replace(cpu_benchmark(), results=(replace(small, median=0.1), large))
    third = replace(cpu_benchmark(), results=(small,))
    stored = (first, second, third)
    assert not missing_workloads(first, stored)
    assert not missing_workloads(second, stored)
    assert missing_workloads(third, stored) == ["Matrix multiplication, float32 · 2048 × 2048"]
    details = {note.text: note.detail for note in validity_notes(third, stored)}
    assert details["Measured before, not this time"] == "Matrix multiplication, float32 · 2048 × 2048"


def test_comparison_is_named_after_what_was_measured(language):
    card, cards = card_benchmark(), two_cards()

    def title(benchmark):
        return comparison_title(device_comparisons(benchmark))

    assert title(card) == "GPU vs CPU"
    assert title(cpu_benchmark()) == "Measured on the CPU"
    for benchmark, text in ((card, "Measured on the GPU"), (cards, "Measured on the GPUs")):
        on_gpus = tuple(each for each in benchmark.results if each.device != "cpu")
        assert title(replace(benchmark, results=on_gpus)) == text
        assert text in render_html(replace(benchmark, results=on_gpus))


def test_both_ways_of_a_language_model_are_named():
    cpu = figure("decode", "cpu", "float32", (64, 32), "tokens/s", 20.0)
    one_by_one = figure("decode", "cuda:0", "bfloat16", (64, 32), "tokens/s", 150.0)
    graph = figure("decode-graph", "cuda:0", "bfloat16", (64, 32), "tokens/s", 900.0)
    benchmark = replace(card_benchmark(), results=(cpu, one_by_one, graph))
    (pair,) = device_comparisons(benchmark)
    assert pair_title(pair) == "Small language model"
    description = pair_description(pair, benchmark)
    assert description.startswith("answers word by word, bfloat16")
    assert description.endswith("as a CUDA graph (150 tokens/s without)")
    assert [result_name(each) for each in (cpu, one_by_one, graph)] == [
        "Small language model, float32",
        "Small language model, kernels launched one by one, bfloat16",
        "Small language model as a CUDA graph, bfloat16",
    ]
    unrecorded = SkippedWorkload(
        id="decode-graph", device="cuda:0", dtype="bfloat16", size=(64, 32), why="bench.note.no-graph"
    )
    without = replace(benchmark, results=(cpu, one_by_one), left_out=(unrecorded,))
    assert table_rows(without)[-1][-1] == "PyTorch could not record a CUDA graph"


def test_burst_and_sustained_figure_are_both_named():
    size = (10000, 10000, 10000)
    product = figure("matmul", "cuda:0", "bfloat16", size, "TFLOP/s", 150.0)
    sustained = replace(product, id="matmul-sustained", median=120.0)
    benchmark = replace(card_benchmark(), results=(product, sustained))
    (pair,) = device_comparisons(benchmark)
    assert pair_description(pair, benchmark) == "half precision (bfloat16), in a burst; 120 TFLOP/s sustained"
    assert result_name(sustained) == "Matrix multiplication, sustained for 30 s, bfloat16"


def test_workload_measured_before_is_named():
    training = figure("resnet50", "cpu", "float32", (3, 224, 224), "images/s", 1.9)
    before = replace(cpu_benchmark(), results=(*cpu_benchmark().results, training))
    other = replace(before, devices=(replace(before.devices[0], name="another processor"),))
    assert missing_workloads(cpu_benchmark(), (before,)) == ["Training ResNet-50, float32"]
    assert not missing_workloads(cpu_benchmark(), (other, replace(before, scope="full")))


def test_time_limit_omission_suggests_full_test():
    left = [("bert-base", (128,)), ("matmul", (2048, 2048, 2048)), ("matmul", (4096, 4096, 4096))]
    left_out = tuple(
        SkippedWorkload(id=name, device="cpu", dtype="float32", size=size, why="bench.note.time") for name, size in left
    )
    quick = replace(cpu_benchmark(), left_out=left_out, notes=("bench.note.time", "bench.note.busy-cpu"), scope="quick")
    notes = validity_notes(quick)
    assert {note.text: note.detail for note in notes if note.kind == "warn"} == {
        "There was not enough time for everything; the rest was left out.": (
            "Training BERT-base, float32; Matrix multiplication, float32 · 2048 × 2048, 4096 × 4096"
        ),
        "Other programs kept the CPU busy when the test began, so the CPU's results may be too low.": "",
    }
    suggestion = "The full test takes up to 15 minutes per device and measures more."
    assert suggestion in [note.text for note in notes]
    assert suggestion not in [note.text for note in validity_notes(replace(quick, scope="full"))]


def test_note_names_affected_measurement_only():
    steady = cpu_benchmark().results[0]
    noisy = replace(steady, size=(64, 64, 64), notes=("spread",))
    benchmark = replace(cpu_benchmark(), results=(steady, noisy), notes=("bench.note.spread",))
    (note,) = [note for note in validity_notes(benchmark) if note.text.startswith("The results vary")]
    assert note.detail == "Matrix multiplication, float32 · 64 × 64"


def test_early_ended_run_is_not_all_checked():
    omission = SkippedWorkload(id="decode", device="cpu", dtype="float32", size=(64, 32), why="bench.note.killed")
    results = (replace(cpu_benchmark().results[0], error=1e-7),)
    killed = replace(cpu_benchmark(), results=results, left_out=(omission,), notes=("bench.note.killed",))
    notes = {note.text: note for note in validity_notes(killed)}
    assert notes["Results checked"].value == "1 correct, the rest not measured"
    assert notes["Results checked"].kind == "neutral"
    (with_detail,) = [note for note in notes.values() if note.detail]
    assert with_detail.detail == "Small language model, float32"


def test_unchecked_results_had_no_time():
    results = tuple(replace(cpu_benchmark().results[0], error=error) for error in (1e-7, 1e-7, None))
    notes = {note.text: note for note in validity_notes(replace(cpu_benchmark(), results=results))}
    assert notes["Results checked"].value == "2 of 3, no time for the rest"


def test_unmeasured_gpu_named_in_every_export(language):
    watched = card_benchmark().watched
    benchmark = replace(cpu_benchmark(), verdict="bench.verdict.cpu-build", watched=watched)
    text = "Your RTX 4060 was not measured: this PyTorch is the CPU build; install the CUDA build."
    assert text in warnings_text(benchmark)
    assert text in render_html(benchmark)
    assert "Temperature" not in [note.text for note in validity_notes(benchmark)]
    assert not warnings_text(replace(benchmark, verdict="bench.verdict.cpu-only"))


def test_disturbed_runs_are_not_called_equal():
    before = figure("resnet50", "cpu", "float32", (3, 224, 224), "images/s", 0.12)
    after = replace(before, median=0.092, q1=0.09, q3=0.095, notes=("busy-cpu",))
    runs = [(replace(cpu_benchmark(), results=(each,)), each) for each in (before, after)]
    assert change_text(*runs, "07:00") == (
        "This test cannot be compared with the previous one (07:00): other programs used the CPU."
    )
    calm = (runs[1][0], replace(after, notes=()))
    assert change_text(runs[0], calm, "07:00") == "This test was 23% slower than the previous one (07:00)."
    assert change_text(runs[0], runs[0], "07:00").startswith("This test shows no significant difference")
