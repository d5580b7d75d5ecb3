"""A result as a picture and as a page: what it says, and what it must not say."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtGui import QColor, QImage

from gpu_assistant.bench import results as bench_results
from gpu_assistant.core.results import BenchDevice, SkippedWorkload
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench import export, messages
from gpu_assistant.gui.bench.export import (
    IMAGE_HEIGHT,
    IMAGE_WIDTH,
    BenchmarkExporter,
    _export_name,
    machine_labels,
    render_html,
    render_png,
    warnings_text,
)
from gpu_assistant.gui.bench.result.charts import ComparisonRow
from gpu_assistant.gui.bench.result.expected_card import RangeSource
from gpu_assistant.gui.theme.theme import load_theme_file
from tests.fakes.benchmarks import card_benchmark, slow_benchmark, two_cards
from tests.fakes.examples import cpu_benchmark

pytestmark = pytest.mark.gui

ALL = (cpu_benchmark(), card_benchmark(), slow_benchmark(), two_cards(), replace(cpu_benchmark(), results=()))


class Page(HTMLParser):
    """Its words, and whether every tag that opens is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.open, self.links = "", [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data + "\n"


@pytest.mark.parametrize("benchmark", ALL, ids=["cpu", "card", "slow", "two", "nothing"])
@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_report_is_self_contained_html(language, benchmark, code):
    language.set(code)
    page = Page(render_html(benchmark, (benchmark,)))
    assert page.open == []
    assert page.links == []
    assert not re.search(r"https?:|<script|url\(", render_html(benchmark))


def test_report_lists_results(language):
    words = Page(render_html(slow_benchmark("heat"))).words
    for said in (
        "RTX 4060",
        "Training ResNet-50",
        "157 images/s",
        "617.42",
        "too hot",
        "41 → 86 °C",
        "AMD Ryzen 5 7500F",
    ):
        assert said in words


def test_report_has_history_and_range_source(language):
    old = replace(card_benchmark(0.89), started=1_790_000_000.0)
    old = replace(old, versions={**old.versions, "driver": "566.03"})
    new = replace(card_benchmark(), started=1_790_600_000.0)
    source = RangeSource((75, 95), (80, 93), (65, 95), "https://example.invalid/a?b=1&c=2", "2026-11-21")
    page = Page(render_html(new, (old, new), source))
    for said in (
        "Before and now",
        "233 images/s",
        "262 images/s",
        "12 % faster than",
        "Since then: driver 566.03 → 617.42.",
        "The range is 75 to 95 % of what the maker's figures promise",
        "Figures as of 2026-11-21.",
        "Where the figures are from: https://example.invalid/a?b=1&c=2",
    ):
        assert said in page.words.replace(": \n", ": ")
    assert page.links == [source.url]  # one to read, none that loads
    assert "Before and now" not in Page(render_html(new, (new,))).words


def test_report_title_follows_results(language):
    def title(benchmark):
        return re.search(r"<title>(.*?)</title>", render_html(benchmark)).group(1)

    assert title(card_benchmark()) == "How fast this computer trains"
    assert title(cpu_benchmark()) == "How fast this CPU computes"
    products = tuple(r for r in card_benchmark().results if r.id == "matmul")
    assert title(replace(card_benchmark(), results=products)) == "How fast this computer computes"


def test_report_has_gpu_log(language):
    one = replace(card_benchmark().watched[0], clock_sm=2505, power_max_w=113.4, power_limit_w=115.0)
    two = replace(one, index=1, throttle=("thermal",), temp_end=84, temp_max=88)
    words = Page(render_html(replace(two_cards(), watched=(one, two)))).words
    for said in (
        "What the cards did meanwhile",
        "GPU 0 · RTX 4060",
        "GPU 1 · RTX 4060",
        "2,505 MHz",
        "113 W of 115 W",
        "41 → 84 °C, at most 88 °C",
        "Slowed down by heat",
    ):
        assert said in words


def test_doubtful_value_marked_in_exports(language):
    busy = replace(cpu_benchmark().results[0], notes=("busy-cpu",))
    benchmark = replace(cpu_benchmark(), results=(busy,), notes=("bench.note.busy-cpu",))
    assert "141 GFLOP/s (doubtful)" in Page(render_html(benchmark)).words
    assert "kept the CPU busy" in warnings_text(benchmark)
    assert "doubtful" in ComparisonRow(bench_results.device_comparisons(benchmark)[0], "").accessibleName()


def test_exports_show_full_date(language):
    now = time.time()
    today = time.strftime("%Y-%m-%d", time.localtime(now))
    old = replace(card_benchmark(0.89), started=now - 60)
    words = Page(
        render_html(replace(card_benchmark(), started=now), (old, replace(card_benchmark(), started=now)))
    ).words
    assert f"Measured {today}, " in words
    assert f"faster than {time.strftime('%Y-%m-%d', time.localtime(now - 60))}" in words
    assert "today" not in words


def test_report_escapes_foreign_names(language):
    device = BenchDevice(id="cpu", name="<script>alert(1)</script>", threads=2)
    text = render_html(replace(cpu_benchmark(), devices=(device,)))
    assert "<script" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize("benchmark", ALL, ids=["cpu", "card", "slow", "two", "nothing"])
def test_picture_has_size_and_bars(language, benchmark):
    image = QImage.fromData(render_png(benchmark))
    assert (image.width(), image.height()) == (IMAGE_WIDTH, IMAGE_HEIGHT)
    assert not image.textKeys()
    colours = {
        image.pixelColor(x, y).name() for x in range(0, IMAGE_WIDTH, 4) for y in range(180, IMAGE_HEIGHT - 100, 4)
    }
    assert ("#2f55d4" in colours) == any(result.device != "cpu" for result in benchmark.results)


def test_cpu_only_picture_shows_previous_run(language):
    """Nothing is beside a first figure, so that a bar's length would say nothing."""
    old, new = (replace(cpu_benchmark(), started=1_790_000_000.0 + day * 86_400) for day in (0, 7))
    stopped = replace(old, notes=("bench.note.killed",))

    def bars(*kept):
        image = QImage.fromData(render_png(new, (*kept, new)))
        colours = {
            image.pixelColor(x, y).name() for x in range(400, IMAGE_WIDTH, 4) for y in range(180, IMAGE_HEIGHT - 100, 2)
        }
        return [colours >= {theirs} for theirs in ("#2f55d4", "#5f6470")]

    assert bars() == bars(stopped) == [False, False]
    assert bars(old) == [True, True]
    assert f"{dated(old)} 141 GFLOP/s" in Page(render_html(new, (old, new))).words
    assert dated(stopped) not in Page(render_html(new, (stopped, new))).words


def dated(benchmark):
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(benchmark.started))


