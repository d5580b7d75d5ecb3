"""A few options of which one holds, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, draw_box, draw_focus_ring, draw_rounded_rect


class SegmentedControl(Themed, QWidget):
    """Arrows move within it. `name` is what the choice is about; `chosen` comes with the index."""

    chosen = Signal(int)

    def __init__(
        self, options: Sequence[str], current: int = 0, *, name: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 3, 3, 3)
        row.setSpacing(2)
        self.buttons = [_SegmentButton(text, self) for text in options]
        for index, button in enumerate(self.buttons):
            row.addWidget(button)
            button.clicked.connect(lambda _checked=False, index=index: self.chosen.emit(index))
            button.toggled.connect(lambda _: self._update_focus_policy())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_current(current)
        self.setAccessibleName(name)
        self.apply_theme()

    def set_options(self, options: Sequence[str]) -> None:
        """The words again, in another language."""
        for button, text in zip(self.buttons, options, strict=True):
            button.setText(text)
            button.refresh()

    def set_current(self, index: int | None) -> None:
        """Choose without telling; None: none of them holds."""
        if index is not None:
            self.buttons[index].setChecked(True)
            return
        for button in self.buttons:
            button.setAutoExclusive(False)
            button.setChecked(False)
            button.setAutoExclusive(True)
        self._update_focus_policy()

    def _update_focus_policy(self) -> None:
        """Tab comes in at the one that holds, from either side; at the first where none does."""
        current = max(self.current(), 0)
        for index, button in enumerate(self.buttons):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if index == current else Qt.FocusPolicy.ClickFocus)

    def current(self) -> int:
        """The index that holds; -1: none."""
        return next((index for index, button in enumerate(self.buttons) if button.isChecked()), -1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The common ground."""
        del event
        draw_box(QPainter(self), QRectF(self.rect()), 8, "hover" if theme.current().line_width == 1 else "card")


class _SegmentButton(KeyboardFocus, Themed, QRadioButton):
    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self.update)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFont(theme.font("strong"))
        super().refresh()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def sizeHint(self) -> QSize:
        height = max(self.fontMetrics().height() + 15, 32)  # the smallest that a finger or an unsteady hand meets
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 26, height)

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
        foreground = "disabled" if not self.isEnabled() else "text" if self.isChecked() else "soft"
        painter.setPen(theme.color(foreground))
        painter.setFont(theme.font("strong" if self.isChecked() else "body"))
        painter.drawText(QRectF(self.rect()), int(Qt.AlignmentFlag.AlignCenter), self.text())
