"""The rows of the rails: icon and word side by side, or the icon above the word where there is little room."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, draw_focus_ring, draw_rounded_rect
from .picture import draw_icon

NARROW_RAIL_WIDTH = 88


class RailButton(KeyboardFocus, Themed, QPushButton):
    """A row of a rail. Checked shows a bar, the card's ground and more weight; a badge is a word's companion."""

    def __init__(self, icon_name: str, text: str = "", *, trailing_icon: str | None = None, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.icon_name, self.trailing_icon = icon_name, trailing_icon
        self.stacked = self._icon_only = False
        self._badge: tuple[str, str] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.apply_theme()

    def set_stacked(self, stacked: bool) -> None:
        """Icon above the word, or beside it."""
        self.stacked = stacked
        self.refresh()

    def set_icon_only(self, icon_only: bool) -> None:
        """The icon alone; what it is shows on hover."""
        if icon_only != self._icon_only:
            self._icon_only = icon_only
            self.refresh()

    def set_badge(self, kind: str | None, text: str = "", description: str = "") -> None:
        """A small disc ("warn" or "error") with a sign or count; `sentence` is what it means."""
        badge = (kind, text) if kind else None
        if (badge, description) == (self._badge, self.accessibleDescription()):
            return
        self._badge = badge
        self.setToolTip(description)
        self.setAccessibleDescription(description)
        self.update()

    def refresh(self) -> None:
        """Fonts and room of now."""
        # The rows at a rail's bottom are no pages and step back a little.
        kind = "caption" if self.stacked else "body" if self.isCheckable() else "small"
        if self.isChecked():
            kind = "caption-strong" if self.stacked else "strong"
        self.setFont(theme.font(kind))
        horizontal_policy = QSizePolicy.Policy.Expanding if self._fills_width() else QSizePolicy.Policy.Preferred
        self.setSizePolicy(horizontal_policy, QSizePolicy.Policy.Fixed)
        if not self._badge:
            self.setToolTip(self.accessibleName() or self.text() if self._icon_only else "")
        super().refresh()

    def _fills_width(self) -> bool:
        return self.isCheckable() or self.stacked or self._icon_only

    def sizeHint(self) -> QSize:
        """A row of 42, or of 56 with the icon above."""
        metrics = self.fontMetrics()
        if self.isCheckable():
            # Room for the weight of the current page, so that nothing moves when a page is chosen.
            metrics = QFontMetrics(theme.font("caption-strong" if self.stacked else "strong"))
        width, height = metrics.horizontalAdvance(self.text()), self.fontMetrics().height()
        if self._icon_only:
            return QSize(theme.px(18) + 24, height + 20)
        if self.stacked:
            return QSize(max(width + 16, theme.px(64)), height + theme.px(20) + 21)
        if not self.isCheckable():
            trailing_width = theme.px(14) + 4 if self.trailing_icon else 0
            return QSize(width + theme.px(18) + trailing_width + 26, height + 20)
        return QSize(width + theme.px(20) + 42, height + 25)

    def minimumSizeHint(self) -> QSize:
        """Never cut."""
        return self.sizeHint()

    def nextCheckState(self) -> None:
        """Checking changes the weight of the words."""
        super().nextCheckState()
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground and bar by state, icon, word, badge."""
        del event
        painter = QPainter(self)
        body = QRectF(self.rect())
        if self.shows_focus_ring:
            body = draw_focus_ring(painter, body, 8)
        background = "card" if self.isChecked() else "pressed" if self.isDown() else "hover"
        if self.isChecked() or self.isDown() or self.underMouse():
            border = theme.color("accent") if self.isChecked() and theme.current().line_width > 1 else None
            draw_rounded_rect(painter, body, 8, theme.color(background), border, width=2)
        if self.isChecked():
            bar_height = theme.px(18)
            draw_rounded_rect(painter, QRectF(body.x(), self.height() / 2 - bar_height / 2, 3, bar_height), 1.5, theme.color("accent"))
        foreground = "text" if self.isChecked() else "soft"
        icon_token = "accent" if self.isChecked() else "soft"
        painter.setFont(self.font())
        if self.stacked:
            self._draw_stacked(painter, foreground, icon_token)
        else:
            self._draw_row(painter, foreground, icon_token)

    def _draw_stacked(self, painter: QPainter, foreground: str, icon_token: str) -> None:
        side, text_height = theme.px(20), self.fontMetrics().height()
        top = (self.height() - side - 5 - text_height) / 2
        draw_icon(painter, self.icon_name, icon_token, 20, QRectF(0, top, self.width(), side))
        painter.setPen(theme.color(foreground))
        text_rect = QRectF(0, top + side + 5, self.width(), text_height + 2)
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop), self.text())
        self._draw_badge(painter, self.width() / 2 + side / 2, top - 5)

    def _draw_row(self, painter: QPainter, foreground: str, icon_token: str) -> None:
        size, left, gap = (20, 14, 12) if self.isCheckable() else (18, 12, 10)
        side = theme.px(size)
        if self._icon_only:
            draw_icon(painter, self.icon_name, icon_token, size, QRectF(self.rect()))
            return
        draw_icon(painter, self.icon_name, icon_token, size, QRectF(left, 0, side, self.height()))
        painter.setPen(theme.color(foreground))
        text_rect = QRectF(left + side + gap, 0, self.width(), self.height())
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self.text())
        if self.trailing_icon:
            x = text_rect.x() + self.fontMetrics().horizontalAdvance(self.text()) + 4
            draw_icon(painter, self.trailing_icon, foreground, 14, QRectF(x, 0, theme.px(14), self.height()))
        self._draw_badge(painter, self.width() - theme.px(18) - 10, self.height() / 2 - theme.px(9))

    def _draw_badge(self, painter: QPainter, x: float, y: float) -> None:
        if self._badge is None:
            return
        kind, text = self._badge
        disc = QRectF(x, y, theme.px(18), theme.px(18))
        draw_rounded_rect(painter, disc, disc.height() / 2, theme.color(kind))
        painter.setFont(theme.font("caption-strong"))
        painter.setPen(theme.color("card"))
        painter.drawText(disc, int(Qt.AlignmentFlag.AlignCenter), text)
