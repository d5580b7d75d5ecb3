"""A command to read, select and copy."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, announce, application, draw_box, draw_rounded_rect
from .button import Button
from .picture import IconWidget
from .text import layout_text

COPIED_MESSAGE_MS = 2000


class MonospaceText(KeyboardFocus, Themed, QPlainTextEdit):
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
        self.apply_theme()

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("mono"))
        super().refresh()

    def hasHeightForWidth(self) -> bool:
        """It has."""
        return True

    def heightForWidth(self, width: int) -> int:
        """All lines, broken as narrow as this."""
        layout, _size = layout_text(self.toPlainText(), self.font(), max(width - 4, 20))
        # Qt rounds each line of a document up: many of them are higher than the font's own spacing says.
        return sum(ceil(layout.lineAt(number).height()) for number in range(layout.lineCount())) + 6

    def sizeHint(self) -> QSize:
        """One line of what is there."""
        return QSize(theme.px(240), self.heightForWidth(theme.px(2000)))

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(60, self.fontMetrics().lineSpacing() + 6)


class CommandBox(Themed, QWidget):
    """Mono text on a sunken ground with a Copy button."""

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
        row.addWidget(self.copy_button, 0, Qt.AlignmentFlag.AlignTop)  # in sight where the text begins, however long it is
        self.apply_theme()

    def set_text(self, text: str) -> None:
        """Another command."""
        self.text_edit.setPlainText(text)
        self.text_edit.updateGeometry()  # its own: the layout remembers how high it was at this width

    def retranslate(self) -> None:
        """Our own words."""
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
        """The sunken ground; a ring while the text has focus by keyboard."""
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        draw_box(painter, rect, 8, "sunken")
        if self.text_edit.shows_focus_ring:
            draw_rounded_rect(painter, rect, 8, None, theme.color("focus"), width=2)
