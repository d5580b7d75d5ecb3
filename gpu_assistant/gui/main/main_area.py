"""The main area: the navigation rail and its pages, each made when it is first opened, Monitor before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from ...app.monitoring import HealthEvaluator
from ..event_loop import IncrementalQueue
from ..language import Language
from ..monitor.sampling import SamplingService
from ..qt_classes import QtClassLoader
from ..saving import FunctionJob, SettingsSaver
from ..widgets.base import Themed
from ..widgets.cards import Banner, EmptyState
from ..widgets.navigation import NavigationRail, lay_out_with_rail
from ..widgets.page import Page
from ..worker import JobRunner
from . import tray
from .home.page import HomePage
from .updates import UpdateController

if TYPE_CHECKING:
    from ...app import App
    from ...core.results import Alarm
    from ..bench.page import BenchmarkPage
    from ..monitor.page import MonitorPage


HOME, MONITOR, BENCHMARK, SETTINGS = range(4)
MONITOR_MODULE = "gpu_assistant.gui.monitor.page"
# The code of the pages that are made when they are first opened.
PRELOADED_MODULES = (MONITOR_MODULE, "gpu_assistant.gui.bench.page", "gpu_assistant.gui.main.settings.page")


class MainArea(Themed, QWidget):
    """Home, Monitor, Benchmark, Settings. `setup_wanted` asks for the wizard, `offline_wanted` for its page
    "create-bundle" or "load-bundle", `measurer_made` hands over the runner
    of the benchmark page, which comes late, `watching_changed` says that the settings about the cards are others."""

    setup_requested = Signal()
    side_page_requested = Signal(str)
    benchmark_runner_created = Signal(object)
    monitoring_changed = Signal()

    def __init__(self, app: App, language: Language, saver: SettingsSaver) -> None:
        super().__init__()
        self._saver = saver
        self.app = app
        self.language = language
        judge = HealthEvaluator(app.monitoring.health_monitor, app.monitoring.load_baselines)
        self.sampling = SamplingService(app.monitoring.sampler, app.monitoring.history, evaluator=judge, parent=self)
        self.updates = UpdateController(app, self)
        self.banner = Banner("simulated")
        self.banner.setVisible(app.simulated)
        self.rail = NavigationRail((("home", ""), ("monitor", ""), ("bench", "")), (("settings", ""), ("help", "")))
        self.rail.chosen.connect(self._on_rail_chosen)
        self.sampling.health_changed.connect(lambda _: self._update_badge())
        self.pages: dict[int, QWidget] = {}
        self._page_history: list[int] = []
        self._stack = QStackedWidget()
        self._loading_page = EmptyState("monitor")
        self._stack.addWidget(self._loading_page)
        self._requested_page = HOME
        # Code loads on a thread of its own: the graphs' libraries take longer than a window may stand still.
        self._load_runner, self._qt_classes, self._preload_steps = (
            JobRunner(self),
            QtClassLoader(self),
            IncrementalQueue(self),
        )
        self._qt_classes.loaded.connect(self._start_loading)
        self._load_runner.finished.connect(self._on_modules_loaded)
        lay_out_with_rail(self, self.rail, self.banner, self._stack)
        self._add_shortcuts()
        self.apply_theme()

    @property
    def is_benchmarking(self) -> bool:
        """Whether a benchmark runs."""
        page: BenchmarkPage | None = self.pages.get(BENCHMARK)  # type: ignore[assignment]
        return page is not None and page.measuring

    @property
    def current_page(self) -> int:
        """The page that is open, -1 before the first."""
        shown = self._stack.currentWidget()
        return next((number for number, page in self.pages.items() if page is shown), -1)

    def open_page(self, page: int) -> None:
        """Go to a page."""
        previous = self.current_page
        self._requested_page = page
        if page == previous:
            return
        if page == MONITOR and (self._preload_steps.busy or not self._is_monitor_loaded()):
            self.preload_monitor()
            self.rail.set_current(page)
            self._stack.setCurrentWidget(self._loading_page)
            return
        self._get_or_create_page(page)
        if previous >= 0:
            self._page_history.append(previous)
            del self._page_history[:-20]
        self.rail.set_current(page)
        self._stack.setCurrentWidget(self.pages[page])

    def go_to_page(self, page: int) -> None:
        """Go to a page by a key: the keyboard's focus comes along, to what the page is for, or to the rail."""
        self.open_page(page)
        self.rail.buttons[page].setFocus(Qt.FocusReason.ShortcutFocusReason)
        take_focus: Callable[[], None] | None = getattr(self.pages.get(page), "take_focus", None)
        if take_focus is not None:
            take_focus()

    def preload_monitor(self) -> None:
        """Begin to load what Monitor draws with, unless it is there or on its way."""
        if not self._is_monitor_loaded() and not self._load_runner.running:
            self._qt_classes.start()

    def _start_loading(self) -> None:
        if not self._load_runner.running:
            self._load_runner.start(FunctionJob(lambda: [import_module(name) for name in PRELOADED_MODULES]))

    def _is_monitor_loaded(self) -> bool:
        return MONITOR_MODULE in sys.modules and not self._load_runner.running

    def _on_modules_loaded(self) -> None:
        """Monitor is made while another page, or the word that it comes, is looked at."""
        if MONITOR not in self.pages:
            self._preload_steps.start([self._prepare_monitor, self._open_requested_monitor])

    def _prepare_monitor(self) -> None:
        from ..monitor.page import preload_steps

        monitor: MonitorPage = self._get_or_create_page(MONITOR)  # type: ignore[assignment]
        preload_steps(monitor, self.sampling.history, self._preload_steps)

    def _open_requested_monitor(self) -> None:
        if self._requested_page == MONITOR and self.current_page != MONITOR:
            self.open_page(MONITOR)

    def go_back(self) -> None:
        """Go to the page that was open before."""
        if self._page_history:
            page = self._page_history.pop()
            self.go_to_page(page)
            self._page_history.pop()

    def refresh_pages(self) -> None:
        """Something was installed or removed: look again."""
        for page in self.pages.values():
            refresh: Callable[[], None] | None = getattr(page, "reload", None)
            if refresh is not None:
                refresh()

    def update_gpu_watching(self) -> None:
        """Look after the cards also while no page shows them, if the settings say so."""
        is_needed = (self.app.settings.alarms or self.app.settings.tray) and not self.app.simulated
        self.sampling.request_samples("alarms", is_needed)
        self.monitoring_changed.emit()

    def is_muted(self, alarm: Alarm) -> bool:
        """Whether nobody wants to be told of this alarm."""
        return tray.is_muted(self.app.settings, alarm, self.sampling.history.gpus())

    def set_muted(self, alarm: Alarm, muted: bool) -> None:
        """No notification for this kind of alarm of this card any more, or one again."""
        self._saver.save(**tray.muted_settings(self.app.settings, alarm, self.sampling.history.gpus(), muted=muted))

    def stop(self) -> None:
        """The window closes: end the sampling thread."""
        self._preload_steps.stop()
        self.sampling.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What no control wants scrolls the page, also from the rail."""
        page = self._stack.currentWidget()
        if not (isinstance(page, Page) and page.scroll_by_key(event)):
            super().keyPressEvent(event)

    def retranslate(self) -> None:
        """Rail and banner."""
        self._loading_page.set(self.tr("Preparing the graphs…"))
        self.rail.set_texts(
            (self.tr("Home"), self.tr("Monitor"), self.tr("Benchmark"), self.tr("Settings"), self.tr("Help"))
        )
        self._update_badge()
        machine = self.app.simulated_machine
        if machine is not None:
            from ..wizard.pages.machine_summary import system_name

            names = [gpu.name for gpu in machine.gpus if gpu.name] or [system_name(machine)]
            self.banner.set(
                "simulated", self.tr("Simulated machine: {name}. Nothing is executed.").format(name=names[0])
            )

    def _update_badge(self) -> None:
        """Monitor's row tells on every page that a card is not well."""
        health = self.sampling.health
        if health is not None and health.state in ("warn", "error") and not self.app.simulated:
            self.rail.set_badge(MONITOR, health.state, "!", self.language.texts().most_severe_alarm_title(health))
        else:
            self.rail.set_badge(MONITOR, None)

    def _on_rail_chosen(self, index: int) -> None:
        if index > SETTINGS:
            # Help is a dialog: the rail stays where it was.
            self.rail.set_current(self.current_page)
            self.show_help()
            return
        self.open_page(index)

    def _get_or_create_page(self, page: int) -> QWidget:
        if page not in self.pages:
            self.pages[page] = self._create_page(page)
            self._stack.addWidget(self.pages[page])
        return self.pages[page]

    def _create_page(self, page: int) -> QWidget:
        if page == HOME:
            home = HomePage(self.app, self.language, self.sampling, self.updates)
            home.setup_requested.connect(self.setup_requested)
            home.side_page_requested.connect(self.side_page_requested)
            home.page_requested.connect(self.open_page)
            home.alarm_muted.connect(self.set_muted)
            home.health_test_requested.connect(self.open_health_test)
            return home
        if page == MONITOR:
            from ..monitor.page import MonitorPage

            monitor = MonitorPage(self.app, self.sampling, self.is_muted)
            monitor.alarm_muted.connect(self.set_muted)
            monitor.health_test_requested.connect(self.open_health_test)
            return monitor
        if page == BENCHMARK:
            from ..bench.page import BenchmarkPage

            benchmark = BenchmarkPage(self.app, self.language)
            benchmark.setup_requested.connect(self.setup_requested)
            benchmark.measured.connect(self.refresh_pages)
            self.benchmark_runner_created.emit(benchmark.runner)
            return benchmark
        from .settings.page import SettingsPage

        settings = SettingsPage(self.app, self.language, self._saver, self.updates)
        settings.offline_card.side_page_requested.connect(self.side_page_requested)
        settings.gpu_card.changed.connect(self.update_gpu_watching)
        return settings

    def open_health_test(self, level: int = 1, gpu_index: int | None = None) -> None:
        """The health test, in a dialog; of the card with this index, or of all."""
        from ..health.dialog import HealthDialog, HealthDialogOptions

        present_gpus = tuple(gpu for gpu in self.sampling.history.gpus() if gpu.state != "gone")
        opening = HealthDialogOptions(level=level, gpu=gpu_index, gpus=present_gpus, busy=self.is_benchmarking)
        HealthDialog.show_dialog(self.app, self, opening)

    def show_help(self) -> None:
        """The short help of F1."""
        from ..help import MainHelpDialog

        MainHelpDialog.open_for(self)

    def _add_shortcuts(self) -> None:
        # A shortcut is deaf while its widget is hidden: the wizard has keys of its own.
        keys: dict[str, Callable[[], None]] = {
            "Ctrl+1": lambda: self.go_to_page(HOME),
            "Ctrl+2": lambda: self.go_to_page(MONITOR),
            "Ctrl+3": lambda: self.go_to_page(BENCHMARK),
            "Ctrl+,": lambda: self.go_to_page(SETTINGS),
            "Alt+Left": self.go_back,
            "F1": self.show_help,
            "F5": self.refresh_pages,
        }
        for key, action in keys.items():
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(action)
