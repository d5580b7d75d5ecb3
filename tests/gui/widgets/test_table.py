"""Tables follow theme and text size."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QTableWidgetItem
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.table import DataTable


def colours(picture: QImage) -> set[str]:
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


@pytest.fixture
def table(qtbot: QtBot) -> DataTable:
    made = DataTable()
    made.setColumnCount(2)
    made.setHorizontalHeaderLabels(["Time", "Load"])
    made.setRowCount(4)
    for row in range(4):
        for column in range(2):
            item = QTableWidgetItem(f"{row} {column}")
            item.setTextAlignment(Qt.AlignmentFlag.AlignVCenter)
            made.setItem(row, column, item)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_table_follows_theme(table: DataTable, qapp: QApplication, name: str) -> None:
    theme.set_theme(qapp, name)
    table.selectRow(2)
    picture = table.grab().toImage()

    def ground(row: int) -> str:
        cell = table.visualItemRect(table.item(row, 0))
        place = table.viewport().mapTo(table, QPoint(cell.right() - 4, cell.center().y()))
        return picture.pixelColor(place).name()

    assert [ground(row) for row in range(3)] == [theme.color(t).name() for t in ("card", "sunken", "accent_soft")]
    assert {theme.color(token).name() for token in ("line", "text", "soft")} <= colours(picture)


def test_table_rows_grow_with_text(table: DataTable, qapp: QApplication) -> None:
    before = table.rowHeight(0), table.horizontalHeader().height()
    theme.set_text_scale(qapp, 2.0)
    qapp.processEvents()
    assert table.rowHeight(0) > before[0]
    assert table.horizontalHeader().height() > before[1]
    assert table.rowHeight(0) > table.fontMetrics().height()
