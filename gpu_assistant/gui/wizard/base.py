"""What the wizard's pages have in common: a page that scrolls, a foot that does not, and the road they draw."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...texts import Texts
from ..components import Button, Footer, Page
from ..components.base import Themed
from .road import WizardController


def set_tab_order(*widgets: QWidget) -> None:
    """Tab goes from one to the next; what was made later would else come last."""
    for previous, following in pairwise(widgets):
        QWidget.setTabOrder(previous, following)


class WizardPage(Themed, QWidget):
    """`build` makes the parts once; `draw` puts words and figures in, again after every change."""

    def __init__(self, controller: WizardController) -> None:
        super().__init__()
        self.controller = controller
        self.page = Page()
        self.footer = Footer()
        self.primary_button = Button(kind="primary")
        self._retranslate_timer = QTimer(self, singleShot=True, interval=0)
        self._retranslate_timer.timeout.connect(self.draw_if_visible)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.page, 1)
        column.addWidget(self.footer)
        self.build()
        self.primary_button.clicked.connect(self.run_primary_action)
        controller.changed.connect(self.draw_if_visible)
        self.apply_theme()

    @property
    def texts(self) -> Texts:
        """The core's sentences in the language of now."""
        return self.controller.language.texts()

    def build(self) -> None:
        """Make the parts."""
        raise NotImplementedError

    def draw(self) -> None:
        """Words and figures of now."""
        raise NotImplementedError

    @property
    def default_button(self) -> Button:
        """The button that Enter presses: the one that looks like a primary."""
        return self.primary_button

    def highlight_default_button(self, *buttons: Button) -> None:
        """Let the way on, among the page's primary and `buttons`, be the one that looks so."""
        for button in (self.primary_button, *buttons):
            button.kind = "primary" if button is self.default_button else "secondary"
            button.update()

    def run_primary_action(self) -> None:
        """What the primary does."""
        self.controller.go_next()

    def draw_if_visible(self) -> None:
        """Draw, unless nobody sees it: showing draws."""
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        self.draw()
        self.footer.update_layout()

    def preload_steps(self) -> list[Callable[[], object]]:
        """What can be made before somebody opens it, a little in each call."""
        return []

    def draw_while_hidden(self) -> None:
        """Draw ahead, while nobody looks."""
        if not self.isVisible():
            self._draw()

    def retranslate(self) -> None:
        """All words again, in a turn of their own: first all widgets take the fonts of the language. A page that
        nobody sees draws when it is shown.
        """
        if self.isVisible():
            self._retranslate_timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up, and put the focus where the way goes on."""
        super().showEvent(event)
        self._draw()
        QTimer.singleShot(0, self, self.focus_primary)

    def focus_primary(self) -> None:
        """Focus on the way on of a finished page."""
        button = self.default_button
        if button.isVisible() and button.isEnabled():
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def add_back_button(self) -> Button:
        """The footer's way back."""
        back = self.footer.add_button(Button())
        back.clicked.connect(self.controller.go_back)
        return back
