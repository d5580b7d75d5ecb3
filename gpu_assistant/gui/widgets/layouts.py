"""Layouts that Qt lacks: a flow that wraps, a column that stays at the top, a stack as high as what it shows."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QVBoxLayout, QWidget


class FlowLayout(QLayout):
    """Each widget has its own width and stands in the middle of its line. It needs no more than its widest widget."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        """Qt's way in; `addWidget` comes by here."""
        self._items.append(item)

    def count(self) -> int:
        """How many there are, those that are hidden too."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """One of them."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Give one away."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It wants no more than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The narrower, the more lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all lines."""
        lines = self._lines(width)
        return sum(max(item.sizeHint().height() for item in line) for line in lines) + self._total_spacing(len(lines))

    def sizeHint(self) -> QSize:
        """All in one line."""
        sizes = [item.sizeHint() for item in self._visible_items()]
        width = sum(size.width() for size in sizes) + self._total_spacing(len(sizes))
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """The widest and the highest of them."""
        size = QSize()
        for item in self._visible_items():
            size = size.expandedTo(item.sizeHint())
        return size

    def setGeometry(self, rect: QRect) -> None:
        """Put each in its place."""
        super().setGeometry(rect)
        top = rect.top()
        for line in self._lines(rect.width()):
            left, line_height = rect.left(), max(item.sizeHint().height() for item in line)
            for item in line:
                size = item.sizeHint()
                item.setGeometry(QRect(QPoint(left, top + (line_height - size.height()) // 2), size))
                left += size.width() + self.spacing()
            top += line_height + self.spacing()

    def _visible_items(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _total_spacing(self, count: int) -> int:
        return self.spacing() * max(count - 1, 0)

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._visible_items():
            item_width = item.sizeHint().width()
            if not lines or left + item_width > width:
                lines.append([])
                left = 0
            lines[-1].append(item)
            left += item_width + self.spacing()
        return lines


class TopAlignedLayout(QVBoxLayout):
    """A column whose contents stay at the top; where something stretches, that takes the room instead."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        super().addStretch(0)

    def addWidget(self, widget: QWidget, *options: object) -> None:
        """As Qt's own."""
        self.insertWidget(self.count() - 1, widget, *options)  # type: ignore[arg-type]

    def addLayout(self, layout: QLayout, stretch: int | None = 0) -> None:
        """As Qt's own."""
        self.insertLayout(self.count() - 1, layout, stretch or 0)

    def addStretch(self, stretch: int | None = 0) -> None:
        """As Qt's own."""
        self.insertStretch(self.count() - 1, stretch or 0)

    def addSpacing(self, size: int) -> None:
        """As Qt's own."""
        self.insertSpacing(self.count() - 1, size)


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
