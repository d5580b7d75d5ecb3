"""The main area: the navigation rail and its pages, each made when it is first opened, Monitor before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from ...app.judging import Judge
from ..components import Banner, EmptyState, Live, NavRail, Page, beside_rail
from ..language import Language
from ..monitor.sampling import Sampling
from ..qt_classes import QtClasses
from ..steps import Steps
from ..worker import JobRunner
from . import silences
from .home import HomePage
from .saving import SettingsSaver
from .tasks import Task
from .updates import Updates

if TYPE_CHECKING:
    from ...app import App
    from ...core.health import Alarm
    from ..bench.page import BenchmarkPage
    from ..monitor.page import MonitorPage

HOME, MONITOR, BENCHMARK, SETTINGS = range(4)
GRAPHS = "gpu_assistant.gui.monitor.page"
# The code of the pages that are made when they are first opened.
LATER = (GRAPHS, "gpu_assistant.gui.bench.page", "gpu_assistant.gui.main.settings")


class MainArea(Live, QWidget):
    """Home, Monitor, Benchmark, Settings. `setup_wanted` asks for the wizard, `offline_wanted` for its page
    "prepare" or "given", `measurer_made` hands over the runner
    of the benchmark page, which comes late, `watching_changed` says that the settings about the cards are others."""

    setup_wanted = Signal()
    offline_wanted = Signal(str)
    measurer_made = Signal(object)
    watching_changed = Signal()

    def __init__(self, app: App, language: Language, saver: SettingsSaver) -> None:
        super().__init__()
        self._saver = saver
        self.app = app
        self.language = language
        judge = Judge(app.health_watch, app.remember_past)
        self.sampling = Sampling(app.sampler, app.history, judge=judge, parent=self)
        self.updates = Updates(app, self)
        self.banner = Banner("simulated")
        self.banner.setVisible(app.simulated)
        self.rail = NavRail((("home", ""), ("monitor", ""), ("bench", "")), (("settings", ""), ("help", "")))
        self.rail.chosen.connect(self._chosen)
        self.sampling.judged.connect(lambda _: self._show_badge())
        self.pages: dict[int, QWidget] = {}
        self._past: list[int] = []
        self._stack = QStackedWidget()
        self._waiting = EmptyState("monitor")
        self._stack.addWidget(self._waiting)
        self._wanted = HOME
        # Code loads on a thread of its own: the graphs' libraries take longer than a window may stand still.
        self._loader, self._classes, self._ahead = JobRunner(self), QtClasses(self), Steps(self)
        self._classes.made.connect(self._load)
        self._loader.finished.connect(self._loaded)
        beside_rail(self, self.rail, self.banner, self._stack)
        self._keys()
        self.follow()

    @property
    def measuring(self) -> bool:
        """Whether a benchmark runs."""
        page: BenchmarkPage | None = self.pages.get(BENCHMARK)  # type: ignore[assignment]
        return page is not None and page.measuring

    @property
    def current(self) -> int:
        """The page that is open, -1 before the first."""
        shown = self._stack.currentWidget()
        return next((number for number, page in self.pages.items() if page is shown), -1)

    def open(self, page: int) -> None:
        """Go to a page."""
        before = self.current
        self._wanted = page
        if page == before:
            return
        if page == MONITOR and (self._ahead.busy or not self._graphs_ready()):
            self.load_graphs()
            self.rail.set_current(page)
            self._stack.setCurrentWidget(self._waiting)
            return
        self._have(page)
        if before >= 0:
            self._past.append(before)
            del self._past[:-20]
        self.rail.set_current(page)
        self._stack.setCurrentWidget(self.pages[page])

    def go(self, page: int) -> None:
        """Go to a page by a key: the keyboard's focus comes along, to what the page is for, or to the rail."""
        self.open(page)
        self.rail.buttons[page].setFocus(Qt.FocusReason.ShortcutFocusReason)
        take: Callable[[], None] | None = getattr(self.pages.get(page), "take_focus", None)
        if take is not None:
            take()

    def load_graphs(self) -> None:
        """Begin to load what Monitor draws with, unless it is there or on its way."""
        if not self._graphs_ready() and not self._loader.running:
            self._classes.begin()

    def _load(self) -> None:
        if not self._loader.running:
            self._loader.start(Task(lambda: [import_module(name) for name in LATER]))

    def _graphs_ready(self) -> bool:
        return GRAPHS in sys.modules and not self._loader.running

    def _loaded(self) -> None:
        """Monitor is made while another page, or the word that it comes, is looked at."""
        if MONITOR not in self.pages:
            self._ahead.begin([self._prepare_monitor, self._open_monitor])

    def _prepare_monitor(self) -> None:
        from ..monitor.ahead import prepare

        monitor: MonitorPage = self._have(MONITOR)  # type: ignore[assignment]
        prepare(monitor, self.sampling.history, self._ahead)

    def _open_monitor(self) -> None:
        if self._wanted == MONITOR and self.current != MONITOR:
            self.open(MONITOR)

    def back(self) -> None:
        """Go to the page that was open before."""
        if self._past:
            page = self._past.pop()
            self.go(page)
            self._past.pop()

    def renew(self) -> None:
        """Something was installed or removed: look again."""
        for page in self.pages.values():
            look: Callable[[], None] | None = getattr(page, "look", None)
            if look is not None:
                look()

    def watch_cards(self) -> None:
        """Look after the cards also while no page shows them, if the settings say so."""
        wanted = (self.app.settings.alarms or self.app.settings.tray) and not self.app.simulated
        self.sampling.want("alarms", wanted)
        self.watching_changed.emit()

    def is_silent(self, alarm: Alarm) -> bool:
        """Whether nobody wants to be told of this alarm."""
        return silences.is_silent(self.app.settings, alarm, self.sampling.history.gpus())

    def silence(self, alarm: Alarm, on: bool) -> None:
        """No notification for this kind of alarm of this card any more, or one again."""
        self._saver.keep(**silences.changed(self.app.settings, alarm, self.sampling.history.gpus(), silent=on))

    def stop(self) -> None:
        """The window closes: end the sampling thread."""
        self._ahead.stop()
        self.sampling.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What no control wants scrolls the page, also from the rail."""
        page = self._stack.currentWidget()
        if not (isinstance(page, Page) and page.scroll_by_key(event)):
            super().keyPressEvent(event)

    def retranslate(self) -> None:
        """Rail and banner."""
        self._waiting.set(self.tr("Preparing the graphs…"))
        self.rail.set_words(
            (self.tr("Home"), self.tr("Monitor"), self.tr("Benchmark"), self.tr("Settings"), self.tr("Help"))
        )
        self._show_badge()
        machine = self.app.simulated_machine
        if machine is not None:
            from ..wizard.rows import system_name

            names = [gpu.name for gpu in machine.gpus if gpu.name] or [system_name(machine)]
            self.banner.set(
                "simulated", self.tr("Simulated machine: {name}. Nothing is executed.").format(name=names[0])
            )

    def _show_badge(self) -> None:
        """Monitor's row tells on every page that a card is not well."""
        health = self.sampling.health
        if health is not None and health.state in ("warn", "error") and not self.app.simulated:
            self.rail.set_badge(MONITOR, health.state, "!", self.language.texts().gravest(health))
        else:
            self.rail.set_badge(MONITOR, None)

    def _chosen(self, index: int) -> None:
        if index > SETTINGS:
            # Help is a dialog: the rail stays where it was.
            self.rail.set_current(self.current)
            self.help()
            return
        self.open(index)

    def _have(self, page: int) -> QWidget:
        if page not in self.pages:
            self.pages[page] = self._make(page)
            self._stack.addWidget(self.pages[page])
        return self.pages[page]

    def _make(self, page: int) -> QWidget:
        if page == HOME:
            home = HomePage(self.app, self.language, self.sampling, self.updates)
            home.setup_wanted.connect(self.setup_wanted)
            home.offline_wanted.connect(self.offline_wanted)
            home.wanted.connect(self.open)
            home.silenced.connect(self.silence)
            home.test_wanted.connect(self.test_health)
            return home
        if page == MONITOR:
            from ..monitor.page import MonitorPage

            monitor = MonitorPage(self.app, self.sampling, self.is_silent)
            monitor.silenced.connect(self.silence)
            monitor.test_wanted.connect(self.test_health)
            return monitor
        if page == BENCHMARK:
            from ..bench.page import BenchmarkPage

            benchmark = BenchmarkPage(self.app, self.language)
            benchmark.setup_wanted.connect(self.setup_wanted)
            benchmark.measured.connect(self.renew)
            self.measurer_made.emit(benchmark.runner)
            return benchmark
        from .settings import SettingsPage

        settings = SettingsPage(self.app, self.language, self._saver, self.updates)
        settings.offline.wanted.connect(self.offline_wanted)
        settings.monitor.changed.connect(self.watch_cards)
        return settings

    def test_health(self, level: int = 1, card: int | None = None) -> None:
        """The health test, in a dialog; of the card with this index, or of all."""
        from ..health.dialog import HealthDialog, Opening

        there = tuple(gpu for gpu in self.sampling.history.gpus() if gpu.state != "gone")
        opening = Opening(level=level, card=card, cards=there, busy=self.measuring)
        HealthDialog.show_for(self.app, self, opening)

    def help(self) -> None:
        """The short help of F1."""
        from .help import HelpDialog

        HelpDialog.show_for(self)

    def _keys(self) -> None:
        # A shortcut is deaf while its widget is hidden: the wizard has keys of its own.
        keys: dict[str, Callable[[], None]] = {
            "Ctrl+1": lambda: self.go(HOME),
            "Ctrl+2": lambda: self.go(MONITOR),
            "Ctrl+3": lambda: self.go(BENCHMARK),
            "Ctrl+,": lambda: self.go(SETTINGS),
            "Alt+Left": self.back,
            "F1": self.help,
            "F5": self.renew,
        }
        for key, act in keys.items():
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(act)
