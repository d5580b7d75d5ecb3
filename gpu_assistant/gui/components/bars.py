"""Two or more figures to compare by length."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from .base import Live, rounded

Bar = tuple[str, float | None, str, str]


class Bars(Live, QWidget):
    """Horizontal bars from zero with label and value. A bar is (label, length, value as text, token)."""

    def __init__(self, bars: Sequence[Bar] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: tuple[Bar, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)
        self.follow()
        self.set_bars(bars)

    def set_bars(self, bars: Sequence[Bar]) -> None:
        """The bars from the top; an unknown length draws none."""
        self._bars = tuple(bars)
        self.setAccessibleName(", ".join(f"{label}: {value}" for label, _length, value, _token in bars))
        self.refresh()

    def _row(self) -> int:
        return QFontMetricsF(theme.font("body")).height().__ceil__() + 21

    def sizeHint(self) -> QSize:
        """As many rows as bars."""
        return QSize(theme.px(260), self._row() * len(self._bars))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Label, bar, value behind its end."""
        del event
        painter = QPainter(self)
        small, strong = QFontMetricsF(theme.font("small")), QFontMetricsF(theme.font("small-strong"))
        labels = max((small.horizontalAdvance(bar[0]) for bar in self._bars), default=0.0)
        values = max((strong.horizontalAdvance(bar[2]) for bar in self._bars), default=0.0)
        longest = max((bar[1] or 0.0 for bar in self._bars), default=0.0)
        start, row, thick = labels + 18, self._row(), theme.px(20)
        room = max(self.width() - start - values - 12, 20.0)
        centre = int(Qt.AlignmentFlag.AlignVCenter)
        for index, (label, length, value, token) in enumerate(self._bars):
            top = index * row
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("soft"))
            painter.drawText(QRectF(0, top, start, row), centre, label)
            end = start
            if length is not None and longest > 0:
                # A bar that is too short to see still shows that there is one.
                width = max(room * length / longest, 6.0)
                rounded(painter, QRectF(start, top + (row - thick) / 2, width, thick), 4, theme.color(token))
                end = start + width + 10
            painter.setFont(theme.font("small-strong"))
            painter.setPen(theme.color("text"))
            painter.drawText(QRectF(end, top, self.width() - end, row), centre, value)
