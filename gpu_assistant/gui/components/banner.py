"""One line above the page that stays as long as it is true."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from .. import theme
from .base import Themed
from .button import Button
from .picture import IconWidget
from .shape import Breakpoints
from .text import label

BannerKind = Literal["simulated", "offline", "update", "restart", "neutral", "ok", "warn", "error"]
_BANNER_STYLES = {
    "simulated": ("sim", "warn"),
    "offline": ("net", "warn"),
    "update": ("download", "accent"),
    "restart": ("restart", "accent"),
    "neutral": ("info", "text"),
    "ok": ("ok", "ok"),
    "warn": ("warn", "warn"),
    "error": ("error", "error"),
}


class Banner(Themed, QWidget):
    """Icon and sentence on a soft ground, 34 px high. `button` is hidden until it gets words."""

    def __init__(self, kind: BannerKind = "warn", text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._breakpoints = Breakpoints(self)
        self.kind: BannerKind = kind
        self._row = QHBoxLayout(self)
        self._row.setSpacing(10)
        self._icon = IconWidget("warn", "warn", 16)
        self.label = label("small-strong", text)
        self.button = Button(kind="ghost")
        self.button.hide()
        self._row.addWidget(self._icon)
        self._row.addWidget(self.label, 1, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self.button)
        self._breakpoints.changed.connect(self._update_margins)
        self._update_margins()
        self.set(kind, text)
        self.apply_theme()

    def set(self, kind: BannerKind, text: str) -> None:
        """Another matter."""
        self.kind = kind
        icon, token = _BANNER_STYLES[kind]
        self._icon.set(icon, token)
        self.label.setText(text)
        self.label.set_tone("accent_text" if token == "accent" else token)
        self.setAccessibleName(text)
        self.update()

    def _update_margins(self) -> None:
        self._row.setContentsMargins(self._breakpoints.margin, 9, self._breakpoints.margin, 9)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The soft ground; where all grounds are alike, a line below in the state's colour."""
        del event
        token, width = _BANNER_STYLES[self.kind][1], theme.current().line_width
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("hover" if self.kind == "neutral" else f"{token}_soft"))
        if width > 1:
            painter.fillRect(QRectF(0, self.height() - width, self.width(), width), theme.color(token))