def test_picture_shows_warnings_and_numbers_equal_gpus(language):
    assert not warnings_text(card_benchmark())
    assert warnings_text(slow_benchmark()).startswith("Products or copies: slower than usual")
    wild = replace(card_benchmark().results[0], q3=500.0)
    assert "Spread between runs" in warnings_text(replace(card_benchmark(), results=(wild,)))
    assert machine_labels(two_cards())[0] == "2 × NVIDIA GeForce RTX 4060"


def test_picture_warnings_are_not_cut(language):
    few = replace(cpu_benchmark(), notes=("bench.note.busy-cpu",))
    many = replace(few, notes=tuple(f"bench.note.{each}" for each in ("busy-cpu", "spread", "wrong", "time", "killed")))

    def lowest_and_highest(benchmark):
        image = QImage.fromData(render_png(benchmark)).convertToFormat(QImage.Format.Format_RGB32)
        warn = QColor(load_theme_file().themes["light"].colours()["warn"]).rgb()
        rows = np.frombuffer(image.constBits(), np.uint32).reshape(IMAGE_HEIGHT, IMAGE_WIDTH)
        (marked,) = np.nonzero((rows == warn).any(axis=1))
        return int(marked[0]), int(marked[-1])

    (high, low), (higher, lower) = lowest_and_highest(few), lowest_and_highest(many)
    assert low - high < 30 < lower - higher < 110
    assert lower < IMAGE_HEIGHT - 90


def test_picture_missing_text_is_not_cut(language, monkeypatch):
    left = [
        SkippedWorkload(id=each, device="cpu", dtype="float32", size=(1,), why="bench.note.time")
        for each in bench_results.MAIN_WORKLOADS
    ]
    busy = replace(cpu_benchmark().results[0], notes=("busy-cpu", "spread", "few", "wrong"))
    some = replace(cpu_benchmark(), results=(busy,), left_out=tuple(left))
    assert warnings_text(some).startswith("Not in this result: Training ResNet-50, Training BERT-base, ")
    drawn = []
    paragraph = export._draw_paragraph

    def draws(painter, place, text, font, *rest):
        paragraph(painter, place, text, font, *rest)
        drawn.append((text, export._wrapped_rect(text, font, place.width()).height() <= place.height()))

    monkeypatch.setattr(export, "_draw_paragraph", draws)
    for code in ("en", "zh_CN"):
        language.set(code)
        render_png(some)
    assert len(drawn) == 4
    assert all(whole for _text, whole in drawn), drawn


