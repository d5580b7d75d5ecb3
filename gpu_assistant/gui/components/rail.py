"""The ground of both rails."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .. import icons, theme
from .base import Themed
from .shape import Breakpoints
from .text import label


def lay_out_with_rail(window: QWidget, rail: Rail, banner: QWidget, pages: QWidget) -> None:
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


class Rail(Themed, QWidget):
    """A column at the window's left. `column` holds the rows, `foot` what stands at its bottom."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self._footer_rows: list[tuple[QBoxLayout, tuple[QWidget, ...]]] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 14, 12, 14)
        self.column = QVBoxLayout()
        self.column.setSpacing(4)
        self.footer = QVBoxLayout()
        self.footer.setSpacing(4)
        layout.addLayout(self.column)
        layout.addStretch(1)
        layout.addLayout(self.footer)
        self.outer_layout = layout
        self.breakpoints.changed.connect(self.refresh)

    def add_footer_row(self, *widgets: QWidget) -> None:
        """One more row at the bottom, its widgets spread from left to right."""
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(0)
        for index, widget in enumerate(widgets):
            if index:
                row.addStretch(1)
            row.addWidget(widget)
        self.footer.addLayout(row)
        self._footer_rows.append((row, widgets))
        self.refresh()

    def refresh(self) -> None:
        """Rows at the bottom that are too wide become columns."""
        margins = self.outer_layout.contentsMargins()
        available = self.maximumWidth() - margins.left() - margins.right()
        for row, widgets in self._footer_rows:
            fits = sum(widget.sizeHint().width() for widget in widgets) <= available
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


class Brand(Themed, QWidget):
    """The mark and the product's name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(12, 10, 8, 18)
        self._layout.setSpacing(12)
        self._brand_mark = _BrandMark()
        self.name_label = label("strong")
        self._layout.addWidget(self._brand_mark)
        self._layout.addWidget(self.name_label, 1)
        self.apply_theme()

    def set_icon_only(self, icon_only: bool) -> None:
        """The mark alone, in the middle."""
        self.name_label.setVisible(not icon_only)
        self._layout.setContentsMargins(0 if icon_only else 12, 10, 0 if icon_only else 8, 18)
        alignment = Qt.AlignmentFlag.AlignHCenter if icon_only else Qt.AlignmentFlag(0)
        self._layout.setAlignment(self._brand_mark, alignment | Qt.AlignmentFlag.AlignVCenter)

    def retranslate(self) -> None:
        """The product's name."""
        self.name_label.setText(self.tr("GPU Assistant"))
        self.setAccessibleName(self.name_label.text())


class _BrandMark(Themed, QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.apply_theme()

    def refresh(self) -> None:
        self.setFixedSize(theme.px(30), theme.px(30))
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        QPainter(self).drawPixmap(0, 0, icons.brand_mark(30, self.devicePixelRatioF()))
