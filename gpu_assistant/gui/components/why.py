"""The disclosure behind every choice: why this, what else, says who."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, QUrl, Signal
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


class Why(Live, QWidget):
    """`toggle` is the ghost button "Why"; a page may put it elsewhere, such as at the end of a row.

    `alternative_chosen` comes when the button of the alternative is pressed, `toggled` with the new state.
    """

    alternative_chosen = Signal()
    toggled = Signal(bool)

    def __init__(self, sentence: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = self._url = ""
        self._room = 0
        self._form: tuple[bool, bool] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.toggle = Button(kind="ghost", after="down")
        self.toggle.clicked.connect(lambda: self.set_open(not self.is_open()))
        self.inset = Inset()
        self.sentence = label("small", sentence, "text")
        self.alternative, self.choose = label("small", "", "text"), Button(kind="ghost")
        self.choose.clicked.connect(self.alternative_chosen)
        self.source = Button(kind="ghost", after="open", small=True)
        self.source.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._url)))
        self._other = Icon("swap", "soft", 16)
        words, self._first = QHBoxLayout(), QHBoxLayout()
        self._last = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        words.setSpacing(8)
        words.addWidget(self._other)
        words.addWidget(self.alternative, 1)
        self._first.addWidget(self.sentence, 1)
        self._last.addLayout(words)
        self._last.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._last.addStretch(1)
        self.inset.column.addLayout(self._first)
        self.inset.column.addLayout(self._last)
        column.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.inset)
        self.set(sentence)
        self.set_open(False)
        self.follow()

    def set(
        self,
        sentence: str,
        *,
        alternative: tuple[str, str] | None = None,
        source: tuple[str, str] | None = None,
    ) -> None:
        """Why; `alternative` is (sentence, button), `source` is (name, address)."""
        self.sentence.setText(sentence)
        words, button = alternative or ("", "")
        self.alternative.setText(words)
        self.choose.setText(button)
        for each in (self._other, self.alternative, self.choose):
            each.setVisible(alternative is not None)
        self._name, self._url = source or ("", "")
        self.source.setVisible(source is not None)
        self.source.setToolTip(self._url)
        self.retranslate()

    def retranslate(self) -> None:
        """Our own words."""
        self.toggle.setText(self.tr("Why"))
        self.setAccessibleName(self.tr("Why"))
        self.source.setText(self.tr("Source: {name}").format(name=self._name))
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

    def _arrange(self) -> None:
        """The source at the end of the last line there is, each button below where there is no room beside."""
        offered = not self.choose.isHidden()
        shown = [each for each in (self.choose, self.source) if not each.isHidden()]
        beside = sum(each.sizeHint().width() + 8 for each in shown)
        level = self._room - 2 * SIDE >= beside + theme.px(READABLE)
        form = (level, offered)
        if form == self._form:
            return
        self._form = form
        self._last.setDirection(QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom)
        # One above the other, what is pressed stands close to what it is about.
        self._last.setSpacing(8 if level else 0)
        for line in (self._first, self._last):
            line.removeWidget(self.source)
        line = self._last if offered or not level else self._first
        where = Qt.AlignmentFlag.AlignVCenter if offered else Qt.AlignmentFlag.AlignBottom
        line.addWidget(self.source, 0, where | Qt.AlignmentFlag.AlignLeft)

    def is_open(self) -> bool:
        """Whether the inset is shown."""
        return not self.inset.isHidden()

    def set_open(self, opened: bool) -> None:
        """Show or hide the inset."""
        self.inset.setVisible(opened)
        self.toggle.set_icon(None, "up" if opened else "down")
        self.retranslate()
        self.toggled.emit(opened)
