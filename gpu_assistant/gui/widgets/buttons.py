"""Buttons (primary, secondary, ghost) and segmented controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QElapsedTimer, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QRadioButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, animations_enabled, draw_box, draw_focus_ring, draw_rounded_rect
from .icons import draw_icon
from .layouts import FlowLayout
from .text import layout_text

ButtonKind = Literal["primary", "secondary", "ghost"]
Side = Literal["left", "right"]
SPIN_MS = 1200
MAX_WIDTH = 16_777_215
MIN_TARGET = 32  # pixels: the lowest button that one hits comfortably
SEGMENT_MARGIN = 3
SEGMENT_PADDING, COMPACT_SEGMENT_PADDING = 26, 16  # pixels left and right of a segment's text together
ICON_GAP = 8  # pixels between icon and text
FLUSH_PADDING = 2  # pixels beside the text at a side that is flush: as wide as the focus ring's line


class Button(KeyboardFocus, Themed, QPushButton):
    """A painted button; at most one on a page is primary.

    `icon_name` is drawn before the text, `trailing_icon` behind it ("right", "down"). A `small` one fits into a line of
    small text. The text of a ghost that is `flush` at a side stands in line with the other texts there; under the
    pointer it is underlined, since a ground would end at the first letter.
    """

    def __init__(
        self,
        text: str = "",
        kind: ButtonKind = "secondary",
        icon_name: str | None = None,
        *,
        trailing_icon: str | None = None,
        large: bool = False,
        small: bool = False,
        flush: Side | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self.kind, self.icon_name, self.trailing_icon = kind, icon_name, trailing_icon
        self.large, self.small, self.flush = large, small, flush
        self._busy = False
        self._max_text_width = MAX_WIDTH
        self._clock = QElapsedTimer()
        self._spin_timer = QTimer(self)
        self._spin_timer.setInterval(50)
        self._spin_timer.timeout.connect(self.update)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.apply_theme()

    @property
    def busy(self) -> bool:
        """Whether it shows a spinner and ignores clicks."""
        return self._busy

    def set_busy(self, busy: bool) -> None:
        """Show a spinner in place of the icon, at the same width; clicks are ignored meanwhile."""
        self._busy = busy
        self._clock.start()
        if busy and animations_enabled(self):
            self._spin_timer.start()
        else:
            self._spin_timer.stop()
        self.setAccessibleDescription(self.tr("working") if busy else "")
        self.update()

    def set_icon(self, icon: str | None = None, trailing_icon: str | None = None) -> None:
        self.icon_name, self.trailing_icon = icon, trailing_icon
        self.refresh()

    def set_kind(self, kind: ButtonKind) -> None:
        """Take another kind."""
        if kind != self.kind:
            self.kind = kind
            self.refresh()

    def set_flush(self, side: Side | None) -> None:
        """Stand in line with the texts at another side."""
        if side != self.flush:
            self.flush = side
            self.refresh()

    def refresh(self) -> None:
        self.setFont(theme.font("small" if self.small else "strong"))
        super().refresh()

    def hitButton(self, pos: QPoint) -> bool:
        return not self._busy and super().hitButton(pos)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses it, once: held down it would run through one page after the other."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not self._busy and not event.isAutoRepeat():
                self.click()
        elif not (self._busy and event.key() == Qt.Key.Key_Space):
            super().keyPressEvent(event)

    def width_with_text(self, text: str) -> int:
        """The width in pixels with this text in one line; the text may be empty."""
        icon_count = sum(name is not None for name in (self.icon_name, self.trailing_icon))
        gaps = icon_count if text else max(icon_count - 1, 0)
        icons_width = icon_count * theme.px(18) + gaps * ICON_GAP + self._paddings(bool(text), MAX_WIDTH)
        return (self.fontMetrics().horizontalAdvance(text) if text else 0) + icons_width

    def set_max_width(self, max_width: int) -> None:
        """Limit the width in pixels; longer text wraps."""
        if max_width != self._max_text_width:
            self._max_text_width = max_width
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        width, text_height = self.width_with_text(self._plain_text()), self.fontMetrics().height()
        if width > self._max_text_width:
            other_width = width - self.fontMetrics().horizontalAdvance(self._plain_text())
            text_size = layout_text(self._plain_text(), self.font(), self._max_text_width - other_width)[1]
            width, text_height = text_size.width() + other_width, text_size.height()
        height = max(text_height + theme.px(23 if self.large else 14 if self.small else 19), MIN_TARGET)
        return QSize(max(width, height if text_height == self.fontMetrics().height() else 0), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        body = QRectF(self.rect())
        if self.shows_focus_ring:
            body = draw_focus_ring(painter, body, 6)
        background, border, foreground = self._state_tokens()
        draw_rounded_rect(
            painter, body, 6, theme.color(background) if background else None, theme.color(border) if border else None
        )
        painter.setPen(theme.color(foreground))
        painter.setFont(self.font())
        text, metrics, side = self._plain_text(), self.fontMetrics(), theme.px(18)
        if self._busy and self.icon_name is None:
            side = theme.px(14)
        has_leading = self._busy or self.icon_name is not None
        icons_width = (side + (ICON_GAP if text else 0)) * (has_leading + (self.trailing_icon is not None))
        text_width, layout = metrics.horizontalAdvance(text), None
        paddings = self._paddings(bool(text), ICON_GAP)
        if (available := self.width() - icons_width - paddings) < text_width:
            layout, size = layout_text(text, self.font(), available)
            if size.height() > self.height():
                text, layout = metrics.elidedText(text, Qt.TextElideMode.ElideRight, available), None
            text_width = size.width() if layout is not None else metrics.horizontalAdvance(text)
        content_width = text_width + icons_width
        x = self._content_left(content_width)
        icon_rect = QRectF(x, 0, side, self.height())
        if self._busy:
            self._draw_spinner(painter, icon_rect, foreground)
        elif self.icon_name is not None:
            draw_icon(painter, self.icon_name, foreground, 18, icon_rect)
        x += (side + ICON_GAP) if has_leading else 0
        painter.setPen(theme.color(foreground))
        if layout is not None:
            layout.draw(painter, QPointF(x, (self.height() - size.height()) / 2))
        else:
            painter.drawText(QRectF(x, 0, text_width + 2, self.height()), int(Qt.AlignmentFlag.AlignVCenter), text)
        self._underline(painter, x, text_width)
        if self.trailing_icon is not None:
            x = self._trailing_icon_left(x + text_width + (ICON_GAP if text else 0), side)
            draw_icon(painter, self.trailing_icon, foreground, 16, QRectF(x, 0, side, self.height()))

    def _content_left(self, width: float) -> float:
        """Where icons and text of this width begin."""
        free = self.width() - width
        return {"left": FLUSH_PADDING, "right": free - FLUSH_PADDING, None: free / 2}[self.flush]

    def _trailing_icon_left(self, text_end: float, side: float) -> float:
        """Where the trailing icon begins; `text_end` is behind the text and its gap."""
        del side
        return text_end

    def _underline(self, painter: QPainter, x: float, width: float) -> None:
        """Underline the text of a flush button under the pointer."""
        if self.flush is not None and self.isEnabled() and self.underMouse() and not self._busy:
            bottom = (self.height() + self.fontMetrics().height()) / 2
            painter.drawLine(QPointF(x, bottom), QPointF(x + width, bottom))

    def _draw_spinner(self, painter: QPainter, rect: QRectF, foreground: str) -> None:
        side = theme.px(14)
        arc_rect = QRectF(rect.center().x() - side / 2, rect.center().y() - side / 2, side, side)
        painter.setPen(QPen(theme.color(foreground), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        turn = (self._clock.elapsed() % SPIN_MS) / SPIN_MS if self._spin_timer.isActive() else 0.0
        painter.drawArc(arc_rect, round(90 * 16 - turn * 360 * 16), -270 * 16)

    def _state_tokens(self) -> tuple[str | None, str | None, str]:
        if not self.isEnabled():
            return (None if self.kind == "ghost" else "pressed"), None, "disabled"
        pressed, hovered = self.isDown() and not self._busy, self.underMouse() and not self._busy
        if self.kind == "primary":
            return ("accent_pressed" if pressed else "accent_hover" if hovered else "accent"), None, "on_accent"
        background = "pressed" if pressed else "hover" if hovered else None
        if self.kind == "ghost":
            return (None if self.flush is not None else background), None, "accent_text"
        if self.isChecked():
            return background or "pressed", "accent", "accent_text"
        return background or "card", "control", "text"

    def _padding(self, has_text: bool) -> int:
        if self.small:
            return theme.px(6 if self.kind == "ghost" else 10)
        return theme.px(10 if self.kind == "ghost" or not has_text else 20 if self.large else 16)

    def _paddings(self, has_text: bool, limit: int) -> int:
        """Both paddings together, each at most `limit` pixels."""
        padding = min(self._padding(has_text), limit)
        return padding + (FLUSH_PADDING if self.flush is not None else padding)

    def _plain_text(self) -> str:
        """The text without the marks of its mnemonic."""
        return self.text().replace("&&", "\0").replace("&", "").replace("\0", "&")


class SegmentedControl(Themed, QWidget):
    """A choice of one among a few, side by side, in two lines where the row is too narrow; arrow keys move within it.

    `name` is what the choice is about, for screen readers. `chosen` is emitted with the index that the user chose.
    In a layout of Qt it is aligned vertically: otherwise Qt keeps it as high as one line.
    """

    chosen = Signal(int)

    def __init__(
        self, options: Sequence[str], current: int = 0, *, name: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        row = FlowLayout(self, spacing=2, even=True)
        row.setContentsMargins(*[SEGMENT_MARGIN] * 4)
        self.buttons = [_SegmentButton(text, self) for text in options]
        for index, button in enumerate(self.buttons):
            row.addWidget(button)
            button.clicked.connect(lambda _checked=False, index=index: self.chosen.emit(index))
            button.toggled.connect(lambda _: self._update_focus_policy())
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.set_current(current)
        self.setAccessibleName(name)
        self.apply_theme()

    def set_options(self, options: Sequence[str]) -> None:
        """Set the texts, in another language."""
        for button, text in zip(self.buttons, options, strict=True):
            button.setText(text)
            button.refresh()

    def set_compact(self, on: bool) -> None:
        """Have less room beside each text, where the row is narrow."""
        for button in self.buttons:
            button.set_padding(COMPACT_SEGMENT_PADDING if on else SEGMENT_PADDING)
        self.updateGeometry()  # its width is asked for at once

    def row_width(self, *, compact: bool) -> int:
        """The width in pixels of one row with less room beside each text, or the usual one."""
        padding = COMPACT_SEGMENT_PADDING if compact else SEGMENT_PADDING
        return self.sizeHint().width() + sum(padding - button.padding for button in self.buttons)

    def set_current(self, index: int | None) -> None:
        """Select an option, or none; `chosen` is not emitted."""
        if index is not None:
            self.buttons[index].setChecked(True)
            return
        for button in self.buttons:
            button.setAutoExclusive(False)
            button.setChecked(False)
            button.setAutoExclusive(True)
        self._update_focus_policy()

    def _update_focus_policy(self) -> None:
        """Tab enters at the selected option, or at the first where none is."""
        current = max(self.current(), 0)
        for index, button in enumerate(self.buttons):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if index == current else Qt.FocusPolicy.ClickFocus)

    def current(self) -> int:
        """The selected index, -1 for none."""
        return next((index for index, button in enumerate(self.buttons) if button.isChecked()), -1)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        draw_box(QPainter(self), QRectF(self.rect()), 8, "hover" if theme.current().line_width == 1 else "card")


class _SegmentButton(KeyboardFocus, Themed, QRadioButton):
    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self.padding = SEGMENT_PADDING
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self.update)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFont(theme.font("strong"))
        super().refresh()

    def set_padding(self, padding: int) -> None:
        """Set the pixels left and right of the text together."""
        if padding != self.padding:
            self.padding = padding
            self.updateGeometry()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def sizeHint(self) -> QSize:
        # With the control's margins as high as a button beside it.
        height = max(self.fontMetrics().height() + theme.px(19) - 2 * SEGMENT_MARGIN, MIN_TARGET)
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + self.padding, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        if self.shows_focus_ring:
            rect = draw_focus_ring(painter, rect, 5)
        if self.isChecked():
            draw_rounded_rect(painter, rect, 6, theme.color("card"), theme.color("control"))
        elif self.underMouse() and self.isEnabled():
            draw_rounded_rect(painter, rect, 6, theme.color("pressed"))
        # What is selected is read also while nothing else can be.
        foreground = "text" if self.isChecked() else "soft" if self.isEnabled() else "disabled"
        painter.setPen(theme.color(foreground))
        painter.setFont(theme.font("strong" if self.isChecked() else "body"))
        painter.drawText(QRectF(self.rect()), int(Qt.AlignmentFlag.AlignCenter), self.text())
