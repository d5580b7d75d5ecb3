"""The disclosure behind every choice: why this, what else, says who.

What the tools wrote, for those who want to see it.

A command to read, select and copy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import ceil

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent, QPainter, QPaintEvent, QTextOption
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from .. import theme
from .base import KeyboardFocus, Themed, announce, application, draw_box, draw_focus_ring, draw_rounded_rect
from .buttons import Button
from .cards import Card
from .icons import IconWidget, draw_icon
from .inputs import use_slim_scroll_bars
from .text import label, layout_text

INSET_MARGIN = 14
MIN_TEXT_WIDTH = 260  # the alternative's words beside its buttons have at least this, times the text scale


class InsetPanel(Themed, QWidget):
    """A sunken ground of radius 8 with a column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(INSET_MARGIN, 10, INSET_MARGIN, 10)
        self.column.setSpacing(6)
        self.apply_theme()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The inset's ground."""
        del event
        draw_box(QPainter(self), QRectF(self.rect()), 8, "sunken", None)


class SourcedClaim(Struct, frozen=True, kw_only=True):
    """A sentence, and who says so: the publisher's name and the address."""

    text: str
    source: tuple[str, str] | None = None


class Disclosure(Themed, QWidget):
    """`toggle` is the ghost button "Why"; a page may put it elsewhere, such as at the end of a row.

    `alternative_chosen` comes when the button of the alternative is pressed, `toggled` with the new state. What it
    says is laid out when it is opened.
    """

    alternative_chosen = Signal()
    toggled = Signal(bool)

    def __init__(self, *claims: SourcedClaim, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._claims: tuple[SourcedClaim, ...] = ()
        self._rows: list[_ClaimRow] = []
        self._available_width = 0
        self._has_alternative = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.toggle_button = Button(kind="ghost", trailing_icon="down")
        self.toggle_button.clicked.connect(lambda: self.set_open(not self.is_open()))
        self.inset = InsetPanel()
        self._claims_layout = QVBoxLayout()
        self._claims_layout.setSpacing(4)
        self.alternative_label, self.alternative_button = label("small", "", "text"), Button(kind="ghost")
        self.alternative_button.clicked.connect(self.alternative_chosen)
        self._alternative_icon = IconWidget("swap", "soft", 16)
        sentence_layout = QHBoxLayout()
        self._alternative_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        sentence_layout.setSpacing(8)
        sentence_layout.addWidget(self._alternative_icon)
        sentence_layout.addWidget(self.alternative_label, 1)
        self._alternative_layout.addLayout(sentence_layout)
        self._alternative_layout.addWidget(
            self.alternative_button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self._alternative_layout.addStretch(1)
        self.inset.column.addLayout(self._claims_layout)
        self.inset.column.addLayout(self._alternative_layout)
        column.addWidget(self.toggle_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.inset)
        self.set_claims(*claims)
        self.set_open(False)
        self.apply_theme()

    def set_claims(self, *claims: SourcedClaim, alternative: tuple[str, str] | None = None) -> None:
        """Why, each claim with its own source; `alternative` is (sentence, button)."""
        self._claims = claims
        sentence, button_text = alternative or ("", "")
        self._has_alternative = alternative is not None
        self.alternative_label.setText(sentence)
        self.alternative_button.setText(button_text)
        for each in (self._alternative_icon, self.alternative_label, self.alternative_button):
            each.setVisible(self._has_alternative)
        if self.is_open():
            self._update_claims()

    def text(self) -> str:
        """All that is claimed, a line each."""
        return "\n".join(claim.text for claim in self._claims)

    @property
    def source_buttons(self) -> tuple[Button, ...]:
        """The buttons that lead to the sources, in the order of what they stand for."""
        return tuple(row.source_button for row in self._rows if not row.isHidden() and not row.source_button.isHidden())

    def retranslate(self) -> None:
        """Our own words."""
        self.toggle_button.setText(self.tr("Why"))
        self.setAccessibleName(self.tr("Why"))
        self.toggle_button.setAccessibleDescription(self.tr("open") if self.is_open() else self.tr("closed"))
        self._update_layout()

    def refresh(self) -> None:
        """Larger text needs more room."""
        super().refresh()
        self._update_layout()

    def set_available_width(self, width: int) -> None:
        """How wide it may be; its own width would be held up by its buttons."""
        self._available_width = width
        self._update_layout()

    def _update_claims(self) -> None:
        while len(self._rows) < len(self._claims):
            self._rows.append(_ClaimRow())
            self._claims_layout.addWidget(self._rows[-1])
        for index, row in enumerate(self._rows):
            row.setVisible(index < len(self._claims))
            if index < len(self._claims):
                row.set_claim(self._claims[index])
        self._update_layout()

    def _update_layout(self) -> None:
        """Each button behind its sentence, or below where there is no room beside."""
        one_row = self._available_width - 2 * INSET_MARGIN >= self.alternative_button.sizeHint().width() + 8 + theme.px(
            MIN_TEXT_WIDTH
        )
        self._alternative_layout.setDirection(
            QBoxLayout.Direction.LeftToRight if one_row else QBoxLayout.Direction.TopToBottom
        )
        # One above the other, what is pressed stands close to what it is about.
        self._alternative_layout.setSpacing(8 if one_row else 0)
        if self.is_open():
            for row in self._rows:
                row.set_available_width(self._available_width - 2 * INSET_MARGIN)

    def is_open(self) -> bool:
        """Whether the inset is shown."""
        return not self.inset.isHidden()

    def set_open(self, is_open: bool) -> None:
        """Show or hide the inset."""
        if is_open:
            self._update_claims()
        self.inset.setVisible(is_open)
        self.toggle_button.set_icon(None, "up" if is_open else "down")
        self.retranslate()
        self.toggled.emit(is_open)


class _ClaimRow(Themed, QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._claim = SourcedClaim(text="")
        self.text_label = label("small", "", "text")
        self.source_button = Button(kind="ghost", trailing_icon="open", small=True)
        self.source_button.clicked.connect(self._open_source)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addWidget(self.text_label, 1)
        self._layout.addWidget(self.source_button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self.apply_theme()

    def set_claim(self, claim: SourcedClaim) -> None:
        if claim != self._claim:
            self._claim = claim
            self.retranslate()

    def set_available_width(self, width: int) -> None:
        """Beside the sentence, or below it."""
        one_row = width >= self.source_button.sizeHint().width() + 8 + theme.px(MIN_TEXT_WIDTH)
        direction = QBoxLayout.Direction.LeftToRight if one_row else QBoxLayout.Direction.TopToBottom
        if direction != self._layout.direction():
            self._layout.setDirection(direction)
        self._layout.setSpacing(8 if one_row else 0)

    def retranslate(self) -> None:
        name, url = self._claim.source or ("", "")
        self.text_label.setText(self._claim.text)
        self.source_button.setVisible(self._claim.source is not None)
        self.source_button.setText(QCoreApplication.translate("Why", "Source: {name}").format(name=name))
        self.source_button.setToolTip(url)
        # Several of one publisher's: which claim it stands for.
        self.source_button.setAccessibleDescription(self._claim.text)

    def _open_source(self) -> None:
        if self._claim.source is not None:
            QDesktopServices.openUrl(QUrl(self._claim.source[1]))


MAX_LOG_LINES, LINES_PER_BATCH = 5000, 150


class LogDrawer(Card):
    """Closed it shows the last line; open all of them, newest below. Lines come in batches.

    However many come at once, the window answers: they are laid out in portions, and not before somebody reads them.
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
        """Some more lines; the view follows unless the reader scrolled up."""
        if not lines:
            return
        self._pending_lines.extend(lines)
        self.header.set_last(lines[-1])
        if self.is_open() and not self._append_timer.isActive():
            self._append_pending()

    def clear(self) -> None:
        """No lines."""
        self._pending_lines.clear()
        self.text_edit.clear()
        self.header.set_last("")

    def text(self) -> str:
        """All that is kept."""
        shown_text = self.text_edit.toPlainText()
        if not self._pending_lines:
            return shown_text
        shown_lines = shown_text.split("\n") if shown_text else []
        return "\n".join([*shown_lines, *self._pending_lines][-MAX_LOG_LINES:])

    def _append_pending(self) -> None:
        """Lay out the next portion of what waits."""
        batch = [self._pending_lines.popleft() for _ in range(min(LINES_PER_BATCH, len(self._pending_lines)))]
        if batch:
            self.text_edit.appendPlainText("\n".join(batch))
        if self._pending_lines:
            self._append_timer.start()

    def is_open(self) -> bool:
        """Whether the lines are shown."""
        return not self._inset.isHidden()

    def set_open(self, is_open: bool) -> None:
        """Show or hide the lines."""
        self._inset.setVisible(is_open)
        self.copy_button.setVisible(is_open)
        self.header.is_open = is_open
        if is_open:
            self._append_pending()
        self.retranslate()
        self.header.update()

    def retranslate(self) -> None:
        """Our own words."""
        self.header.setText(self.tr("Details"))
        self.header.setAccessibleDescription(self.tr("open") if self.is_open() else self.tr("closed"))
        self.copy_button.setText(self.tr("Copy"))
        self.text_edit.setAccessibleName(self.tr("Log"))
        self.setAccessibleName(self.tr("Details"))

    def refresh(self) -> None:
        """Fonts of now."""
        self.text_edit.setFont(theme.font("mono"))
        super().refresh()


class _LogHeader(KeyboardFocus, Themed, QPushButton):
    def __init__(self) -> None:
        super().__init__()
        self.is_open = False
        self._last = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.apply_theme()

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
        if self._last and not self.is_open:
            start = text_rect.x() + self.fontMetrics().horizontalAdvance(self.text()) + 24
            last_line_rect = QRectF(start, 0, chevron.x() - 12 - start, rect.height())
            painter.setFont(theme.font("mono"))
            painter.setPen(theme.color("soft"))
            text = painter.fontMetrics().elidedText(
                self._last, Qt.TextElideMode.ElideMiddle, round(last_line_rect.width())
            )
            flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
            painter.drawText(last_line_rect, flags, text)


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
        row.addWidget(
            self.copy_button, 0, Qt.AlignmentFlag.AlignTop
        )  # in sight where the text begins, however long it is
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
