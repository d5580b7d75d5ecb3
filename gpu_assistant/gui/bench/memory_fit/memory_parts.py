"""The parts of memory that a bar is stacked of: their colours, names, meanings and sizes.

`MemoryPartsKey` names the colours of all bars once. On demand `PartMeanings` says what the parts are, and each row has
a `MemoryPartsLegend` with their sizes, which stand below one another in all rows: `PartColumns`.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from ....core.results import MemoryFit
from ... import theme
from ...widgets.base import Themed
from ...widgets.cards import InsetPanel
from ...widgets.layouts import FlowLayout, clear_layout
from ...widgets.text import TextLabel, label
from . import messages

SQUARE_SIZE, SQUARE_GAP = 12, 8  # pixels of a square of the legend, at 100 % text, and behind it
MIN_COLUMN_GAP, MAX_COLUMN_GAP = 16, 40  # pixels between two columns of the legend
LINE_GAP = 4  # pixels between two lines of the legend
# Where colours cannot tell the parts apart, since a contrast theme of the system has only a few.
PATTERNS = {
    "gradients": Qt.BrushStyle.HorPattern,
    "optimizer": Qt.BrushStyle.VerPattern,
    "activations": Qt.BrushStyle.Dense4Pattern,
    "temporary": Qt.BrushStyle.DiagCrossPattern,
    "cache": Qt.BrushStyle.FDiagPattern,
}


class PartColumns:
    """The parts of all bars as columns: each as wide as its name and the widest of its sizes."""

    def __init__(self, fits: Sequence[MemoryFit]) -> None:
        self.parts = messages.common_memory_parts(fits)
        self._sizes: dict[str, set[str]] = {part: set() for part, _ in self.parts}
        for fit in fits:
            for part, count, _ in messages.memory_parts(fit):
                if part in self._sizes:
                    self._sizes[part].add(messages.memory_part_size(count))

    def lines(self, width: float) -> list[list[tuple[float, str, str]]]:
        """(left edge, part, colour token) of each part in lines of this width; if one is not enough, the columns of all
        lines stand below one another.
        """
        widths = [self._column_width(part) for part, _ in self.parts]
        gap = (width - sum(widths)) / max(len(widths) - 1, 1)
        if gap >= MIN_COLUMN_GAP:
            gap, left, line = min(gap, theme.px(MAX_COLUMN_GAP)), 0.0, []
            for column_width, (part, colour) in zip(widths, self.parts, strict=True):
                line.append((left, part, colour))
                left += column_width + gap
            return [line]
        step = max(widths) + MIN_COLUMN_GAP
        count = max(int((width + MIN_COLUMN_GAP) // step), 1)
        return [
            [(index * step, part, colour) for index, (part, colour) in enumerate(self.parts[start : start + count])]
            for start in range(0, len(self.parts), count)
        ]

    def _column_width(self, part: str) -> float:
        sizes = (theme.advance("small", size) for size in self._sizes[part])
        text_width = max(theme.advance("caption", messages.memory_part_name(part)), *sizes)
        return theme.px(SQUARE_SIZE) + SQUARE_GAP + text_width + 2


class MemoryPartsLegend(Themed, QWidget):
    """The parts of one bar in columns, which are the same for all bars: a square in its colour, its name and, below
    that, its size.
    """

    def __init__(self) -> None:
        self.parts: tuple[tuple[str, str], ...] = ()  # texts with the colour tokens
        self._fit: MemoryFit | None = None
        self._columns = PartColumns(())
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def show_fit(self, fit: MemoryFit, columns: PartColumns) -> None:
        """Show the sizes of its parts in these columns."""
        self._fit, self._columns = fit, columns
        self.retranslate()

    def retranslate(self) -> None:
        self.parts = tuple(
            (messages.memory_part_text(part, self._counts[part]), colour) for part, colour in self._columns.parts
        )
        self.setAccessibleName(", ".join(text for text, _ in self.parts))
        self.refresh()

    @property
    def _counts(self) -> dict[str, int]:
        """Bytes by part."""
        return {part: count for part, count, _ in messages.memory_parts(self._fit)} if self._fit is not None else {}

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = len(self._columns.lines(width)) if self._columns.parts else 0
        return lines * self._line_height() + max(lines - 1, 0) * LINE_GAP

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), self.heightForWidth(10_000))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._line_height())

    @staticmethod
    def _line_height() -> int:
        return theme.text_height("caption") + theme.text_height("small")

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, counts, top = QPainter(self), self._counts, 0.0
        name_height, size_height = theme.text_height("caption"), theme.text_height("small")
        for line in self._columns.lines(self.width()) if counts else []:
            for left, part, colour in line:
                side = theme.px(SQUARE_SIZE)
                fill_part(painter, QRectF(left, top + (name_height - side) / 2, side, side), part, colour)
                text_left = left + side + SQUARE_GAP
                rect = QRectF(text_left, top, max(self.width() - text_left, 0.0), name_height)
                flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                painter.setFont(theme.font("caption"))
                painter.setPen(theme.color("soft"))
                painter.drawText(rect, flags, messages.memory_part_name(part))
                rect.moveTop(top + name_height)
                rect.setHeight(size_height)
                painter.setFont(theme.font("small"))
                painter.setPen(theme.color("text" if counts[part] > 0 else "soft"))
                painter.drawText(rect, flags, messages.memory_part_size(counts[part]))
            top += name_height + size_height + LINE_GAP


class MemoryPartsKey(Themed, QWidget):
    """What the colours of all bars mean: a square of each part with its name."""

    def __init__(self) -> None:
        self._names: list[tuple[str, TextLabel]] = []
        super().__init__()
        self._flow = FlowLayout(self, spacing=20, line_spacing=2)
        self.apply_theme()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """Name these parts; the second of each is its colour token."""
        if [part for part, _ in parts] != [part for part, _ in self._names]:
            clear_layout(self._flow)
            self._names = []
            for part, colour in parts:
                entry, name = QWidget(), label("small")
                row = QHBoxLayout(entry)
                row.setContentsMargins(0, 0, 0, 0)
                row.setSpacing(SQUARE_GAP)
                row.addWidget(PartSquare(part, colour))
                row.addWidget(name)
                self._names.append((part, name))
                self._flow.addWidget(entry)
                entry.show()
        self.retranslate()

    def retranslate(self) -> None:
        for part, name in self._names:
            name.setText(messages.memory_part_name(part))


class PartMeanings(InsetPanel):
    """What the parts of memory are, as a list; hidden until it is asked for."""

    def __init__(self) -> None:
        self._parts: tuple[tuple[str, str], ...] = ()
        self._rows: list[tuple[str, TextLabel, TextLabel]] = []
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        self.column.addLayout(self._grid)
        self.hide()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """List these parts; the second of each is its colour token."""
        if parts != self._parts:
            self._parts, self._rows = parts, []
            clear_layout(self._grid)
            for row, (part, colour) in enumerate(parts):
                name, meaning = label("small-strong"), label("small")
                self._rows.append((part, name, meaning))
                for column, widget in enumerate((PartSquare(part, colour), name, meaning)):
                    self._grid.addWidget(widget, row, column, Qt.AlignmentFlag.AlignTop)
                    widget.show()
        self.retranslate()

    def retranslate(self) -> None:
        for part, name, meaning in self._rows:
            name.setText(messages.memory_part_name(part))
            meaning.setText(messages.memory_part_meaning(part))


class PartSquare(Themed, QWidget):
    """A square in the colour of a part, as high as the line of text beside it."""

    def __init__(self, part: str, colour: str) -> None:
        self._part, self._colour = part, colour
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(SQUARE_SIZE), theme.text_height("small-strong"))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        side = theme.px(SQUARE_SIZE)
        fill_part(QPainter(self), QRectF(0, (self.height() - side) / 2, side, side), self._part, self._colour)


def fill_part(painter: QPainter, rect: QRectF, part: str, colour: str) -> None:
    """Fill an area of a part with its colour; in a contrast theme with its pattern, and a line around it."""
    style = PATTERNS.get(part, Qt.BrushStyle.SolidPattern)
    if theme.current().line_width == 1 or style == Qt.BrushStyle.SolidPattern:
        painter.fillRect(rect, theme.color(colour))
        return
    painter.fillRect(rect, QBrush(theme.color(colour), style))
    painter.setPen(theme.color(colour))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
