"""Cards: the plain one, and the one that is a button as a whole."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QLayout, QSizePolicy, QVBoxLayout, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, draw_box, draw_focus_ring
from .picture import IconWidget
from .text import label


class TopAlignedLayout(QVBoxLayout):
    """A column whose contents stay at the top; where something stretches, that takes the room instead."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        super().addStretch(0)

    def addWidget(self, widget: QWidget, *options: object) -> None:
        """As Qt's own."""
        self.insertWidget(self.count() - 1, widget, *options)  # type: ignore[arg-type]

    def addLayout(self, layout: QLayout, stretch: int | None = 0) -> None:
        """As Qt's own."""
        self.insertLayout(self.count() - 1, layout, stretch or 0)

    def addStretch(self, stretch: int | None = 0) -> None:
        """As Qt's own."""
        self.insertStretch(self.count() - 1, stretch or 0)

    def addSpacing(self, size: int) -> None:
        """As Qt's own."""
        self.insertSpacing(self.count() - 1, size)


class Card(Themed, QFrame):
    """A ground for things that belong together. `column` is its layout; `title` stands at its head."""

    def __init__(self, title: str = "", *, padding: int = 20, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = TopAlignedLayout(self)
        self.column.setContentsMargins(padding, padding - 4, padding, padding - 4)
        self.column.setSpacing(8)
        self.card_title = label("heading", title)
        self.column.addWidget(self.card_title)
        self.set_title(title)
        self.apply_theme()

    def set_title(self, title: str) -> None:
        """Other words at the head; none hides it."""
        self.card_title.setText(title)
        self.card_title.setVisible(bool(title))
        self.setAccessibleName(title)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The card's ground."""
        del event
        draw_box(QPainter(self), QRectF(self.rect()), 10, "card")


class Divider(Themed, QWidget):
    """A line of one pixel between rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def sizeHint(self) -> QSize:
        """One line high."""
        return QSize(10, theme.current().line_width)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The line."""
        del event
        QPainter(self).fillRect(self.rect(), theme.color("line"))


class ClickableCard(KeyboardFocus, Themed, QAbstractButton):
    """A card that is one target: icon on a soft square, title, one line of detail. Signal: `clicked`."""

    def __init__(self, icon: str, title: str = "", detail: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = row = QHBoxLayout(self)
        row.setContentsMargins(14, 12, 14, 12)
        row.setSpacing(14)
        self.icon_widget = IconWidget(icon, background="square", background_size=34)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(1)
        self.title_label, self.detail_label = label("strong", title), label("small", detail)
        text_layout.addStretch(0)
        text_layout.addWidget(self.title_label)
        text_layout.addWidget(self.detail_label)
        text_layout.addStretch(0)
        row.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(text_layout, 1)
        for each in (self.title_label, self.detail_label):
            each.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_texts(title, detail)
        self.apply_theme()

    def set_texts(self, title: str, detail: str) -> None:
        """Title and detail; together they are what a screen reader says."""
        self.title_label.setText(title)
        self.detail_label.setText(detail)
        self.detail_label.setVisible(bool(detail))
        self.setAccessibleName(f"{title}: {detail}" if detail else title)

    def sizeHint(self) -> QSize:
        """What the contents need."""
        return self._layout.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses it, as space does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The card's ground by state."""
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.shows_focus_ring:
            rect = draw_focus_ring(painter, rect, 10)
        hovered = self.underMouse() and self.isEnabled()
        draw_box(painter, rect, 10, "pressed" if self.isDown() else "hover" if hovered else "card")
