"""The main area: the navigation rail and its pages, each created when it is opened first; Monitor is preloaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from ...app.monitoring import HealthEvaluator
from ...texts.guide import CONTENTS
from ..event_loop import IncrementalQueue
from ..language import Language
from ..monitor.alarms import ADVISED_TEST_LEVEL
from ..monitor.sampling import SamplingService
from ..qt_classes import QtClassLoader
from ..saving import SettingsSaver
from ..widgets.base import Themed
from ..widgets.cards import Banner, EmptyState
from ..widgets.navigation import NavigationRail, lay_out_with_rail
from ..widgets.page import Page, set_reading_order
from ..worker import FunctionJob, JobRunner
from . import tray
from .home.page import HomePage
from .updates import UpdateController

if TYPE_CHECKING:
    from ...app import App
    from ...core.results import Alarm
    from ..bench.page import BenchmarkPage
    from ..health.page import HealthPage
    from ..monitor.page import MonitorPage
    from ..remedies import Remedy


HOME, MONITOR, HEALTH, BENCHMARK, SETTINGS = range(5)
MONITOR_MODULE = "gpu_assistant.gui.monitor.page"
# Modules of pages that are created when they are opened first.
PRELOADED_MODULES = (
    MONITOR_MODULE,
    "gpu_assistant.gui.health.page",
    "gpu_assistant.gui.bench.page",
    "gpu_assistant.gui.main.settings.page",
)


class MainArea(Themed, QWidget):
    """Home, Monitor, Health, Benchmark, Settings.

    `setup_requested` asks for the wizard, `environment_requested` for it with a folder's environment,
    `side_page_requested` for its page "create-bundle" or "load-bundle".
    `benchmark_runner_created` brings the runner of the Benchmark page, `monitoring_changed` follows a change of the
    settings for alarms and tray. `settings_created` brings the Settings page.
    """

    setup_requested = Signal()
    side_page_requested = Signal(str)
    environment_requested = Signal(str)
    benchmark_runner_created = Signal(object)
    benchmark_finished = Signal()
    monitoring_changed = Signal()
    settings_created = Signal(object)

    def __init__(self, app: App, language: Language, saver: SettingsSaver, updates: UpdateController) -> None:
        super().__init__()
        self._saver = saver
        self.app = app
        self.language = language
        judge = HealthEvaluator(app.monitoring.health_monitor, app.monitoring.load_baselines)
        self.sampling = SamplingService(app.monitoring.sampler, app.monitoring.history, evaluator=judge, parent=self)
        self.updates = updates
        self.banner = Banner("simulated")
        self.banner.setVisible(app.simulated)
        self.rail = NavigationRail(
            (("home", ""), ("monitor", ""), ("doctor", ""), ("bench", "")), (("settings", ""), ("help", ""))
        )
        self.rail.chosen.connect(self._on_rail_chosen)
        self.sampling.health_changed.connect(lambda _: self._update_badge())
        self.pages: dict[int, Page] = {}
        self._page_history: list[int] = []
        self._stack = QStackedWidget()
        self._loading_page = EmptyState("monitor")
        self._loading_page.setObjectName("loadingPage")
        self._stack.addWidget(self._loading_page)
        self._requested_page, self._are_programs_requested = HOME, False
        # Modules load in a thread: the plots' libraries take longer than a turn of the event loop may.
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
        page: BenchmarkPage | None = self.pages.get(BENCHMARK)  # type: ignore[assignment]
        return page is not None and page.measuring

    @property
    def _is_computing(self) -> bool:
        """Whether a benchmark or a memory estimate runs."""
        page: BenchmarkPage | None = self.pages.get(BENCHMARK)  # type: ignore[assignment]
        return page is not None and page.is_computing

    @property
    def is_testing(self) -> bool:
        """Whether a health test runs."""
        page: HealthPage | None = self.pages.get(HEALTH)  # type: ignore[assignment]
        return page is not None and page.testing

    @property
    def test_finished(self) -> SignalInstance:
        """Emitted when a health test that runs has ended."""
        page: HealthPage = self.pages[HEALTH]  # type: ignore[assignment]
        return page.finished

    @property
    def current_page(self) -> int:
        """The page that is open, -1 before the first."""
        shown = self._stack.currentWidget()
        return next((number for number, page in self.pages.items() if page is shown), -1)

    def open_page(self, page: int) -> None:
        previous = self.current_page
        self._requested_page, self._are_programs_requested = page, False
        if page == previous:
            return
        if page == MONITOR and not self.is_monitor_ready:
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
        """Open a page by its shortcut: keyboard focus moves to the page, or to its row in the rail."""
        self.open_page(page)
        self.rail.buttons[page].setFocus(Qt.FocusReason.ShortcutFocusReason)
        if page in self.pages:
            self.pages[page].take_focus()

    def preload_monitor(self) -> None:
        """Begin to load what Monitor needs, unless that is done or under way."""
        if not self.is_monitor_loaded() and not self._load_runner.running:
            self._qt_classes.start()

    def _start_loading(self) -> None:
        if not self._load_runner.running:
            self._load_runner.start(FunctionJob(lambda: [import_module(name) for name in PRELOADED_MODULES]))

    @property
    def is_monitor_ready(self) -> bool:
        """Whether Monitor opens at once: its code is loaded, and nothing is preloaded just now."""
        return self.is_monitor_loaded() and not self._preload_steps.busy

    def is_monitor_loaded(self) -> bool:
        return MONITOR_MODULE in sys.modules and not self._load_runner.running

    def _on_modules_loaded(self) -> None:
        """Create Monitor while another page, or the loading page, is shown."""
        if MONITOR not in self.pages:
            self._preload_steps.start([self._prepare_monitor, self._open_requested_monitor])

    def _prepare_monitor(self) -> None:
        from ..monitor.page import preload_steps

        monitor: MonitorPage = self._get_or_create_page(MONITOR)  # type: ignore[assignment]
        preload_steps(monitor, self.sampling.history, self._preload_steps)

    def _open_requested_monitor(self) -> None:
        if self._requested_page == MONITOR and self.current_page != MONITOR:
            open_monitor = self.open_programs if self._are_programs_requested else partial(self.open_page, MONITOR)
            open_monitor()

    def go_back(self) -> None:
        """Open the previous page."""
        if self._page_history:
            page = self._page_history.pop()
            self.go_to_page(page)
            self._page_history.pop()

    def refresh_pages(self) -> None:
        """Reload all pages, after something was installed or removed."""
        for page in self.pages.values():
            page.reload()

    def update_gpu_watching(self) -> None:
        """Sample the GPUs also while no page shows them, if the settings for alarms or tray say so."""
        is_needed = (self.app.settings.alarms or self.app.settings.tray) and not self.app.simulated
        self.sampling.request_samples("alarms", is_needed)
        self.monitoring_changed.emit()

    def is_muted(self, alarm: Alarm) -> bool:
        """Whether notifications of this alarm are muted."""
        return tray.is_muted(self.app.settings, alarm, self.sampling.history.gpus())

    def set_muted(self, alarm: Alarm, muted: bool) -> None:
        """Mute or unmute this kind of alarm for its GPU."""
        self._saver.save(**tray.muted_settings(self.app.settings, alarm, self.sampling.history.gpus(), muted=muted))

    def stop(self) -> None:
        """End the sampling thread and start nothing more; the window closes."""
        self._qt_classes.stop()
        self._preload_steps.stop()
        self.sampling.stop()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes through the page that is shown in reading order, however it is arranged just now."""
        page = self._stack.currentWidget()
        if isinstance(page, Page):
            set_reading_order(page.content)
        return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that no control uses scroll the page, also from the rail."""
        page = self._stack.currentWidget()
        if not (isinstance(page, Page) and page.scroll_by_key(event)):
            super().keyPressEvent(event)

    def retranslate(self) -> None:
        self._loading_page.set(self.tr("Preparing the graphs…"))
        self.rail.set_texts(
            (
                self.tr("Home"),
                self.tr("Monitor"),
                self.tr("Health test"),
                self.tr("Benchmark"),
                self.tr("Settings"),
                self.tr("Help"),
            )
        )
        self._update_badge()
        machine = self.app.simulated_machine
        if machine is not None:
            from ..wizard.pages.machine_summary import system_name

            names = [gpu.name for gpu in machine.gpus if gpu.name] or [system_name(machine)]
            self.banner.set(
                "simulated", self.tr("Simulated computer: {name}. Nothing is executed.").format(name=names[0])
            )

    def _update_badge(self) -> None:
        """Mark Monitor in the rail while a GPU has an alarm."""
        health = self.sampling.health
        if health is not None and health.state in ("warn", "error") and not self.app.simulated:
            self.rail.set_badge(MONITOR, health.state, "!", self.language.texts().most_severe_alarm_title(health))
        else:
            self.rail.set_badge(MONITOR, None)

    def _on_rail_chosen(self, index: int) -> None:
        if index > SETTINGS:
            # Help is a window of its own: the current page stays selected.
            self.rail.set_current(self.current_page)
            self.show_help()
            return
        self.open_page(index)

    def _get_or_create_page(self, page: int) -> Page:
        if page not in self.pages:
            self.pages[page] = self._create_page(page)
            self._stack.addWidget(self.pages[page])
        return self.pages[page]

    def _create_page(self, page: int) -> Page:
        if page == HOME:
            home = HomePage(self.app, self.language, self.sampling, self.updates)
            home.setup_requested.connect(self.setup_requested)
            home.side_page_requested.connect(self.side_page_requested)
            home.page_requested.connect(self.open_page)
            home.alarm_muted.connect(self.set_muted)
            home.environment_requested.connect(self.environment_requested)
            home.environment_chosen.connect(self._use_environment)
            home.environment_renamed.connect(self._rename_environment)
            if BENCHMARK in self.pages:
                home.watch_benchmark(self.pages[BENCHMARK].runner)  # type: ignore[attr-defined]
            home.health_test_requested.connect(self.open_health_test)
            home.programs_requested.connect(self.open_programs)
            return home
        if page == MONITOR:
            from ..monitor.page import MonitorPage

            monitor = MonitorPage(self.app, self.sampling, self.is_muted)
            monitor.alarm_muted.connect(self.set_muted)
            monitor.health_test_requested.connect(self.open_health_test)
            return monitor
        if page == HEALTH:
            from ..health.page import HealthPage

            health = HealthPage(self.app, self.sampling, lambda: self._is_computing)
            health.testing_changed.connect(self._update_busy_pages)
            health.finished.connect(self._reload_home)
            health.remedy_requested.connect(self.open_remedy)
            return health
        if page == BENCHMARK:
            from ..bench.page import BenchmarkPage

            benchmark = BenchmarkPage(self.app, self.language, self.sampling, lambda: self.is_testing)
            benchmark.setup_requested.connect(self.setup_requested)
            benchmark.remedy_requested.connect(self.open_remedy)
            benchmark.measured.connect(self.refresh_pages)
            benchmark.finished.connect(self.benchmark_finished)
            self.benchmark_runner_created.emit(benchmark.runner)
            benchmark.computing_changed.connect(self._update_busy_pages)
            if HOME in self.pages:
                self.pages[HOME].watch_benchmark(benchmark.runner)  # type: ignore[attr-defined]
            return benchmark
        from .settings.page import SettingsPage

        settings = SettingsPage(self.app, self.language, self._saver, self.updates)
        settings.offline_card.side_page_requested.connect(self.side_page_requested)
        settings.gpu_card.changed.connect(self.update_gpu_watching)
        self.settings_created.emit(settings)
        return settings

    def _use_environment(self, path: str) -> None:
        """Use another environment from now on."""
        self._saver.save(environment=path)
        self.refresh_pages()

    def _rename_environment(self, path: str, name: str) -> None:
        """Call an environment by this name from now on; "" by its folder's."""
        self._saver.save(environment_names=self.app.settings.environment_names_with(path, name))
        self.refresh_pages()

    def open_health_test(self, level: int = 1, gpu_index: int | None = None) -> None:
        """Open the health test at a level for one GPU, or for all (None)."""
        self.open_page(HEALTH)
        page: HealthPage = self.pages[HEALTH]  # type: ignore[assignment]
        page.choose(level, gpu_index)
        page.take_focus()

    def open_remedy(self, remedy: Remedy) -> None:
        """Open the place for a remedy; the power settings are opened by the page that offers them."""
        if remedy == "watch-temperature":
            self.open_page(MONITOR)
        elif remedy == "show-programs":
            self.open_programs()
        elif remedy == "update-driver":
            self.setup_requested.emit()
        elif remedy == "health-test":
            self.open_health_test(ADVISED_TEST_LEVEL)

    def open_programs(self) -> None:
        """Open Monitor at the programs on the GPUs, once it is loaded."""
        self.open_page(MONITOR)
        if self.current_page == MONITOR:
            self.pages[MONITOR].show_programs()  # type: ignore[attr-defined]
        else:
            self._are_programs_requested = True

    def _reload_home(self) -> None:
        """Show what the last health test came to."""
        if HOME in self.pages:
            self.pages[HOME].reload()

    def _update_busy_pages(self) -> None:
        """No test is started beside a benchmark or memory estimate, and none of these beside a test."""
        if HEALTH in self.pages:
            self.pages[HEALTH].update_state()  # type: ignore[attr-defined]
        if BENCHMARK in self.pages:
            self.pages[BENCHMARK].update_state()  # type: ignore[attr-defined]

    @property
    def help_topic(self) -> str:
        """The page of the guide about what is on the screen."""
        page = self._stack.currentWidget()
        return page.help_topic if isinstance(page, Page) else CONTENTS

    def show_help(self) -> None:
        """Open the help about the page that is shown (F1)."""
        from ..help import open_help

        open_help(self.app, self, self.help_topic)

    def _add_shortcuts(self) -> None:
        # Shortcuts of a hidden widget do nothing: the wizard has its own.
        keys: dict[str, Callable[[], None]] = {
            "Ctrl+1": lambda: self.go_to_page(HOME),
            "Ctrl+2": lambda: self.go_to_page(MONITOR),
            "Ctrl+3": lambda: self.go_to_page(HEALTH),
            "Ctrl+4": lambda: self.go_to_page(BENCHMARK),
            "Ctrl+,": lambda: self.go_to_page(SETTINGS),
            "Alt+Left": self.go_back,
            "F1": self.show_help,
            "F5": self.refresh_pages,
        }
        for key, action in keys.items():
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(action)
