from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.gui.bench import fairness, moments, scores
from gpu_assistant.gui.bench.every import table_rows
from gpu_assistant.gui.bench.past_card import change_text
from gpu_assistant.gui.bench.picture import warnings_text
from gpu_assistant.gui.bench.report import render_html
from gpu_assistant.gui.main.fast_card import LatestBenchmarkCard
from gpu_assistant.gui.wizard.speed_card import QuickBenchmarkCard
from gpu_assistant.texts import Texts
from tests.fakes.benchmarks import card_benchmark, figure
from tests.fakes.examples import cpu_benchmark


def test_a_figure_that_was_worked_out_stands_for_nothing_and_says_so():
    measured = cpu_benchmark().results[0]
    guess = replace(measured, size=(10000, 10000, 10000), runs=0, error=None, extrapolated=True)
    benchmark = replace(cpu_benchmark(), results=(measured, guess))
    assert scores.reference_result(benchmark) == measured
    assert scores.comparable_runs(benchmark, [benchmark]) == [(benchmark, measured)]
    assert scores.result_detail(guess) == "10000 × 10000, worked out from a smaller size"


def test_one_size_stands_for_a_benchmark_however_fast_the_others_were():
    large = cpu_benchmark().results[0]
    small = replace(large, size=(1024, 1024, 1024), median=0.2)
    first = replace(cpu_benchmark(), results=(small, large))
    second = replace(cpu_benchmark(), results=(replace(small, median=0.1), large))
    third = replace(cpu_benchmark(), results=(small,))
    kept = (first, second, third)
    for each in (first, second):
        assert scores.reference_result(each).size == large.size
        assert scores.make_headline(each).detail.startswith("2048 × 2048 · ")
        assert [result.median for _, result in scores.comparable_runs(each, kept)] == [0.141, 0.141]
        assert not fairness.missing_workloads(each, kept)
    assert fairness.missing_workloads(third, kept) == ["Matrix product, float32 · 2048 × 2048"]
    said = {line.text: line.detail for line in fairness.validity_notes(third, kept)}
    assert said["Measured before, not this time"] == "Matrix product, float32 · 2048 × 2048"


def test_what_was_left_out_for_lack_of_time_is_named_with_a_way_out():
    left = [("bert-base", (128,)), ("matmul", (2048, 2048, 2048)), ("matmul", (4096, 4096, 4096))]
    left_out = tuple(
        SkippedWorkload(id=name, device="cpu", dtype="float32", size=size, why="bench.note.time") for name, size in left
    )
    quick = replace(cpu_benchmark(), left_out=left_out, notes=("bench.note.time", "bench.note.busy-cpu"), scope="quick")
    lines = fairness.validity_notes(quick)
    below = {line.text: line.detail for line in lines if line.kind == "warn"}
    assert below == {
        "There was not enough time for everything; what did not fit in was left out.": (
            "Training BERT-base, float32; Matrix product, float32 · 2048 × 2048, 4096 × 4096"
        ),
        "Other programs kept the CPU busy when the test began, so its figures may be too low.": "",
    }
    wayout = "The full test has up to 15 minutes for each device: more of it fits in."
    assert wayout in [line.text for line in lines]
    assert wayout not in [line.text for line in fairness.validity_notes(replace(quick, scope="full"))]


@pytest.mark.parametrize(("notes", "said"), [((), ""), (("spread",), " Doubtful: the runs vary by more than 10 %.")])
def test_home_and_the_last_page_say_in_which_formats_is_compared(qtbot, notes, said):
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


def test_a_warning_names_what_it_is_about_and_the_headline_what_is_missing():
    (steady,) = cpu_benchmark().results[:1]
    noisy = replace(steady, size=(64, 64, 64), notes=("spread",))
    left = SkippedWorkload(id="resnet50", device="cpu", dtype="float32", size=(3, 224, 224), why="bench.note.time")
    left = replace(left, wanted_s=21.0, had_s=6.0)
    some = replace(cpu_benchmark(), results=(steady, noisy), left_out=(left,), notes=("bench.note.spread",))
    (line,) = [line for line in fairness.validity_notes(some) if line.text.startswith("The figures vary")]
    assert line.detail == "Matrix product, float32 · 64 × 64"
    assert scores.make_headline(some).missing == "Not in this result: Training ResNet-50 (no time was left)."
    assert table_rows(some)[-1][-1] == "Takes about 21 seconds here; there were 6 seconds for it"
    assert not scores.make_headline(cpu_benchmark()).missing


@pytest.mark.parametrize(
    ("note", "why"),
    [
        ("busy-cpu", "other programs used the CPU"),
        ("spread", "the runs vary by more than 10 %"),
        ("few", "there was time for two runs only"),
        ("wrong", "the check of the result failed"),
    ],
)
def test_a_figure_that_something_speaks_against_is_doubtful_and_says_why(note, why):
    result = replace(cpu_benchmark().results[0], notes=(note,))
    assert scores.marked_median(result) == "141 GFLOP/s (doubtful)"
    assert scores.marked_median(cpu_benchmark().results[0]) == "141 GFLOP/s"
    detail = scores.make_headline(replace(cpu_benchmark(), results=(result,))).detail
    assert detail.endswith(f"Doubtful: {why}.")


