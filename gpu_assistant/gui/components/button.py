"""The three buttons: primary (one a page), secondary, ghost."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QElapsedTimer, QPoint, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Live, focus_ring, moving, rounded
from .picture import draw_icon
from .text import laid_out

Kind = Literal["primary", "secondary", "ghost"]
TURN_MS = 1200
UNBOUNDED = 16_777_215
GAP = 8  # between a picture and the words


class Button(KeyboardFocus, Live, QPushButton):
    """A painted button. `icon` stands before the words, `after` behind them ("right", "down"); a `small` one stands
    in a line of small text.
    """

    def __init__(
        self,
        text: str = "",
        kind: Kind = "secondary",
        icon: str | None = None,
        *,
        after: str | None = None,
        large: bool = False,
        small: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self.kind, self.icon_name, self.after_name = kind, icon, after
        self.large, self.small = large, small
        self._busy = False
        self._room = UNBOUNDED
        self._clock = QElapsedTimer()
        self._turn = QTimer(self)
        self._turn.setInterval(50)
        self._turn.timeout.connect(self.update)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.follow()

    @property
    def busy(self) -> bool:
        """Whether it is working and takes no clicks."""
        return self._busy

    def set_busy(self, busy: bool) -> None:
        """Show a turning ring in place of the icon, same width; clicks are ignored meanwhile."""
        self._busy = busy
        self._clock.start()
        if busy and moving(self):
            self._turn.start()
        else:
            self._turn.stop()
        self.setAccessibleDescription(self.tr("working") if busy else "")
        self.update()

    def set_icon(self, icon: str | None = None, after: str | None = None) -> None:
        """Other icons, before and behind the words."""
        self.icon_name, self.after_name = icon, after
        self.refresh()

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("small" if self.small else "strong"))
        super().refresh()

    def hitButton(self, pos: QPoint) -> bool:
        """Nowhere, while busy."""
        return not self._busy and super().hitButton(pos)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses, as people expect; nothing does while busy.

        Held down it presses once: it would run through one page after the other.
        """
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not self._busy and not event.isAutoRepeat():
                self.click()
        elif not (self._busy and event.key() == Qt.Key.Key_Space):
            super().keyPressEvent(event)

    def width_with(self, words: str) -> int:
        """Pixels that it needs with these words in one line, or with none."""
        pictures = sum(name is not None for name in (self.icon_name, self.after_name))
        gaps = pictures if words else max(pictures - 1, 0)
        beside = pictures * theme.px(18) + gaps * GAP + 2 * self._padding(bool(words))
        return (self.fontMetrics().horizontalAdvance(words) if words else 0) + beside

    def set_room(self, room: int) -> None:
        """How wide it may be: words that need more stand in several lines."""
        if room != self._room:
            self._room = room
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """From the font, never from a number alone."""
        whole, high = self.width_with(self._words()), self.fontMetrics().height()
        if whole > self._room:
            beside = whole - self.fontMetrics().horizontalAdvance(self._words())
            words = laid_out(self._words(), self.font(), self._room - beside)[1]
            whole, high = words.width() + beside, words.height()
        height = high + theme.px(23 if self.large else 14 if self.small else 19)
        return QSize(max(whole, height if high == self.fontMetrics().height() else 0), height)

    def minimumSizeHint(self) -> QSize:
        """Never smaller than its words."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground by state, then icon, words, icon."""
        del event
        painter = QPainter(self)
        body = QRectF(self.rect())
        if self.ringed:
            body = focus_ring(painter, body, 6)
        ground, edge, ink = self._tokens()
        rounded(painter, body, 6, theme.color(ground) if ground else None, theme.color(edge) if edge else None)
        painter.setPen(theme.color(ink))
        painter.setFont(self.font())
        words, metrics, side = self._words(), self.fontMetrics(), theme.px(18)
        if self._busy and self.icon_name is None:
            side = theme.px(14)
        first = self._busy or self.icon_name is not None
        pictures = (side + (GAP if words else 0)) * (first + (self.after_name is not None))
        text_width, lines = metrics.horizontalAdvance(words), None
        if (room := self.width() - pictures - 2 * min(GAP, self._padding(bool(words)))) < text_width:
            lines, size = laid_out(words, self.font(), room)
            if size.height() > self.height():
                words, lines = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room), None
            text_width = size.width() if lines is not None else metrics.horizontalAdvance(words)
        content = text_width + pictures
        x = self.width() / 2 - content / 2
        middle = QRectF(x, 0, side, self.height())
        if self._busy:
            self._ring(painter, middle, ink)
        elif self.icon_name is not None:
            draw_icon(painter, self.icon_name, ink, 18, middle)
        x += (side + GAP) if first else 0
        painter.setPen(theme.color(ink))
        if lines is not None:
            lines.draw(painter, QPointF(x, (self.height() - size.height()) / 2))
        else:
            painter.drawText(QRectF(x, 0, text_width + 2, self.height()), int(Qt.AlignmentFlag.AlignVCenter), words)
        if self.after_name is not None:
            x += text_width + (GAP if words else 0)
            draw_icon(painter, self.after_name, ink, 16, QRectF(x, 0, side, self.height()))

    def _ring(self, painter: QPainter, rect: QRectF, ink: str) -> None:
        side = theme.px(14)
        ring = QRectF(rect.center().x() - side / 2, rect.center().y() - side / 2, side, side)
        painter.setPen(QPen(theme.color(ink), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        turned = (self._clock.elapsed() % TURN_MS) / TURN_MS if self._turn.isActive() else 0.0
        painter.drawArc(ring, round(90 * 16 - turned * 360 * 16), -270 * 16)

    def _tokens(self) -> tuple[str | None, str | None, str]:
        if not self.isEnabled():
            return (None if self.kind == "ghost" else "pressed"), None, "disabled"
        down, over = self.isDown() and not self._busy, self.underMouse() and not self._busy
        if self.kind == "primary":
            return ("accent_pressed" if down else "accent_hover" if over else "accent"), None, "on_accent"
        ground = "pressed" if down else "hover" if over else None
        if self.kind == "ghost":
            return ground, None, "accent_text"
        if self.isChecked():  # a switch that is on
            return ground or "pressed", "accent", "accent_text"
        return ground or "card", "control", "text"

    def _padding(self, worded: bool) -> int:
        if self.small:
            return theme.px(6)
        return theme.px(10 if self.kind == "ghost" or not worded else 20 if self.large else 16)

    def _words(self) -> str:
        """The text without the marks of its shortcut letter."""
        return self.text().replace("&&", "\0").replace("&", "").replace("\0", "&")
