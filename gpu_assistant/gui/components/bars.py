"""Two or more figures to compare by length."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from .base import Themed, draw_rounded_rect

Bar = tuple[str, float | None, str, str]
LABEL_GAP, VALUE_MARGIN, MIN_BAR_LENGTH = 18, 12, 60  # behind the labels, behind the values, and of the longest bar (pixels)


class BarChart(Themed, QWidget):
    """Horizontal bars from zero with label and value. A bar is (label, length, value as text, token).

    Where not all fits beside each other, label and value stand above the bar: no value is cut.
    """

    def __init__(self, bars: Sequence[Bar] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: tuple[Bar, ...] = ()
        self._stacked = False
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)
        self.apply_theme()
        self.set_bars(bars)

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """The bars from the top; an unknown length draws none."""
        self._bars = tuple(bars)
        self.setAccessibleName(", ".join(f"{label}: {value}" for label, _length, value, _token in bars))
        self.refresh()

    def refresh(self) -> None:
        """Other words, or others as large."""
        labels, values = self._text_widths()
        self._stacked = labels + LABEL_GAP + values + VALUE_MARGIN + (theme.px(MIN_BAR_LENGTH) if self._has_lengths() else 0) > self.width()
        super().refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Room for all beside each other, or no longer."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.refresh()

    def _has_lengths(self) -> bool:
        return any(bar[1] is not None for bar in self._bars)

    def _text_widths(self) -> tuple[float, float]:
        """Of the longest label and value."""
        small, strong = QFontMetricsF(theme.font("small")), QFontMetricsF(theme.font("small-strong"))
        labels = max((small.horizontalAdvance(bar[0]) for bar in self._bars), default=0.0)
        return labels, max((strong.horizontalAdvance(bar[2]) for bar in self._bars), default=0.0)

    def _row_height(self) -> int:
        line = QFontMetricsF(theme.font("body")).height().__ceil__()
        return line + theme.px(20) + 12 if self._stacked else line + 21

    def sizeHint(self) -> QSize:
        """As many rows as bars."""
        return QSize(theme.px(260), self._row_height() * len(self._bars))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Label, bar, value behind its end."""
        del event
        painter = QPainter(self)
        labels, values = self._text_widths()
        longest = max((bar[1] or 0.0 for bar in self._bars), default=0.0)
        row_height, thickness = self._row_height(), theme.px(20)
        text_height = row_height - thickness - 12 if self._stacked else row_height  # of label and value
        start = 0.0 if self._stacked else labels + LABEL_GAP
        bar_space = self.width() - 2.0 if self._stacked else max(self.width() - start - values - VALUE_MARGIN, 20.0)
        centre, right = int(Qt.AlignmentFlag.AlignVCenter), int(Qt.AlignmentFlag.AlignRight)
        for index, (label, length, value, token) in enumerate(self._bars):
            top = index * row_height
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("soft"))
            painter.drawText(QRectF(0, top, self.width() if self._stacked else start, text_height), centre, label)
            end = start
            if length is not None and longest > 0:
                # A bar that is too short to see still shows that there is one.
                width = max(bar_space * length / longest, 6.0)
                bar_top = text_height if self._stacked else (row_height - thickness) / 2
                draw_rounded_rect(painter, QRectF(start, top + bar_top, width, thickness), 4, theme.color(token))
                end = start + width + 10
            painter.setFont(theme.font("small-strong"))
            painter.setPen(theme.color("text"))
            if self._stacked:
                painter.drawText(QRectF(0, top, self.width(), text_height), centre | right, value)
            else:
                painter.drawText(QRectF(end, top, self.width() - end, row_height), centre, value)
