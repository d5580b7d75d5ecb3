"""More graphs: drawn when asked for, and only what a card reports."""

from __future__ import annotations

import pytest

from tests.fakes.main_window import feed, gpu, sample

pytest.importorskip("gpu_assistant.gui.monitor.plot.cards")

pytestmark = pytest.mark.gui

USUAL = ["util", "mem", "temp", "power"]
MACHINE = ["cpu", "ram"]


def keys(page):
    return [card.of.key for card in page.plot_cards]


def test_toggle_adds_and_removes_reported_plots(monitor):
    window, page = monitor
    feed(window, sample(gpu(temp_memory=96, pcie_rx=12_000_000)))
    assert page.secondary_plots_button.isVisible()
    assert keys(page) == USUAL + MACHINE
    page.secondary_plots_button.click()
    assert keys(page) == [*USUAL, "temp_memory", "clock", "fan", "pcie_rx", *MACHINE]
    shown = {card.of.key: card.figure.figure for card in page.plot_cards}
    assert (shown["temp_memory"], shown["pcie_rx"]) == ("96", "12")
    assert page.secondary_plots_button.text() == "Fewer graphs"
    page.secondary_plots_button.click()
    assert keys(page) == USUAL + MACHINE


def test_later_reported_plot_appears_and_stays(monitor):
    window, page = monitor
    feed(window, sample(gpu()))
    page.secondary_plots_button.click()
    assert "enc" not in keys(page)
    feed(window, sample(gpu(enc=0)))
    assert "enc" in keys(page)
    feed(window, sample(gpu(enc=None, fan=None)))
    assert {"enc", "fan"} <= set(keys(page))


def test_no_toggle_without_gpu(monitor):
    window, page = monitor
    feed(window, sample())
    assert not page.secondary_plots_button.isVisible()
