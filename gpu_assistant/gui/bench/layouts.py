"""Layouts whose contents are made anew with each result, and views of which one is shown."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout, QVBoxLayout, QWidget


class Views(QWidget):
    """One of several views. Unlike Qt's stack it is as high as the one that is shown, not as the highest."""

    def __init__(self) -> None:
        super().__init__()
        self._views: list[QWidget] = []
        self._shown = 0
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def add(self, view: QWidget) -> None:
        """One more; the first is shown."""
        self._column.addWidget(view)
        view.setVisible(not self._views)
        self._views.append(view)

    def current(self) -> int:
        """The index of what is shown."""
        return self._shown

    def show_view(self, index: int) -> None:
        """Show another."""
        if index != self._shown:
            self._views[self._shown].hide()
            self._views[index].show()
            self._shown = index


def emptied(layout: QLayout) -> None:
    """Take out everything, also what stands in layouts within it, and let it go."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        if inner is not None:
            emptied(inner)
            inner.deleteLater()
