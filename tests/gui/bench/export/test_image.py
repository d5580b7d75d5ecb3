"""The picture to share: size, bars, warnings that are not cut."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtGui import QColor, QImage

from gpu_assistant.bench.measurements import MAIN_WORKLOADS
from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.gui.bench.export.image import (
    IMAGE_HEIGHT,
    IMAGE_WIDTH,
    ResultImagePainter,
    render_png,
    warnings_text,
    wrapped_height,
)
from gpu_assistant.gui.theme.theme import load_theme_file
from gpu_assistant.reports import messages
from gpu_assistant.reports.expected_ranges import RangeSource, ordered_comparisons
from tests.fakes.benchmarks import card_benchmark, slow_benchmark, two_cards
from tests.fakes.examples import cpu_benchmark

pytestmark = pytest.mark.gui

ALL = (cpu_benchmark(), card_benchmark(), slow_benchmark(), two_cards(), replace(cpu_benchmark(), results=()))
BLUE, GREY = "#2f55d4", "#5f6470"


@pytest.mark.parametrize("benchmark", ALL, ids=["cpu", "card", "slow", "two", "nothing"])
def test_picture_has_size_and_bars(language, benchmark):
    image = QImage.fromData(render_png(benchmark))
    assert (image.width(), image.height()) == (IMAGE_WIDTH, IMAGE_HEIGHT)
    assert not image.textKeys()
    colours = {
        image.pixelColor(x, y).name() for x in range(0, IMAGE_WIDTH, 4) for y in range(180, IMAGE_HEIGHT - 100, 4)
    }
    assert (BLUE in colours) == any(result.device != "cpu" for result in benchmark.results)


def test_cpu_only_picture_shows_previous_run(language):
    """A value with nothing to compare has no bar."""
    old, new = (replace(cpu_benchmark(), started=1_790_000_000.0 + day * 86_400) for day in (0, 7))
    stopped = replace(old, notes=("bench.note.killed",))

    def has_bars(*stored):
        image = QImage.fromData(render_png(new, (*stored, new)))
        colours = {
            image.pixelColor(x, y).name() for x in range(400, IMAGE_WIDTH, 4) for y in range(180, IMAGE_HEIGHT - 100, 2)
        }
        return [BLUE in colours, GREY in colours]

    assert has_bars() == has_bars(stopped) == [False, False]
    assert has_bars(old) == [True, True]


def test_warnings_name_verdict_doubt_and_spread(language):
    assert not warnings_text(card_benchmark())
    assert warnings_text(slow_benchmark()).startswith("Your RTX 4060 is 36–45% slower than usual")
    wild = replace(card_benchmark().results[0], q3=500.0)
    assert "Spread between runs" in warnings_text(replace(card_benchmark(), results=(wild,)))
    busy = replace(cpu_benchmark().results[0], notes=("busy-cpu",))
    assert "kept the CPU busy" in warnings_text(
        replace(cpu_benchmark(), results=(busy,), notes=("bench.note.busy-cpu",))
    )


def test_picture_warnings_are_not_cut(language):
    few = replace(cpu_benchmark(), notes=("bench.note.busy-cpu",))
    many = replace(few, notes=tuple(f"bench.note.{each}" for each in ("busy-cpu", "spread", "wrong", "time", "killed")))

    def first_and_last_row(benchmark):
        image = QImage.fromData(render_png(benchmark)).convertToFormat(QImage.Format.Format_RGB32)
        warn = QColor(load_theme_file().themes["light"].colours()["warn"]).rgb()
        rows = np.frombuffer(image.constBits(), np.uint32).reshape(IMAGE_HEIGHT, IMAGE_WIDTH)
        (marked,) = np.nonzero((rows == warn).any(axis=1))
        return int(marked[0]), int(marked[-1])

    (few_top, few_bottom), (many_top, many_bottom) = first_and_last_row(few), first_and_last_row(many)
    assert few_bottom - few_top < 30 < many_bottom - many_top < 110
    assert many_bottom < IMAGE_HEIGHT - 90


def test_picture_missing_text_is_not_cut(language, monkeypatch):
    omissions = tuple(
        SkippedWorkload(id=each, device="cpu", dtype="float32", size=(1,), why="bench.note.time")
        for each in MAIN_WORKLOADS
    )
    busy = replace(cpu_benchmark().results[0], notes=("busy-cpu", "spread", "few", "wrong"))
    benchmark = replace(cpu_benchmark(), results=(busy,), left_out=omissions)
    assert warnings_text(benchmark).startswith("Not in this result: Training ResNet-50, Training BERT-base, ")
    drawn = []
    draw_paragraph = ResultImagePainter.draw_paragraph

    def draw(painter, rect, text, font, *rest):
        draw_paragraph(painter, rect, text, font, *rest)
        drawn.append((text, wrapped_height(text, font, rect.width()) <= rect.height()))

    monkeypatch.setattr(ResultImagePainter, "draw_paragraph", draw)
    for code in ("en", "zh_CN"):
        language.set(code)
        render_png(benchmark)
    assert len(drawn) == 6
    assert all(fits for _text, fits in drawn), drawn


def test_picture_names_gpu_of_several(language, monkeypatch):
    drawn = []
    monkeypatch.setattr(ResultImagePainter, "draw_line", lambda _self, _rect, text, *_rest: drawn.append(text))
    render_png(two_cards())
    assert {"2 GPUs together  503 images/s", "96% efficiency"} < set(drawn)
    assert "GPU 0  262 images/s" in drawn


def test_picture_has_the_order_of_the_page_and_the_limit_of_copies(language, monkeypatch):
    source = RangeSource((70, 100), (55, 97), None, "2026-11-21", {"4": 1.969})
    copies = [each for each in card_benchmark().results if each.id.startswith(("copy", "matmul"))]
    benchmark = replace(card_benchmark(), results=tuple(copies))
    titles = [messages.pair_title(pair) for pair in ordered_comparisons(benchmark)]
    image = QImage.fromData(render_png(benchmark, (), source))
    ground = QColor(load_theme_file().themes["light"].colours()["pressed"]).name()
    assert ground in {image.pixelColor(x, y).name() for x in range(400, IMAGE_WIDTH, 2) for y in range(180, 540, 2)}
    drawn = []
    monkeypatch.setattr(ResultImagePainter, "draw_line", lambda _self, _rect, text, *_rest: drawn.append(text))
    render_png(benchmark, (), source)
    assert [each for each in dict.fromkeys(drawn) if each in titles] == list(dict.fromkeys(titles))
    assert "slot limit: 15.8 GB/s" in drawn
    drawn.clear()
    render_png(benchmark)
    assert not any("at most" in each for each in drawn)


def test_picture_keeps_what_is_slow_and_what_is_most_important():
    def shown(benchmark):
        return [pair.fastest.id for pair in ordered_comparisons(benchmark, max_count=4)]

    assert shown(card_benchmark()) == ["matmul", "matmul", "resnet50", "bert-base"]
    assert shown(slow_benchmark()) == ["matmul", "matmul", "copy-within", "resnet50"]
