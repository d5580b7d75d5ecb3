"""Layouts that Qt lacks: a flow that wraps, a row whose right end goes below, a column that stays at the top, a stack
as high as its current view.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QVBoxLayout, QWidget


class ListLayout(QLayout):
    """A layout of widgets in an order, whose height follows from its width; subclasses place them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        return True

    def _visible_items(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]


class FlowLayout(ListLayout):
    """Widgets side by side at their own widths; those that do not fit go on in another line.

    `line_spacing` is between two lines, as `spacing` where it is None. `even` lines have equally many widgets. Those of
    a line are centred in its height, or end at its bottom with `at_bottom`. With `fill` they share what is left of its
    width, and one that is wider than the layout gets narrower; those of `even` lines are columns of one width then, as
    many as their smallest widths allow.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        spacing: int = 8,
        line_spacing: int | None = None,
        even: bool = False,
        fill: bool = False,
        at_bottom: bool = False,
    ) -> None:
        super().__init__(parent)
        self._line_spacing = spacing if line_spacing is None else line_spacing
        self._even, self._fill, self._at_bottom = even, fill, at_bottom
        self.setSpacing(spacing)

    def reorder(self, widgets: Sequence[QWidget]) -> None:
        """Put these of its widgets into this order, before all others."""
        places = {widget: place for place, widget in enumerate(widgets)}
        self._items.sort(key=lambda item: places.get(widget, len(places)) if (widget := item.widget()) else len(places))
        self.invalidate()

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width - self._margins().width())
        gaps = self._line_spacing * max(len(lines) - 1, 0)
        return sum(max(item.sizeHint().height() for item in line) for line in lines) + gaps + self._margins().height()

    def sizeHint(self) -> QSize:
        """All in one line."""
        sizes = [item.sizeHint() for item in self._visible_items()]
        width = sum(size.width() for size in sizes) + self._total_spacing(len(sizes))
        return QSize(width, max((size.height() for size in sizes), default=0)) + self._margins()

    def minimumSize(self) -> QSize:
        """The widest and the highest of them."""
        size = QSize()
        for item in self._visible_items():
            size = size.expandedTo(item.minimumSize() if self._fill else item.sizeHint())
        return size + self._margins()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        inner = rect.marginsRemoved(self.contentsMargins())
        lines = self._lines(inner.width())
        columns = max((len(line) for line in lines), default=1)
        top = inner.top()
        for line in lines:
            left, line_height = inner.left(), max(item.sizeHint().height() for item in line)
            for size, item in zip(self._sizes(line, inner.width(), columns), line, strict=True):
                free = line_height - size.height()
                item.setGeometry(QRect(QPoint(left, top + (free if self._at_bottom else free // 2)), size))
                left += size.width() + self.spacing()
            top += line_height + self._line_spacing

    def _margins(self) -> QSize:
        """What the margins take of both directions."""
        margins = self.contentsMargins()
        return QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _total_spacing(self, count: int) -> int:
        return self.spacing() * max(count - 1, 0)

    def _sizes(self, line: list[QLayoutItem], width: int, columns: int) -> list[QSize]:
        """The sizes of a line's widgets, where it may be so many pixels wide and the longest has so many of them."""
        sizes = [item.sizeHint() for item in line]
        if self._fill and self._even:
            share = (width - self._total_spacing(columns)) // columns
            return [QSize(share, size.height()) for size in sizes]
        if self._fill:
            spare = width - sum(size.width() for size in sizes) - self._total_spacing(len(sizes))
            for place, size in enumerate(sizes):
                size.setWidth(size.width() + spare // len(sizes) + (place < spare % len(sizes)))
        return sizes

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        items = self._visible_items()
        if self._even and self._fill and items:
            smallest = max(item.minimumSize().width() for item in items)
            most = max((width + self.spacing()) // (smallest + self.spacing()), 1)
            return _split_evenly(items, -(-len(items) // most))
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in items:
            item_width = item.sizeHint().width()
            if not lines or left + item_width > width:
                lines.append([])
                left = 0
            lines[-1].append(item)
            left += item_width + self.spacing()
        if self._even:
            # Split evenly, a line may be wider than the ones before: then it takes more of them.
            for count in range(len(lines), len(items) + 1):
                lines = _split_evenly(items, count)
                if all(self._line_width(line) <= width for line in lines):
                    break
        return lines

    def _line_width(self, line: list[QLayoutItem]) -> int:
        return sum(item.sizeHint().width() for item in line) + self._total_spacing(len(line))


def _split_evenly(items: list[QLayoutItem], count: int) -> list[list[QLayoutItem]]:
    """At most so many lines, equally long but for the last one."""
    length = -(-len(items) // max(count, 1))
    return [items[start : start + length] for start in range(0, len(items), length)] if items else []


class WrappingRow(ListLayout):
    """A row of text and what belongs to it: the first widget as wide as the others, at the right, leave it.

    Where they leave it less than its smallest width, or less than LEAST_SHARE of the row and than it asks for, they go
    on below it, from the left.
    """

    LEAST_SHARE = 0.4

    def __init__(self, first: QWidget, *others: QWidget, spacing: int = 24, line_spacing: int = 6) -> None:
        super().__init__()
        self._line_spacing = line_spacing
        self.setSpacing(spacing)
        for widget in (first, *others):
            self.addWidget(widget)
            # Aligned, one that wraps itself may be higher than its size hint, which is that of one line.
            self.setAlignment(widget, Qt.AlignmentFlag.AlignVCenter)

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def heightForWidth(self, width: int) -> int:
        return max((place.bottom() + 1 for _, place in self._places(width)), default=0)

    def sizeHint(self) -> QSize:
        """All in one line."""
        sizes = [item.sizeHint() for item in self._visible_items()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(len(sizes) - 1, 0)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """The widest of them: each may have a line of its own."""
        sizes = [item.minimumSize() for item in self._visible_items()]
        return QSize(
            max((size.width() for size in sizes), default=0), max((size.height() for size in sizes), default=0)
        )

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        for item, place in self._places(rect.width()):
            item.setGeometry(place.translated(rect.topLeft()))

    def _places(self, width: int) -> list[tuple[QLayoutItem, QRect]]:
        """Where each visible one is in a row of this width."""
        items = self._visible_items()
        if not items:
            return []
        first, others = items[0], items[1:]
        sizes = [self._size(item, min(item.sizeHint().width(), width)) for item in others]
        left_over = width - sum(size.width() + self.spacing() for size in sizes)
        least = max(first.minimumSize().width(), min(first.sizeHint().width(), self.LEAST_SHARE * width))
        if left_over < least:
            return self._places_below(first, list(zip(others, sizes, strict=True)), width)
        first_size = self._size(first, left_over)
        height = max(size.height() for size in (first_size, *sizes))
        places = [(first, QRect(QPoint(0, (height - first_size.height()) // 2), first_size))]
        left = left_over
        for item, size in zip(others, sizes, strict=True):
            left += self.spacing()
            places.append((item, QRect(QPoint(left, (height - size.height()) // 2), size)))
            left += size.width()
        return places

    def _places_below(
        self, first: QLayoutItem, others: list[tuple[QLayoutItem, QSize]], width: int
    ) -> list[tuple[QLayoutItem, QRect]]:
        places = [(first, QRect(QPoint(0, 0), self._size(first, width)))]
        left, top, line_height = 0, places[0][1].height() + self._line_spacing, 0
        for item, size in others:
            if left and left + size.width() > width:
                left, top = 0, top + line_height + self._line_spacing
                line_height = 0
            places.append((item, QRect(QPoint(left, top), size)))
            left += size.width() + self.spacing()
            line_height = max(line_height, size.height())
        return places

    @staticmethod
    def _size(item: QLayoutItem, width: int) -> QSize:
        return QSize(width, item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height())


class HeadedKeyRow(WrappingRow):
    """A key of bars, which wraps, and at its right the head of the numbers below it, in its last line.

    Where the head would leave the key too little, it goes below it.
    """

    def __init__(self, key: QWidget, head: QWidget) -> None:
        super().__init__(key, head, spacing=12)
        self._key, self._head = key, head

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        key, head = self._key.geometry(), self._head.geometry()
        if self._key.isHidden() or self._head.isHidden() or head.top() > key.bottom():
            return
        last_line = self._key.sizeHint().height()
        head.moveTop(key.bottom() + 1 - (last_line + head.height()) // 2)
        self._head.setGeometry(head)


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
