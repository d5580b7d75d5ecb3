from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.gui.bench import messages
from gpu_assistant.gui.bench.export import render_html, warnings_text
from gpu_assistant.gui.bench.result import expected_card
from gpu_assistant.gui.bench.result.table import table_rows
from gpu_assistant.gui.bench.result.view import change_text
from gpu_assistant.gui.main.home.cards import LatestBenchmarkCard
from gpu_assistant.gui.wizard.pages.done import QuickBenchmarkCard
from gpu_assistant.texts.localized import Texts
from tests.fakes.benchmarks import card_benchmark, figure
from tests.fakes.examples import cpu_benchmark


def test_extrapolated_result_is_never_the_headline():
    measured = cpu_benchmark().results[0]
    guess = replace(measured, size=(10000, 10000, 10000), runs=0, error=None, extrapolated=True)
    benchmark = replace(cpu_benchmark(), results=(measured, guess))
    assert messages.reference_result(benchmark) == measured
    assert messages.comparable_runs(benchmark, [benchmark]) == [(benchmark, measured)]
    assert messages.result_detail(guess) == "10000 × 10000, worked out from a smaller size"


def test_headline_uses_largest_common_size():
    large = cpu_benchmark().results[0]
    small = replace(large, size=(1024, 1024, 1024), median=0.2)
    first = replace(cpu_benchmark(), results=(small, large))
    second = replace(cpu_benchmark(), results=(replace(small, median=0.1), large))
    third = replace(cpu_benchmark(), results=(small,))
    kept = (first, second, third)
    for each in (first, second):
        assert messages.reference_result(each).size == large.size
        assert messages.make_headline(each).detail.startswith("2048 × 2048 · ")
        assert [result.median for _, result in messages.comparable_runs(each, kept)] == [0.141, 0.141]
        assert not expected_card.missing_workloads(each, kept)
    assert expected_card.missing_workloads(third, kept) == ["Matrix product, float32 · 2048 × 2048"]
    said = {line.text: line.detail for line in expected_card.validity_notes(third, kept)}
    assert said["Measured before, not this time"] == "Matrix product, float32 · 2048 × 2048"


def test_time_limit_omission_suggests_full_test():
    left = [("bert-base", (128,)), ("matmul", (2048, 2048, 2048)), ("matmul", (4096, 4096, 4096))]
    left_out = tuple(
        SkippedWorkload(id=name, device="cpu", dtype="float32", size=size, why="bench.note.time") for name, size in left
    )
    quick = replace(cpu_benchmark(), left_out=left_out, notes=("bench.note.time", "bench.note.busy-cpu"), scope="quick")
    lines = expected_card.validity_notes(quick)
    below = {line.text: line.detail for line in lines if line.kind == "warn"}
    assert below == {
        "There was not enough time for everything; what did not fit in was left out.": (
            "Training BERT-base, float32; Matrix product, float32 · 2048 × 2048, 4096 × 4096"
        ),
        "Other programs kept the CPU busy when the test began, so its figures may be too low.": "",
    }
    wayout = "The full test has up to 15 minutes for each device: more of it fits in."
    assert wayout in [line.text for line in lines]
    assert wayout not in [line.text for line in expected_card.validity_notes(replace(quick, scope="full"))]


@pytest.mark.parametrize(("notes", "said"), [((), ""), (("spread",), " Doubtful: the runs vary by more than 10 %.")])
def test_home_and_done_page_name_compared_dtypes(qtbot, notes, said):
    found = card_benchmark()
    found = replace(found, results=tuple(replace(each, notes=notes) for each in found.results))
    home, done = LatestBenchmarkCard(), QuickBenchmarkCard()
    for card in (home, done):
        qtbot.addWidget(card)
    home.show_benchmark(found)
    done.draw(found, running=False, error=None, texts=Texts("en"))
    for card in (home, done):
        first, second = card.caption_label.text().split("\n")
        assert first.endswith("your RTX 4060 is 31 times as fast as your CPU")
        assert second == f"On the card mixed precision, on the CPU float32.{said}"
    home.show_benchmark(cpu_benchmark())  # one device, and its format is named beside the figure
    assert "\n" not in home.caption_label.text()
    assert "float32" in home.caption_label.text()


def test_warning_names_workload_and_headline_missing():
    (steady,) = cpu_benchmark().results[:1]
    noisy = replace(steady, size=(64, 64, 64), notes=("spread",))
    left = SkippedWorkload(id="resnet50", device="cpu", dtype="float32", size=(3, 224, 224), why="bench.note.time")
    left = replace(left, wanted_s=21.0, had_s=6.0)
    some = replace(cpu_benchmark(), results=(steady, noisy), left_out=(left,), notes=("bench.note.spread",))
    (line,) = [line for line in expected_card.validity_notes(some) if line.text.startswith("The figures vary")]
    assert line.detail == "Matrix product, float32 · 64 × 64"
    assert messages.make_headline(some).missing == "Not in this result: Training ResNet-50 (no time was left)."
    assert table_rows(some)[-1][-1] == "Takes about 21 seconds here; there were 6 seconds for it"
    assert not messages.make_headline(cpu_benchmark()).missing


