"""A number that is typed, or stepped through with arrows: it stands as high as a button and is dressed like one."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QWheelEvent
from PySide6.QtWidgets import QSpinBox, QStyle, QStyleOptionSpinBox

from .. import theme
from .base import KeyboardFocus, Themed, draw_focus_ring, draw_rounded_rect
from .picture import draw_icon

ARROW_SIZE = 14  # pixels of an arrow's side
TEXT_INDENT = 10  # before the words


class SpinBox(KeyboardFocus, Themed, QSpinBox):
    """Painted; where the arrows are is the style's matter. `valueChanged` comes with every number that is typed."""

    def __init__(self) -> None:
        super().__init__()
        self.setCorrectionMode(QSpinBox.CorrectionMode.CorrectToNearestValue)
        self.setFrame(False)
        self.lineEdit().setTextMargins(theme.px(TEXT_INDENT), 0, 0, 0)
        self.apply_theme()

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("strong"))
        super().refresh()
        self.update_colours()

    def update_colours(self) -> None:
        """Colours of now; the ground is painted here, also below the words."""
        palette = self.lineEdit().palette()
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        self.lineEdit().setPalette(palette)
        super().update_colours()

    def sizeHint(self) -> QSize:
        """As high as a button."""
        return QSize(super().sizeHint().width() + theme.px(2 * TEXT_INDENT), self.fontMetrics().height() + theme.px(19))

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
        if self.shows_focus_ring:
            body = draw_focus_ring(painter, body, 6)
        enabled = self.isEnabled()
        border = theme.color("accent" if self.hasFocus() else "control") if enabled else None
        draw_rounded_rect(painter, body, 6, theme.color("card" if enabled else "pressed"), border)
        option = QStyleOptionSpinBox()
        self.initStyleOption(option)
        subcontrols = QStyle.SubControl
        step_enabled = self.stepEnabled()
        for subcontrol, icon, step in (
            (subcontrols.SC_SpinBoxUp, "up", QSpinBox.StepEnabledFlag.StepUpEnabled),
            (subcontrols.SC_SpinBoxDown, "down", QSpinBox.StepEnabledFlag.StepDownEnabled),
        ):
            arrow_rect = self.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, subcontrol, self)
            foreground = "text" if enabled and step_enabled & step else "disabled"
            draw_icon(painter, icon, foreground, ARROW_SIZE, QRectF(arrow_rect).translated(-5, 0))
