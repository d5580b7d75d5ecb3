"""Layouts whose contents are made anew with each result, and views of which one is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLayout, QVBoxLayout, QWidget

from .. import theme
from ..components import label


class AutoHeightStack(QWidget):
    """One of several views. Unlike Qt's stack it is as high as the one that is shown, not as the highest."""

    def __init__(self) -> None:
        super().__init__()
        self._views: list[QWidget] = []
        self._current = 0
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def add(self, view: QWidget) -> None:
        """One more; the first is shown."""
        self._column.addWidget(view)
        view.setVisible(not self._views)
        self._views.append(view)

    def current(self) -> int:
        """The index of what is shown."""
        return self._current

    def show_view(self, index: int) -> None:
        """Show another."""
        if index != self._current:
            self._views[self._current].hide()
            self._views[index].show()
            self._current = index


def name_value_row(name: str, value: str, tone: str = "text") -> QHBoxLayout:
    """A name and, at the right, what is said of it: each as much of the width as its words take."""
    row = QHBoxLayout()
    row.setSpacing(16)
    value_label = label("body", value, tone)
    value_label.setAlignment(Qt.AlignmentFlag.AlignRight)
    for widget, text in ((label("body", name, "soft"), name), (value_label, value)):
        row.addWidget(widget, round(theme.advance("body", text)) + 1, Qt.AlignmentFlag.AlignTop)
    return row


def clear_layout(layout: QLayout) -> None:
    """Take out everything, also what stands in layouts within it, and let it go."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        if inner is not None:
            clear_layout(inner)
            inner.deleteLater()
