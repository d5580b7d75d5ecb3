"""The toolbar and the button for more plots."""

from __future__ import annotations

import pytest

from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui

GPU_PLOTS, MACHINE_PLOTS = ["util", "mem", "temp", "power"], ["cpu", "ram"]


def test_reset_button_shown_only_when_needed(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu()))
    assert not page.toolbar.reset_button.isVisible()
    page.time_axis.pan(-100)
    assert page.toolbar.reset_button.isVisible()
    page.toolbar.reset_button.setFocus()
    page.toolbar.reset_button.click()
    assert not page.toolbar.reset_button.isVisible()
    assert page.time_axis.live
    assert page.toolbar.pause_button.hasFocus()


def test_zoom_clears_range_and_labels_reset(monitor):
    window, page = monitor
    feed(window, sample(gpu()))
    ranges = page.toolbar.range_control
    assert ranges.current() == 1
    page.time_axis.zoom(0.5, page.time_axis.view()[0])
    assert ranges.current() == -1
    assert page.toolbar.reset_button.isVisible()
    assert page.toolbar.reset_button.text() == "Back to 10 min"
    page.toolbar.reset_button.click()
    assert ranges.current() == 1
    page.time_axis.pan(-100)
    assert ranges.current() == 1
    assert page.toolbar.reset_button.text() == "Back to now"
    assert "Ctrl" in page.hint_label.text()


def test_labels_give_way_before_a_second_row_begins(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    toolbar = page.toolbar
    buttons = toolbar.export_button, toolbar.pause_button
    toolbar.set_one_row(False)
    toolbar.fit_to_width(2000)
    seen = []
    for available in range(2000, 200, -4):
        toolbar.fit_to_width(available)
        seen.append(tuple(button.text() for button in buttons))
    assert list(dict.fromkeys(seen)) == [("Export", "Pause"), ("", "Pause"), ("", "")]
    assert seen[-1] == ("Export", "Pause")  # in two rows
    fewest = range(2000, 200, -4)[seen.index(("", ""))]
    toolbar.fit_to_width(fewest)
    assert toolbar.pause_button.accessibleName() == toolbar.pause_button.toolTip() == "Pause"
    toolbar.pause_button.click()
    assert (toolbar.pause_button.text(), toolbar.pause_button.toolTip()) == ("", "Continue")


def plot_keys(page):
    return [card.plotted_metric.key for card in page.plot_cards]


def test_toggle_adds_and_removes_reported_plots(monitor):
    window, page = monitor
    feed(window, sample(gpu(temp_memory=96, pcie_rx=12_000_000)))
    assert page.secondary_plots_button.isVisible()
    assert plot_keys(page) == GPU_PLOTS + MACHINE_PLOTS
    page.secondary_plots_button.click()
    assert plot_keys(page) == [*GPU_PLOTS, "temp_memory", "clock", "fan", "pcie_rx", *MACHINE_PLOTS]
    shown = {card.plotted_metric.key: card.figure.figure for card in page.plot_cards}
    assert (shown["temp_memory"], shown["pcie_rx"]) == ("96", "12")
    assert page.secondary_plots_button.text() == "Fewer graphs"
    page.secondary_plots_button.click()
    assert plot_keys(page) == GPU_PLOTS + MACHINE_PLOTS


def test_later_reported_plot_appears_and_stays(monitor):
    window, page = monitor
    feed(window, sample(gpu()))
    page.secondary_plots_button.click()
    assert "enc" not in plot_keys(page)
    feed(window, sample(gpu(enc=0)))
    assert "enc" in plot_keys(page)
    feed(window, sample(gpu(enc=None, fan=None)))
    assert {"enc", "fan"} <= set(plot_keys(page))


def test_no_toggle_without_gpu(monitor):
    window, page = monitor
    feed(window, sample())
    assert not page.secondary_plots_button.isVisible()