def test_multi_gpu_shows_efficiency_and_cpu_dtype(language):
    words = Page(render_html(two_cards())).words
    assert "2 GPUs together · 96 % efficiency 503 images/s" in words
    assert "CPU (float32) 8.40 images/s" in words
    assert "96 % efficiency" in ComparisonRow(bench_results.device_comparisons(two_cards())[0], "").accessibleName()


def test_picture_rows_of_one_unit_share_scale(language):
    widths = re.findall(r'class="bar(?: cpu)?" style="width:([0-9.]+)%', render_html(card_benchmark()))
    barred = [pair for pair in bench_results.device_comparisons(card_benchmark()) if len(pair.results) > 1]
    results = [each for pair in barred for each in pair.results]
    products = [(each.median, width) for each, width in zip(results, widths, strict=True) if each.id == "matmul"]
    assert [median for median, _ in products] == [11.8, 0.72, 27.5, 0.72]
    assert [width for _, width in products] == ["42.9", "2.6", "100.0", "2.6"]


def test_picture_names_gpu_of_several(language, monkeypatch):
    assert (
        messages.make_headline(two_cards()).text == "Training ResNet-50: one RTX 4060 is 31 times as fast as your CPU"
    )
    drawn = []
    monkeypatch.setattr(export, "_draw_text", lambda _painter, _place, text, *_rest: drawn.append(text))
    render_png(two_cards())
    assert {"2 GPUs together  503 images/s", "96 % efficiency"} < set(drawn)
    assert "GPU 0  262 images/s" in drawn


def test_page_rows_of_one_unit_share_scale(language, qtbot):
    rows = [
        ComparisonRow(pair, "", messages.expected_range(pair, card_benchmark()))
        for pair in bench_results.device_comparisons(card_benchmark())
    ]
    for row in rows:
        qtbot.addWidget(row)
        row.align_with(rows)
    products = [row for row in rows if row._pair.fastest.id == "matmul"]
    assert [row._full_bar_value() for row in products] == [28.7, 28.7]
    assert len({row._full_bar_width(600) for row in rows}) == len({row._geometry(900) for row in rows}) == 1


def test_cpu_only_rows_have_values_without_bars(language, qtbot):
    text = render_html(cpu_benchmark())
    assert 'class="bar' not in text
    assert "Measured on the CPU" in text
    assert "GPU beside CPU" not in text
    row = ComparisonRow(bench_results.device_comparisons(cpu_benchmark())[0], "")
    qtbot.addWidget(row)
    row.resize(800, row.sizeHint().height())
    bar, shown = theme.color("s5"), row.grab().toImage()
    assert all(shown.pixelColor(x, shown.height() // 2) != bar for x in range(500, 800))


def test_file_name_has_gpu_and_date():
    assert _export_name(card_benchmark(), "png") == "GPU-Assistant-RTX-4060.png"
    assert _export_name(cpu_benchmark(), "html") == "GPU-Assistant-CPU.html"
    noon = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
    assert _export_name(replace(card_benchmark(), started=noon), "png") == "GPU-Assistant-RTX-4060-2026-11-22.png"


def test_save_and_write_error(language, qtbot, tmp_path):
    from PySide6.QtWidgets import QWidget

    holder = QWidget()
    qtbot.addWidget(holder)
    sharing = BenchmarkExporter(holder)
    with qtbot.waitSignal(sharing.saved) as saved:
        sharing.save_picture(card_benchmark(), (), tmp_path / "a.png")
    assert saved.args == [tmp_path / "a.png"]
    with qtbot.waitSignal(sharing.saved):
        sharing.save_report(card_benchmark(), (), None, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with qtbot.waitSignal(sharing.failed) as failed:
        sharing.save_report(card_benchmark(), (), None, tmp_path / "file" / "a.html")
    assert failed.args[0].code in ("storage", "folder-unwritable")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.png", "file"]
