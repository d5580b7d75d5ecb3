"""The pages beside the way: from the first page and from the recommendation, and back to it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from ..components.base import Themed
from . import install_words
from .base import WizardPage
from .road import WizardController

if TYPE_CHECKING:
    from ..bundle.given import LoadBundlePage
    from ..bundle.making import BundleCreator
    from ..bundle.page import CreateBundlePage

PageType = TypeVar("PageType", bound=WizardPage)


class SidePages(Themed, QWidget):
    """Each page is made when it is first shown. `making_made` hands over what makes folders, which comes late,
    `only_look` asks for the main area.
    """

    bundle_creator_created = Signal(object)
    main_area_requested = Signal()
    _opened_from_main_area = False
    controller: WizardController
    _stack: QStackedWidget

    @cached_property
    def load_bundle_page(self) -> LoadBundlePage:
        """Is the folder that was prepared elsewhere fit for this computer?"""
        from ..bundle.given import LoadBundlePage

        page = self._add_page(LoadBundlePage(self.controller))
        page.leave_requested.connect(self._leave_side_page)
        page.bundle_accepted.connect(self.controller.use_bundle)
        page.folder_chosen.connect(lambda: self._stack.setCurrentWidget(page))
        return page

    @cached_property
    def create_bundle_page(self) -> CreateBundlePage:
        """What does a computer without internet need?"""
        from ..bundle.page import CreateBundlePage

        page = self._add_page(CreateBundlePage(self.controller, self.bundle_creator))
        page.leave_requested.connect(self._leave_side_page)
        return page

    @cached_property
    def bundle_creator(self) -> BundleCreator:
        """Makes a folder for such a computer."""
        from ..bundle.making import BundleCreator

        creator = BundleCreator(self.controller.app, self)
        self.bundle_creator_created.emit(creator)
        return creator

    @property
    def is_creating_bundle(self) -> bool:
        """Whether a folder for another computer is being made."""
        return "making" in vars(self) and self.bundle_creator.is_running

    @property
    def kept_work_text(self) -> str:
        """What who stops what runs has later."""
        progress = self.bundle_creator.progress if self.is_creating_bundle else self.controller.progress
        return install_words.kept_work_text(progress, only_download_kept=False)

    def open_side_page(self, page: str) -> None:
        """From the main area straight to the page "prepare" or "given", whose way back leads there again; an install
        is not left.
        """
        if self.controller.flow.is_locked:
            return
        self._opened_from_main_area = True
        if page == "prepare":
            self.create_bundle_page.opened_from_main_area = True
            if self.controller.flow.state.machine is None:
                self.controller.detect()
            self._stack.setCurrentWidget(self.create_bundle_page)
        else:
            self._stack.setCurrentWidget(self.load_bundle_page)

    def _leave_side_page(self) -> None:
        """Back to where a page beside the way was opened from."""
        opened_from_main_area, self._opened_from_main_area = self._opened_from_main_area, False
        self._show_current_page()
        if opened_from_main_area:
            self.main_area_requested.emit()

    def _add_page(self, page: PageType) -> PageType:
        self._stack.addWidget(page)
        return page

    def _show_current_page(self) -> None:
        """Show the page of the way that is on."""
        raise NotImplementedError
