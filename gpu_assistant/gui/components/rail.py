"""The ground of both rails."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .. import icons, theme
from .base import Live
from .shape import Shape
from .text import label


def beside_rail(window: QWidget, rail: Rail, banner: QWidget, pages: QWidget) -> None:
    """Lay a window out: the rail at its left, at its right the pages with a banner above them."""
    right = QVBoxLayout()
    right.setSpacing(0)
    right.addWidget(banner)
    right.addWidget(pages, 1)
    row = QHBoxLayout(window)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(0)
    row.addWidget(rail)
    row.addLayout(right, 1)


class Rail(Live, QWidget):
    """A column at the window's left. `column` holds the rows, `foot` what stands at its bottom."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shape_ = Shape(self)
        self._foot_rows: list[tuple[QBoxLayout, tuple[QWidget, ...]]] = []
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 14, 12, 14)
        self.column = QVBoxLayout()
        self.column.setSpacing(4)
        self.foot = QVBoxLayout()
        self.foot.setSpacing(4)
        outer.addLayout(self.column)
        outer.addStretch(1)
        outer.addLayout(self.foot)
        self.outer = outer
        self.shape_.changed.connect(self.refresh)

    def add_foot(self, *widgets: QWidget) -> None:
        """One more row at the bottom, its widgets spread from left to right."""
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(0)
        for index, widget in enumerate(widgets):
            if index:
                row.addStretch(1)
            row.addWidget(widget)
        self.foot.addLayout(row)
        self._foot_rows.append((row, widgets))
        self.refresh()

    def refresh(self) -> None:
        """Rows at the bottom that are too wide become columns."""
        margins = self.outer.contentsMargins()
        room = self.maximumWidth() - margins.left() - margins.right()
        for row, widgets in self._foot_rows:
            fits = sum(widget.sizeHint().width() for widget in widgets) <= room
            direction = QBoxLayout.Direction
            row.setDirection(direction.LeftToRight if fits else direction.TopToBottom)
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rail's own tone; where tones are alike, a line."""
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("rail"))
        width = theme.current().line_width
        if width > 1:
            painter.fillRect(self.width() - width, 0, width, self.height(), theme.color("line"))


class Brand(Live, QWidget):
    """The mark and the product's name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 10, 8, 18)
        self._row.setSpacing(12)
        self._mark = _Mark()
        self.name = label("strong")
        self._row.addWidget(self._mark)
        self._row.addWidget(self.name, 1)
        self.follow()

    def set_bare(self, bare: bool) -> None:
        """The mark alone, in the middle."""
        self.name.setVisible(not bare)
        self._row.setContentsMargins(0 if bare else 12, 10, 0 if bare else 8, 18)
        middle = Qt.AlignmentFlag.AlignHCenter if bare else Qt.AlignmentFlag(0)
        self._row.setAlignment(self._mark, middle | Qt.AlignmentFlag.AlignVCenter)

    def retranslate(self) -> None:
        """The product's name."""
        self.name.setText(self.tr("GPU Assistant"))
        self.setAccessibleName(self.name.text())


class _Mark(Live, QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.follow()

    def refresh(self) -> None:
        self.setFixedSize(theme.px(30), theme.px(30))
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        QPainter(self).drawPixmap(0, 0, icons.mark(30, self.devicePixelRatioF()))
