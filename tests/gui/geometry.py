"""What is wrong with the geometry of a window: text that is cut, widgets that overlap or stick out, sideways scrolling.

A painted widget says with its smallest size what its text needs. Text that is elided is no fault where the tool tip has
the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QLabel,
    QLayout,
    QPlainTextEdit,
    QScrollArea,
    QTableWidget,
    QWidget,
)

from gpu_assistant.gui.widgets.inputs import Dropdown
from gpu_assistant.gui.widgets.text import TextLabel

TOLERANCE = 1  # pixels: halves are rounded


def layout_faults(window: QWidget) -> list[str]:
    """Each fault in one line, with the way to the widget; [] for a window where everything can be read."""
    faults: list[str] = []
    for widget in (window, *_visible(window)):
        faults += _cut_text(widget)
        faults += _overlaps(widget)
        faults += _sideways(widget)
        if widget is not window:
            faults += _squeezed(widget)
            faults += _sticks_out(widget)
    return faults


def _visible(window: QWidget) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        if widget.isVisible() and widget.window() is window and not widget.size().isEmpty():
            yield widget


def _cut_text(widget: QWidget) -> Iterator[str]:
    """Text that needs more room than its widget has."""
    if isinstance(widget, TextLabel):
        if not widget.text():
            return
        if widget.hasHeightForWidth():
            needed = widget.heightForWidth(widget.width())
            if widget.height() + TOLERANCE < needed:
                yield f"{_way(widget)}: {widget.height()} of {needed} px high"
        elif widget.sizeHint().width() > widget.width() + TOLERANCE and not _tool_tip_has(widget, widget.text()):
            yield f"{_way(widget)}: {widget.width()} of {widget.sizeHint().width()} px wide, no tool tip"
    elif isinstance(widget, QLabel) and widget.text() and not widget.wordWrap():
        if widget.width() + TOLERANCE < widget.sizeHint().width():
            yield f"{_way(widget)}: {widget.width()} of {widget.sizeHint().width()} px wide"
    elif isinstance(widget, QTableWidget):
        yield from _cut_cells(widget)


def _cut_cells(table: QTableWidget) -> Iterator[str]:
    for row in range(table.rowCount()):
        for column in range(table.columnCount()):
            item = table.item(row, column)
            if item is None or not item.text() or table.columnSpan(row, column) > 1 or table.wordWrap():
                continue
            widest = max(table.fontMetrics().horizontalAdvance(line) for line in item.text().split("\n"))
            if widest > table.columnWidth(column) and item.text() not in item.toolTip():
                yield f"{_way(table)}: cell {row}, {column} “{item.text()}”: {table.columnWidth(column)} of {widest} px"


def _squeezed(widget: QWidget) -> Iterator[str]:
    """A widget that is smaller than its text lets it be."""
    if isinstance(widget, (TextLabel, QAbstractScrollArea)) or widget.layout() is not None:
        return
    if isinstance(widget, Dropdown) and _tool_tip_has(widget, widget.text()):
        return
    needed, has = widget.minimumSizeHint(), widget.size()
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    if needed.width() > has.width() + TOLERANCE and not (text and _tool_tip_has(widget, text)):
        yield f"{_way(widget)}: {has.width()} of {needed.width()} px wide"
    if needed.height() > has.height() + TOLERANCE:
        yield f"{_way(widget)}: {has.height()} of {needed.height()} px high"


def _overlaps(parent: QWidget) -> Iterator[str]:
    """Two children on the same spot. What floats above a page by intention has no place in its layout."""
    layout = parent.layout()
    if layout is None:
        return
    children = [
        child
        for child in parent.children()
        if isinstance(child, QWidget) and child.isVisible() and not child.isWindow() and _is_laid_out(parent, child)
    ]
    for one, other in combinations(children, 2):
        common = one.geometry().intersected(other.geometry())
        if common.width() > TOLERANCE and common.height() > TOLERANCE:
            yield f"{_way(one)} lies on {_way(other)}: {common.width()} × {common.height()} px"


def _is_laid_out(parent: QWidget, child: QWidget) -> bool:
    # Not by `itemAt`: Python would keep the item under its address after Qt has deleted it, and what is created at that
    # address later crashes PySide 6.11 when it is deleted.
    layout = parent.layout()
    return any(each.indexOf(child) >= 0 for each in (layout, *layout.findChildren(QLayout)))


def _sticks_out(widget: QWidget) -> Iterator[str]:
    """A widget beyond its parent. What a scroll area shows may be higher than that, not wider."""
    parent = widget.parentWidget()
    if parent is None or widget.isWindow():
        return
    area = parent.parentWidget()
    inside: QRect = parent.rect()
    if isinstance(area, QScrollArea) and area.viewport() is parent:
        if widget.width() > parent.width() + TOLERANCE:
            yield f"{_way(widget)}: {widget.width()} px wide in a view of {parent.width()} px"
        return
    if isinstance(area, QAbstractScrollArea) or isinstance(parent, QAbstractScrollArea):
        return
    place = widget.geometry()
    beyond = (
        max(inside.left() - place.left(), place.right() - inside.right()),
        max(inside.top() - place.top(), place.bottom() - inside.bottom()),
    )
    if max(beyond) > TOLERANCE:
        yield f"{_way(widget)}: {beyond[0]}, {beyond[1]} px beyond its parent"


def _sideways(widget: QWidget) -> Iterator[str]:
    """A scroll area whose content is wider; only code and logs, whose lines do not wrap, may scroll sideways."""
    if isinstance(widget, QAbstractScrollArea) and not isinstance(widget, QPlainTextEdit):
        beyond = widget.horizontalScrollBar().maximum()
        if beyond > 0:
            yield f"{_way(widget)}: scrolls sideways by {beyond} px"


def _tool_tip_has(widget: QWidget, text: str) -> bool:
    return text.replace("&", "") in widget.toolTip()


def _way(widget: QWidget) -> str:
    """The widget, and what stands on it: "Footer > Button “Back”"."""
    parent = widget.parentWidget()
    text = widget.text() if isinstance(widget, (QLabel, QAbstractButton)) else widget.accessibleName()
    name = type(widget).__name__ + (f" “{text[:40]}”" if text else "")
    return f"{type(parent).__name__} > {name}" if parent is not None else name
