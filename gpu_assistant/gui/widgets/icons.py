"""Icons as widgets: bare, on a soft square, on a disc."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .. import icons, theme
from .base import Themed, draw_rounded_rect, tint_border

STATE_ICONS = {"ok": "ok", "warn": "warn", "error": "error", "accent": "info", "neutral": "moon"}


class IconWidget(Themed, QWidget):
    """An icon of a token's colour; `ground` "square" or "disc" of `side` pixels puts it on the soft token."""

    def __init__(
        self,
        name: str,
        token: str = "accent",
        size: int = 18,
        *,
        background: str | None = None,
        background_size: int = 34,
        background_token: str = "accent_soft",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.name, self.token, self.icon_size, self.background, self.background_size, self.background_token = (
            name,
            token,
            size,
            background,
            background_size,
            background_token,
        )
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        # An ornament: the words beside it say the same.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.apply_theme()

    def set(self, name: str, token: str | None = None, background_token: str | None = None) -> None:
        """Another icon, colour, ground."""
        self.name, self.token, self.background_token = (
            name,
            token or self.token,
            background_token or self.background_token,
        )
        self.refresh()

    def sizeHint(self) -> QSize:
        """The ground's or the icon's size."""
        side = theme.px(self.background_size if self.background else self.icon_size)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, then icon in its middle."""
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.background:
            radius = rect.width() / 2 if self.background == "disc" else 8.0
            border = tint_border(self.token)
            draw_rounded_rect(
                painter,
                rect,
                radius,
                theme.color(self.background_token),
                theme.color(border) if border else None,
                width=1.5,
            )
        draw_icon(painter, self.name, self.token if self.isEnabled() else "disabled", self.icon_size, rect)


def draw_icon(painter: QPainter, name: str, token: str, size: int, rect: QRectF) -> None:
    """An icon in the middle of `rect`, on whole pixels."""
    icon_pixmap = icons.pixmap(name, token, size, painter.device().devicePixelRatio())
    side = theme.px(size)
    painter.drawPixmap(
        round(rect.x() + (rect.width() - side) / 2), round(rect.y() + (rect.height() - side) / 2), icon_pixmap
    )
