"""What the wizard's pages have in common: a page that scrolls, a foot that does not, and the road they draw.

What the user has in hand stays where it is while a page is drawn anew: the keyboard's place, and its height.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import shiboken6
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...texts.localized import Texts
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.page import Footer, Page
from .controller import WizardController


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


# Wrapped words find their height in more than one turn of the event loop.
SCROLL_PASSES = 3


class ViewStateKeeper:
    """Made before the drawing; `keep` is called after it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        focus = page.window().focusWidget()
        self._focus_widget = (
            focus if focus is not None and page.content.isAncestorOf(focus) and focus.isVisible() else None
        )
        self._focus_y = self._viewport_y(self._focus_widget)

    def _viewport_y(self, widget: QWidget | None) -> int:
        return widget.mapTo(self._page.viewport(), QPoint()).y() if widget is not None else 0

    def restore(self, fallbacks: Iterable[QWidget]) -> None:
        """Keyboard and scroll place as before; where what had the keyboard is gone, the first of `instead` that is
        there takes it.
        """
        focus = self._focus_widget
        if focus is None:
            return
        if not shiboken6.isValid(focus) or not focus.isVisible():
            candidates = (each for each in fallbacks if each.isVisible() and each.isEnabled())
            if (fallback := next(candidates, None)) is not None:
                fallback.setFocus(Qt.FocusReason.OtherFocusReason)
                QTimer.singleShot(0, self._page, lambda: self._scroll_into_view(fallback))
        elif not 0 <= self._focus_y <= self._page.viewport().height():
            return
        else:
            self._schedule_scroll(focus, SCROLL_PASSES)

    def _scroll_into_view(self, focus: QWidget) -> None:
        """What has the keyboard now is in sight."""
        if shiboken6.isValid(focus) and self._page.content.isAncestorOf(focus):
            self._page.content.layout().activate()  # type: ignore[union-attr]
            self._page.ensureWidgetVisible(focus)

    def _schedule_scroll(self, focus: QWidget, passes: int) -> None:
        QTimer.singleShot(0, self._page, lambda: self._restore_scroll(focus, passes))

    def _restore_scroll(self, focus: QWidget, passes: int) -> None:
        if not shiboken6.isValid(focus) or not self._page.content.isAncestorOf(focus):
            return
        self._page.content.layout().activate()  # type: ignore[union-attr]
        bar = self._page.verticalScrollBar()
        bar.setValue(bar.value() + self._viewport_y(focus) - self._focus_y)
        if passes > 1:
            self._schedule_scroll(focus, passes - 1)
