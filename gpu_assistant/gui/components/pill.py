"""A state in an icon and a word."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import theme
from .base import Themed, draw_rounded_rect, tint_border
from .picture import STATE_ICONS, draw_icon

PillKind = Literal["ok", "warn", "error", "accent", "neutral"]
_PILL_BACKGROUNDS = {
    "ok": "ok_soft",
    "warn": "warn_soft",
    "error": "error_soft",
    "accent": "accent_soft",
    "neutral": "hover",
}
_PILL_FOREGROUNDS = {"accent": "accent_text", "neutral": "text"}
_KINDS_WITH_ICON = ("ok", "warn", "error")


class Pill(Themed, QWidget):
    """A status pill; `on_tint` gives it the card's ground where it stands on a tinted one."""

    def __init__(
        self, kind: PillKind = "neutral", text: str = "", *, on_tint: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.kind: PillKind = kind
        self.text = text
        self.on_tint = on_tint
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set(kind, text)
        self.apply_theme()

    def set(self, kind: PillKind, text: str) -> None:
        """Another state; the same one costs nothing."""
        if (kind, text) == (self.kind, self.text) and self.accessibleName() == text:
            return
        self.kind, self.text = kind, text
        self.setAccessibleName(text)
        self.refresh()

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("caption-strong"))
        super().refresh()

    def sizeHint(self) -> QSize:
        """Icon and word with half a height of room at each end."""
        icon_width = theme.px(16) + 6 if self.kind in _KINDS_WITH_ICON else 0
        return QSize(self.fontMetrics().horizontalAdvance(self.text) + icon_width + 20, self.fontMetrics().height() + 9)

    def minimumSizeHint(self) -> QSize:
        """Never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Soft ground, icon, word."""
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        foreground = _PILL_FOREGROUNDS.get(self.kind, self.kind)
        border = tint_border(foreground)
        background = theme.color("card" if self.on_tint else _PILL_BACKGROUNDS[self.kind])
        draw_rounded_rect(painter, rect, rect.height() / 2, background, theme.color(border) if border else None, width=1.5)
        x = 10.0
        if self.kind in _KINDS_WITH_ICON:
            draw_icon(painter, STATE_ICONS[self.kind], foreground, 16, QRectF(8, 0, theme.px(16), rect.height()))
            x = 8.0 + theme.px(16) + 5
        painter.setPen(theme.color(foreground))
        painter.setFont(self.font())
        painter.drawText(rect.adjusted(x, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), self.text)
