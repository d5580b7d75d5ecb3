"""The wizard's foot: hint at the left, buttons at the right; it never scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QWidget

from .. import theme
from .base import Live
from .button import Button
from .picture import Icon
from .shape import Shape
from .text import label

_HINT_LINES = 2.5


class Footer(Live, QWidget):
    """`add` puts buttons at the right in order, `add_left` at the left behind the hint.

    A hint that would need more than two lines beside the buttons stands above them, and so do the left buttons that
    have no room beside the right ones.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shape = Shape(self)
        self._icon, self.hint = Icon("info", "soft", 16), label("small")
        hint = QHBoxLayout()
        hint.setSpacing(12)
        hint.addWidget(self._icon)
        hint.addWidget(self.hint, 1, Qt.AlignmentFlag.AlignVCenter)
        self._left, self._right = QHBoxLayout(), QHBoxLayout()
        self._left.setSpacing(8)
        self._right.setSpacing(12)
        self._buttons = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons.setSpacing(12)
        self._buttons.addLayout(self._left)
        self._buttons.addStretch(1)
        self._buttons.addLayout(self._right)
        self._buttons.setAlignment(self._left, Qt.AlignmentFlag.AlignLeft)
        self._buttons.setAlignment(self._right, Qt.AlignmentFlag.AlignRight)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setSpacing(12)
        self._box.addLayout(hint, 1)
        self._box.addLayout(self._buttons)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.set_hint("")
        self._shape.changed.connect(self.fit)
        self.follow()

    def set_hint(self, text: str, icon: str = "info") -> None:
        """One line that calms; none hides it."""
        self.hint.setText(text)
        self._icon.set(icon)
        self.hint.setVisible(bool(text))
        self._icon.setVisible(bool(text))
        self._box.setStretch(0, 1 if text else 0)
        self._box.setStretch(1, 0 if text else 1)
        self.fit()

    def add(self, button: Button) -> Button:
        """One more button at the right."""
        button.large = True
        button.refresh()
        self._right.addWidget(button)
        return button

    def add_left(self, button: Button) -> Button:
        """One more button at the left."""
        self._left.addWidget(button)
        return button

    def refresh(self) -> None:
        """Room of now."""
        self.fit()
        super().refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another arrangement."""
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Other words on the buttons may need another arrangement."""
        side, low = self._shape.margin, self._shape.low
        self._box.setContentsMargins(side, 10 if low else 14, side, 10 if low else 14)
        full = self.width() - 2 * side
        wanted = self._left.sizeHint().width() + self._right.sizeHint().width() + 2 * self._buttons.spacing()
        _turn(self._buttons, down=wanted > full)
        room = full - self._buttons.sizeHint().width() - self._icon.width() - 36
        line = self.hint.fontMetrics().height() * theme.line_height()
        tall = bool(self.hint.text()) and self.hint.heightForWidth(max(room, 1)) > _HINT_LINES * line
        _turn(self._box, down=tall)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line along the top."""
        del event
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), theme.current().line_width, theme.color("line"))


def _turn(box: QBoxLayout, *, down: bool) -> None:
    direction = QBoxLayout.Direction.TopToBottom if down else QBoxLayout.Direction.LeftToRight
    if box.direction() != direction:
        box.setDirection(direction)
