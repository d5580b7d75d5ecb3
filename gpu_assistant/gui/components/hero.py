"""The verdict of a page."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from .base import Themed, draw_box, tint_border
from .button import Button
from .picture import STATE_ICONS, IconWidget
from .shape import Breakpoints
from .text import label

HeroKind = Literal["ok", "warn", "error", "neutral", "accent"]
_HERO_BACKGROUNDS = {
    "ok": "ok_soft",
    "warn": "warn_soft",
    "error": "error_soft",
    "neutral": "hover",
    "accent": "accent_soft",
}


class Hero(Themed, QWidget):
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
        self._breakpoints = Breakpoints(self)
        self._layout = QHBoxLayout(self)
        self.icon_widget = IconWidget("ok", background="disc", background_size=50, size=26, background_token="card")
        self.title_label, self.detail_label = label("verdict", title), label("body", detail, "soft")
        text_layout = QVBoxLayout()
        text_layout.setSpacing(2)
        text_layout.addStretch(0)
        text_layout.addWidget(self.title_label)
        text_layout.addWidget(self.detail_label)
        text_layout.addStretch(0)
        self.button = Button(action, trailing_icon="right")
        self._layout.setSpacing(20)
        self._layout.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self._layout.addLayout(text_layout, 1)
        self._layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._breakpoints.changed.connect(self._update_margins)
        self._update_margins()
        self.set(kind, title, detail, action, icon)
        self.apply_theme()

    def set(self, kind: HeroKind, title: str, detail: str = "", action: str = "", icon: str | None = None) -> None:
        """Another verdict; without `action` there is no button."""
        self.kind = kind
        self.title_label.setText(title)
        self.detail_label.setText(detail)
        self.detail_label.setVisible(bool(detail))
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.icon_widget.set(icon or STATE_ICONS[kind], "soft" if kind == "neutral" else kind)
        self.setAccessibleName(f"{title}. {detail}" if detail else title)
        self.update()

    def add_widget(self, widget: QWidget) -> None:
        """One more thing at the right, such as a pill."""
        self._layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The tint."""
        del event
        border = tint_border("control" if self.kind == "neutral" else self.kind)
        draw_box(QPainter(self), QRectF(self.rect()), 12, _HERO_BACKGROUNDS[self.kind], border)

    def _update_margins(self) -> None:
        """Less room around it in a small window."""
        compact = self._breakpoints.is_low or self._breakpoints.is_tight
        self._layout.setContentsMargins(*((16, 12, 16, 12) if compact else (24, 18, 20, 18)))
        self.icon_widget.background_size, self.icon_widget.icon_size = (38, 22) if compact else (50, 26)
        self.icon_widget.updateGeometry()
        self.title_label.set_kind("heading" if compact else "verdict")
        self.detail_label.set_kind("small" if compact else "body")
