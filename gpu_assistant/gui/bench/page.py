"""The benchmark page: how fast the computer is, whether that is right, and what fits in memory.

What flows here, with the modules:

    showEvent, reload ──► _ReadPageDataJob (worker thread) ──► environment, stored benchmarks, source of the ranges
    measure ──► app.monitoring.benchmark (JobRunner) ──► reports ──► running.RunningView
                                                     └─► Benchmark ──► result.view.BenchmarkResultView
    buttons of ResultActions ──► export.BenchmarkExporter ──► a picture or an HTML report on disk
    second tab ──► memory_fit.view.MemoryFitView, with a job of its own; only one of the two measures at a time
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...bench import scaling
from ...bench.child_protocol import BenchmarkProgress, TorchLoading
from ...core.errors import AppError
from ...core.jobs import JobContext, LazyJob
from ...core.results import Benchmark, BenchResult
from ...core.types import short_device_name
from ...reports import messages
from ...reports.expected_ranges import RangeSource, read_range_source
from ...texts.benchmark import dimensions_text
from ...texts.format import format_duration
from ..language import Language, texts
from ..machine_facts import InstalledEnvironment, current_environment
from ..monitor.live_card import RunMetricsCard
from ..monitor.sampling import SamplingService
from ..saving import FileOpener
from ..widgets.buttons import Button, SegmentedControl
from ..widgets.cards import Banner, Card, Hero, IconListCard
from ..widgets.dialogs import ConfirmDialog
from ..widgets.inputs import Menu
from ..widgets.layouts import AutoHeightStack
from ..widgets.page import Page
from ..widgets.text import label
from ..worker import FunctionJob, JobRunner
from .export.exporter import BenchmarkExporter
from .memory_fit.view import MemoryFitView
from .result.view import BenchmarkResultView
from .running import ActivityText, FinishedResultsCard, RunningView

if TYPE_CHECKING:
    from ...app import App
    from ..remedies import Remedy


translate = QCoreApplication.translate
LOADING_VIEW, EMPTY_VIEW, RUNNING_VIEW, RESULT_VIEW, MEMORY_VIEW = range(5)
SPEED_TAB, MEMORY_TAB = range(2)
WORKLOAD_ICONS = ("image", "book", "code", "cuda", "copy")
ANSWER_ICONS = ("bench", "ok", "temp", "clock", "share")
ENVIRONMENT_MISSING = "environment-missing"
FOCUS_DELAY_MS = 800  # a key press meant for "Cancel" may come this much later


class _PageData(Struct, frozen=True):
    """What is read from disk: the environment in use, stored benchmarks and how many files were unreadable, and the
    source of the expected ranges.
    """

    installed: InstalledEnvironment | None
    stored: tuple[Benchmark, ...]
    unreadable: int
    range_source: RangeSource


class _ReadPageDataJob:
    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> _PageData:
        context.check_cancelled()
        return _PageData(
            current_environment(self._app),
            *self._app.monitoring.stored_benchmarks(),
            read_range_source(self._app.catalog),
        )


class BenchmarkPage(Page):
    """Shows that nothing was measured, a run, or its result; on a second tab what fits in memory.

    `measured` is emitted with each new result, `setup_requested` asks for the wizard, `remedy_requested` brings what is
    to be opened against slowness, `computing_changed` follows each start and end of a benchmark or memory estimate.
    `is_testing` tells whether a health test runs: neither result could be trusted.
    """

    setup_requested = Signal()
    remedy_requested = Signal(str)
    measured = Signal()
    computing_changed = Signal()

    def __init__(
        self, app: App, language: Language, sampling: SamplingService, is_testing: Callable[[], bool] = lambda: False
    ) -> None:
        self._app, self._language, self._sampling, self._is_testing = app, language, sampling, is_testing
        self._installed: InstalledEnvironment | None = None
        self._range_source: RangeSource | None = None
        self._benchmarks: tuple[Benchmark, ...] = ()
        self._session_benchmarks: tuple[Benchmark, ...] = ()
        self._unreadable_count = 0
        self._data_read = self._focus_wanted = self._ready = self._stopped = self._had_environment = False
        self._error: AppError | None = None
        self._saved_path: Path | None = None
        super().__init__(" ")
        self.tabs = SegmentedControl(("", ""))
        self.result_actions = ResultActions(self, self.tabs)
        self.full_test_button = self.result_actions.full_test_button
        self.measure_button = self.result_actions.measure_button
        self.message_banner = Banner("error", inset=True)
        self.environment_banner = Banner("warn", inset=True)
        self.environment_banner.button.set_kind("primary")  # without it nothing can be measured
        self.busy_banner = Banner("neutral", inset=True)
        self.busy_banner.setObjectName("healthTestRunning")
        for banner in (self.message_banner, self.environment_banner, self.busy_banner):
            banner.hide()
        self.empty_state = Hero("accent", " ", icon="bench")
        self.empty_state.button.set_kind("primary")
        self.first_full_test_button = Button(kind="ghost", icon_name="clock", flush="left")
        self.full_test_note = label("small")
        self.workloads_card, self.answers_card = IconListCard(WORKLOAD_ICONS), IconListCard(ANSWER_ICONS)
        self.running_view = RunningView(activity)
        self.live_card, self.finished_card = RunMetricsCard(sampling, "benchmark"), FinishedResultsCard()
        self.result_view = BenchmarkResultView()
        self.memory_view = MemoryFitView(app)
        self.cancel_button = self.running_view.cancel_button
        self._views = AutoHeightStack()
        for view in (
            QWidget(),
            self._wrap_empty_state(),
            self._wrap_running_view(),
            self.result_view,
            self.memory_view,
        ):
            self._views.add(view)
        self.column.addWidget(self.result_actions)
        self.column.addWidget(self.busy_banner)
        self.column.addWidget(self.environment_banner)
        self.column.addWidget(self.message_banner)
        self.column.addWidget(self._views, 1)
        self.unreadable_label = label("small")
        self.column.addWidget(self.unreadable_label)
        self._data_runner, self._runner, self._settings_runner = JobRunner(self), JobRunner(self), JobRunner(self)
        self.exporter, self._opener = BenchmarkExporter(self), FileOpener(app, self)
        self._focus_timer = QTimer(self, interval=FOCUS_DELAY_MS, singleShot=True)
        self._connect_signals()
        self._ready = True
        self.retranslate()

    def _connect_signals(self) -> None:
        self._focus_timer.timeout.connect(self._restore_focus)
        self._data_runner.done.connect(self._on_data_read)
        self._data_runner.failed.connect(self._on_failed)
        self._runner.reported.connect(self._on_report)
        self._runner.done.connect(self._on_done)
        self._runner.failed.connect(self._on_failed)
        self._runner.cancelled.connect(lambda: self._show_outcome(stopped=True))
        self._runner.finished.connect(self._on_finished)
        self.exporter.saved.connect(lambda path: self._show_outcome(saved=path))
        self.exporter.failed.connect(self._on_failed)
        self._opener.failed.connect(self._on_failed)
        self._settings_runner.failed.connect(self._on_failed)
        self.message_banner.button.clicked.connect(self._open_saved)
        self.result_view.repair_steps.requested.connect(self._help_with_step)
        self.measure_button.clicked.connect(partial(self.measure, full=False))
        for button in (self.full_test_button, self.first_full_test_button):
            button.clicked.connect(self.confirm_full_test)
        self.result_actions.picture_requested.connect(
            lambda: self.exporter.ask_picture(self._benchmarks[-1], self._benchmarks, self._range_source)
        )
        self.result_actions.report_requested.connect(
            lambda: self.exporter.ask_report(self._benchmarks[-1], self._benchmarks, self._range_source)
        )
        self.empty_state.button.clicked.connect(self._on_empty_button)
        self.environment_banner.button.clicked.connect(self.setup_requested)
        self.running_view.stop_requested.connect(self.stop)
        self.tabs.chosen.connect(lambda _: self._on_tab_changed())
        self.memory_view.busy_changed.connect(lambda _: self._on_tab_changed())
        for changed in (self.memory_view.busy_changed, self._runner.started, self._runner.finished):
            changed.connect(lambda *_: self.computing_changed.emit())
        self.memory_view.environment_missing.connect(self.reload)

    def _open_saved(self) -> None:
        if self._saved_path is not None:
            self._opener.open(self._saved_path)

    def _help_with_step(self, remedy: Remedy) -> None:
        """Measure again, open the power settings, or ask for another place for a step against slowness."""
        if remedy == "measure-again":
            self.measure()
        elif remedy != "open-power-settings":
            self.remedy_requested.emit(remedy)
        elif not self._settings_runner.running:
            self._settings_runner.start(FunctionJob(self._app.system.open_power_settings))

    def _on_tab_changed(self) -> None:
        """Called for another tab and when the memory estimate starts or ends; hides where a file was saved."""
        self._saved_path = None
        self.retranslate()

    def _wrap_empty_state(self) -> QWidget:
        """What to do; what one gets from it, and what is measured for that."""
        self._preview_row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._preview_row.setSpacing(12)
        for card in (self.answers_card, self.workloads_card):  # what one gets from it is why one measures
            self._preview_row.addWidget(card, 1)
        preview, full_test = QWidget(), QWidget()
        preview.setLayout(self._preview_row)
        full_test_row = QHBoxLayout(full_test)
        full_test_row.addWidget(self.first_full_test_button)
        full_test_row.addWidget(self.full_test_note, 1)
        for row in (self._preview_row, full_test_row):
            row.setContentsMargins(0, 0, 0, 0)
        self.breakpoints.changed.connect(self._arrange_preview)
        self._arrange_preview()
        return _column_of(self.empty_state, preview, full_test)

    def _arrange_preview(self) -> None:
        direction = QBoxLayout.Direction
        self._preview_row.setDirection(direction.TopToBottom if self.breakpoints.is_tight else direction.LeftToRight)

    def _wrap_running_view(self) -> QWidget:
        """What is measured, the live values, and what was measured so far; the rest of the page is empty."""
        return _column_of(_card_of(self.running_view), self.live_card, self.finished_card)

    @property
    def runner(self) -> JobRunner:
        """Runs the benchmark; reports `TorchLoading`, `BenchmarkProgress` and `BenchResult`."""
        return self._runner

    @property
    def help_topic(self) -> str:
        return "fit" if self.tabs.current() == MEMORY_TAB else "benchmark"

    @property
    def measuring(self) -> bool:
        """Whether a benchmark runs."""
        return self._runner.running

    @property
    def is_computing(self) -> bool:
        """Whether a benchmark or a memory estimate runs."""
        return self.measuring or self.memory_view.busy

    @property
    def finished(self) -> SignalInstance:
        """Emitted when a benchmark ends."""
        return self._runner.finished

    @property
    def can_measure(self) -> bool:
        """Whether there is an environment to measure, on this computer."""
        return self._installed is not None and not self._app.simulated

    @property
    def _can_start(self) -> bool:
        """Whether a benchmark can be started now."""
        return self.can_measure and not self.memory_view.busy and not self._is_testing()

    @property
    def _gpu_count(self) -> int:
        """How many GPUs are known; 0 where none was sampled yet."""
        return len(self._sampling.history.gpus())

    @property
    def is_loaded(self) -> bool:
        """Whether environment and stored benchmarks were read once."""
        return self._data_read

    @property
    def benchmarks(self) -> tuple[Benchmark, ...]:
        """Stored benchmarks and those of this session, oldest first."""
        return self._benchmarks

    @property
    def current_view(self) -> int:
        """One of LOADING_VIEW, EMPTY_VIEW, RUNNING_VIEW, RESULT_VIEW, MEMORY_VIEW."""
        return self._views.current()

    # Reading

    def reload(self) -> None:
        """Read again which environment is in use and what was measured."""
        if not self._data_runner.running:
            self._data_runner.start(_ReadPageDataJob(self._app))

    def showEvent(self, event: QShowEvent) -> None:
        """Reload each time: another program may have measured in the meantime."""
        super().showEvent(event)
        self.reload()

    def hideEvent(self, event: QHideEvent) -> None:
        """Drop the pending focus request and the message about a saved file."""
        super().hideEvent(event)
        self._focus_wanted, self._saved_path = False, None
        self._update_message()

    def take_focus(self) -> None:
        """Focus the first main button that can be clicked, after the first reading if that has not ended."""
        self._focus_wanted = not (self._data_read or self.measuring)
        for button in (
            self.cancel_button,
            *self.result_view.step_buttons,
            self.measure_button,
            self.result_actions.save_button,
            self.empty_state.button,
            self.memory_view.measure_button,
        ):
            if button.isVisible() and button.isEnabled():
                button.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _on_data_read(self, data: _PageData) -> None:
        self._data_read = True
        self._had_environment = self._had_environment or data.installed is not None or bool(data.stored)
        self._installed, self._range_source, self._unreadable_count = data.installed, data.range_source, data.unreadable
        # A result that could not be saved is still a result.
        unsaved = tuple(each for each in self._session_benchmarks if each not in data.stored)
        self._benchmarks = (*data.stored, *unsaved)
        self.memory_view.set_environment(self._installed if self.can_measure else None)
        if self._installed is None and self._error is not None and self._error.code == ENVIRONMENT_MISSING:
            self._error = None  # environment_banner or empty_state says it, with a button
        if not self.can_measure:
            self.tabs.set_current(SPEED_TAB)
        self.retranslate()
        if self._focus_wanted:
            self.take_focus()

    # Measuring

    def _on_empty_button(self) -> None:
        if self._installed is None:
            self.setup_requested.emit()
        else:
            self.measure()

    def confirm_full_test(self) -> None:
        """Say in a dialog how long the full test takes, and start it if the user accepts."""
        if self._installed is None:
            return
        details = self.tr(
            "Measures more sizes, each for longer. Close other programs first. “Cancel” stops it "
            "within a second and keeps the results so far."
        )
        dialog = ConfirmDialog(
            self,
            self.tr("Start the full test?"),
            f"{duration_text(self._installed, self._gpu_count, full=True)} {details}",
            self.tr("Start the full test"),
            self.tr("Not now"),
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self.measure(full=True))
        dialog.open()

    def measure(self, *, full: bool = False) -> None:
        """Start a run; does nothing while another one runs or where nothing can be measured."""
        if self.measuring or not self._can_start or self._installed is None:
            return
        self._error, self._saved_path, self._stopped = None, None, False
        self.tabs.set_current(SPEED_TAB)
        self._runner.start(LazyJob(partial(self._app.monitoring.benchmark, self._installed.folder, full=full)))
        self.finished_card.clear()
        self.running_view.start(partial(running_note, full=full))
        self.retranslate()
        self.running_view.take_focus()

    def stop(self) -> None:
        """Cancel the run."""
        if self.measuring:
            self._runner.cancel()
            self.running_view.set_stopping()

    def _on_report(self, report: TorchLoading | BenchmarkProgress | BenchResult) -> None:
        if isinstance(report, BenchResult):
            self.finished_card.add(report)
        else:
            self.running_view.show_progress(report)

    def _on_done(self, benchmark: Benchmark) -> None:
        self._session_benchmarks = (*self._session_benchmarks, benchmark)
        self._benchmarks = (*self._benchmarks, benchmark)
        self.measured.emit()

    def _on_failed(self, error: AppError) -> None:
        self._show_outcome(error=error)
        if error.code == ENVIRONMENT_MISSING:
            self.reload()

    def _show_outcome(self, *, error: AppError | None = None, saved: Path | None = None, stopped: bool = False) -> None:
        """Show one outcome in the banner; it replaces the one before."""
        self._error, self._saved_path, self._stopped = error, saved, stopped
        self._on_finished()

    def _on_finished(self) -> None:
        had_focus = self.running_view.has_focus_within
        self.retranslate()
        if had_focus:
            # Not on a button yet: a late key press meant for "Cancel" must not start the next run.
            self.tabs.buttons[SPEED_TAB].setFocus(Qt.FocusReason.OtherFocusReason)
            self._focus_timer.start()
        self.verticalScrollBar().setValue(0)

    def _restore_focus(self) -> None:
        """Focus the next action, unless the user moved the focus in the meantime."""
        if self.tabs.buttons[SPEED_TAB].hasFocus():
            self.take_focus()

    # Texts and state

    def retranslate(self) -> None:
        """Update all texts, and show the view of the current state."""
        if not self._ready:
            return
        last = self._benchmarks[-1] if self._benchmarks else None
        memory_tab = self.tabs.current() == MEMORY_TAB
        result_shown = last is not None and not self.measuring and not memory_tab
        self.tabs.set_options((self.tr("Benchmark"), self.tr("What fits")))
        self.tabs.setAccessibleName(self.tr("View"))
        self.result_actions.show_parts(tabs=self.can_measure and not self.measuring, buttons=result_shown)
        self.unreadable_label.setText(
            self._language.texts().translate("bench.kept-left-out", {"results": self._unreadable_count})
        )
        self.unreadable_label.setVisible(self._unreadable_count > 0 and not self.measuring and not memory_tab)
        self.update_state()
        self._update_message()
        self._update_environment_banner(result_shown=result_shown)
        title, subtitle = self.tr("Benchmark"), self.tr("How fast is it, and is that normal?")
        if self.measuring:
            self._views.show_view(RUNNING_VIEW)
        elif memory_tab:
            title = self.tr("What fits")
            # Without it more of one's own result is in view, which is about one model.
            is_table_first = not self.memory_view.has_measured
            subtitle = self.tr("Which models this computer can run and train") if is_table_first else ""
            self._views.show_view(MEMORY_VIEW)
        elif last is not None:
            subtitle = messages.result_subtitle(last)
            self.result_view.show_benchmark(last, self._benchmarks, self._range_source)
            # Measuring again is one of the steps against slowness.
            self.result_actions.show_measure_button(shown=not self.result_view.step_buttons)
            self._views.show_view(RESULT_VIEW)
        elif self._data_read:
            subtitle = self.tr("Not measured yet") if self.can_measure else ""
            self._update_empty_state()
            self._views.show_view(EMPTY_VIEW)
        self.set_title(title, subtitle)

    def update_state(self) -> None:
        """Update which measurements can be started, and why not."""
        installed, reason = self._installed, self._unavailable_reason()
        quick_duration, full_duration = (
            duration_text(installed, self._gpu_count, full=full) if installed else "" for full in (False, True)
        )
        self.result_actions.set_texts(self._can_start, quick_duration, full_duration, reason)
        tool_tip = quick_duration if self._can_start else reason
        self.result_view.repair_steps.set_measurable(enabled=self._can_start, tool_tip=tool_tip)
        is_testing = self._is_testing()
        self.memory_view.set_blocked(reason if is_testing else "")
        self.busy_banner.set("neutral", reason)
        self.busy_banner.setVisible(self.can_measure and is_testing)
        if self._data_read and not self._benchmarks:
            self._update_empty_state()

    def _update_message(self) -> None:
        """An error, where a file was saved, or that the run was cancelled; `memory_view` has a banner of its own."""
        has_message = self.tabs.current() == SPEED_TAB and bool(self._error or self._saved_path or self._stopped)
        self.message_banner.setVisible(has_message and not self.measuring)
        self.message_banner.button.setVisible(self._saved_path is not None and self._error is None)
        if self._error is not None:
            self.message_banner.set("error", self._language.texts().error_text(self._error))
        elif self._saved_path is not None:
            self.message_banner.set("ok", self.tr("Saved: {path}").format(path=self._saved_path))
            self.message_banner.button.setText(self.tr("Open"))
        elif self._stopped:
            self.message_banner.set("warn", self.tr("Stopped. This run was not saved."))

    def _update_environment_banner(self, *, result_shown: bool) -> None:
        """Above an earlier result: the environment is missing. Without a result `empty_state` says it."""
        self.environment_banner.setVisible(
            result_shown and self._data_read and self._installed is None and not self._app.simulated
        )
        self.environment_banner.set("warn", self._unavailable_reason())
        self.environment_banner.button.setText(self.tr("Set up PyTorch"))
        self.environment_banner.button.show()

    def _unavailable_reason(self) -> str:
        if self._app.simulated:
            return self.tr("A simulated computer cannot be measured: nothing is executed on it.")
        if self._is_testing():
            return self.tr("The health test is running on the card. Measure when it is done.")
        if self.memory_view.busy:
            return self.tr("The computer is calculating what fits in memory.")
        if self._had_environment:
            return self.tr("The environment was removed or moved. Setting up a new one takes a few minutes.")
        return self.tr("There is no environment to measure yet. Setting one up takes a few minutes.")

    def _update_empty_state(self) -> None:
        can_measure, unavailable_reason = self.can_measure, self._unavailable_reason()
        if can_measure and self._installed is not None:
            title = self.tr("How fast is PyTorch on this computer?")
            duration = duration_text(self._installed, self._gpu_count)
            self.empty_state.set("accent", title, duration, self.tr("Measure"), "bench")
            note = full_test_note(self._installed, self._gpu_count)
            self.first_full_test_button.setText(self.tr("Full test…"))
            self.first_full_test_button.setAccessibleDescription(note)
            self.full_test_note.setText(note)
        else:
            button_text = self.tr("Measure") if self._app.simulated else self.tr("Set up PyTorch")
            title = self.tr("Nothing to measure here")
            self.empty_state.set("neutral", title, unavailable_reason, button_text, "bench")
        is_measuring = can_measure or self._app.simulated
        self.empty_state.button.set_icon("play" if is_measuring else "download", None)
        self._show_preview()
        for part in (self.first_full_test_button, self.full_test_note):
            part.setVisible(can_measure)
        is_blocked = self._app.simulated or (can_measure and self._is_testing())
        for button in (self.empty_state.button, self.first_full_test_button):
            button.setEnabled(not is_blocked)
            button.setToolTip(unavailable_reason if is_blocked else "")

    def _show_preview(self) -> None:
        """What a run measures, and what one gets from it, for whoever has not seen one."""
        for card in (self.workloads_card, self.answers_card):
            card.setVisible(not self._app.simulated)
        self.workloads_card.set_lines(
            self.tr("What is measured"),
            (
                self.tr("Training ResNet-50, a network that recognises images"),
                self.tr("Training BERT-base, a network that reads sentences"),
                self.tr("Writing text with a small language model"),
                self.tr("Matrix multiplication, the core of every network"),
                self.tr("Copying data, which shows how fast the memory is"),
            ),
        )
        installed = self._installed
        has_gpu = installed.variant != "cpu" if installed is not None else bool(self._sampling.history.gpus())
        self.answers_card.set_lines(
            self.tr("What you get"),
            (
                self.tr("How your card compares with your CPU")
                if has_gpu
                else self.tr("How long your CPU takes to train on 1,000 images"),
                self.tr("Whether that is normal for your card")
                if has_gpu
                else self.tr("How fast a small language model writes"),
                self.tr("Whether heat, battery or other programs slow it down"),
                self.tr("Whether it is faster or slower than last time"),
                self.tr("A picture or a report to share"),
            ),
        )


def _card_of(widget: QWidget) -> Card:
    card = Card()
    card.column.addWidget(widget)
    return card


def _column_of(*cards: QWidget) -> QWidget:
    """Cards one below the other, as tall as their contents."""
    view = QWidget()
    column = QVBoxLayout(view)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(12)
    for card in cards:
        column.addWidget(card)
    column.addStretch(1)
    return view


BUTTON_GAP = 8


class ResultActions(QWidget):
    """The tabs of the page at the left, and beside them what can be done with a result: save it, measure again.

    Where the buttons do not fit beside the tabs these have less room around their texts; if that is not enough, the
    buttons go below them, in as many columns as fit.
    """

    picture_requested = Signal()
    report_requested = Signal()

    def __init__(self, page: Page, tabs: SegmentedControl) -> None:
        super().__init__()
        self._page, self._tabs = page, tabs
        self.columns, self._offers_measuring = 0, True
        self.save_button = Button(icon_name="file", trailing_icon="down")
        self.full_test_button, self.measure_button = Button(icon_name="clock"), Button(kind="primary", icon_name="play")
        self.buttons = (self.save_button, self.full_test_button, self.measure_button)
        self.panel = QWidget()
        self._grid = QGridLayout(self.panel)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(BUTTON_GAP)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(BUTTON_GAP)
        self._row.addWidget(tabs, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._row.addStretch(1)
        self._row.addWidget(self.panel)
        self.save_button.clicked.connect(lambda: self.build_save_menu().popup(self._below(self.save_button)))
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the page."""
        if event.type() == QEvent.Type.Resize:
            self.update_layout()
        return super().eventFilter(watched, event)

    def build_save_menu(self) -> Menu:
        """What a result can be saved as; the menu is made when it is opened."""
        menu = Menu(self)
        menu.addAction(self.tr("As a picture…")).triggered.connect(self.picture_requested)
        menu.addAction(self.tr("As a report…")).triggered.connect(self.report_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _below(self, button: Button) -> QPoint:
        return button.mapToGlobal(QPoint(0, button.height()))

    def set_texts(self, enabled: bool, quick_duration: str, full_duration: str, unavailable_reason: str) -> None:
        """Update texts; the tool tips say how long a run takes, or why none can be started."""
        self.save_button.setText(self.tr("Save result"))
        self.full_test_button.setText(self.tr("Full test…"))
        self.measure_button.setText(self.tr("Measure again"))
        for button, duration_text in ((self.full_test_button, full_duration), (self.measure_button, quick_duration)):
            button.setEnabled(enabled)
            button.setToolTip(duration_text if enabled else unavailable_reason)
        self.update_layout()

    def show_parts(self, *, tabs: bool, buttons: bool) -> None:
        """Show the tabs, the buttons, or both."""
        self._tabs.setVisible(tabs)
        self.panel.setVisible(buttons)
        self.setVisible(tabs or buttons)
        self.update_layout()

    def show_measure_button(self, *, shown: bool) -> None:
        """Show the button that measures again, or hide it where the page has another one."""
        self._offers_measuring = shown
        self.measure_button.setVisible(shown)
        self.update_layout()

    def update_layout(self) -> None:
        """Place the buttons for the current width of the page."""
        available = self._page.maximumViewportSize().width() - 2 * self._page.breakpoints.margin
        buttons = self.buttons if self._offers_measuring else self.buttons[:-1]
        widths = [button.sizeHint().width() for button in buttons]
        one_row = sum(widths) + BUTTON_GAP * (len(widths) - 1)
        free = available - one_row - BUTTON_GAP
        usual_width, compact_width = (self._tabs.row_width(compact=compact) for compact in (False, True))
        self._tabs.set_compact(compact_width <= free < usual_width)
        is_beside = compact_width <= free or (self._tabs.isHidden() and one_row <= available)
        direction = QBoxLayout.Direction
        self._row.setDirection(direction.LeftToRight if is_beside else direction.TopToBottom)
        self._row.setAlignment(self.panel, Qt.AlignmentFlag.AlignRight if is_beside else Qt.AlignmentFlag.AlignLeft)
        columns = len(widths) if one_row <= available else 2 if 2 * max(widths) + BUTTON_GAP <= available else 1
        if columns != self.columns:
            self.columns = columns
            for index, button in enumerate(self.buttons):
                self._grid.addWidget(button, index // columns, index % columns)


# Texts


def activity(report: BenchmarkProgress) -> ActivityText:
    """What is being measured."""
    size = dimensions_text(report.size) if report.workload == "matmul" else ""
    label = messages.workload_label(report.workload, report.dtype, report.device)
    template = translate("BenchmarkPage", "Measuring now: {workload} on the {device}")
    title = template.format(workload=label, device=short_device_name(report.device))
    return ActivityText(title, size, report.limit_s)


def duration_text(installed: InstalledEnvironment, gpu_count: int, *, full: bool = False) -> str:
    """How long a run takes with this many GPUs (0: unknown), and that the fans get loud."""
    is_cpu_build = installed.variant == "cpu"
    if full and is_cpu_build:
        return translate("BenchmarkPage", "Up to 15 minutes. The fan may get loud.")
    if is_cpu_build:
        return translate("BenchmarkPage", "About 1 minute. The fan may get loud.")
    if gpu_count == 1 and full:
        return translate("BenchmarkPage", "Up to 30 minutes. The fans may get loud.")
    if gpu_count == 1:
        return translate("BenchmarkPage", "About 2 minutes. The fans may get loud.")
    if full:
        template = translate(
            "BenchmarkPage",
            "Up to 15 minutes for the CPU and 15 minutes for each GPU; with several GPUs up to {time} more for all of "
            "them together. The fans may get loud.",
        )
    else:
        template = translate(
            "BenchmarkPage",
            "About 1 minute for the CPU and 1 minute for each GPU; with several GPUs up to {time} more for all of them "
            "together. The fans may get loud.",
        )
    return template.format(time=format_duration(scaling.max_total_s(full=full), texts().language))


def running_note(*, full: bool) -> str:
    """The note that is shown during a run: what to expect of it, what disturbs it, and whether Cancel keeps results."""
    if full:
        return translate(
            "BenchmarkPage",
            "The fans may get loud. Close other programs for a fair result. A cancelled run keeps its results so far.",
        )
    return translate(
        "BenchmarkPage",
        "The fans may get loud. Close other programs for a fair result. A cancelled run is not saved.",
    )


def full_test_note(installed: InstalledEnvironment, gpu_count: int) -> str:
    """What the full test is for and how long it takes, with this many GPUs (0: unknown)."""
    if installed.variant == "cpu":
        return translate("BenchmarkPage", "More accurate, up to 15 minutes")
    if gpu_count == 1:
        return translate("BenchmarkPage", "More accurate, up to 30 minutes")
    return translate("BenchmarkPage", "More accurate, up to 15 minutes plus 15 per GPU")
