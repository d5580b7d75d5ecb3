"""Text of command-line tools: their log to unfold, and commands to read, select and copy."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, announce, application, draw_box, draw_focus_ring, draw_rounded_rect
from .buttons import Button
from .cards import Card, InsetPanel
from .icons import IconWidget, draw_icon
from .inputs import use_slim_scroll_bars
from .text import layout_text

MAX_LOG_LINES, LINES_PER_BATCH = 5000, 150
COPIED_MESSAGE_MS = 2000


class LogDrawer(Card):
    """A log: closed it shows its last line, open all of them, the newest below.

    Lines are laid out in batches and only while it is open, so that the window answers however many come at once.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        self.header = _LogHeader()
        self.copy_button = Button(kind="ghost", icon_name="copy")
        self.text_edit = QPlainTextEdit()
        self._pending_lines: deque[str] = deque(maxlen=MAX_LOG_LINES)
        self._inset = InsetPanel()
        super().__init__(padding=8, parent=parent)
        self.column.setContentsMargins(8, 4, 8, 4)
        self._inset.column.setContentsMargins(0, 0, 0, 0)
        self._inset.column.addWidget(self.text_edit)
        self.text_edit.setFrameShape(QFrame.Shape.NoFrame)
        self.text_edit.viewport().setAutoFillBackground(False)
        use_slim_scroll_bars(self.text_edit)
        self.text_edit.setReadOnly(True)
        self.text_edit.setMaximumBlockCount(MAX_LOG_LINES)
        self.text_edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text_edit.setTabChangesFocus(True)
        self.text_edit.setMinimumHeight(theme.px(160))
        row = QHBoxLayout()
        row.addWidget(self.header, 1)
        row.addWidget(self.copy_button)
        self.column.addLayout(row)
        self.column.addWidget(self._inset)
        self.header.clicked.connect(lambda: self.set_open(not self.is_open()))
        self.copy_button.clicked.connect(lambda: application().clipboard().setText(self.text()))
        self._append_timer = QTimer(self, singleShot=True, interval=0)
        self._append_timer.timeout.connect(self._append_pending)
        self.set_open(False)
        self.refresh()

    def append(self, lines: Sequence[str]) -> None:
        """Append lines; the view follows unless the reader scrolled up."""
        if not lines:
            return
        self._pending_lines.extend(lines)
        self.header.set_last(lines[-1])
        if self.is_open() and not self._append_timer.isActive():
            self._append_pending()

    def clear(self) -> None:
        self._pending_lines.clear()
        self.text_edit.clear()
        self.header.set_last("")

    def text(self) -> str:
        """All lines, those not laid out yet too."""
        shown_text = self.text_edit.toPlainText()
        if not self._pending_lines:
            return shown_text
        shown_lines = shown_text.split("\n") if shown_text else []
        return "\n".join([*shown_lines, *self._pending_lines][-MAX_LOG_LINES:])

    def _append_pending(self) -> None:
        """Lay out the next batch."""
        batch = [self._pending_lines.popleft() for _ in range(min(LINES_PER_BATCH, len(self._pending_lines)))]
        if batch:
            self.text_edit.appendPlainText("\n".join(batch))
        if self._pending_lines:
            self._append_timer.start()

    def is_open(self) -> bool:
        return not self._inset.isHidden()

    def set_open(self, is_open: bool) -> None:
        self._inset.setVisible(is_open)
        self.copy_button.setVisible(is_open)
        self.header.is_open = is_open
        if is_open:
            self._append_pending()
        self.retranslate()
        self.header.update()

    def retranslate(self) -> None:
        self.header.setText(self.tr("Details"))
        self.header.setAccessibleDescription(self.tr("expanded") if self.is_open() else self.tr("collapsed"))
        self.copy_button.setText(self.tr("Copy"))
        self.text_edit.setAccessibleName(self.tr("Log"))
        self.setAccessibleName(self.tr("Details"))

    def refresh(self) -> None:
        self.text_edit.setFont(theme.font("mono"))
        super().refresh()


