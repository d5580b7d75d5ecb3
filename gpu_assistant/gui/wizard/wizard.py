"""The wizard as a widget: the step rail at the left, its pages at the right."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QStackedWidget

from ..components import Banner, LanguageMenu, RailButton, StepRail, ThemeMenu, lay_out_with_rail
from ..language import Language
from ..main.saving import SettingsSaver
from .ahead import PagePreloader
from .base import WizardPage
from .beside import SidePages
from .flow import PAGES, WizardFlow, PageName
from .road import WizardController

if TYPE_CHECKING:
    from ...app import App
    from .computer import ComputerPage
    from .done import DonePage
    from .install import InstallPage
    from .recommendation import RecommendationPage
    from .welcome import WelcomePage

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
        from .welcome import WelcomePage

        page = self._add_page(WelcomePage(self.controller))
        page.main_area_requested.connect(self.main_area_requested)
        page.offline_requested.connect(lambda: self.load_bundle_page.create_folder_dialog().open())
        page.language_chosen.connect(self._choose_language)
        return page

    @cached_property
    def computer(self) -> ComputerPage:
        """What have I got?"""
        from .computer import ComputerPage

        return self._add_page(ComputerPage(self.controller))

    @cached_property
    def recommendation(self) -> RecommendationPage:
        """What should I install, and why?"""
        from .recommendation import RecommendationPage

        page = self._add_page(RecommendationPage(self.controller, self.preloader.part_cards))
        page.offline_requested.connect(lambda: self._stack.setCurrentWidget(self.create_bundle_page))
        return page

    @cached_property
    def install(self) -> InstallPage:
        """What is happening, how long, can I leave?"""
        from .install import InstallPage

        page = self._add_page(InstallPage(self.controller))
        page.folder_requested.connect(self._choose_other_folder)
        return page

    @cached_property
    def done(self) -> DonePage:
        """Does it really work?"""
        from .done import DonePage

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
            from .rows import system_name

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
        elif event.key() == Qt.Key.Key_Escape and self.is_creating_bundle and self.current_page is self.create_bundle_page:
            self.create_bundle_page.confirm_stop()
        elif not self.current_page.page.scroll_by_key(event):
            super().keyPressEvent(event)

    def show_help(self) -> None:
        """The short help of F1."""
        from .help import WizardHelpDialog

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
