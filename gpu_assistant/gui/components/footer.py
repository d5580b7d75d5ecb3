"""The wizard's foot: hint at the left, buttons at the right; it never scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from .. import theme
from .base import Live
from .button import Button
from .picture import Icon
from .shape import Shape
from .text import label


class Footer(Live, QWidget):
    """`add` puts buttons at the right in order, `add_left` at the left behind the hint."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shape = Shape(self)
        self._row = QHBoxLayout(self)
        self._row.setSpacing(12)
        self._icon, self.hint = Icon("info", "soft", 16), label("small")
        self._left = QHBoxLayout()
        self._left.setSpacing(8)
        self._row.addWidget(self._icon)
        self._row.addWidget(self.hint, 1, Qt.AlignmentFlag.AlignVCenter)
        self._row.addLayout(self._left)
        self._row.addStretch(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.set_hint("")
        self._shape.changed.connect(self._fit)
        self._fit()
        self.follow()

    def set_hint(self, text: str, icon: str = "info") -> None:
        """One line that calms; none hides it."""
        self.hint.setText(text)
        self._icon.set(icon)
        self.hint.setVisible(bool(text))
        self._icon.setVisible(bool(text))

    def add(self, button: Button) -> Button:
        """One more button at the right."""
        button.large = True
        button.refresh()
        self._row.addWidget(button)
        return button

    def add_left(self, button: Button) -> Button:
        """One more button at the left."""
        self._left.addWidget(button)
        return button

    def _fit(self) -> None:
        low = self._shape.low
        self._row.setContentsMargins(self._shape.margin, 10 if low else 14, self._shape.margin, 9 if low else 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line along the top."""
        del event
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), theme.current().line_width, theme.color("line"))
