"""What a legend has in a row: a sign as the plots paint it, and its word."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from ..widgets.base import Themed

GAP = 7  # pixels between both
MARGIN = 3  # behind the word


class Sign(Themed, QWidget):
    """`draw` paints the sign, `wide` pixels of it."""

    def __init__(self, word: str, wide: int) -> None:
        super().__init__()
        self._word, self._room = word, wide + GAP
        self.setAccessibleName(word)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def draw(self, painter: QPainter) -> None:
        """The sign, at the left edge and in the colours of now."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("caption"))
        super().refresh()

    def sizeHint(self) -> QSize:
        """Sign and word."""
        metrics = self.fontMetrics()
        return QSize(self._room + metrics.horizontalAdvance(self._word) + MARGIN, metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Sign, then word."""
        del event
        painter = QPainter(self)
        self.draw(painter)
        painter.setPen(theme.color("soft"))
        painter.setFont(self.font())
        words = QRectF(self._room, 0, self.width() - self._room, self.height())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), self._word)
