"""The wizard as a widget: the step rail at the left, its pages at the right.

The pages beside the way: from the first page and from the recommendation, and back to it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from ..language import Language
from ..saving import SettingsSaver
from ..widgets.base import Themed
from ..widgets.cards import Banner
from ..widgets.navigation import LanguageMenu, RailButton, StepRail, ThemeMenu, lay_out_with_rail
from .controller import WizardController
from .flow import PAGES, PageName, WizardFlow
from .page import WizardPage
from .pages.install import messages
from .preload import PagePreloader

if TYPE_CHECKING:
    from ...app import App
    from ..bundle.create import BundleCreator
    from ..bundle.load import LoadBundlePage
    from ..bundle.page import CreateBundlePage
    from .pages.computer import ComputerPage
    from .pages.done import DonePage
    from .pages.install.page import InstallPage
    from .pages.recommendation.page import RecommendationPage
    from .pages.welcome import WelcomePage


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
        from ..bundle.load import LoadBundlePage

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
        from ..bundle.create import BundleCreator

        creator = BundleCreator(self.controller.app, self)
        self.bundle_creator_created.emit(creator)
        return creator

    @property
    def is_creating_bundle(self) -> bool:
        """Whether a folder for another computer is being made."""
        return "bundle_creator" in vars(self) and self.bundle_creator.is_running

    @property
    def kept_work_text(self) -> str:
        """What who stops what runs has later."""
        progress = self.bundle_creator.progress if self.is_creating_bundle else self.controller.progress
        return messages.kept_work_text(progress, only_download_kept=False)

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


PRELOAD_DELAY_MS = 600


class Wizard(SidePages):
    """`finished` comes when the user goes to Home, `only_look` when they want Home without a setup."""

    finished = Signal()

    def __init__(self, app: App, language: Language, saver: SettingsSaver | None = None) -> None:
        super().__init__()
        self.app = app
        self.language = language
        self._saver = saver or SettingsSaver(app, self)
        self.controller = WizardController(app, language, self)
        self.controller.speed_limit_changed.connect(lambda rate: self._saver.save(speed_limit=rate))
        self.rail = StepRail([("", "")] * len(PAGES))
        self.language_menu, self.theme_menu = LanguageMenu(language), ThemeMenu()
        self.help_button = RailButton("help", "F1")
        self.rail.add_footer_row(self.theme_menu)
        self.rail.add_footer_row(self.language_menu, self.help_button)
        self.banner = Banner("simulated")
        self.banner.setVisible(app.simulated)
        self._stack = QStackedWidget()
        self.preloader = PagePreloader(self.page, self)
        self._preload_timer = QTimer(self)
        self._preload_timer.setSingleShot(True)
        self._preload_timer.setInterval(PRELOAD_DELAY_MS)
        self._preload_timer.timeout.connect(self._preload_next)
        lay_out_with_rail(self, self.rail, self.banner, self._stack)
        self._connect_signals()
        self._add_shortcuts()
        self._show_current_page()
        self._painted = False
        self.apply_theme()

    def paintEvent(self, event: QPaintEvent) -> None:
        """What reads the disk waits until the first page stands on the screen."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.controller.find_interrupted_install)

    # Each page is made when it is first shown: the first one stands on the screen the sooner.

    @cached_property
    def welcome(self) -> WelcomePage:
        """Shall I begin?"""
        from .pages.welcome import WelcomePage

        page = self._add_page(WelcomePage(self.controller))
        page.main_area_requested.connect(self.main_area_requested)
        page.offline_requested.connect(lambda: self.load_bundle_page.create_folder_dialog().open())
        page.language_chosen.connect(self._choose_language)
        return page

    @cached_property
    def computer(self) -> ComputerPage:
        """What have I got?"""
        from .pages.computer import ComputerPage

        return self._add_page(ComputerPage(self.controller))

    @cached_property
    def recommendation(self) -> RecommendationPage:
        """What should I install, and why?"""
        from .pages.recommendation.page import RecommendationPage

        page = self._add_page(RecommendationPage(self.controller, self.preloader.part_cards))
        page.offline_requested.connect(lambda: self._stack.setCurrentWidget(self.create_bundle_page))
        return page

    @cached_property
    def install(self) -> InstallPage:
        """What is happening, how long, can I leave?"""
        from .pages.install.page import InstallPage

        page = self._add_page(InstallPage(self.controller))
        page.folder_requested.connect(self._choose_other_folder)
        return page

    @cached_property
    def done(self) -> DonePage:
        """Does it really work?"""
        from .pages.done import DonePage

        page = self._add_page(DonePage(self.controller))
        page.home_requested.connect(self._finish)
        return page

    @property
    def current_page(self) -> WizardPage:
        """The page that is to be seen."""
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, WizardPage) else self.page(self.flow.page)

    def page(self, name: PageName) -> WizardPage:
        """A page by its name."""
        match name:
            case "welcome":
                return self.welcome
            case "computer":
                return self.computer
            case "recommendation":
                return self.recommendation
            case "install":
                return self.install
            case "done":
                return self.done

    @property
    def flow(self) -> WizardFlow:
        """The rules, and what is known."""
        return self.controller.flow

    def retranslate(self) -> None:
        """The rail's and the banner's words."""
        self.rail.set_steps(
            [
                (self.tr("Welcome"), ""),
                (self.tr("This computer"), self.tr("What is in it")),
                (self.tr("Recommendation"), self.tr("What suits it, and why")),
                (self.tr("Install"), self.tr("Download and set up")),
                (self.tr("Done"), self.tr("The proof")),
            ]
        )
        machine = self.app.simulated_machine
        if machine is not None:
            from .pages.machine_summary import system_name

            names = [gpu.name for gpu in machine.gpus if gpu.name] or [system_name(machine)]
            text = self.tr("Simulated machine: {name}. Nothing is executed.")
            self.banner.set("simulated", text.format(name=names[0]))
        self.help_button.setAccessibleName(self.tr("Help"))
        self.setAccessibleName(self.tr("Setup"))

    def _connect_signals(self) -> None:
        self.rail.chosen.connect(lambda number: self.controller.go_to(PAGES[number]))
        self.controller.page_changed.connect(self._show_current_page)
        self.controller.changed.connect(self._update_rail)
        self.controller.changed.connect(self._preload_for_plan)
        self.language_menu.chosen.connect(lambda code: self._saver.save(language=code))
        self.theme_menu.chosen.connect(lambda choice: self._saver.save(theme=choice))
        self.help_button.clicked.connect(self.show_help)

    def _add_shortcuts(self) -> None:
        for key, action in (
            ("Alt+Left", self._go_back),
            ("F5", self._detect_again),
            ("F1", self.show_help),
        ):
            QShortcut(QKeySequence(key), self).activated.connect(action)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter that nobody took presses the way on; Esc asks whether to stop a running install."""
        button = self.current_page.default_button
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if button.isVisible() and button.isEnabled() and not button.busy and not event.isAutoRepeat():
                button.click()
        elif event.key() == Qt.Key.Key_Escape and self.flow.state.stage == "running":
            self.install.confirm_stop()
        elif (
            event.key() == Qt.Key.Key_Escape
            and self.is_creating_bundle
            and self.current_page is self.create_bundle_page
        ):
            self.create_bundle_page.confirm_stop()
        elif not self.current_page.page.scroll_by_key(event):
            super().keyPressEvent(event)

    def show_help(self) -> None:
        """The short help of F1."""
        from ..help import WizardHelpDialog

        dialog = WizardHelpDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _go_back(self) -> None:
        """From a page beside the way to the one that it was opened from, else one page back."""
        if self.current_page is not self.page(self.flow.page):
            self._leave_side_page()
        else:
            self.controller.go_back()

    def _show_current_page(self) -> None:
        self.preloader.stop()
        self._stack.setCurrentWidget(self.page(self.flow.page))
        self._update_rail()
        self._preload_timer.start()

    def _preload_next(self) -> None:
        """While one page is read, make the next, so that it stands there at once."""
        later = PAGES[PAGES.index(self.flow.page) + 1 :]
        # While an install runs, nothing else is as important as that its end finds the next page there.
        if later and (self.flow.is_locked or not self.controller.busy):
            self.preloader.preload(later[0])
        elif later:
            self._preload_timer.start()

    def _preload_for_plan(self) -> None:
        """Another plan has other steps to be ready for."""
        if self.flow.page == "recommendation":
            self._preload_timer.start()

    def _update_rail(self) -> None:
        is_locked = self.flow.is_locked
        self.rail.set_current(PAGES.index(self.flow.page), reachable=not is_locked)
        done_buttons = self.rail.buttons[: PAGES.index(self.flow.page)]
        note = self.tr("The way back is open again when the install has ended.")
        for button in self.rail.buttons:
            button.set_note(note if is_locked and button in done_buttons else "")

    def _detect_again(self) -> None:
        if self.flow.page == "computer":
            self.controller.detect()
        elif self.flow.page == "recommendation":
            self.controller.recommend()

    def _choose_language(self, code: str) -> None:
        self.language_menu.choose(code)

    def _choose_other_folder(self) -> None:
        self.controller.go_to("recommendation")
        self.recommendation.folder_card.choose_folder()

    def _finish(self) -> None:
        environment = self.controller.environment
        if environment is not None and not self.flow.simulated and self.flow.state.checks is not None:
            self._saver.save(environment=str(environment))
        self.finished.emit()
