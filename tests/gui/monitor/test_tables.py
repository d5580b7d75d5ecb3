"""The tables: values of the plots, processes and details of the GPUs."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.core.results import GpuProcess
from gpu_assistant.gui.widgets.table import CELL_MARGIN
from tests.fakes.examples import GIB
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui

TRAINING = GpuProcess(pid=4711, name="python3", mem_used=5 * GIB, kind="compute")
DESKTOP = GpuProcess(pid=99, name="Xorg", mem_used=GIB // 4, kind="graphics")


def test_table_shows_plotted_values(monitor, qtbot):
    window, page = monitor
    page.toolbar.pause_button.click()
    now = page.time_axis.view()[1]
    feed(window, *(sample(t=now - 30 + i, cpu=float(i)) for i in range(30)))
    page.time_axis.choose(60)
    qtbot.keyClick(page, Qt.Key.Key_T)
    assert page.table.isVisible()
    headers = [page.table.horizontalHeaderItem(i).text() for i in range(page.table.columnCount())]
    assert headers == ["Time", "CPU load (%)", "Main memory (GB)"]
    assert page.table.rowCount() >= 25
    assert int(page.table.item(0, 1).text()) > int(page.table.item(20, 1).text())


def test_table_scrolls_and_shows_date_for_day_range(monitor, qtbot):
    window, page = monitor
    window.resize(1000, 700)
    page.toolbar.pause_button.click()
    now = page.time_axis.view()[1]
    feed(window, *(sample(gpu(), t=now - 100 + second) for second in range(100)))
    page.toolbar.table_button.click()
    header, table = page.table.horizontalHeader(), page.table
    qtbot.waitUntil(lambda: table.rowCount() > 5 and page.verticalScrollBar().maximum() == 0, timeout=5000)

    # The rail becomes narrow first, then the table has its width.
    qtbot.waitUntil(lambda: header.length() <= table.viewport().width(), timeout=5000)
    assert all(header.sectionSize(i) >= header.sectionSizeHint(i) for i in range(header.count()))
    assert table.item(0, 0).text().count(":") == 2
    feed(window, sample(gpu()))
    assert not page.gpu_details.isVisible()
    page.time_axis.choose(86_400)
    day = time.strftime("%m-%d ", time.localtime(now))
    qtbot.waitUntil(lambda: table.rowCount() > 0 and table.item(0, 0).text().startswith(day), timeout=5000)
    page.toolbar.table_button.click()
    assert page.gpu_details.isVisible()
    assert page.plots.isVisible()


def test_table_headers_whole_with_many_gpus(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(4))))
    page.toolbar.table_button.click()
    header = page.table.horizontalHeader()
    assert all(header.sectionSize(i) >= header.sectionSizeHint(i) for i in range(header.count()))


@pytest.mark.parametrize("layout", [0, 1])
def test_table_columns_name_their_gpu(monitor, layout):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    page.layout_control.buttons[layout].click()
    page.toolbar.table_button.click()
    headers = [page.table.horizontalHeaderItem(column).text() for column in range(page.table.columnCount())]
    assert headers[1:3] == ["GPU 0 Load (%)", "GPU 1 Load (%)"]
    assert len(set(headers)) == len(headers)
    assert headers[-2:] == ["CPU load (%)", "Main memory (GB)"]


def test_table_headers_are_not_elided(monitor):
    window, page = monitor
    feed(window, sample(gpu(0), gpu(1)))
    page.toolbar.table_button.click()
    header = page.table.horizontalHeader()
    for column in range(header.count()):
        text = page.table.horizontalHeaderItem(column).text()
        width = header.sectionSize(column) - 2 * CELL_MARGIN
        assert header.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width) == text


def cells(card):
    table = card.table
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
    assert page.gpu_details.processes_card.empty_label.text() == "No program is using it now."
    feed(window, sample(gpu(processes=None)))
    assert page.gpu_details.processes_card.empty_label.text() == "The driver does not report which programs use it."


def test_processes_sampled_only_while_open(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu(processes=None)))
    sampling = window.main_area.sampling
    assert sampling.detailed
    assert not sampling.processes
    page.gpu_details.toggle_button.click()
    assert sampling.processes
    assert page.gpu_details.processes_card.empty_label.text() == "Reading from the driver…"
    feed(window, sample(gpu(processes=())))
    assert page.gpu_details.processes_card.empty_label.text() == "No program is using it now."
    page.gpu_details.toggle_button.click()
    assert not sampling.processes
    page.gpu_details.toggle_button.click()
    page.hide()
    assert not sampling.processes


def test_processes_name_their_gpu(monitor):
    window, page = monitor
    feed(window, sample(gpu(0, processes=(DESKTOP,)), gpu(1, processes=(TRAINING,))))
    page.gpu_details.toggle_button.click()
    assert [row[:2] for row in cells(page.gpu_details.processes_card)] == [["GPU 0", "Xorg"], ["GPU 1", "python3"]]


def test_details_show_only_reported_values(monitor):
    window, page = monitor
    reported = {"clock_mem": 8501, "clock_mem_max": 8501, "pstate": 2, "pcie_gen": 4, "pcie_gen_max": 4, "ecc": True}
    feed(window, sample(gpu(**reported, ecc_corrected=3, ecc_uncorrected=0, throttle=("power-cap",))))
    page.gpu_details.toggle_button.click()
    shown = dict(cells(page.gpu_details.details_card))
    assert shown["Memory clock"] == "8,501 of 8,501 MHz"
    assert shown["Performance state (P0 is the fastest)"] == "P2"
    assert shown["PCI Express generation"] == "4 of 4"
    assert shown["Memory errors (ECC)"] == "3 corrected, 0 not"
    assert shown["Limited by"] == "At its power limit"
    assert "Replaced memory rows" not in shown


def test_earlier_xid_keeps_its_time(monitor):
    window, page = monitor
    page.gpu_details.toggle_button.click()
    row, now = "Last driver error (Xid)", time.time()
    feed(window, sample(gpu(0, uuid="A", xid=0), gpu(1, uuid="B", xid=79, xid_t=now - 60)))
    text = f"79 · {time.strftime('%m-%d %H:%M', time.localtime(now - 60))}"
    assert {name: rest for name, *rest in cells(page.gpu_details.details_card)}[row] == ["none", text]
    # After the driver was loaded again it reports none.
    feed(window, sample(gpu(0, uuid="A", xid=0), gpu(1, uuid="B", xid=0)))
    assert {name: rest for name, *rest in cells(page.gpu_details.details_card)}[row] == ["none", text]


def test_detail_tables_fit_row_height(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu(processes=(DESKTOP, TRAINING), pstate=2, clock_mem=405)))
    page.gpu_details.toggle_button.click()
    for card in page.gpu_details.cards:
        qtbot.waitUntil(lambda table=card.table: table.verticalScrollBar().maximum() == 0, timeout=5000)
    assert page.horizontalScrollBar().maximum() == 0


def test_no_details_without_gpu(monitor):
    window, page = monitor
    feed(window, sample())
    assert not page.gpu_details.toggle_button.isVisible()