@pytest.mark.parametrize(
    ("note", "why"),
    [
        ("busy-cpu", "other programs used the CPU"),
        ("spread", "the runs vary by more than 10 %"),
        ("few", "there was time for two runs only"),
        ("wrong", "the check of the result failed"),
    ],
)
def test_doubtful_result_shows_reason(note, why):
    result = replace(cpu_benchmark().results[0], notes=(note,))
    assert messages.marked_median(result) == "141 GFLOP/s (doubtful)"
    assert messages.marked_median(cpu_benchmark().results[0]) == "141 GFLOP/s"
    detail = messages.make_headline(replace(cpu_benchmark(), results=(result,))).detail
    assert detail.endswith(f"Doubtful: {why}.")


def test_disturbed_runs_are_not_called_equal():
    before = figure("resnet50", "cpu", "float32", (3, 224, 224), "images/s", 0.12)
    after = replace(before, median=0.092, q1=0.09, q3=0.095, notes=("busy-cpu",))
    runs = [(replace(cpu_benchmark(), results=(each,)), each) for each in (before, after)]
    said = change_text(*runs, "07:00")
    assert said == "Cannot be compared with 07:00: other programs used the CPU."
    calm = (runs[1][0], replace(after, notes=()))
    assert change_text(runs[0], calm, "07:00") == "23 % slower than 07:00."
    assert change_text(runs[0], runs[0], "07:00").startswith("No difference to 07:00")


def test_early_ended_run_is_not_all_checked():
    left = SkippedWorkload(id="decode", device="cpu", dtype="float32", size=(64, 32), why="bench.note.killed")
    results = (replace(cpu_benchmark().results[0], error=1e-7),)
    killed = replace(cpu_benchmark(), results=results, left_out=(left,), notes=("bench.note.killed",))
    found = {line.text: line for line in expected_card.validity_notes(killed)}
    assert found["Results checked"].value == "1 right, the rest was not measured"
    assert found["Results checked"].kind == "neutral"
    (named,) = [line for line in found.values() if line.detail]
    assert named.detail == "Small language model, float32"
    assert table_rows(killed)[-1][-2:] == ("96 words", "Not measured: the test ended before")


def test_unchecked_results_had_no_time():
    some = [replace(cpu_benchmark().results[0], error=error) for error in (1e-7, 1e-7, None)]
    found = {line.text: line for line in expected_card.validity_notes(replace(cpu_benchmark(), results=tuple(some)))}
    assert found["Results checked"].value == "2 of 3, no time for the rest"


def test_extrapolated_result_shows_bounds_and_note():
    measured = cpu_benchmark().results[0]
    guess = replace(measured, size=(10000,) * 3, runs=0, q1=0.1, median=0.141, q3=0.15, extrapolated=True)
    (row,) = table_rows(replace(cpu_benchmark(), results=(guess,)))
    assert row[3:] == ("≈ 141 GFLOP/s", "100 … 150 GFLOP/s", "worked out")


def test_unmeasured_gpu_named_in_every_export(language):
    watch = card_benchmark().watched
    alone = replace(cpu_benchmark(), verdict="bench.verdict.cpu-build", watched=watch)
    said = "Your RTX 4060 was not measured: this PyTorch is the CPU build; install the CUDA build."
    assert said in warnings_text(alone)
    assert said in render_html(alone)
    assert "Temperature" not in [line.text for line in expected_card.validity_notes(alone)]
    assert not warnings_text(replace(alone, verdict="bench.verdict.cpu-only"))


def test_date_labels_are_unique():
    at = time.mktime((2026, 3, 4, 7, 0, 10, 0, 0, -1))
    first, full = replace(cpu_benchmark(), started=at), replace(cpu_benchmark(), started=at + 7, scope="full")
    assert messages.date_labels([first, full]) == ["03-04 07:00", "03-04 07:00, full"]
    again = replace(first, started=at + 20)
    assert messages.date_labels([first, again], with_year=True) == ["2026-03-04 07:00:10", "2026-03-04 07:00:30"]


def test_missing_workload_is_named():
    training = figure("resnet50", "cpu", "float32", (3, 224, 224), "images/s", 1.9)
    before = replace(cpu_benchmark(), results=(*cpu_benchmark().results, training))
    other = replace(before, devices=(replace(before.devices[0], name="another processor"),))
    assert expected_card.missing_workloads(cpu_benchmark(), (before,)) == ["Training ResNet-50, float32"]
    assert not expected_card.missing_workloads(cpu_benchmark(), (other, replace(before, scope="full")))


def test_gpu_compared_at_common_size():
    cpu = cpu_benchmark().results[0]
    same = replace(cpu, device="cuda:0", median=9.0)
    larger = replace(same, size=(8192, 8192, 8192), median=12.0)
    both = replace(cpu_benchmark(), results=(cpu, same, larger))
    assert messages.device_results(both) == [same, cpu]
    assert messages.reference_result(both) == same
    assert messages.median_text(same) == "9.00 TFLOP/s"


def test_single_device_has_no_comparison_bar(qtbot):
    home, done = LatestBenchmarkCard(), QuickBenchmarkCard()
    for benchmark, told in ((card_benchmark(), True), (cpu_benchmark(), False)):
        for card in (home, done):
            qtbot.addWidget(card)
        home.show_benchmark(benchmark)
        done.draw(benchmark, running=False, error=None, texts=Texts("en"))
        assert home.bars.isHidden() == done.bars.isHidden() == (not told)
        assert not home.value_label.isHidden()
