"""More graphs: drawn when asked for, and only what a card reports."""

from __future__ import annotations

import pytest

from tests.fakes.main_window import feed, gpu, sample

pytest.importorskip("gpu_assistant.gui.monitor.plot_card")

pytestmark = pytest.mark.gui

USUAL = ["util", "mem", "temp", "power"]
MACHINE = ["cpu", "ram"]


def keys(page):
    return [card.of.key for card in page.cards]


def test_the_switch_adds_what_the_card_reports_and_takes_it_away(monitor):
    window, page = monitor
    feed(window, sample(gpu(temp_memory=96, pcie_rx=12_000_000)))
    assert page.more.isVisible()
    assert keys(page) == USUAL + MACHINE
    page.more.click()
    assert keys(page) == [*USUAL, "temp_memory", "clock", "fan", "pcie_rx", *MACHINE]
    shown = {card.of.key: card.figure.figure for card in page.cards}
    assert (shown["temp_memory"], shown["pcie_rx"]) == ("96", "12")
    assert page.more.text() == "Fewer graphs"
    page.more.click()
    assert keys(page) == USUAL + MACHINE


def test_what_is_reported_later_appears_and_what_sleeps_stays(monitor):
    window, page = monitor
    feed(window, sample(gpu()))
    page.more.click()
    assert "enc" not in keys(page)
    feed(window, sample(gpu(enc=0)))
    assert "enc" in keys(page)
    feed(window, sample(gpu(enc=None, fan=None)))
    assert {"enc", "fan"} <= set(keys(page))


def test_without_a_card_there_is_no_switch(monitor):
    window, page = monitor
    feed(window, sample())
    assert not page.more.isVisible()