class _LogHeader(KeyboardFocus, Themed, QPushButton):
    def __init__(self) -> None:
        super().__init__()
        self.is_open = False
        self.last = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.apply_theme()

    def set_last(self, line: str) -> None:
        self.last = line.strip()
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
        if self.shows_focus_ring:
            draw_focus_ring(painter, rect, 6)
        elif self.underMouse():
            draw_rounded_rect(painter, rect, 8, theme.color("hover"))
        side = theme.px(16)
        draw_icon(painter, "log", "soft", 16, QRectF(10, 0, side, rect.height()))
        painter.setPen(theme.color("text"))
        painter.setFont(self.font())
        text_rect = QRectF(10 + side + 12, 0, rect.width(), rect.height())
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self.text())
        chevron = QRectF(rect.width() - side - 10, 0, side, rect.height())
        draw_icon(painter, "up" if self.is_open else "down", "soft", 16, chevron)
        if self.last and not self.is_open:
            start = text_rect.x() + self.fontMetrics().horizontalAdvance(self.text()) + 24
            last_line_rect = QRectF(start, 0, chevron.x() - 12 - start, rect.height())
            painter.setFont(theme.font("mono"))
            painter.setPen(theme.color("soft"))
            text = painter.fontMetrics().elidedText(
                self.last, Qt.TextElideMode.ElideMiddle, round(last_line_rect.width())
            )
            flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
            painter.drawText(last_line_rect, flags, text)


class CommandBox(Themed, QWidget):
    """A command on a sunken background, with a button that copies it."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 3, 4, 3)
        row.setSpacing(10)
        self.text_edit = MonospaceText(text)
        self.copy_button = Button(kind="ghost", icon_name="copy")
        self.copy_button.clicked.connect(self._copy_text)
        self._copied_timer = QTimer(self)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.setInterval(COPIED_MESSAGE_MS)
        self._copied_timer.timeout.connect(self.retranslate)
        row.addWidget(IconWidget("terminal", "soft", 16))
        row.addWidget(self.text_edit, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.copy_button, 0, Qt.AlignmentFlag.AlignTop)  # visible however long the command is
        self.apply_theme()

    def set_text(self, text: str) -> None:
        self.text_edit.setPlainText(text)
        self.text_edit.updateGeometry()  # the layout caches its height for this width

    def retranslate(self) -> None:
        just_copied = self._copied_timer.isActive()
        self.copy_button.setText(self.tr("Copied") if just_copied else self.tr("Copy"))
        self.copy_button.set_icon("check" if just_copied else "copy")
        self.text_edit.setAccessibleName(self.tr("Command"))
        self.setAccessibleName(self.tr("Command"))

    def _copy_text(self) -> None:
        application().clipboard().setText(self.text_edit.toPlainText())
        self._copied_timer.start()
        self.retranslate()
        announce(self.copy_button, self.copy_button.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        draw_box(painter, rect, 8, "sunken")
        if self.text_edit.shows_focus_ring:
            draw_rounded_rect(painter, rect, 8, None, theme.color("focus"), width=2)


class MonospaceText(KeyboardFocus, Themed, QPlainTextEdit):
    """Selectable monospaced text, as high as its lines; long lines wrap."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # The background is the CommandBox's.
        self.viewport().setAutoFillBackground(False)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setPlainText(text)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFont(theme.font("mono"))
        super().refresh()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout, _size = layout_text(self.toPlainText(), self.font(), max(width - 4, 20))
        # Qt rounds each line of a document up: many lines are higher than the font's line spacing.
        return sum(ceil(layout.lineAt(number).height()) for number in range(layout.lineCount())) + 6

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), self.heightForWidth(theme.px(2000)))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.fontMetrics().lineSpacing() + 6)
