"""The HTML report: self-contained, complete, escaped."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import BenchDevice
from gpu_assistant.reports.benchmark import render_html
from gpu_assistant.reports.expected_ranges import RangeSource, ordered_comparisons
from tests.fakes.benchmarks import card_benchmark, slow_benchmark, two_cards
from tests.fakes.examples import cpu_benchmark

pytestmark = pytest.mark.gui

ALL = (cpu_benchmark(), card_benchmark(), slow_benchmark(), two_cards(), replace(cpu_benchmark(), results=()))


class ParsedReport(HTMLParser):
    """Text and links of a report; asserts that tags are balanced."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.open_tags, self.links = "", [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open_tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


@pytest.mark.parametrize("benchmark", ALL, ids=["cpu", "card", "slow", "two", "nothing"])
@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_report_is_self_contained_html(language, benchmark, code):
    language.set(code)
    report = ParsedReport(render_html(benchmark, (benchmark,)))
    assert report.open_tags == []
    assert report.links == []
    assert not re.search(r"https?:|<script|url\(", render_html(benchmark))


def test_report_lists_results(language):
    text = ParsedReport(render_html(slow_benchmark("heat"))).text
    for part in (
        "RTX 4060",
        "Training ResNet-50",
        "157 images/s",
        "617.42",
        "too hot",
        "41 → 86 °C",
        "AMD Ryzen 5 7500F",
    ):
        assert part in text


def test_report_says_how_much_slower_beside_the_usual_range(language):
    text = ParsedReport(render_html(slow_benchmark())).text
    assert "Your RTX 4060 is 36–45% slower than usual" in text
    assert "45% slower than usual: 11.3 TFLOP/s to 14.4 TFLOP/s" in text
    assert "Compared with the middle of the usual range." in text
    assert "the middle of the usual range" not in ParsedReport(render_html(card_benchmark())).text


def test_report_has_history_and_range_source(language):
    old = replace(card_benchmark(0.89), started=1_790_000_000.0)
    old = replace(old, versions={**old.versions, "driver": "566.03"})
    new = replace(card_benchmark(), started=1_790_600_000.0)
    source = RangeSource((70, 100), (55, 97), "https://example.invalid/a?b=1&c=2", "2026-11-21")
    report = ParsedReport(render_html(new, (old, new), source))
    for part in (
        "Before and now",
        "233 images/s",
        "262 images/s",
        "This test was 12% faster than the previous one (",
        "Changed since then: driver 566.03 → 617.42.",
        "70 to 100% of the card's rated memory speed and 55 to 97%",
        "Data as of 2026-11-21.",
        "Sources: https://example.invalid/a?b=1&c=2",
    ):
        assert part in report.text.replace(": \n", ": ")
    assert report.links == [source.url]  # a link to read; nothing is loaded
    assert "Before and now" not in ParsedReport(render_html(new, (new,))).text


def test_report_has_the_order_of_the_page_and_the_limit_of_copies(language):
    source = RangeSource((70, 100), (55, 97), None, "2026-11-21", {"4": 1.969})
    html = render_html(card_benchmark(), (), source)
    assert html.index("full precision (float32)") < html.index("recognises images")
    assert "through the slot (PCIe 4.0, 8 lanes), at most 15.8 GB/s" in html
    assert '<div class="ground"><div class="bar" style="width:80.0%"></div></div>' in html  # 12.6 of 15.75 GB/s
    assert 'class="ground"' not in render_html(card_benchmark())


def test_report_title_follows_results(language):
    def title(benchmark):
        return re.search(r"<title>(.*?)</title>", render_html(benchmark)).group(1)

    assert title(card_benchmark()) == "How fast this computer trains"
    assert title(cpu_benchmark()) == "How fast this CPU is"
    products = tuple(r for r in card_benchmark().results if r.id == "matmul")
    assert title(replace(card_benchmark(), results=products)) == "How fast this computer is"


def test_report_has_gpu_log(language):
    one = replace(card_benchmark().watched[0], clock_sm=2505, power_max_w=113.4, power_limit_w=115.0)
    two = replace(one, index=1, throttle=("thermal",), temp_end=84, temp_max=88)
    text = ParsedReport(render_html(replace(two_cards(), watched=(one, two)))).text
    for part in (
        "What the cards did during the test",
        "GPU 0 · RTX 4060",
        "GPU 1 · RTX 4060",
        "2,505 MHz",
        "113 W of 115 W",
        "41 → 84 °C, at most 88 °C",
        "Slowed down by heat",
    ):
        assert part in text


def test_doubt_is_said_once(language):
    busy = replace(cpu_benchmark().results[0], notes=("busy-cpu",))
    benchmark = replace(cpu_benchmark(), results=(busy,), notes=("bench.note.busy-cpu",))
    text = ParsedReport(render_html(benchmark)).text
    assert text.lower().count("doubtful") == 1
    assert "other programs used the CPU" in text


def test_report_shows_full_date(language):
    now = time.time()
    today = time.strftime("%Y-%m-%d", time.localtime(now))
    old, new = replace(card_benchmark(0.89), started=now - 60), replace(card_benchmark(), started=now)
    text = ParsedReport(render_html(new, (old, new))).text
    assert f"Measured {today}, " in text
    assert f"faster than the previous one ({time.strftime('%Y-%m-%d', time.localtime(now - 60))}" in text
    assert "today" not in text


def test_report_escapes_foreign_names(language):
    device = BenchDevice(id="cpu", name="<script>alert(1)</script>", threads=2)
    html = render_html(replace(cpu_benchmark(), devices=(device,)))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_cpu_only_report_shows_previous_run(language):
    old, new = (replace(cpu_benchmark(), started=1_790_000_000.0 + day * 86_400) for day in (0, 7))
    stopped = replace(old, notes=("bench.note.killed",))
    old_date = time.strftime("%Y-%m-%d %H:%M", time.localtime(old.started))
    assert f"{old_date} 141 GFLOP/s" in ParsedReport(render_html(new, (old, new))).text
    assert old_date not in ParsedReport(render_html(new, (stopped, new))).text


def test_cpu_only_report_has_values_without_bars(language):
    html = render_html(cpu_benchmark())
    assert 'class="bar' not in html
    assert "Measured on the CPU" in html
    assert "GPU vs CPU" not in html


def test_multi_gpu_shows_efficiency_and_cpu_dtype(language):
    text = ParsedReport(render_html(two_cards())).text
    assert "2 GPUs together · 96% efficiency 503 images/s" in text
    assert "CPU (float32) 8.40 images/s" in text


def test_bars_of_one_unit_share_scale(language):
    widths = re.findall(r'class="bar(?: cpu)?" style="width:([0-9.]+)%', render_html(card_benchmark()))
    with_bars = [pair for pair in ordered_comparisons(card_benchmark()) if len(pair.results) > 1]
    results = [each for pair in with_bars for each in pair.results]
    products = [(each.median, width) for each, width in zip(results, widths, strict=True) if each.id == "matmul"]
    assert [median for median, _ in products] == [11.8, 0.72, 27.5, 0.72]
    assert [width for _, width in products] == ["42.9", "2.6", "100.0", "2.6"]
