"""The verdict of a page."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from .base import Live, boxed, soft_edge
from .button import Button
from .picture import STATE_ICONS, Icon
from .shape import Shape
from .text import label

HeroKind = Literal["ok", "warn", "error", "neutral", "accent"]
_GROUND = {
    "ok": "ok_soft",
    "warn": "warn_soft",
    "error": "error_soft",
    "neutral": "hover",
    "accent": "accent_soft",
}


class Hero(Live, QWidget):
    """Tinted card: disc icon, verdict, one line of evidence, one action. Signal: `button.clicked`."""

    def __init__(
        self,
        kind: HeroKind = "ok",
        title: str = "",
        detail: str = "",
        *,
        action: str = "",
        icon: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.kind: HeroKind = kind
        self._shape = Shape(self)
        self._row = QHBoxLayout(self)
        self.disc = Icon("ok", ground="disc", side=50, size=26, soft="card")
        self.title, self.detail = label("verdict", title), label("body", detail, "soft")
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addStretch(0)
        words.addWidget(self.title)
        words.addWidget(self.detail)
        words.addStretch(0)
        self.button = Button(action, after="right")
        self._row.setSpacing(20)
        self._row.addWidget(self.disc, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addLayout(words, 1)
        self._row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._shape.changed.connect(self._fit)
        self._fit()
        self.set(kind, title, detail, action, icon)
        self.follow()

    def set(self, kind: HeroKind, title: str, detail: str = "", action: str = "", icon: str | None = None) -> None:
        """Another verdict; without `action` there is no button."""
        self.kind = kind
        self.title.setText(title)
        self.detail.setText(detail)
        self.detail.setVisible(bool(detail))
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.disc.set(icon or STATE_ICONS[kind], "soft" if kind == "neutral" else kind)
        self.setAccessibleName(f"{title}. {detail}" if detail else title)
        self.update()

    def add(self, widget: QWidget) -> None:
        """One more thing at the right, such as a pill."""
        self._row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The tint."""
        del event
        edge = soft_edge("control" if self.kind == "neutral" else self.kind)
        boxed(QPainter(self), QRectF(self.rect()), 12, _GROUND[self.kind], edge)

    def _fit(self) -> None:
        """Less room around it in a small window."""
        tight = self._shape.low or self._shape.tight
        self._row.setContentsMargins(*((16, 12, 16, 12) if tight else (24, 18, 20, 18)))
        self.disc.side, self.disc.size_ = (38, 22) if tight else (50, 26)
        self.disc.updateGeometry()
        self.title.set_kind("heading" if tight else "verdict")
        self.detail.set_kind("small" if tight else "body")
