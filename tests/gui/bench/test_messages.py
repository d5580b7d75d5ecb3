"""Texts of a benchmark: headline, doubts, dates, the result that represents it."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from gpu_assistant.bench.device_comparison import headline_comparison
from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.gui.main.home.cards import LatestBenchmarkCard
from gpu_assistant.gui.wizard.pages.done import QuickBenchmarkCard
from gpu_assistant.reports import messages
from gpu_assistant.texts.localized import Texts
from tests.fakes.benchmarks import card_benchmark, processor_benchmark, two_cards
from tests.fakes.examples import cpu_benchmark


def test_extrapolated_result_is_never_the_headline():
    measured = cpu_benchmark().results[0]
    guess = replace(measured, size=(10000, 10000, 10000), runs=0, error=None, extrapolated=True)
    benchmark = replace(cpu_benchmark(), results=(measured, guess))
    assert messages.reference_result(benchmark) == measured
    assert messages.comparable_runs(benchmark, [benchmark]) == [(benchmark, measured)]


def test_headline_uses_largest_common_size():
    large = cpu_benchmark().results[0]
    small = replace(large, size=(1024, 1024, 1024), median=0.2)
    first = replace(cpu_benchmark(), results=(small, large))
    second = replace(cpu_benchmark(), results=(replace(small, median=0.1), large))
    stored = (first, second, replace(cpu_benchmark(), results=(small,)))
    for each in (first, second):
        assert messages.reference_result(each).size == large.size
        assert messages.make_headline(each).detail.startswith("2048 × 2048 · ")
        assert [result.median for _, result in messages.comparable_runs(each, stored)] == [0.141, 0.141]


def test_headline_names_one_of_several_gpus():
    headline = messages.make_headline(two_cards())
    assert headline.text == "Training ResNet-50: one RTX 4060 is 31 times as fast as your CPU"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The card in mixed precision, batch 64, the CPU in float32, batch 8."),
        ("zh_CN", "显卡用混合精度，批次 64；CPU 用 float32，批次 8。"),
    ],
)
def test_headline_and_bars_name_format_and_batch(language, code, text):
    language.set(code)
    results = [replace(each, batch=8 if each.device == "cpu" else 64) for each in card_benchmark().results]
    benchmark = replace(card_benchmark(), results=tuple(results))
    headline = messages.make_headline(benchmark)
    assert headline.formats == text
    assert headline.detail.startswith(text)
    pair = headline_comparison(benchmark)
    of_cpu = text.rpartition("CPU")[2].removeprefix(" in ").removeprefix(" 用 ").strip(".。")
    assert of_cpu in messages.cpu_label(pair.cpu)
    assert messages.run_details(pair.fastest) in messages.pair_description(pair, benchmark)


def test_headline_names_omitted_workload():
    steady = cpu_benchmark().results[0]
    omission = SkippedWorkload(id="resnet50", device="cpu", dtype="float32", size=(3, 224, 224), why="bench.note.time")
    benchmark = replace(cpu_benchmark(), results=(steady,), left_out=(omission,))
    missing = messages.make_headline(benchmark).missing
    assert missing == "Not in this result: Training ResNet-50 (no time was left)."
    assert not messages.make_headline(cpu_benchmark()).missing


@pytest.mark.parametrize(("notes", "doubt"), [((), []), (("spread",), ["Doubtful: the runs vary by more than 10%."])])
def test_home_names_compared_dtypes_and_done_the_workload(qtbot, notes, doubt):
    benchmark = card_benchmark()
    benchmark = replace(benchmark, results=tuple(replace(each, notes=notes) for each in benchmark.results))
    home, done = LatestBenchmarkCard(), QuickBenchmarkCard()
    for card in (home, done):
        qtbot.addWidget(card)
    home.show_benchmark(benchmark)
    done.draw(benchmark, running=False, error=None, texts=Texts("en"), has_gpu=True)
    first, formats, *rest = home.caption_label.text().split("\n")
    assert first.endswith("your RTX 4060 is 31 times as fast as your CPU")
    assert formats == "The card in mixed precision, the CPU in float32."
    assert rest == doubt
    # On Done the figure is beside it, and the formats are on the benchmark's page.
    first, workload, *rest = done.caption_label.text().split("\n")
    assert (done.value_label.text(), first, workload) == (
        "31×",
        "as fast as your CPU",
        "Training ResNet-50 (recognises images)",
    )
    assert rest == doubt
    home.show_benchmark(cpu_benchmark())  # one device, and its format is named beside the figure
    assert "\n" not in home.caption_label.text()
    assert "float32" in home.caption_label.text()


def test_a_figure_without_comparison_has_words_instead_of_a_unit():
    benchmark = cpu_benchmark()
    headline = messages.make_headline(benchmark)
    assert (headline.figure, headline.text.split(" · ")[0]) == ("141", "GFLOP/s")
    assert headline.brief_figure == "141"
    assert headline.brief == "billion operations per second · Matrix multiplication, float32 on the CPU"
    result = replace(benchmark.results[0], id="resnet50", unit="images/s", size=(3, 224, 224), median=8.4)
    headline = messages.make_headline(replace(benchmark, results=(result,)))
    assert headline.brief_figure == headline.figure == "8.40"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "en",
            [
                ("Training on 1,000 images", "2 minutes"),
                ("Training on 1,000 sentences", "3 minutes"),
                ("Matrix multiplication", "720 billion operations per second"),
                ("Writing text", "14.2 tokens/s"),
            ],
        ),
        (
            "zh_CN",
            [
                ("用 1,000 张图片训练", "2 分钟"),
                ("用 1,000 个句子训练", "3 分钟"),
                ("矩阵乘法", "7,200 亿次运算/秒"),
                ("生成文字", "14.2 词元/秒"),
            ],
        ),
    ],
)
def test_what_a_cpu_alone_does_is_told_in_times(language, code, expected):
    language.set(code)
    plain = messages.plain_results(processor_benchmark())
    assert [(each.name, each.figure) for each in plain] == expected
    assert "ResNet-50" in plain[0].workload
    assert messages.plain_results(card_benchmark()) == ()  # beside a card, the ratio says more


def test_the_done_page_tells_of_a_cpu_alone_how_long_something_plain_takes(qtbot):
    card = QuickBenchmarkCard()
    qtbot.addWidget(card)
    card.draw(processor_benchmark(), running=False, error=None, texts=Texts("en"), has_gpu=False)
    assert card.value_label.text() == "2 minutes"
    assert card.caption_label.text().startswith("to train on 1,000 images")
    assert "small models" in card.purpose_label.text()
    card.draw(card_benchmark(), running=False, error=None, texts=Texts("en"), has_gpu=True)
    assert card.value_label.text().endswith("×")
    assert card.purpose_label.isHidden()


def test_single_device_has_no_comparison_bar(qtbot):
    home, done = LatestBenchmarkCard(), QuickBenchmarkCard()
    for card in (home, done):
        qtbot.addWidget(card)
    for benchmark, has_bars in ((card_benchmark(), True), (cpu_benchmark(), False)):
        home.show_benchmark(benchmark)
        done.draw(benchmark, running=False, error=None, texts=Texts("en"), has_gpu=True)
        assert home.bars.isHidden() == done.bars.isHidden() == (not has_bars)
        assert not home.value_label.isHidden()


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        ("busy-cpu", "other programs used the CPU"),
        ("spread", "the runs vary by more than 10%"),
        ("few", "there was only time for two runs"),
        ("wrong", "the result check failed"),
    ],
)
def test_doubtful_result_shows_reason(note, reason):
    result = replace(cpu_benchmark().results[0], notes=(note,))
    sound = cpu_benchmark().results[0]
    # Said once: a star only where others stand beside it.
    assert messages.marked_median(result, [result, result]) == "141 GFLOP/s"
    assert messages.marked_median(result, [result, sound]) == "141 GFLOP/s *"
    assert messages.marked_median(sound, [result, sound]) == "141 GFLOP/s"
    assert messages.doubt_legend([result, result]) == f"Doubtful: {reason}."
    assert messages.doubt_legend([result, sound]) == f"* Doubtful: {reason}."
    assert messages.doubt_legend([sound]) == ""
    detail = messages.make_headline(replace(cpu_benchmark(), results=(result,))).detail
    assert detail.endswith(f"Doubtful: {reason}.")


def test_gpu_compared_at_common_size():
    cpu = cpu_benchmark().results[0]
    same = replace(cpu, device="cuda:0", median=9.0)
    larger = replace(same, size=(8192, 8192, 8192), median=12.0)
    both = replace(cpu_benchmark(), results=(cpu, same, larger))
    assert messages.device_results(both) == [same, cpu]
    assert messages.reference_result(both) == same
    assert messages.median_text(same) == "9.00 TFLOP/s"


def test_equal_gpus_are_counted():
    assert messages.machine_labels(two_cards())[0] == "2 × NVIDIA GeForce RTX 4060"


def test_date_labels_are_unique():
    at = time.mktime((2026, 3, 4, 7, 0, 10, 0, 0, -1))
    first, full = replace(cpu_benchmark(), started=at), replace(cpu_benchmark(), started=at + 7, scope="full")
    assert messages.date_labels([first, full]) == ["2026-03-04 07:00", "2026-03-04 07:00, full"]
    again = replace(first, started=at + 20)
    assert messages.date_labels([first, again]) == ["2026-03-04 07:00:10", "2026-03-04 07:00:30"]


def test_dates_of_a_page_have_one_form(monkeypatch):
    now, earlier = (time.mktime((2026, 3, day, 7, 0, 10, 0, 0, -1)) for day in (9, 4))
    localtime = time.localtime
    monkeypatch.setattr(time, "localtime", lambda seconds=now: localtime(seconds))
    runs = [replace(cpu_benchmark(), started=each) for each in (earlier, now)]
    assert messages.date_labels(runs, names_today=True) == [messages.date_text(each.started) for each in runs]
    assert messages.date_text(earlier) == "2026-03-04 07:00"
    assert (
        messages.previous_date_label(runs[1], names_today=True)
        == f"today {time.strftime('%H:%M', time.localtime(now))}"
    )
    assert messages.previous_date_label(runs[1]) == time.strftime("%Y-%m-%d %H:%M", time.localtime(now))


@pytest.mark.parametrize(
    ("code", "benchmark", "expected"),
    [
        ("en", card_benchmark(), ("31×", "as fast as your CPU\nTraining ResNet-50")),
        ("en", two_cards(), ("31×", "as fast as your CPU\nTraining ResNet-50\non one RTX 4060")),
        ("en", processor_benchmark(), ("2 minutes", "Training on 1,000 images")),
        ("en", cpu_benchmark(), ("141", "billion operations per second (GFLOP/s)\nMatrix multiplication, float32")),
        ("zh_CN", cpu_benchmark(), ("141", "GFLOP/s（每秒十亿次运算）\n矩阵乘法（float32）")),
        ("en", replace(cpu_benchmark(), results=()), ("", "")),
    ],
)
def test_figure_says_what_it_counts(language, code, benchmark, expected):
    language.set(code)
    assert messages.headline_figure(benchmark)[:2] == expected


def test_of_several_cards_it_is_said_which_one_works_instead_of_the_cpu(language):
    unlike = two_cards()
    devices = tuple(replace(each, name="NVIDIA RTX A4000") if each.id == "cuda:1" else each for each in unlike.devices)
    unlike = replace(unlike, devices=devices)
    for benchmark, text in (
        (card_benchmark(), "takes the card 15 minutes."),
        (two_cards(), "takes one RTX 4060 15 minutes."),
        (unlike, "takes the RTX 4060 15 minutes."),
    ):
        assert messages.make_headline(benchmark).remark.endswith(text)
    language.set("zh_CN")
    assert messages.make_headline(two_cards()).remark.endswith("单张 RTX 4060 只要 15 分钟。")


def test_doubt_of_the_figure_is_its_own(language):
    """The CPU trains fastest in mixed precision; only that is shown, and only its doubt."""
    benchmark = processor_benchmark()
    shown = max((each for each in benchmark.results if each.id == "resnet50"), key=lambda each: each.median)
    for doubtful, expected in ((shown, True), (None, False)):
        results = tuple(
            replace(each, notes=("spread",)) if (each is doubtful) or (doubtful is None and each is not shown) else each
            for each in benchmark.results
        )
        assert bool(messages.headline_figure(replace(benchmark, results=results)).doubt) is expected


def test_figure_of_a_card_alone_has_its_unit(language):
    benchmark = card_benchmark()
    alone = replace(benchmark, results=tuple(each for each in benchmark.results if each.device != "cpu"))
    figure, caption, _ = messages.headline_figure(alone)
    assert (figure, caption) == ("262", "images/s\nTraining ResNet-50, mixed precision")
