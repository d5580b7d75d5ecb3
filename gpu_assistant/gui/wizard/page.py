"""What all pages of the wizard have in common.

WizardPage is a page that scrolls above a footer that does not. `build` makes the widgets once; `draw` puts texts and
figures in, on every `changed` of the controller while the page is visible, and when it is shown. ViewStateKeeper keeps
focus and scroll position across a redraw.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    """Let Tab go through the widgets in this order; without it, widgets that were created later come last."""
    for previous, following in pairwise(widgets):
        QWidget.setTabOrder(previous, following)


class WizardPage(Themed, QWidget):
    """A page with a primary button. Subclasses implement `build` and `draw`."""

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
        """The core's texts in the current language."""
        return self.controller.language.texts()

    def build(self) -> None:
        """Create the widgets; called once, by the constructor."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show the current state in the current language."""
        raise NotImplementedError

    @property
    def default_button(self) -> Button:
        """The button that Enter presses and that is drawn as the primary one."""
        return self.primary_button

    def highlight_default_button(self, *buttons: Button) -> None:
        """Draw the default button as the primary one, and the other ones of the page's primary button and `buttons`
        as secondary.
        """
        for button in (self.primary_button, *buttons):
            button.kind = "primary" if button is self.default_button else "secondary"
            button.update()

    def run_primary_action(self) -> None:
        """What the primary button does: go to the next page, unless a subclass says otherwise."""
        self.controller.go_next()

    def draw_if_visible(self) -> None:
        """Draw, unless the page is hidden: showing it draws it."""
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        self.draw()
        self.footer.update_layout()

    def retranslate(self) -> None:
        """Draw in a turn of its own, since all widgets take the fonts of the new language in this one."""
        if self.isVisible():
            self._retranslate_timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw, and focus the default button."""
        super().showEvent(event)
        self._draw()
        QTimer.singleShot(0, self, self.focus_primary)

    def focus_primary(self) -> None:
        """Focus the default button; while it cannot be pressed, the page itself, so that its keys scroll.

        Never a button that stops or removes something: Enter would press it.
        """
        button = self.default_button
        target = button if button.isVisible() and button.isEnabled() else self.page
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def add_back_button(self) -> Button:
        """Add a Back button to the footer."""
        back_button = self.footer.add_button(Button())
        back_button.clicked.connect(self.controller.go_back)
        return back_button


# The layout of wrapped text takes more than one turn of the event loop.
SCROLL_PASSES = 3


class ViewStateKeeper:
    """Keeps focus and scroll position: created before the page is redrawn, `restore` is called afterwards.

    A page that was not scrolled stays so as long as the focused widget is in sight: what appears above it is a verdict.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._was_at_top = page.verticalScrollBar().value() == 0
        focus = page.window().focusWidget()
        self._focus_widget = (
            focus if focus is not None and page.content.isAncestorOf(focus) and focus.isVisible() else None
        )
        self._focus_y = self._viewport_y(self._focus_widget)

    def _viewport_y(self, widget: QWidget | None) -> int:
        return widget.mapTo(self._page.viewport(), QPoint()).y() if widget is not None else 0

    def restore(self, fallbacks: Iterable[QWidget]) -> None:
        """Bring the focused widget back to its height in the viewport. If it is gone, the first of `fallbacks` that
        can take the focus gets it.
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
        if shiboken6.isValid(focus) and self._page.content.isAncestorOf(focus):
            self._page.scroll_to(focus)

    def _schedule_scroll(self, focus: QWidget, passes: int) -> None:
        QTimer.singleShot(0, self._page, lambda: self._restore_scroll(focus, passes))

    def _restore_scroll(self, focus: QWidget, passes: int) -> None:
        if not shiboken6.isValid(focus) or not self._page.content.isAncestorOf(focus):
            return
        self._page.content.layout().activate()  # type: ignore[union-attr]
        bar = self._page.verticalScrollBar()
        bottom = focus.mapTo(self._page.content, focus.rect().bottomLeft()).y()
        stays_at_top = self._was_at_top and bottom < self._page.viewport().height()
        bar.setValue(0 if stays_at_top else bar.value() + self._viewport_y(focus) - self._focus_y)
        if passes > 1:
            self._schedule_scroll(focus, passes - 1)
