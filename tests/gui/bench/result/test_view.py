"""The result on the page: headline, comparison, history, GPU log."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from gpu_assistant.gui.bench.page import RESULT_VIEW
from gpu_assistant.gui.bench.result.view import GpuLogCard
from gpu_assistant.reports.messages import pair_title
from gpu_assistant.reports.result_messages import THROTTLE_ROW, gpu_log_rows
from tests.fakes.benchmarks import card_benchmark, processor_benchmark, slow_benchmark, two_cards
from tests.fakes.examples import cpu_benchmark
from tests.gui.bench_scenes import with_language_model

pytestmark = pytest.mark.gui


def test_headline_shows_ratio(open_result, seen):
    page = open_result(card_benchmark())
    assert page.current_view == RESULT_VIEW
    view = page.result_view
    assert view.figure_label.text() == "31×"
    assert view.caption_label.text() == "as fast as your CPU\nTraining ResNet-50"
    assert view.headline_label.text() == "Your RTX 4060 runs at its usual speed"
    assert view.normal_icon.isVisible()
    # The formats stand at the bars.
    assert view.detail_label.text().splitlines() == [
        "Compared with healthy cards of the same model: matrix multiplication, GPU memory bandwidth.",
        "What takes the CPU all night (8 hours) takes the card 15 minutes.",
    ]
    assert seen(view).count("31") == 1  # and at its row, which is painted
    assert "Rows compared only with the CPU share one scale (times as fast)" in seen(view.comparison_card)
    assert "CUDA 13.2 · quick test, 58 seconds" in page.subtitle_label.text()
    assert page.measure_button.toolTip().startswith(
        "About 1 minute for the CPU and 1 minute for each GPU; with several GPUs up to 2 minutes more"
    )


def test_headline_is_compact_in_the_smallest_window(open_result, qtbot):
    page = open_result(card_benchmark())
    page.window().resize(880, 520)
    card = page.result_view.headline_card
    qtbot.waitUntil(lambda: card.height() <= page.window().height() / 3, timeout=5000)
    assert page.result_view.figure_label.geometry().right() < page.result_view.headline_label.geometry().left()


def test_caption_stays_at_its_figure_beside_a_longer_text(open_result, qtbot):
    page = open_result(two_cards())
    page.window().resize(880, 520)
    view = page.result_view
    figure, caption = view.figure_label, view.caption_label
    qtbot.waitUntil(lambda: view.detail_label.geometry().bottom() > caption.geometry().bottom(), timeout=5000)
    qtbot.waitUntil(lambda: caption.geometry().top() == figure.geometry().bottom() + 1, timeout=5000)
    assert caption.height() == caption.heightForWidth(caption.width())


def test_a_slow_card_compared_with_the_cpu_says_so_without_a_figure(open_result):
    view = open_result(slow_benchmark()).result_view
    assert view.headline_label.text() == "Training ResNet-50: your RTX 4060 is 19 times as fast as your CPU"
    assert not view.figure_label.isVisible()
    assert not view.caption_label.isVisible()


def test_a_slow_card_without_results_of_the_cpu_shows_its_figure(open_result):
    slow = slow_benchmark()
    results = tuple(each for each in slow.results if each.device != "cpu")
    view = open_result(replace(slow, results=results)).result_view
    assert view.slow_hero.isVisible()
    assert view.figure_label.isVisible()
    assert float(view.figure_label.text().replace(",", "")) > 0
    assert view.caption_label.isVisible()
    assert not view.headline_label.isVisible()


def test_head_of_the_ratios_stands_in_the_last_line_of_a_wrapped_key(open_result, qtbot):
    page = open_result(slow_benchmark())
    page.window().resize(880, 760)
    view = page.result_view

    def offset():
        last_line = view.key.geometry().bottom() - view.key.sizeHint().height() / 2
        return abs(view.ratio_label.geometry().center().y() - last_line)

    qtbot.waitUntil(lambda: view.key.height() > view.key.sizeHint().height(), timeout=5000)
    qtbot.waitUntil(lambda: offset() <= 1, timeout=5000)


def test_copy_to_the_card_is_not_drawn_in_the_scale_of_the_far_faster_memory(open_result):
    rows = open_result(card_benchmark()).result_view.comparison_rows
    in_card, to_card = (row for row in rows if row.pair.fastest.unit == "GB/s")
    # Eight lanes of PCIe 4.0: 16 GT/s × 128/130 / 8 bits × 8 = 15.8 GB/s.
    assert to_card.full_bar_value() == to_card.limit == pytest.approx(15.75, abs=0.01)
    assert "slot limit: 15.8 GB/s" in to_card.accessibleName()
    assert not in_card.is_single_value
    assert in_card.full_bar_value() == in_card.expected_ranges["cuda:0"][1] > in_card.pair.fastest.median


def copy_row(view):
    return next(row for row in view.comparison_rows if row.pair.fastest.id == "copy-to-device-pinned")


def test_two_cards_in_like_slots_share_the_limit(open_result):
    row = copy_row(open_result(two_cards()).result_view)
    assert "slot limit: 15.8 GB/s" in row.accessibleName()
    assert "PCIe 4.0, 8 lanes" in row.toolTip()


def test_two_cards_in_unlike_slots_have_no_limit_in_common(open_result):
    both = two_cards()
    first, second = both.watched
    row = copy_row(open_result(replace(both, watched=(first, replace(second, pcie_width=4)))).result_view)
    assert row.limit is None
    assert "at most" not in row.accessibleName()
    assert row.toolTip() == "through the PCIe slot"


def test_a_copy_faster_than_the_reported_slot_has_no_limit(open_result):
    """As over NVLink-C2C, or where the driver reports the generation of an idle card."""
    card = card_benchmark()
    (log,) = card.watched
    row = copy_row(open_result(replace(card, watched=(replace(log, pcie_gen=3),))).result_view)
    assert row.limit is None
    assert "at most" not in row.accessibleName()


@pytest.mark.parametrize("unknown", ["pcie_gen", "pcie_width"])
def test_copy_through_an_unknown_slot_has_no_bar(open_result, unknown):
    card = card_benchmark()
    watched = tuple(replace(log, **{unknown: None}) for log in card.watched)
    rows = open_result(replace(card, watched=watched)).result_view.comparison_rows
    _, to_card = (row for row in rows if row.pair.fastest.unit == "GB/s")
    assert to_card.limit is None
    assert to_card.is_single_value  # the value alone, without a bar that would be a dot


def test_bars_of_a_row_share_the_unit_and_have_a_key(open_result):
    view = open_result(card_benchmark()).result_view
    products = next(row for row in view.comparison_rows if row.pair.fastest.dtype == "float32")
    assert list(products.texts.values()) == ["11.8 TFLOP/s", "CPU (float32)  0.72 TFLOP/s"]
    training = next(row for row in view.comparison_rows if row.pair.fastest.id == "resnet50")
    assert list(training.texts.values()) == ["262 images/s", "CPU (float32)  8.4 images/s"]
    shown = {name for name, entry in view.key.entries.items() if entry.isVisible()}
    assert shown == {"gpu", "cpu", "usual"}


def test_language_model_is_shown_with_both_copies(open_result):
    view = open_result(with_language_model(card_benchmark())).result_view
    titles = [pair_title(row.pair) for row in view.comparison_rows]
    assert titles[2:] == [
        "GPU memory bandwidth",
        "Training ResNet-50",
        "Training BERT-base",
        "Small language model",
        "Copy to the card",
    ]


def test_unfinished_run_shows_banner(open_result, seen):
    view = open_result(card_benchmark(), replace(card_benchmark(0.9), notes=("bench.note.killed",))).result_view
    assert view.unmeasured_banner.isVisible()
    assert "ended the benchmark early" in seen(view.headline_card)
    assert not open_result(card_benchmark()).result_view.unmeasured_banner.isVisible()


def test_history_shows_previous_and_current(open_result):
    old = card_benchmark(0.89)
    old = replace(old, versions={**old.versions, "driver": "566.03"})
    card = open_result(old, card_benchmark()).result_view.history_card
    assert card.change_label.text().startswith("This test was 12% faster than the previous one (")
    assert card.change_label.text().endswith("Changed since then: driver 566.03 → 617.42.")
    card.show_benchmark(card_benchmark(), (card_benchmark(), card_benchmark(1.001)))
    assert card.change_label.text().startswith("This test shows no significant difference")


def test_a_single_measurement_of_the_cpu_is_not_drawn_beside_its_history(open_result):
    view = open_result(cpu_benchmark(), cpu_benchmark()).result_view
    assert view.history_card.chart.isVisible()
    assert not view.comparison_card.isVisible()
    view = open_result(cpu_benchmark()).result_view
    assert not view.history_card.isVisible()
    assert view.comparison_card.isVisible()
    assert open_result(processor_benchmark(), processor_benchmark()).result_view.comparison_card.isVisible()


def test_result_of_a_cpu_says_that_nothing_usual_is_known(open_result):
    alone = open_result(cpu_benchmark()).result_view
    assert alone.detail_label.text().endswith("We have no usual speeds for CPUs.")
    again = open_result(cpu_benchmark(), cpu_benchmark()).result_view
    assert again.detail_label.text().endswith("Compare it with your earlier results.")
    assert "usual speeds for CPUs" not in open_result(card_benchmark()).result_view.detail_label.text()


@pytest.mark.parametrize(("width", "is_beside"), [(1180, True), (880, False), (1400, True)])
def test_history_of_a_cpu_stands_beside_the_fair_test_where_there_is_room(open_result, qtbot, width, is_beside):
    page = open_result(cpu_benchmark(), cpu_benchmark())
    view = page.result_view
    page.window().resize(width, 760)

    def places():
        return [card.mapTo(view, card.rect().topLeft()) for card in (view.history_card, view.validity_card)]

    qtbot.waitUntil(lambda: (places()[0].y() == places()[1].y()) == is_beside, timeout=5000)

    def right():
        return view.validity_card.mapTo(view, view.validity_card.rect().topRight()).x()

    qtbot.waitUntil(lambda: right() == view.headline_card.geometry().right(), timeout=5000)


def test_two_runs_of_a_cpu_are_compared_once_and_dated_once(open_result):
    page = open_result(processor_benchmark(), processor_benchmark())
    view, earlier = page.result_view, page.benchmarks[0]
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(earlier.started))
    assert view.key.entries["previous"].text_label.text() == f"Your previous test ({date})"
    assert list(view.comparison_rows[0].texts.values()) == ["8.4 images/s", "8.4 images/s"]
    assert f"{date} 8.40 images/s" in view.comparison_rows[0].accessibleName()
    assert view.history_card.change_label.isVisible()
    assert not view.history_card.chart.isVisible()
    three = [processor_benchmark() for _ in range(3)]
    assert open_result(*three).result_view.history_card.chart.isVisible()


# Without a page around it Windows asks such a card for the height of its words at its least width.
@pytest.mark.qt_log_ignore("Unable to set geometry", extend=True)
def test_gpu_log_shows_dash_for_unreported_values(language, qtbot, seen):
    gpu = replace(card_benchmark().watched[0], clock_sm=2505, power_max_w=113.4, power_limit_w=115.0)
    hot = replace(gpu, index=1, throttle=("thermal", "power-cap"), temp_end=84, temp_max=88)
    card = GpuLogCard()
    qtbot.addWidget(card)
    card.show()
    card.show_benchmark(replace(two_cards(), watched=(gpu, hot)))
    qtbot.waitUntil(lambda: "GPU 0" in seen(card), timeout=5000)
    for text in (
        "GPU 0 · RTX 4060",
        "GPU 1 · RTX 4060",
        "41 → 66 °C, at most 67 °C",
        "2,505 MHz",
        "113 W of 115 W",
        "nothing",
        "Slowed down by heat; At its power limit",
    ):
        assert text in seen(card)
    assert dict(gpu_log_rows(gpu))["Memory clock under load"] == "—"
    assert gpu_log_rows(hot)[THROTTLE_ROW][1].startswith("Slowed")
    card.show_benchmark(replace(card_benchmark(), watched=()))
    assert card.isHidden()
