"""The wizard as a widget: the step rail at the left, the current page at the right.

    Wizard -- StepRail, Banner, five WizardPages (pages/), each built when it is first shown
       |----- WizardController (controller.py): jobs and state; its signals say when to draw or to switch pages
       `----- SidePages: the two pages about offline folders, opened from the welcome page, from the recommendation
              or from the main area, and left to where they were opened from

While a page is read, the next one is loaded and built, so that showing it takes less than 100 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from ..event_loop import IncrementalQueue
from ..language import Language
from ..saving import SettingsSaver
from ..widgets.base import Themed
from ..widgets.cards import Banner
from ..widgets.menus import LanguageMenu, ThemeMenu
from ..widgets.navigation import RailButton, StepRail, lay_out_with_rail
from .controller import WizardController
from .flow import PAGES, PageName, WizardFlow
from .page import WizardPage
from .pages.install.messages import kept_work_text

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


SidePageName = Literal["create-bundle", "load-bundle"]

PRELOAD_DELAY_MS = 600
# Loading a page's code takes as long as building its widgets: each gets a turn of the event loop.
PAGE_MODULES: Mapping[PageName, str] = {
    "welcome": ".pages.welcome",
    "computer": ".pages.computer",
    "recommendation": ".pages.recommendation.page",
    "install": ".pages.install.page",
    "done": ".pages.done",
}
HELP_TOPICS: Mapping[PageName, str] = {
    "welcome": "set-up",
    "computer": "computer",
    "recommendation": "recommendation",
    "install": "install",
    "done": "done",
}
OFFLINE_HELP_TOPIC = "offline"


class Wizard(Themed, QWidget):
    """`finished` comes when the user goes to Home, `benchmark_requested` when they go on to the benchmark,
    `main_area_requested` when they want the main area without a setup, or leave a side page that was opened from there,
    `settings_requested` when they want the settings.
    """

    finished = Signal()
    benchmark_requested = Signal()
    main_area_requested = Signal()
    settings_requested = Signal()

    def __init__(self, app: App, language: Language, saver: SettingsSaver | None = None) -> None:
        super().__init__()
        self.app = app
        self.language = language
        self._saver = saver or SettingsSaver(app, self)
        self.controller = WizardController(app, language, self)
        self.controller.speed_limit_changed.connect(lambda rate: self._saver.save(speed_limit=rate))
        # Saved at once: the window may be closed on the last page, and the next start opens Home.
        self.controller.environment_verified.connect(
            lambda folder: self._saver.save(environment=str(folder), setup_done=True)
        )
        self.controller.environment_named.connect(self._name_environment)
        self.rail = StepRail([("", "")] * len(PAGES))
        self.language_menu, self.theme_menu = LanguageMenu(language), ThemeMenu()
        self.help_button = RailButton("help", "")
        self.settings_button = RailButton("settings", "")
        self.settings_button.setObjectName("wizardSettings")
        self.rail.add_footer_row(self.theme_menu)
        self.rail.add_footer_row(self.language_menu)
        self.rail.add_footer_row(self.settings_button, self.help_button)
        self.banner = Banner("simulated")
        self.banner.setVisible(app.simulated)
        self._stack = QStackedWidget()
        self.side_pages = SidePages(self.controller, self._stack)
        self._preload_queue = IncrementalQueue(self)
        self._preload_timer = QTimer(self, singleShot=True, interval=PRELOAD_DELAY_MS)
        self._preload_timer.timeout.connect(self._preload_next_page)
        lay_out_with_rail(self, self.rail, self.banner, self._stack)
        self._connect_signals()
        self._add_shortcuts()
        self._show_current_page()
        self._painted = False
        self.apply_theme()

    def _connect_signals(self) -> None:
        self.rail.chosen.connect(lambda number: self.controller.go_to(PAGES[number]))
        self.controller.page_changed.connect(self._show_current_page)
        self.controller.changed.connect(self._update_rail)
        self._stack.currentChanged.connect(lambda _: self._update_rail())
        self.side_pages.closed.connect(self._on_side_page_closed)
        self.language_menu.chosen.connect(lambda code: self._saver.save(language=code))
        self.theme_menu.chosen.connect(lambda choice: self._saver.save(theme=choice))
        self.help_button.clicked.connect(self.show_help)
        self.settings_button.clicked.connect(self.settings_requested)

    def _add_shortcuts(self) -> None:
        keys = (
            ("Alt+Left", self.go_back),
            ("F5", self._repeat_page_job),
            ("F1", self.show_help),
            ("Ctrl+,", self.settings_requested.emit),
        )
        for key, action in keys:
            QShortcut(QKeySequence(key), self).activated.connect(action)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Read the disk only after the first page is on the screen."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.controller.find_interrupted_install)

    # Pages

    @cached_property
    def welcome(self) -> WelcomePage:
        """The page "Welcome", created at first access like all pages."""
        from .pages.welcome import WelcomePage

        page = WelcomePage(self.controller)
        self._stack.addWidget(page)
        page.main_area_requested.connect(self.main_area_requested)
        page.offline_requested.connect(lambda: self.side_pages.load_page.create_folder_dialog().open())
        page.language_chosen.connect(self.language_menu.choose)
        return page

    @cached_property
    def computer(self) -> ComputerPage:
        """The page "Your computer": hardware and software found."""
        from .pages.computer import ComputerPage

        page = ComputerPage(self.controller)
        self._stack.addWidget(page)
        return page

    @cached_property
    def recommendation(self) -> RecommendationPage:
        """The page "Recommendation": versions, reasons and the plan."""
        from .pages.recommendation.page import RecommendationPage

        page = RecommendationPage(self.controller)
        self._stack.addWidget(page)
        page.offline_requested.connect(lambda: self.side_pages.open("create-bundle"))
        return page

    @cached_property
    def install(self) -> InstallPage:
        """The page "Install": progress, remaining time, log."""
        from .pages.install.page import InstallPage

        page = InstallPage(self.controller)
        self._stack.addWidget(page)
        page.folder_requested.connect(self._choose_other_folder)
        return page

    @cached_property
    def done(self) -> DonePage:
        """The page "Done": the result of the verification and next steps."""
        from .pages.done import DonePage

        page = DonePage(self.controller)
        self._stack.addWidget(page)
        page.home_requested.connect(self.finished)
        page.benchmark_requested.connect(self.benchmark_requested)
        return page

    def page(self, name: PageName) -> WizardPage:
        """A page by its name; it is built on first use."""
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

    def is_built(self, name: PageName) -> bool:
        """Whether a page has been built."""
        return name in vars(self)

    @property
    def current_page(self) -> WizardPage:
        """The page on the screen: one of the five, or a side page."""
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, WizardPage) else self.page(self.flow.page)

    @property
    def flow(self) -> WizardFlow:
        """The rules and the state."""
        return self.controller.flow

    @property
    def kept_work_text(self) -> str:
        """What is kept of the running work if it is stopped, in a sentence."""
        side_pages = self.side_pages
        progress = side_pages.bundle_creator.progress if side_pages.is_creating_bundle else self.controller.progress
        return kept_work_text(progress, only_download_kept=False)

    @property
    def work_finished(self) -> SignalInstance:
        """Emitted when the running work ends: the offline folder that is being created, else the install."""
        side_pages = self.side_pages
        if side_pages.is_creating_bundle:
            return side_pages.bundle_creator.runner.finished
        return self.controller.runners.install.finished

    def _show_current_page(self) -> None:
        self._preload_queue.stop()
        self._stack.setCurrentWidget(self.page(self.flow.page))
        self._update_rail()
        self._preload_timer.start()

    def _preload_next_page(self) -> None:
        """Load and build the next page; not while a job is awaited, but during an install, which lasts."""
        later = PAGES[PAGES.index(self.flow.page) + 1 :]
        if not later or self.is_built(later[0]):
            return
        if self.controller.busy and not self.flow.is_locked:
            self._preload_timer.start()
            return
        self._preload_queue.start(
            [partial(import_module, PAGE_MODULES[later[0]], __package__), partial(self.page, later[0])]
        )

    # What the user does

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the default button; Escape asks whether to stop what runs; other keys scroll the page."""
        page, button = self.current_page, self.current_page.default_button
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if button.isVisible() and button.isEnabled() and not button.busy and not event.isAutoRepeat():
                button.click()
        elif event.key() == Qt.Key.Key_Escape and self.flow.state.stage == "running":
            self.install.confirm_stop()
        elif event.key() == Qt.Key.Key_Escape and self.side_pages.confirm_stop(page):
            return
        elif not page.page.scroll_by_key(event):
            super().keyPressEvent(event)

    @property
    def help_topic(self) -> str:
        """The page of the guide about what is on the screen."""
        return HELP_TOPICS[self.flow.page] if self.current_page is self.page(self.flow.page) else OFFLINE_HELP_TOPIC

    def show_help(self) -> None:
        """Open the help about the page that is shown (F1)."""
        from ..help import open_help

        open_help(self.app, self, self.help_topic)

    def go_back(self) -> None:
        """From a side page to where it was opened from, else to the previous page."""
        if self.current_page is not self.page(self.flow.page):
            self.side_pages.close()
        else:
            self.controller.go_back()

    def _on_side_page_closed(self, to_main_area: bool) -> None:
        self._show_current_page()
        if to_main_area:
            self.main_area_requested.emit()

    def _repeat_page_job(self) -> None:
        if self.flow.page == "computer":
            self.controller.detect()
        elif self.flow.page == "recommendation":
            self.controller.recommend()

    def _choose_other_folder(self) -> None:
        self.controller.go_to("recommendation")
        self.recommendation.folder_card.choose_folder()

    # Rail and banner

    def _name_environment(self, path: str, name: str) -> None:
        self._saver.save(environment_names=self.app.settings.environment_names_with(path, name))

    def retranslate(self) -> None:
        self.rail.set_steps(step_texts())
        machine = self.app.simulated_machine
        if machine is not None:
            from .pages.machine_summary import system_name

            names = [gpu.name for gpu in machine.gpus if gpu.name] or [system_name(machine)]
            text = self.tr("Simulated computer: {name}. Nothing is executed.")
            self.banner.set("simulated", text.format(name=names[0]))
        self.help_button.setText(self.tr("Help"))
        self.settings_button.setText(self.tr("Settings"))
        self.setAccessibleName(self.tr("Setup"))

    def _update_rail(self) -> None:
        is_locked = self.flow.is_locked
        is_welcome = self.flow.page == "welcome" and self._stack.currentWidget() is self.welcome
        self.language_menu.setVisible(not is_welcome)  # which asks for the language itself
        has_failed = self.flow.page == "install" and self.flow.state.stage == "failed"
        self.rail.set_current(PAGES.index(self.flow.page), reachable=not is_locked, failed=has_failed)
        done_buttons = self.rail.buttons[: PAGES.index(self.flow.page)]
        note = self.tr("You can go back once the installation has ended.")
        for button in self.rail.buttons:
            button.set_note(note if is_locked and button in done_buttons else "")


