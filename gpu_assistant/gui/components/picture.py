"""Icons as widgets: bare, on a soft square, on a disc."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import icons, theme
from .base import Live, rounded, soft_edge

STATE_ICONS = {"ok": "ok", "warn": "warn", "error": "error", "accent": "info", "neutral": "moon"}


class Icon(Live, QWidget):
    """An icon of a token's colour; `ground` "square" or "disc" of `side` pixels puts it on the soft token."""

    def __init__(
        self,
        name: str,
        token: str = "accent",
        size: int = 18,
        *,
        ground: str | None = None,
        side: int = 34,
        soft: str = "accent_soft",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.name, self.token, self.size_, self.ground, self.side, self.soft = (
            name,
            token,
            size,
            ground,
            side,
            soft,
        )
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        # An ornament: the words beside it say the same.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.follow()

    def set(self, name: str, token: str | None = None, soft: str | None = None) -> None:
        """Another icon, colour, ground."""
        self.name, self.token, self.soft = name, token or self.token, soft or self.soft
        self.refresh()

    def sizeHint(self) -> QSize:
        """The ground's or the icon's size."""
        side = theme.px(self.side if self.ground else self.size_)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, then icon in its middle."""
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.ground:
            radius = rect.width() / 2 if self.ground == "disc" else 8.0
            edge = soft_edge(self.token)
            rounded(painter, rect, radius, theme.color(self.soft), theme.color(edge) if edge else None, width=1.5)
        draw_icon(painter, self.name, self.token if self.isEnabled() else "disabled", self.size_, rect)


def draw_icon(painter: QPainter, name: str, token: str, size: int, rect: QRectF) -> None:
    """An icon in the middle of `rect`, on whole pixels."""
    picture = icons.pixmap(name, token, size, painter.device().devicePixelRatio())
    side = theme.px(size)
    painter.drawPixmap(
        round(rect.x() + (rect.width() - side) / 2), round(rect.y() + (rect.height() - side) / 2), picture
    )
