"""The pages beside the way: from the first page and from the recommendation, and back to it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from ..components.base import Live
from . import install_words
from .base import WizardPage
from .road import Road

if TYPE_CHECKING:
    from ..bundle.given import GivenPage
    from ..bundle.making import Making
    from ..bundle.page import PreparePage

PageKind = TypeVar("PageKind", bound=WizardPage)


class Beside(Live, QWidget):
    """Each page is made when it is first shown. `making_made` hands over what makes folders, which comes late,
    `only_look` asks for the main area.
    """

    making_made = Signal(object)
    only_look = Signal()
    _guest = False
    road: Road
    _stack: QStackedWidget

    @cached_property
    def given(self) -> GivenPage:
        """Is the folder that was prepared elsewhere fit for this computer?"""
        from ..bundle.given import GivenPage

        page = self._added(GivenPage(self.road))
        page.left.connect(self._away)
        page.whole.connect(self.road.use_bundle)
        page.chosen.connect(lambda: self._stack.setCurrentWidget(page))
        return page

    @cached_property
    def prepare(self) -> PreparePage:
        """What does a computer without internet need?"""
        from ..bundle.page import PreparePage

        page = self._added(PreparePage(self.road, self.making))
        page.left.connect(self._away)
        return page

    @cached_property
    def making(self) -> Making:
        """Makes a folder for such a computer."""
        from ..bundle.making import Making

        made = Making(self.road.app, self)
        self.making_made.emit(made)
        return made

    @property
    def preparing(self) -> bool:
        """Whether a folder for another computer is being made."""
        return "making" in vars(self) and self.making.running

    @property
    def kept(self) -> str:
        """What who stops what runs has later."""
        progress = self.making.progress if self.preparing else self.road.progress
        return install_words.kept(progress, late=False)

    def open_beside(self, page: str) -> None:
        """From the main area straight to the page "prepare" or "given", whose way back leads there again; an install
        is not left.
        """
        if self.road.flow.locked:
            return
        self._guest = True
        if page == "prepare":
            self.prepare.guest = True
            if self.road.flow.facts.machine is None:
                self.road.look()
            self._stack.setCurrentWidget(self.prepare)
        else:
            self._stack.setCurrentWidget(self.given)

    def _away(self) -> None:
        """Back to where a page beside the way was opened from."""
        guest, self._guest = self._guest, False
        self._moved()
        if guest:
            self.only_look.emit()

    def _added(self, page: PageKind) -> PageKind:
        self._stack.addWidget(page)
        return page

    def _moved(self) -> None:
        """Show the page of the way that is on."""
        raise NotImplementedError