def step_texts() -> list[tuple[str, str]]:
    """The title and the hint of each page, for the rail."""
    translate = QCoreApplication.translate
    return [
        (translate("Wizard", "Welcome"), ""),
        (translate("Wizard", "This computer"), translate("Wizard", "Card, driver, disk")),
        (translate("Wizard", "Recommendation"), translate("Wizard", "What to install")),
        (translate("Wizard", "Install"), translate("Wizard", "Download and set up")),
        (translate("Wizard", "Done"), translate("Wizard", "The proof")),
    ]


class SidePages(QObject):
    """The pages about offline folders. Each is built when it is first shown.

    `closed` comes when the user leaves a page, with whether it was opened from the main area. `bundle_creator_created`
    hands over the BundleCreator, which is created with its page and outlives its being shown.
    """

    closed = Signal(bool)
    bundle_creator_created = Signal(object)

    def __init__(self, controller: WizardController, stack: QStackedWidget) -> None:
        super().__init__(stack)
        self._controller = controller
        self._stack = stack
        self._opened_from_main_area = False

    @cached_property
    def load_page(self) -> LoadBundlePage:
        """Is the folder that was prepared elsewhere fit for this computer?"""
        from ..bundle.load import LoadBundlePage

        page = LoadBundlePage(self._controller)
        self._stack.addWidget(page)
        page.leave_requested.connect(self.close)
        page.bundle_accepted.connect(self._controller.use_bundle)
        page.folder_chosen.connect(lambda: self._stack.setCurrentWidget(page))
        return page

    @cached_property
    def create_page(self) -> CreateBundlePage:
        """Which files does a computer without internet need?"""
        from ..bundle.page import CreateBundlePage

        page = CreateBundlePage(self._controller, self.bundle_creator)
        self._stack.addWidget(page)
        page.leave_requested.connect(self.close)
        return page

    @cached_property
    def bundle_creator(self) -> BundleCreator:
        """Creates an offline folder, whichever page is shown."""
        from ..bundle.create import BundleCreator

        creator = BundleCreator(self._controller.app, self)
        self.bundle_creator_created.emit(creator)
        return creator

    @property
    def is_creating_bundle(self) -> bool:
        """Whether an offline folder is being created."""
        return "bundle_creator" in vars(self) and self.bundle_creator.is_running

    def open(self, name: SidePageName) -> None:
        """Show a side page; closing it leads back to the wizard's page."""
        self._opened_from_main_area = False
        self._show(name)

    def open_from_main_area(self, name: SidePageName) -> None:
        """Show a side page whose closing leads back to the main area; nothing happens during an install."""
        if self._controller.flow.is_locked:
            return
        self._opened_from_main_area = True
        self._show(name)

    def _show(self, name: SidePageName) -> None:
        if name == "create-bundle":
            if self._controller.flow.state.machine is None:
                self._controller.detect()
            self.create_page.opened_from_main_area = self._opened_from_main_area
            self._stack.setCurrentWidget(self.create_page)
        else:
            self._stack.setCurrentWidget(self.load_page)

    def close(self) -> None:
        """Go back to where the page was opened from."""
        to_main_area, self._opened_from_main_area = self._opened_from_main_area, False
        self.closed.emit(to_main_area)

    def confirm_stop(self, page: WizardPage) -> bool:
        """Ask whether to stop if `page` is creating an offline folder; False where there is nothing to stop."""
        if not self.is_creating_bundle or page is not self.create_page:
            return False
        self.create_page.confirm_stop()
        return True
