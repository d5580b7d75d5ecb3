"""The disclosure behind every choice: why this, what else, says who."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .. import theme
from .base import Live, boxed
from .button import Button
from .picture import Icon
from .text import label

SIDE = 14
READABLE = 260  # the alternative's words beside its buttons have at least this, times the text scale


class Inset(Live, QWidget):
    """A sunken ground of radius 8 with a column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(SIDE, 10, SIDE, 10)
        self.column.setSpacing(6)
        self.follow()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The inset's ground."""
        del event
        boxed(QPainter(self), QRectF(self.rect()), 8, "sunken", None)


class Claim(Struct, frozen=True, kw_only=True):
    """A sentence, and who says so: the publisher's name and the address."""

    text: str
    source: tuple[str, str] | None = None


class Why(Live, QWidget):
    """`toggle` is the ghost button "Why"; a page may put it elsewhere, such as at the end of a row.

    `alternative_chosen` comes when the button of the alternative is pressed, `toggled` with the new state. What it
    says is laid out when it is opened.
    """

    alternative_chosen = Signal()
    toggled = Signal(bool)

    def __init__(self, *claims: Claim, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._claims: tuple[Claim, ...] = ()
        self._rows: list[_ClaimRow] = []
        self._room = 0
        self._offered = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.toggle = Button(kind="ghost", after="down")
        self.toggle.clicked.connect(lambda: self.set_open(not self.is_open()))
        self.inset = Inset()
        self._said = QVBoxLayout()
        self._said.setSpacing(4)
        self.alternative, self.choose = label("small", "", "text"), Button(kind="ghost")
        self.choose.clicked.connect(self.alternative_chosen)
        self._other = Icon("swap", "soft", 16)
        words = QHBoxLayout()
        self._last = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        words.setSpacing(8)
        words.addWidget(self._other)
        words.addWidget(self.alternative, 1)
        self._last.addLayout(words)
        self._last.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._last.addStretch(1)
        self.inset.column.addLayout(self._said)
        self.inset.column.addLayout(self._last)
        column.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.inset)
        self.set(*claims)
        self.set_open(False)
        self.follow()

    def set(self, *claims: Claim, alternative: tuple[str, str] | None = None) -> None:
        """Why, each claim with its own source; `alternative` is (sentence, button)."""
        self._claims = claims
        words, button = alternative or ("", "")
        self._offered = alternative is not None
        self.alternative.setText(words)
        self.choose.setText(button)
        for each in (self._other, self.alternative, self.choose):
            each.setVisible(self._offered)
        if self.is_open():
            self._lay_out()

    def text(self) -> str:
        """All that is claimed, a line each."""
        return "\n".join(claim.text for claim in self._claims)

    @property
    def sources(self) -> tuple[Button, ...]:
        """The buttons that lead to the sources, in the order of what they stand for."""
        return tuple(row.source for row in self._rows if not row.isHidden() and not row.source.isHidden())

    def retranslate(self) -> None:
        """Our own words."""
        self.toggle.setText(self.tr("Why"))
        self.setAccessibleName(self.tr("Why"))
        self.toggle.setAccessibleDescription(self.tr("open") if self.is_open() else self.tr("closed"))
        self._arrange()

    def refresh(self) -> None:
        """Larger text needs more room."""
        super().refresh()
        self._arrange()

    def set_room(self, room: int) -> None:
        """How wide it may be; its own width would be held up by its buttons."""
        self._room = room
        self._arrange()

    def _lay_out(self) -> None:
        while len(self._rows) < len(self._claims):
            self._rows.append(_ClaimRow())
            self._said.addWidget(self._rows[-1])
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(self._claims))
            if number < len(self._claims):
                row.set(self._claims[number])
        self._arrange()

    def _arrange(self) -> None:
        """Each button behind its sentence, or below where there is no room beside."""
        level = self._room - 2 * SIDE >= self.choose.sizeHint().width() + 8 + theme.px(READABLE)
        self._last.setDirection(QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom)
        # One above the other, what is pressed stands close to what it is about.
        self._last.setSpacing(8 if level else 0)
        if self.is_open():
            for row in self._rows:
                row.set_room(self._room - 2 * SIDE)

    def is_open(self) -> bool:
        """Whether the inset is shown."""
        return not self.inset.isHidden()

    def set_open(self, opened: bool) -> None:
        """Show or hide the inset."""
        if opened:
            self._lay_out()
        self.inset.setVisible(opened)
        self.toggle.set_icon(None, "up" if opened else "down")
        self.retranslate()
        self.toggled.emit(opened)


class _ClaimRow(Live, QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._claim = Claim(text="")
        self.sentence = label("small", "", "text")
        self.source = Button(kind="ghost", after="open", small=True)
        self.source.clicked.connect(self._open)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.addWidget(self.sentence, 1)
        self._line.addWidget(self.source, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self.follow()

    def set(self, claim: Claim) -> None:
        if claim != self._claim:
            self._claim = claim
            self.retranslate()

    def set_room(self, room: int) -> None:
        """Beside the sentence, or below it."""
        level = room >= self.source.sizeHint().width() + 8 + theme.px(READABLE)
        way = QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom
        if way != self._line.direction():
            self._line.setDirection(way)
        self._line.setSpacing(8 if level else 0)

    def retranslate(self) -> None:
        name, url = self._claim.source or ("", "")
        self.sentence.setText(self._claim.text)
        self.source.setVisible(self._claim.source is not None)
        self.source.setText(QCoreApplication.translate("Why", "Source: {name}").format(name=name))
        self.source.setToolTip(url)
        # Several of one publisher's: which claim it stands for.
        self.source.setAccessibleDescription(self._claim.text)

    def _open(self) -> None:
        if self._claim.source is not None:
            QDesktopServices.openUrl(QUrl(self._claim.source[1]))
