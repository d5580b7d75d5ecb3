"""Layouts that Qt lacks: a flow that wraps, a column that stays at the top, a stack as high as its current view."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QVBoxLayout, QWidget


class FlowLayout(QLayout):
    """Widgets side by side at their own widths; those that do not fit go on in another line.

    `line_spacing` is between two lines, as `spacing` where it is None. `even` lines have equally many widgets.
    """

    def __init__(
        self, parent: QWidget | None = None, *, spacing: int = 8, line_spacing: int | None = None, even: bool = False
    ) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._line_spacing = spacing if line_spacing is None else line_spacing
        self._even = even
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        gaps = self._line_spacing * max(len(lines) - 1, 0)
        return sum(max(item.sizeHint().height() for item in line) for line in lines) + gaps

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
        super().setGeometry(rect)
        top = rect.top()
        for line in self._lines(rect.width()):
            left, line_height = rect.left(), max(item.sizeHint().height() for item in line)
            for item in line:
                size = item.sizeHint()
                item.setGeometry(QRect(QPoint(left, top + (line_height - size.height()) // 2), size))
                left += size.width() + self.spacing()
            top += line_height + self._line_spacing

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
        if self._even and len(lines) > 1:
            items = [item for line in lines for item in line]
            count = -(-len(items) // len(lines))
            return [items[start : start + count] for start in range(0, len(items), count)]
        return lines


class TopAlignedLayout(QVBoxLayout):
    """A column whose contents stay at the top, unless one of them stretches."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        super().addStretch(0)

    def addWidget(self, widget: QWidget, *options: object) -> None:
        self.insertWidget(self.count() - 1, widget, *options)  # type: ignore[arg-type]

    def addLayout(self, layout: QLayout, stretch: int | None = 0) -> None:
        self.insertLayout(self.count() - 1, layout, stretch or 0)

    def addStretch(self, stretch: int | None = 0) -> None:
        self.insertStretch(self.count() - 1, stretch or 0)

    def addSpacing(self, size: int) -> None:
        self.insertSpacing(self.count() - 1, size)


class AutoHeightStack(QWidget):
    """One of several views, and as high as that one; Qt's stack is as high as its highest."""

    def __init__(self) -> None:
        super().__init__()
        self._views: list[QWidget] = []
        self._current = 0
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def add(self, view: QWidget) -> None:
        """Add a view; the first is shown."""
        self._column.addWidget(view)
        view.setVisible(not self._views)
        self._views.append(view)

    def current(self) -> int:
        """The index of the view that is shown."""
        return self._current

    def show_view(self, index: int) -> None:
        if index != self._current:
            self._views[self._current].hide()
            self._views[index].show()
            self._current = index


def clear_layout(layout: QLayout) -> None:
    """Delete everything in a layout, nested layouts too."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        if inner is not None:
            clear_layout(inner)
            inner.deleteLater()
