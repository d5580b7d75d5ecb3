"""What the wizard's pages have in common: a page that scrolls, a foot that does not, and the road they draw."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...texts import Texts
from ..components import Button, Footer, Page
from ..components.base import Live
from .road import Road


def chain(*widgets: QWidget) -> None:
    """Tab goes from one to the next; what was made later would else come last."""
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


class WizardPage(Live, QWidget):
    """`build` makes the parts once; `draw` puts words and figures in, again after every change."""

    def __init__(self, road: Road) -> None:
        super().__init__()
        self.road = road
        self.page = Page()
        self.footer = Footer()
        self.primary = Button(kind="primary")
        self._worded = QTimer(self, singleShot=True, interval=0)
        self._worded.timeout.connect(self.draw_if_seen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.page, 1)
        column.addWidget(self.footer)
        self.build()
        self.primary.clicked.connect(self.go_on)
        road.changed.connect(self.draw_if_seen)
        self.follow()

    @property
    def texts(self) -> Texts:
        """The core's sentences in the language of now."""
        return self.road.language.texts()

    def build(self) -> None:
        """Make the parts."""
        raise NotImplementedError

    def draw(self) -> None:
        """Words and figures of now."""
        raise NotImplementedError

    @property
    def way_on(self) -> Button:
        """The button that Enter presses: the one that looks like a primary."""
        return self.primary

    def mark_way_on(self, *buttons: Button) -> None:
        """Let the way on, among the page's primary and `buttons`, be the one that looks so."""
        for button in (self.primary, *buttons):
            button.kind = "primary" if button is self.way_on else "secondary"
            button.update()

    def go_on(self) -> None:
        """What the primary does."""
        self.road.next()

    def draw_if_seen(self) -> None:
        """Draw, unless nobody sees it: showing draws."""
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        self.draw()
        self.footer.fit()

    def ahead(self) -> list[Callable[[], object]]:
        """What can be made before somebody opens it, a little in each call."""
        return []

    def prepare(self) -> None:
        """Draw ahead, while nobody looks."""
        if not self.isVisible():
            self._draw()

    def retranslate(self) -> None:
        """All words again, in a turn of their own: first all widgets take the fonts of the language. A page that
        nobody sees draws when it is shown.
        """
        if self.isVisible():
            self._worded.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up, and put the focus where the way goes on."""
        super().showEvent(event)
        self._draw()
        QTimer.singleShot(0, self, self.focus_primary)

    def focus_primary(self) -> None:
        """Focus on the way on of a finished page."""
        button = self.way_on
        if button.isVisible() and button.isEnabled():
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def add_back(self) -> Button:
        """The footer's way back."""
        back = self.footer.add(Button())
        back.clicked.connect(self.road.back)
        return back
