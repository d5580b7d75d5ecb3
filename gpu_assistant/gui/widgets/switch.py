"""A switch for what is on or off."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, draw_focus_ring, draw_rounded_rect

TRACK_WIDTH, TRACK_HEIGHT, KNOB_INSET, TEXT_GAP, FOCUS_MARGIN = 40, 22, 5, 12, 4


class Switch(KeyboardFocus, Themed, QAbstractButton):
    """On or off, in a word and as the place of the knob; `switched` brings what the user chose.

    A state that is not known yet has no word and cannot be changed.
    """

    switched = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_known = True
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(self._on_clicked)
        self.toggled.connect(self.update)
        self.apply_theme()

    def set_on(self, is_on: bool | None) -> None:
        """Show this state, None for unknown; `switched` is not emitted."""
        self._is_known = is_on is not None
        self.setChecked(bool(is_on))
        self.setAccessibleDescription(self._state_text())
        self.update()

    @property
    def is_on(self) -> bool:
        """Whether it is on; unknown is off."""
        return self.isChecked()

    def refresh(self) -> None:
        self.setFont(theme.font("body"))
        super().refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter switches as the space bar does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.click()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        words = max(self.fontMetrics().horizontalAdvance(text) for text in (self.tr("On"), self.tr("Off")))
        width = words + TEXT_GAP + theme.px(TRACK_WIDTH) + 2 * FOCUS_MARGIN
        return QSize(ceil(width), max(theme.px(TRACK_HEIGHT) + 2 * FOCUS_MARGIN, self.fontMetrics().height(), 32))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, enabled, on = QPainter(self), self.isEnabled() and self._is_known, self.isChecked()
        width, height = theme.px(TRACK_WIDTH), theme.px(TRACK_HEIGHT)
        # In line with other controls at the right edge; as with a button, the ring takes its room from the inside.
        margin = FOCUS_MARGIN if self.shows_focus_ring else 0
        track = QRectF(self.width() - width - margin, (self.height() - height) / 2, width, height)
        if self.shows_focus_ring:
            ring = track.adjusted(-FOCUS_MARGIN, -FOCUS_MARGIN, FOCUS_MARGIN, FOCUS_MARGIN)
            draw_focus_ring(painter, ring, height / 2)
        edge = "disabled" if not enabled else "accent" if on else "control"
        background = edge if on else "hover" if self.underMouse() and enabled else "card"
        line_width = max(theme.current().line_width, 1.5)
        draw_rounded_rect(painter, track, height / 2, theme.color(background), theme.color(edge), width=line_width)
        side = height - 2 * KNOB_INSET
        left = track.right() - KNOB_INSET - side if on else track.left() + KNOB_INSET
        knob = QRectF(left, track.top() + KNOB_INSET, side, side)
        draw_rounded_rect(painter, knob, side / 2, theme.color(("on_accent" if enabled else "card") if on else edge))
        painter.setFont(self.font())
        painter.setPen(theme.color("text" if enabled else "disabled"))
        text_area = QRectF(0, 0, track.left() - TEXT_GAP, self.height())
        painter.drawText(
            text_area, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._state_text()
        )

    def _state_text(self) -> str:
        if not self._is_known:
            return ""
        return self.tr("On") if self.isChecked() else self.tr("Off")

    def _on_clicked(self, checked: bool) -> None:
        if not self._is_known:
            self.setChecked(False)
            return
        self.setAccessibleDescription(self._state_text())
        self.switched.emit(checked)
