"""A number that is typed, or stepped through with arrows: it stands as high as a button and is dressed like one."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QWheelEvent
from PySide6.QtWidgets import QSpinBox, QStyle, QStyleOptionSpinBox

from .. import theme
from .base import KeyboardFocus, Live, focus_ring, rounded
from .picture import draw_icon

ARROW = 14  # pixels of an arrow's side
INDENT = 10  # before the words


class NumberBox(KeyboardFocus, Live, QSpinBox):
    """Painted; where the arrows are is the style's matter. `valueChanged` comes with every number that is typed."""

    def __init__(self) -> None:
        super().__init__()
        self.setCorrectionMode(QSpinBox.CorrectionMode.CorrectToNearestValue)
        self.setFrame(False)
        self.lineEdit().setTextMargins(theme.px(INDENT), 0, 0, 0)
        self.follow()

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("strong"))
        super().refresh()
        self.recolour()

    def recolour(self) -> None:
        """Colours of now; the ground is painted here, also below the words."""
        palette = self.lineEdit().palette()
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        self.lineEdit().setPalette(palette)
        super().recolour()

    def sizeHint(self) -> QSize:
        """As high as a button."""
        return QSize(super().sizeHint().width() + theme.px(2 * INDENT), self.fontMetrics().height() + theme.px(19))

    def minimumSizeHint(self) -> QSize:
        """Never smaller than its words."""
        return self.sizeHint()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """It scrolls the page and changes nothing."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground and edge by state, then the arrows; the words paint themselves."""
        del event
        painter, body = QPainter(self), QRectF(self.rect())
        if self.ringed:
            body = focus_ring(painter, body, 6)
        able = self.isEnabled()
        edge = theme.color("accent" if self.hasFocus() else "control") if able else None
        rounded(painter, body, 6, theme.color("card" if able else "pressed"), edge)
        option = QStyleOptionSpinBox()
        self.initStyleOption(option)
        sides = QStyle.SubControl
        enabled = self.stepEnabled()
        for side, icon, step in (
            (sides.SC_SpinBoxUp, "up", QSpinBox.StepEnabledFlag.StepUpEnabled),
            (sides.SC_SpinBoxDown, "down", QSpinBox.StepEnabledFlag.StepDownEnabled),
        ):
            place = self.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, side, self)
            ink = "text" if able and enabled & step else "disabled"
            draw_icon(painter, icon, ink, ARROW, QRectF(place).translated(-5, 0))
