"""The wizard as a widget: the step rail at the left, its pages at the right."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QStackedWidget

from ..components import Banner, LanguageMenu, RailButton, StepRail, ThemeMenu, beside_rail
from ..language import Language
from ..main.saving import SettingsSaver
from .ahead import Ahead
from .base import WizardPage
from .beside import Beside
from .flow import PAGES, Flow, PageName
from .road import Road

if TYPE_CHECKING:
    from ...app import App
    from .computer import ComputerPage
    from .done import DonePage
    from .install import InstallPage
    from .recommendation import RecommendationPage
    from .welcome import WelcomePage

AHEAD_MS = 600


class Wizard(Beside):
    """`finished` comes when the user goes to Home, `only_look` when they want Home without a setup."""

    finished = Signal()

    def __init__(self, app: App, language: Language, saver: SettingsSaver | None = None) -> None:
        super().__init__()
        self.app = app
        self.language = language
        self._saver = saver or SettingsSaver(app, self)
        self.road = Road(app, language, self)
        self.road.limited.connect(lambda rate: self._saver.keep(speed_limit=rate))
        self.rail = StepRail([("", "")] * len(PAGES))
        self.languages, self.themes = LanguageMenu(language), ThemeMenu()
        self.help = RailButton("help", "F1")
        self.rail.add_foot(self.themes)
        self.rail.add_foot(self.languages, self.help)
        self.banner = Banner("simulated")
        self.banner.setVisible(app.simulated)
        self._stack = QStackedWidget()
        self.ahead = Ahead(self.page, self)
        self._ahead = QTimer(self)
        self._ahead.setSingleShot(True)
        self._ahead.setInterval(AHEAD_MS)
        self._ahead.timeout.connect(self._prepare_next)
        beside_rail(self, self.rail, self.banner, self._stack)
        self._wire()
        self._keys()
        self._moved()
        self._painted = False
        self.follow()

    def paintEvent(self, event: QPaintEvent) -> None:
        """What reads the disk waits until the first page stands on the screen."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.road.ask_interrupted)

    # Each page is made when it is first shown: the first one stands on the screen the sooner.

    @cached_property
    def welcome(self) -> WelcomePage:
        """Shall I begin?"""
        from .welcome import WelcomePage

        page = self._added(WelcomePage(self.road))
        page.only_look.connect(self.only_look)
        page.offline.connect(lambda: self.given.folder_dialog().open())
        page.language_chosen.connect(self._speak)
        return page

    @cached_property
    def computer(self) -> ComputerPage:
        """What have I got?"""
        from .computer import ComputerPage

        return self._added(ComputerPage(self.road))

    @cached_property
    def recommendation(self) -> RecommendationPage:
        """What should I install, and why?"""
        from .recommendation import RecommendationPage

        page = self._added(RecommendationPage(self.road, self.ahead.cards))
        page.offline_wanted.connect(lambda: self._stack.setCurrentWidget(self.prepare))
        return page

    @cached_property
    def install(self) -> InstallPage:
        """What is happening, how long, can I leave?"""
        from .install import InstallPage

        page = self._added(InstallPage(self.road))
        page.folder_wanted.connect(self._other_folder)
        return page

    @cached_property
    def done(self) -> DonePage:
        """Does it really work?"""
        from .done import DonePage

        page = self._added(DonePage(self.road))
        page.home_wanted.connect(self._finish)
        return page

    @property
    def shown(self) -> WizardPage:
        """The page that is to be seen."""
        found = self._stack.currentWidget()
        return found if isinstance(found, WizardPage) else self.page(self.flow.page)

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
    def flow(self) -> Flow:
        """The rules, and what is known."""
        return self.road.flow

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
            words = self.tr("Simulated machine: {name}. Nothing is executed.")
            self.banner.set("simulated", words.format(name=names[0]))
        self.help.setAccessibleName(self.tr("Help"))
        self.setAccessibleName(self.tr("Setup"))

    def _wire(self) -> None:
        self.rail.chosen.connect(lambda number: self.road.go(PAGES[number]))
        self.road.moved.connect(self._moved)
        self.road.changed.connect(self._mark_rail)
        self.road.changed.connect(self._ahead_of_plan)
        self.languages.chosen.connect(lambda code: self._saver.keep(language=code))
        self.themes.chosen.connect(lambda choice: self._saver.keep(theme=choice))
        self.help.clicked.connect(self.show_help)

    def _keys(self) -> None:
        for key, act in (
            ("Alt+Left", self._back),
            ("F5", self._look_again),
            ("F1", self.show_help),
        ):
            QShortcut(QKeySequence(key), self).activated.connect(act)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter that nobody took presses the way on; Esc asks whether to stop a running install."""
        button = self.shown.way_on
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if button.isVisible() and button.isEnabled() and not button.busy and not event.isAutoRepeat():
                button.click()
        elif event.key() == Qt.Key.Key_Escape and self.flow.facts.stage == "running":
            self.install.ask_to_stop()
        elif event.key() == Qt.Key.Key_Escape and self.preparing and self.shown is self.prepare:
            self.prepare.ask_to_stop()
        elif not self.shown.page.scroll_by_key(event):
            super().keyPressEvent(event)

    def show_help(self) -> None:
        """The short help of F1."""
        from .help import WizardHelp

        dialog = WizardHelp(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _back(self) -> None:
        """From a page beside the way to the one that it was opened from, else one page back."""
        if self.shown is not self.page(self.flow.page):
            self._away()
        else:
            self.road.back()

    def _moved(self) -> None:
        self.ahead.stop()
        self._stack.setCurrentWidget(self.page(self.flow.page))
        self._mark_rail()
        self._ahead.start()

    def _prepare_next(self) -> None:
        """While one page is read, make the next, so that it stands there at once."""
        later = PAGES[PAGES.index(self.flow.page) + 1 :]
        # While an install runs, nothing else is as important as that its end finds the next page there.
        if later and (self.flow.locked or not self.road.busy):
            self.ahead.begin(later[0])
        elif later:
            self._ahead.start()

    def _ahead_of_plan(self) -> None:
        """Another plan has other steps to be ready for."""
        if self.flow.page == "recommendation":
            self._ahead.start()

    def _mark_rail(self) -> None:
        locked = self.flow.locked
        self.rail.set_current(PAGES.index(self.flow.page), reachable=not locked)
        done = self.rail.buttons[: PAGES.index(self.flow.page)]
        why = self.tr("The way back is open again when the install has ended.")
        for button in self.rail.buttons:
            button.set_note(why if locked and button in done else "")

    def _look_again(self) -> None:
        if self.flow.page == "computer":
            self.road.look()
        elif self.flow.page == "recommendation":
            self.road.reckon()

    def _speak(self, code: str) -> None:
        self.languages.choose(code)

    def _other_folder(self) -> None:
        self.road.go("recommendation")
        self.recommendation.folder.choose()

    def _finish(self) -> None:
        environment = self.road.environment
        if environment is not None and not self.flow.simulated and self.flow.facts.checks is not None:
            self._saver.keep(environment=str(environment))
        self.finished.emit()
