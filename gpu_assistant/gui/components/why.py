"""The disclosure behind every choice: why this, what else, says who."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from .. import theme
from .base import Live, boxed
from .button import Button
from .picture import Icon
from .text import label

LEVEL = 520  # below this width, times the text scale, the buttons stand below


class Inset(Live, QWidget):
    """A sunken ground of radius 8 with a column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(14, 12, 14, 12)
        self.column.setSpacing(10)
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.toggle = Button(kind="ghost", after="down")
        self.toggle.clicked.connect(lambda: self.set_open(not self.is_open()))
        self.inset = Inset()
        self.sentence = label("small", sentence, "text")
        self.alternative, self.choose = label("small", "", "text"), Button(kind="ghost")
        self.choose.clicked.connect(self.alternative_chosen)
        self.source = Button(kind="ghost", after="open")
        self.source.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._url)))
        self._other = Icon("swap", "soft", 16)
        words, self._last = QHBoxLayout(), QBoxLayout(QBoxLayout.Direction.LeftToRight)
        words.setSpacing(8)
        words.addWidget(self._other)
        words.addWidget(self.alternative, 1)
        self._last.setSpacing(8)
        self._last.addLayout(words)
        for button in (self.choose, self.source):
            self._last.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._last.insertStretch(2, 1)
        self.inset.column.addWidget(self.sentence)
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The buttons beside the alternative, or below it where there is no room."""
        super().resizeEvent(event)
        level = self.width() >= theme.px(LEVEL)
        self._last.setDirection(QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom)

    def is_open(self) -> bool:
        """Whether the inset is shown."""
        return not self.inset.isHidden()

    def set_open(self, opened: bool) -> None:
        """Show or hide the inset."""
        self.inset.setVisible(opened)
        self.toggle.set_icon(None, "up" if opened else "down")
        self.retranslate()
        self.toggled.emit(opened)
