"""The wizard's foot: hint at the left, buttons at the right; it never scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QWidget

from .. import theme
from .base import Themed
from .button import Button
from .picture import IconWidget
from .shape import Breakpoints
from .text import label

_MAX_HINT_LINES = 2.5


class Footer(Themed, QWidget):
    """`add` puts buttons at the right in order, `add_left` at the left behind the hint.

    A hint that would need more than two lines beside the buttons stands above them, and so do the left buttons that
    have no room beside the right ones.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._breakpoints = Breakpoints(self)
        self._icon, self.hint_label = IconWidget("info", "soft", 16), label("small")
        hint_layout = QHBoxLayout()
        hint_layout.setSpacing(12)
        hint_layout.addWidget(self._icon)
        hint_layout.addWidget(self.hint_label, 1, Qt.AlignmentFlag.AlignVCenter)
        self._left_layout, self._right_layout = QHBoxLayout(), QHBoxLayout()
        self._left_layout.setSpacing(8)
        self._right_layout.setSpacing(12)
        self._buttons_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons_layout.setSpacing(12)
        self._buttons_layout.addLayout(self._left_layout)
        self._buttons_layout.addStretch(1)
        self._buttons_layout.addLayout(self._right_layout)
        self._buttons_layout.setAlignment(self._left_layout, Qt.AlignmentFlag.AlignLeft)
        self._buttons_layout.setAlignment(self._right_layout, Qt.AlignmentFlag.AlignRight)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setSpacing(12)
        self._layout.addLayout(hint_layout, 1)
        self._layout.addLayout(self._buttons_layout)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.set_hint("")
        self._breakpoints.changed.connect(self.update_layout)
        self.apply_theme()

    def set_hint(self, text: str, icon: str = "info") -> None:
        """One line that calms; none hides it."""
        self.hint_label.setText(text)
        self._icon.set(icon)
        self.hint_label.setVisible(bool(text))
        self._icon.setVisible(bool(text))
        self._layout.setStretch(0, 1 if text else 0)
        self._layout.setStretch(1, 0 if text else 1)
        self.update_layout()

    def add_button(self, button: Button) -> Button:
        """One more button at the right."""
        button.large = True
        button.refresh()
        self._right_layout.addWidget(button)
        return button

    def add_left_button(self, button: Button) -> Button:
        """One more button at the left."""
        self._left_layout.addWidget(button)
        return button

    def refresh(self) -> None:
        """Room of now."""
        self.update_layout()
        super().refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another arrangement."""
        super().resizeEvent(event)
        self.update_layout()

    def update_layout(self) -> None:
        """Other words on the buttons may need another arrangement."""
        margin, low = self._breakpoints.margin, self._breakpoints.is_low
        self._layout.setContentsMargins(margin, 10 if low else 14, margin, 10 if low else 14)
        available = self.width() - 2 * margin
        needed = self._left_layout.sizeHint().width() + self._right_layout.sizeHint().width() + 2 * self._buttons_layout.spacing()
        _set_direction(self._buttons_layout, vertical=needed > available)
        hint_width = available - self._buttons_layout.sizeHint().width() - self._icon.width() - 36
        line_height = self.hint_label.fontMetrics().height() * theme.line_height()
        stacks_hint = bool(self.hint_label.text()) and self.hint_label.heightForWidth(max(hint_width, 1)) > _MAX_HINT_LINES * line_height
        _set_direction(self._layout, vertical=stacks_hint)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line along the top."""
        del event
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), theme.current().line_width, theme.color("line"))


def _set_direction(box: QBoxLayout, *, vertical: bool) -> None:
    direction = QBoxLayout.Direction.TopToBottom if vertical else QBoxLayout.Direction.LeftToRight
    if box.direction() != direction:
        box.setDirection(direction)
