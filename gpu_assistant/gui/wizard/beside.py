"""The pages beside the way: from the first page and from the recommendation, and back to it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtWidgets import QStackedWidget, QWidget

from ..components.base import Live
from .base import WizardPage
from .road import Road

if TYPE_CHECKING:
    from ..bundle.given import GivenPage
    from ..bundle.making import Making
    from ..bundle.page import PreparePage

PageKind = TypeVar("PageKind", bound=WizardPage)


class Beside(Live, QWidget):
    """Each page is made when it is first shown."""

    road: Road
    _stack: QStackedWidget

    @cached_property
    def given(self) -> GivenPage:
        """Is the folder that was prepared elsewhere fit for this computer?"""
        from ..bundle.given import GivenPage

        page = self._added(GivenPage(self.road))
        page.left.connect(self._moved)
        page.whole.connect(self.road.use_bundle)
        page.chosen.connect(lambda: self._stack.setCurrentWidget(page))
        return page

    @cached_property
    def prepare(self) -> PreparePage:
        """What does a computer without internet need?"""
        from ..bundle.page import PreparePage

        page = self._added(PreparePage(self.road, self.making))
        page.left.connect(self._moved)
        return page

    @cached_property
    def making(self) -> Making:
        """Makes a folder for such a computer."""
        from ..bundle.making import Making

        return Making(self.road.app, self)

    @property
    def preparing(self) -> bool:
        """Whether a folder for another computer is being made."""
        return "making" in vars(self) and self.making.running

    @property
    def came(self) -> bool:
        """Whether what runs has fetched anything that the next start need not fetch again."""
        if self.preparing:
            return self.making.came
        return self.road.progress is not None and self.road.progress.came

    def _added(self, page: PageKind) -> PageKind:
        self._stack.addWidget(page)
        return page

    def _moved(self) -> None:
        """Show the page of the way that is on."""
        raise NotImplementedError
