"""What the tools wrote, for those who want to see it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Live, app, focus_ring, rounded
from .button import Button
from .card import Card
from .picture import draw_icon
from .scroll_bar import scroll_slim
from .why import Inset

MAX_LINES, PORTION = 5000, 150


class LogDrawer(Card):
    """Closed it shows the last line; open all of them, newest below. Lines come in batches.

    However many come at once, the window answers: they are laid out in portions, and not before somebody reads them.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        self.head = _Head()
        self.copy = Button(kind="ghost", icon="copy")
        self.lines = QPlainTextEdit()
        self._waiting: deque[str] = deque(maxlen=MAX_LINES)
        self._ground = Inset()
        super().__init__(padding=8, parent=parent)
        self.column.setContentsMargins(8, 4, 8, 4)
        self._ground.column.setContentsMargins(0, 0, 0, 0)
        self._ground.column.addWidget(self.lines)
        self.lines.setFrameShape(QFrame.Shape.NoFrame)
        self.lines.viewport().setAutoFillBackground(False)
        scroll_slim(self.lines)
        self.lines.setReadOnly(True)
        self.lines.setMaximumBlockCount(MAX_LINES)
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setTabChangesFocus(True)
        self.lines.setMinimumHeight(theme.px(160))
        row = QHBoxLayout()
        row.addWidget(self.head, 1)
        row.addWidget(self.copy)
        self.column.addLayout(row)
        self.column.addWidget(self._ground)
        self.head.clicked.connect(lambda: self.set_open(not self.is_open()))
        self.copy.clicked.connect(lambda: app().clipboard().setText(self.text()))
        self._pouring = QTimer(self, singleShot=True, interval=0)
        self._pouring.timeout.connect(self._pour)
        self.set_open(False)
        self.refresh()

    def append(self, lines: Sequence[str]) -> None:
        """Some more lines; the view follows unless the reader scrolled up."""
        if not lines:
            return
        self._waiting.extend(lines)
        self.head.set_last(lines[-1])
        if self.is_open() and not self._pouring.isActive():
            self._pour()

    def clear(self) -> None:
        """No lines."""
        self._waiting.clear()
        self.lines.clear()
        self.head.set_last("")

    def text(self) -> str:
        """All that is kept."""
        poured = self.lines.toPlainText()
        if not self._waiting:
            return poured
        there = poured.split("\n") if poured else []
        return "\n".join([*there, *self._waiting][-MAX_LINES:])

    def _pour(self) -> None:
        """Lay out the next portion of what waits."""
        portion = [self._waiting.popleft() for _ in range(min(PORTION, len(self._waiting)))]
        if portion:
            self.lines.appendPlainText("\n".join(portion))
        if self._waiting:
            self._pouring.start()

    def is_open(self) -> bool:
        """Whether the lines are shown."""
        return not self._ground.isHidden()

    def set_open(self, opened: bool) -> None:
        """Show or hide the lines."""
        self._ground.setVisible(opened)
        self.copy.setVisible(opened)
        self.head.opened = opened
        if opened:
            self._pour()
        self.retranslate()
        self.head.update()

    def retranslate(self) -> None:
        """Our own words."""
        self.head.setText(self.tr("Details"))
        self.head.setAccessibleDescription(self.tr("open") if self.is_open() else self.tr("closed"))
        self.copy.setText(self.tr("Copy"))
        self.lines.setAccessibleName(self.tr("Log"))
        self.setAccessibleName(self.tr("Details"))

    def refresh(self) -> None:
        """Fonts of now."""
        self.lines.setFont(theme.font("mono"))
        super().refresh()


class _Head(KeyboardFocus, Live, QPushButton):
    def __init__(self) -> None:
        super().__init__()
        self.opened = False
        self._last = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.follow()

    def set_last(self, line: str) -> None:
        self._last = line.strip()
        self.update()

    def refresh(self) -> None:
        self.setFont(theme.font("body"))
        super().refresh()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(160), self.fontMetrics().height() + 19)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        if self.ringed:
            focus_ring(painter, rect, 6)
        elif self.underMouse():
            rounded(painter, rect, 8, theme.color("hover"))
        side = theme.px(16)
        draw_icon(painter, "log", "soft", 16, QRectF(10, 0, side, rect.height()))
        painter.setPen(theme.color("text"))
        painter.setFont(self.font())
        words = QRectF(10 + side + 12, 0, rect.width(), rect.height())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), self.text())
        chevron = QRectF(rect.width() - side - 10, 0, side, rect.height())
        draw_icon(painter, "up" if self.opened else "down", "soft", 16, chevron)
        if self._last and not self.opened:
            start = words.x() + self.fontMetrics().horizontalAdvance(self.text()) + 24
            room = QRectF(start, 0, chevron.x() - 12 - start, rect.height())
            painter.setFont(theme.font("mono"))
            painter.setPen(theme.color("soft"))
            text = painter.fontMetrics().elidedText(self._last, Qt.TextElideMode.ElideMiddle, round(room.width()))
            flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
            painter.drawText(room, flags, text)
