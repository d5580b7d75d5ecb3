"""A command to read, select and copy."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Live, announce, app, boxed, rounded
from .button import Button
from .picture import Icon
from .text import laid_out

COPIED_MS = 2000


class MonoText(KeyboardFocus, Live, QPlainTextEdit):
    """Selectable text of a terminal: as high as its lines, long ones break."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # The box below paints the ground.
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
        self.follow()

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("mono"))
        super().refresh()

    def hasHeightForWidth(self) -> bool:
        """It has."""
        return True

    def heightForWidth(self, width: int) -> int:
        """All lines, broken as narrow as this."""
        layout, _size = laid_out(self.toPlainText(), self.font(), max(width - 4, 20))
        # Qt rounds each line of a document up: many of them are higher than the font's own spacing says.
        return sum(ceil(layout.lineAt(number).height()) for number in range(layout.lineCount())) + 6

    def sizeHint(self) -> QSize:
        """One line of what is there."""
        return QSize(theme.px(240), self.heightForWidth(theme.px(2000)))

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(60, self.fontMetrics().lineSpacing() + 6)


class CommandBox(Live, QWidget):
    """Mono text on a sunken ground with a Copy button."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 3, 4, 3)
        row.setSpacing(10)
        self.text = MonoText(text)
        self.copy = Button(kind="ghost", icon="copy")
        self.copy.clicked.connect(self._copy)
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(COPIED_MS)
        self._copied.timeout.connect(self.retranslate)
        row.addWidget(Icon("terminal", "soft", 16))
        row.addWidget(self.text, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)  # in sight where the text begins, however long it is
        self.follow()

    def set_text(self, text: str) -> None:
        """Another command."""
        self.text.setPlainText(text)
        self.text.updateGeometry()  # its own: the layout remembers how high it was at this width

    def retranslate(self) -> None:
        """Our own words."""
        copied = self._copied.isActive()
        self.copy.setText(self.tr("Copied") if copied else self.tr("Copy"))
        self.copy.set_icon("check" if copied else "copy")
        self.text.setAccessibleName(self.tr("Command"))
        self.setAccessibleName(self.tr("Command"))

    def _copy(self) -> None:
        app().clipboard().setText(self.text.toPlainText())
        self._copied.start()
        self.retranslate()
        announce(self.copy, self.copy.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The sunken ground; a ring while the text has focus by keyboard."""
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        boxed(painter, rect, 8, "sunken")
        if self.text.ringed:
            rounded(painter, rect, 8, None, theme.color("focus"), width=2)
