"""Who uses the cards, and the figures that are no graph."""

from __future__ import annotations

import time

import pytest

from gpu_assistant.core.results import GpuProcess
from tests.fakes.examples import GIB
from tests.fakes.main_window import feed, gpu, sample

pytest.importorskip("gpu_assistant.gui.monitor.plot.cards")

pytestmark = pytest.mark.gui

TRAINING = GpuProcess(pid=4711, name="python3", mem_used=5 * GIB, kind="compute")
DESKTOP = GpuProcess(pid=99, name="Xorg", mem_used=GIB // 4, kind="graphics")


def cells(listed):
    table = listed.table
    return [
        [table.item(row, column).text() for column in range(table.columnCount())] for row in range(table.rowCount())
    ]


def test_processes_sorted_by_memory(monitor):
    window, page = monitor
    feed(window, sample(gpu(processes=(DESKTOP, TRAINING))))
    assert not page.gpu_details.processes_card.isVisible()
    page.gpu_details.toggle_button.click()
    assert page.gpu_details.processes_card.isVisible()
    assert cells(page.gpu_details.processes_card) == [["python3", "4711", "5 GB"], ["Xorg", "99", "256 MB"]]
    feed(window, sample(gpu(processes=())))
    assert page.gpu_details.processes_card.empty_label.text() == "No program uses it now."
    feed(window, sample(gpu(processes=None)))
    assert page.gpu_details.processes_card.empty_label.text() == "The driver does not tell who uses it."


def test_processes_sampled_only_while_open(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu(processes=None)))
    source = window.main_area.sampling
    assert source._detailed
    assert not source._processes
    page.gpu_details.toggle_button.click()
    assert source._processes
    assert page.gpu_details.processes_card.empty_label.text() == "The driver is being asked…"
    feed(window, sample(gpu(processes=())))
    assert page.gpu_details.processes_card.empty_label.text() == "No program uses it now."
    page.gpu_details.toggle_button.click()
    assert not source._processes
    page.gpu_details.toggle_button.click()
    page.hide()
    assert not source._processes


def test_processes_name_their_gpu(monitor):
    window, page = monitor
    feed(window, sample(gpu(0, processes=(DESKTOP,)), gpu(1, processes=(TRAINING,))))
    page.gpu_details.toggle_button.click()
    assert [row[:2] for row in cells(page.gpu_details.processes_card)] == [["GPU 0", "Xorg"], ["GPU 1", "python3"]]


def test_details_show_only_reported_values(monitor):
    window, page = monitor
    told = {"clock_mem": 8501, "clock_mem_max": 8501, "pstate": 2, "pcie_gen": 4, "pcie_gen_max": 4, "ecc": True}
    feed(window, sample(gpu(**told, ecc_corrected=3, ecc_uncorrected=0, throttle=("power-cap",))))
    page.gpu_details.toggle_button.click()
    shown = dict(cells(page.gpu_details.details_card))
    assert shown["Memory clock"] == "8,501 of 8,501 MHz"
    assert shown["Performance state (P0 is the fastest)"] == "P2"
    assert shown["PCI Express generation"] == "4 of 4"
    assert shown["Memory errors (ECC)"] == "3 mended, 0 not"
    assert shown["Held back by"] == "At its power limit"
    assert "Memory rows replaced" not in shown


def test_earlier_xid_keeps_its_time(monitor):
    window, page = monitor
    page.gpu_details.toggle_button.click()
    row, now = "Last error of the driver (Xid)", time.time()
    feed(window, sample(gpu(0, uuid="A", xid=0), gpu(1, uuid="B", xid=79, xid_t=now - 60)))
    said = f"79 · {time.strftime('%m-%d %H:%M', time.localtime(now - 60))}"
    assert {name: rest for name, *rest in cells(page.gpu_details.details_card)}[row] == ["none", said]
    # The driver's new session knows of none.
    feed(window, sample(gpu(0, uuid="A", xid=0), gpu(1, uuid="B", xid=0)))
    assert {name: rest for name, *rest in cells(page.gpu_details.details_card)}[row] == ["none", said]


def test_detail_tables_fit_row_height(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu(processes=(DESKTOP, TRAINING), pstate=2, clock_mem=405)))
    page.gpu_details.toggle_button.click()
    for listed in page.gpu_details.cards:
        qtbot.waitUntil(lambda table=listed.table: table.verticalScrollBar().maximum() == 0, timeout=5000)
    assert page.horizontalScrollBar().maximum() == 0


def test_no_details_without_gpu(monitor):
    window, page = monitor
    feed(window, sample())
    assert not page.gpu_details.toggle_button.isVisible()
