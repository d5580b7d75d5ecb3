"""How far something is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from .. import theme
from .base import Themed, announce, draw_rounded_rect

_ANNOUNCED_PARTS = 4


class ProgressBar(Themed, QProgressBar):
    """A bar of 10 px (or `height`). `set_fraction(None)` says "on its way, total unknown": calm stripes."""

    def __init__(self, *, height: int = 10, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._height = height
        self._fraction: float | None = 0.0
        self._announced = 0
        self.token = "accent"
        self.setTextVisible(False)
        self.setRange(0, 100)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def retranslate(self) -> None:
        """What a screen reader calls it."""
        self.setAccessibleName(self.tr("Progress"))

    def fraction(self) -> float | None:
        """0 to 1, None while the total is unknown."""
        return self._fraction

    def set_fraction(self, fraction: float | None) -> None:
        """0 to 1; every quarter is announced once."""
        self._fraction = None if fraction is None else min(max(fraction, 0.0), 1.0)
        if self._fraction is None:
            self.setRange(0, 0)
        else:
            self.setRange(0, 100)
            # Qt would paint the whole window within the call, for each of many small steps.
            self.setUpdatesEnabled(False)
            self.setValue(round(self._fraction * 100))
            self.setUpdatesEnabled(True)
            quarter = int(self._fraction * _ANNOUNCED_PARTS)
            if quarter > self._announced and self.isVisible():
                announce(self, f"{quarter * 100 // _ANNOUNCED_PARTS} %")
            self._announced = quarter
        self.update()

    def sizeHint(self) -> QSize:
        """As high as asked for."""
        return QSize(120, self._height)

    def minimumSizeHint(self) -> QSize:
        """Room to see something."""
        return QSize(40, self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Track, then the part that is done."""
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        radius = rect.height() / 2
        border = theme.color("line") if theme.current().line_width > 1 else None
        draw_rounded_rect(painter, rect, radius, theme.color("pressed"), border)
        track_path = QPainterPath()
        track_path.addRoundedRect(rect, radius, radius)
        painter.setClipPath(track_path)
        if self._fraction is None:
            painter.setPen(QPen(theme.color(self.token), rect.height() / 2, Qt.PenStyle.SolidLine))
            step = max(rect.height() * 1.8, 8.0)
            x = -rect.height()
            while x < rect.width() + rect.height():
                painter.drawLine(round(x), round(rect.height() + 4), round(x + rect.height() + 8), -4)
                x += step
        elif self._fraction > 0:
            done_rect = QRectF(0, 0, max(rect.width() * self._fraction, rect.height()), rect.height())
            draw_rounded_rect(painter, done_rect, radius, theme.color(self.token if self.isEnabled() else "disabled"))