def test_what_was_disturbed_is_not_said_to_be_the_same():
    before = figure("resnet50", "cpu", "float32", (3, 224, 224), "images/s", 0.12)
    after = replace(before, median=0.092, q1=0.09, q3=0.095, notes=("busy-cpu",))
    runs = [(replace(cpu_benchmark(), results=(each,)), each) for each in (before, after)]
    said = change_text(*runs, "07:00")
    assert said == "Cannot be compared with 07:00: other programs used the CPU."
    calm = (runs[1][0], replace(after, notes=()))
    assert change_text(runs[0], calm, "07:00") == "23 % slower than 07:00."
    assert change_text(runs[0], runs[0], "07:00").startswith("No difference to 07:00")


def test_a_run_that_ended_early_is_not_all_right():
    left = SkippedWorkload(id="decode", device="cpu", dtype="float32", size=(64, 32), why="bench.note.killed")
    results = (replace(cpu_benchmark().results[0], error=1e-7),)
    killed = replace(cpu_benchmark(), results=results, left_out=(left,), notes=("bench.note.killed",))
    found = {line.text: line for line in fairness.validity_notes(killed)}
    assert found["Results checked"].value == "1 right, the rest was not measured"
    assert found["Results checked"].kind == "neutral"
    (named,) = [line for line in found.values() if line.detail]
    assert named.detail == "Small language model, float32"
    assert table_rows(killed)[-1][-2:] == ("96 words", "Not measured: the test ended before")


def test_what_was_not_checked_had_no_time():
    some = [replace(cpu_benchmark().results[0], error=error) for error in (1e-7, 1e-7, None)]
    found = {line.text: line for line in fairness.validity_notes(replace(cpu_benchmark(), results=tuple(some)))}
    assert found["Results checked"].value == "2 of 3, no time for the rest"


def test_a_figure_that_was_worked_out_has_its_bounds_and_says_so_in_words():
    measured = cpu_benchmark().results[0]
    guess = replace(measured, size=(10000,) * 3, runs=0, q1=0.1, median=0.141, q3=0.15, extrapolated=True)
    (row,) = table_rows(replace(cpu_benchmark(), results=(guess,)))
    assert row[3:] == ("≈ 141 GFLOP/s", "100 … 150 GFLOP/s", "worked out")


def test_a_card_that_was_not_measured_is_said_wherever_the_result_goes(language):
    watch = card_benchmark().watched
    alone = replace(cpu_benchmark(), verdict="bench.verdict.cpu-build", watched=watch)
    said = "Your RTX 4060 was not measured: this PyTorch is the CPU build; install the CUDA build."
    assert said in warnings_text(alone)
    assert said in render_html(alone)
    assert "Temperature" not in [line.text for line in fairness.validity_notes(alone)]
    assert not warnings_text(replace(alone, verdict="bench.verdict.cpu-only"))


def test_no_two_moments_are_alike():
    at = time.mktime((2026, 3, 4, 7, 0, 10, 0, 0, -1))
    first, full = replace(cpu_benchmark(), started=at), replace(cpu_benchmark(), started=at + 7, scope="full")
    assert moments.date_labels([first, full]) == ["03-04 07:00", "03-04 07:00, full"]
    again = replace(first, started=at + 20)
    assert moments.date_labels([first, again], with_year=True) == ["2026-03-04 07:00:10", "2026-03-04 07:00:30"]


def test_a_whole_workload_that_is_gone_is_named():
    training = figure("resnet50", "cpu", "float32", (3, 224, 224), "images/s", 1.9)
    before = replace(cpu_benchmark(), results=(*cpu_benchmark().results, training))
    other = replace(before, devices=(replace(before.devices[0], name="another processor"),))
    assert fairness.missing_workloads(cpu_benchmark(), (before,)) == ["Training ResNet-50, float32"]
    assert not fairness.missing_workloads(cpu_benchmark(), (other, replace(before, scope="full")))


def test_the_gpu_is_compared_at_the_size_that_both_did():
    cpu = cpu_benchmark().results[0]
    same = replace(cpu, device="cuda:0", median=9.0)
    larger = replace(same, size=(8192, 8192, 8192), median=12.0)
    both = replace(cpu_benchmark(), results=(cpu, same, larger))
    assert scores.device_results(both) == [same, cpu]
    assert scores.reference_result(both) == same
    assert scores.median_text(same) == "9.00 TFLOP/s"


def test_one_device_has_no_bar_to_compare_with(qtbot):
    home, done = LatestBenchmarkCard(), QuickBenchmarkCard()
    for benchmark, told in ((card_benchmark(), True), (cpu_benchmark(), False)):
        for card in (home, done):
            qtbot.addWidget(card)
        home.show_benchmark(benchmark)
        done.draw(benchmark, running=False, error=None, texts=Texts("en"))
        assert home.bars.isHidden() == done.bars.isHidden() == (not told)
        assert not home.value_label.isHidden()
