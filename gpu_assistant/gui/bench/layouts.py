"""Layouts whose contents are made anew with each result."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout


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
