"""The page of the health test: level, GPU and duration; progress, checks, verdict.

What flows here, with the modules:

    shown ──► HealthTestEnvironmentJob (worker thread) ──► HealthTestEnvironment: what there is to test with
    Start ──► HealthTestJob ──► app.monitoring.health_test, with a sampler of its own
                            ├─► reports: HealthProgress, Check ──► health.progress ──► progress bar,
                            │                                      findings and what is to come: HealthResultView
                            └─► Checks ──► verdict, GPU curves and scope in result.HealthResultView
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from ...core.errors import AppError
from ...core.jobs import JobContext
from ...core.results import Check, Checks, GpuSample
from ...health.checks import has_error_counters
from ...health.child_protocol import HealthProgress
from ...health.progress import HealthTestProgress
from ...reports.messages import date_text
from ...texts.format import format_duration, format_percent
from .. import language, theme
from ..machine_facts import current_environment
from ..monitor.live_card import RunMetricsCard
from ..monitor.sampling import SamplingService
from ..widgets.base import announce
from ..widgets.buttons import Button, SegmentedControl
from ..widgets.cards import Banner, Card
from ..widgets.inputs import Dropdown, DropdownEntry
from ..widgets.layouts import FlowLayout
from ..widgets.page import Page
from ..widgets.progress import ProgressBar
from ..widgets.text import label
from ..worker import JobRunner
from .levels import LOAD_LEVEL, AreasCard, LevelCards, level_areas, level_names, repeat_texts, retest_level, start_texts
from .result import HealthResultView
from .running import area_name

if TYPE_CHECKING:
    from ...app import App


MIN_LEVEL_WIDTH = 210  # pixels at 100 % text of a level beside the others
LOAD_MINUTES = (10, 20, 30, 60)
CLOCK_INTERVAL_MS = 1000
translate = QCoreApplication.translate


class HealthPage(Page):
    """One test at a time; it goes on while another page is open. `finished` follows each, `testing_changed` each start
    and end; `remedy_requested` brings what is to be opened about a finding.

    `sampling` has the GPUs that are known; `is_benchmarking` tells whether a benchmark runs: a test beside it could not
    be trusted. `monotonic` gives seconds.
    """

    finished = Signal()
    testing_changed = Signal()
    remedy_requested = Signal(str)

    def __init__(
        self,
        app: App,
        sampling: SamplingService,
        is_benchmarking: Callable[[], bool],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._sampling, self._is_benchmarking = app, sampling, is_benchmarking
        self.monotonic = monotonic
        self._environment: HealthTestEnvironment | None = None
        self._message: Callable[[], str] | None = None
        self._progress: HealthTestProgress | None = None
        self._is_built = self._was_copied = self._is_stopping = False
        self._ended: float | None = None
        self._seconds: float | None = None
        super().__init__(" ")
        self.levels, self.areas_card = LevelCards(), AreasCard()
        self.test_options = HealthTestOptions()
        self.limit_label, self.progress_label, self.time_label = label("small"), label("heading"), label("small")
        self.next_test_label = label("heading")
        self.progress_bar = ProgressBar()
        self._started = 0.0  # of `monotonic`
        self._tested: tuple[int, str | None, float | None] | None = None  # the options of the last test
        self._clock_timer = QTimer(self, interval=CLOCK_INTERVAL_MS)
        self.message_banner, self.cpu_only_banner = Banner("warn", inset=True), Banner("warn", inset=True)
        self.no_card_banner = Banner("neutral", inset=True)
        self.result_view = HealthResultView()
        self.live_card = RunMetricsCard(sampling, "health-test")
        self.start_button = Button(kind="primary", icon_name="play")
        self.start_button.setObjectName("startHealthTest")
        self.cancel_button = Button(icon_name="cross")
        self.copy_button = Button(kind="ghost", icon_name="copy", small=True, flush="left")
        self.environment_runner, self.test_runner = JobRunner(self), JobRunner(self)
        self._build_layout()
        self._connect_signals()
        self._is_built = True
        self._arrange()
        self.retranslate()

    def _build_layout(self) -> None:
        self._progress_card = Card()
        progress_row = QHBoxLayout()
        progress_row.addWidget(self.progress_label, 1, Qt.AlignmentFlag.AlignVCenter)
        progress_row.addWidget(self.cancel_button)
        self._progress_card.column.addLayout(progress_row)
        self._progress_card.column.addWidget(self.progress_bar)
        self._progress_card.column.addWidget(self.time_label)
        self._result_card = Card()
        self._result_card.column.addWidget(self.result_view)
        result_footer = FlowLayout(spacing=16)
        result_footer.addWidget(self.result_view.expand_button)
        result_footer.addWidget(self.copy_button)
        self._result_card.column.addLayout(result_footer)
        # What runs or was found comes first; below it are the levels, to test again.
        for widget in (
            self._progress_card,
            self.live_card,
            self.message_banner,
            self.result_view.verdict,
            self._result_card,
            self.next_test_label,
            self.levels,
            self.no_card_banner,
            self.cpu_only_banner,
        ):
            self.column.addWidget(widget)
        self._start_row = QWidget()
        self._start_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._start_row)
        self._start_layout.setContentsMargins(0, 0, 0, 0)
        self._start_layout.setSpacing(12)
        for control in (self.start_button, self.test_options.gpu_dropdown):
            self._start_layout.addWidget(control, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._start_layout.addWidget(self.limit_label, 1, Qt.AlignmentFlag.AlignVCenter)
        self.column.addWidget(self.test_options)
        self.column.addWidget(self._start_row)
        self.column.addWidget(self.areas_card)
        self.column.addStretch(1)

    def _arrange(self) -> None:
        """Levels side by side, in a small window one below the other; what starts the test above its limits there.

        Below a result they are brief in a low window, so that the next test can be started without scrolling.
        """
        fits = self.available_width() >= len(self.levels.buttons) * theme.px(MIN_LEVEL_WIDTH)
        self.levels.set_columns(len(self.levels.buttons) if fits else 1)
        self.areas_card.set_columns(len(self.levels.buttons) if fits else 1, self.available_width())
        self.levels.set_brief(not self.next_test_label.isHidden() and self.breakpoints.is_low)
        direction = QBoxLayout.Direction
        self._start_layout.setDirection(direction.TopToBottom if self.breakpoints.is_cramped else direction.LeftToRight)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_built:
            self._arrange()

    def _connect_signals(self) -> None:
        self.levels.chosen.connect(lambda _: self.update_state())
        self.test_options.changed.connect(self.update_state)
        self.start_button.clicked.connect(self.start_test)
        self.result_view.remedy_requested.connect(self.remedy_requested)
        self.copy_button.clicked.connect(self._copy_result)
        self.cancel_button.clicked.connect(self.stop_test)
        self.environment_runner.done.connect(self.set_environment)
        self.environment_runner.failed.connect(self._on_failed)
        self.test_runner.reported.connect(self._on_report)
        self.test_runner.done.connect(self._on_done)
        self.test_runner.failed.connect(self._on_failed)
        self.test_runner.cancelled.connect(self._on_cancelled)
        self.test_runner.finished.connect(self._on_finished)
        self._clock_timer.timeout.connect(self._show_time)

    @property
    def help_topic(self) -> str:
        return "health"

    @property
    def level(self) -> int:
        """The selected level, from 1."""
        return self.levels.current() + 1

    @property
    def testing(self) -> bool:
        return self.test_runner.running

    def choose(self, level: int, gpu: int | None) -> None:
        """Select a level, and the GPU with this index (None: all), unless a test runs."""
        if not self.testing:
            self.levels.set_current(level - 1)
            self._show_gpus()
            self.test_options.choose_gpu(gpu)
            self.update_state()

    def reload(self) -> None:
        """Read the environment in use again."""
        if not (self.testing or self.environment_runner.running):
            self.environment_runner.start(HealthTestEnvironmentJob(self._app))

    def take_focus(self) -> None:
        if self.testing:
            self.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        view = self.result_view
        buttons = (view.remedy_button, self.start_button, self.levels.buttons[self.level - 1])
        for button in buttons:
            if button.isVisibleTo(self) and button.isEnabled():
                button.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def showEvent(self, event: QShowEvent) -> None:
        """Look which GPUs and which environment there are now."""
        super().showEvent(event)
        if not event.spontaneous():
            self._show_gpus()
            self.update_state()
            self.reload()

    def _show_gpus(self) -> None:
        if not self.testing:
            self.test_options.show_gpus(self._gpus())

    def _gpus(self) -> tuple[GpuSample, ...]:
        """The GPUs that are known and there."""
        return tuple(gpu for gpu in self._sampling.history.gpus() if gpu.state != "gone")

    def _areas(self) -> tuple[str, ...]:
        """What the selected level tests on this computer."""
        environment = self._environment
        return level_areas(
            self.level,
            has_environment=environment is None or environment.environment is not None,
            has_gpu=bool(self._gpus()) and not (environment is not None and environment.cpu_only),
            has_error_counters=self._has_error_counters(),
        )

    def _has_error_counters(self) -> bool:
        """Whether one of the GPUs to test reports counts of memory errors, or none of them answers now."""
        device = self.test_options.device
        gpus = [gpu for gpu in self._gpus() if gpu.state == "ready" and device in (None, f"cuda:{gpu.index}")]
        return not gpus or any(has_error_counters(gpu) for gpu in gpus)

    def _selected_options(self) -> tuple[int, str | None, float | None]:
        """Level, device and seconds of load of a test that would start now."""
        options = self.test_options
        return self.level, options.device, options.load_seconds if self.level == LOAD_LEVEL else None

    # The test

    def start_test(self) -> None:
        """Start a test; does nothing while one runs or where none can."""
        if self._unavailable_reason() or self._environment is None or self.testing:
            return
        gpus = self._gpus()
        options = self.test_options
        gpu_count = 1 if options.device is not None else len(gpus)
        self.result_view.start(only_card=gpus[0].name if len(gpus) == 1 else None)
        self._message, self._was_copied, self._is_stopping = None, False, False
        self._tested = self._selected_options()
        self._started = self.monotonic()
        self._clock_timer.start()
        self._progress = HealthTestProgress(self._areas(), gpu_count=gpu_count, load_seconds=options.load_seconds)
        self.result_view.pending.start(self._progress, has_several_gpus=gpu_count > 1)
        self.test_runner.start(
            HealthTestJob(
                self._app,
                self._environment.environment,
                self.level,
                device=options.device,
                load_seconds=options.load_seconds,
            )
        )
        self.update_state()
        self.setFocus()  # not on "Cancel": a second key press meant for "Start" must not stop the test
        self.testing_changed.emit()

    def stop_test(self) -> None:
        """Cancel the test."""
        if self.testing:
            self.test_runner.cancel()
            self._is_stopping = True
            self._show_progress()

    def set_environment(self, environment: HealthTestEnvironment) -> None:
        """Use this environment for the test."""
        self._environment = environment
        self.update_state()

    def _on_report(self, report: HealthProgress | Check) -> None:
        if self._progress is not None:
            self._progress.update(report, self.monotonic() - self._started)
        if isinstance(report, Check):
            self.result_view.add_check(report)
        self.result_view.pending.refresh()
        self._show_progress()

    def _show_progress(self) -> None:
        """What is tested just now, how far the whole test is, and whether it is being stopped."""
        progress = self._progress
        if self._is_stopping:
            text = translate("Health", "Stopping…")
        elif progress is not None and (area := progress.current_area) is not None:
            text = translate("Health", "Testing now: {area}").format(area=area_name(area))
        else:
            text = translate("Health", "Starting the test…")
        self.progress_label.setText(text)
        self._show_time()
        self.cancel_button.setEnabled(not self._is_stopping)

    def _show_time(self) -> None:
        """How much of the whole test is done, for how long it has run, and how long it still loads the card, or takes
        in all.
        """
        code, elapsed_s = language.texts().language, self.monotonic() - self._started
        progress, load_s = self._progress, self.test_options.load_seconds
        fraction = progress.fraction(elapsed_s) if progress is not None else 0.0
        left_s = progress.seconds_left(elapsed_s) if progress is not None else None
        if left_s is not None:
            rest_text = translate("Health", "about {time} left").format(time=format_duration(max(left_s, 1), code))
        elif load_s is None:
            in_all = (translate("Health", "less than 1 minute in all"), translate("Health", "a few minutes in all"))
            rest_text = in_all[self.level - 1]
        else:
            rest_text = translate("Health", "then {time} of full load").format(time=format_duration(load_s, code))
        share_text = translate("Health", "{percent} of the test").format(percent=format_percent(100 * fraction))
        running_text = translate("Health", "running for {time}").format(time=format_duration(max(elapsed_s, 1), code))
        self.progress_bar.set_fraction(fraction)
        self.time_label.setText(" · ".join((share_text, running_text, rest_text)))

    def show_result(self, checks: Checks, *, ended: float | None = None, seconds: float | None = None) -> None:
        """Show what a test found; `ended` in seconds since the epoch, after a test of `seconds`."""
        self._ended, self._seconds = ended, seconds
        self.result_view.show_result(checks)
        self._result_card.show()

    def _on_done(self, checks: Checks) -> None:
        self.show_result(checks, ended=time.time(), seconds=self.monotonic() - self._started)
        # Below it the level after it is offered; once a finding is mended, the level that tests for it.
        if checks.level is not None and checks.verdict == "pass":
            self.levels.set_current(checks.level % len(self.levels.buttons))
        elif checks.verdict == "warn":
            self.levels.set_current(retest_level(checks) - 1)
        self.verticalScrollBar().setValue(0)
        announce(self.result_view.verdict, self.result_view.verdict.accessibleName())

    def _copy_result(self) -> None:
        QGuiApplication.clipboard().setText(self.result_view.as_text())
        self._was_copied = True
        self.update_state()
        announce(self.copy_button, self.copy_button.text())

    def _on_failed(self, error: AppError) -> None:
        self._message = lambda: language.texts().error_text(error)
        self.update_state()

    def _on_cancelled(self) -> None:
        self._message = lambda: (
            translate("Health", "Stopped. What was tested so far is shown below, without a verdict.")
            if self.result_view.rows
            else translate("Health", "Stopped. Nothing was tested yet.")
        )

    def _on_finished(self) -> None:
        self._clock_timer.stop()
        self._progress = None
        self.result_view.pending.clear()
        had_focus = self.hasFocus() or self.cancel_button.hasFocus()
        self.update_state()
        if had_focus:
            # Not on "Start": a late key press meant for "Cancel" must not start the next test.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.finished.emit()
        self.testing_changed.emit()

    # State

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self.cancel_button.setText(translate("Health", "Cancel"))
        self.test_options.retranslate()
        self.result_view.retranslate()
        self.update_state()

    def _unavailable_reason(self) -> str:
        """Why no test can be started; "" where one can."""
        environment = self._environment
        if self._app.simulated:
            return translate("Health", "A simulated computer cannot be tested: nothing is executed on it.")
        if self._is_benchmarking():
            return translate("Health", "The benchmark is using the card. Test the card when the benchmark is done.")
        if environment is not None and environment.environment is None and self.level > 1:
            return translate(
                "Health", "This test needs PyTorch, which is not set up yet. The quick check works without it."
            )
        return ""

    def update_state(self) -> None:
        """Update texts, and which controls are shown and enabled."""
        running, environment, unavailable_reason = self.testing, self._environment, self._unavailable_reason()
        has_environment = environment is None or environment.environment is not None
        has_result = bool(self.result_view.rows) or not self.result_view.verdict.isHidden()
        is_repetition = self.level == self.result_view.level and self._tested in (None, self._selected_options())
        self.start_button.setText((repeat_texts() if is_repetition else start_texts())[self.level - 1])
        self.start_button.set_icon("restart" if is_repetition else "play")
        has_verdict = not self.result_view.verdict.isHidden()
        self.set_title(
            self._title(running=running, has_verdict=has_verdict),
            self._subtitle(running=running, has_verdict=has_verdict),
        )
        # One primary button on the page.
        self.start_button.set_kind("secondary" if self.result_view.has_remedy else "primary")
        self.next_test_label.setText(translate("Health", "Next test"))
        self.next_test_label.setVisible(has_verdict and not running)
        self.levels.setEnabled(not running)
        self.levels.setVisible(not running)
        self.test_options.show_for_level(has_load=self.level == LOAD_LEVEL, running=running)
        self.levels.show_levels(has_environment=has_environment, load_seconds=self.test_options.chosen_load_seconds)
        self.limit_label.setText(unavailable_reason or self._limit_text())
        self.areas_card.show_level(self.level, self._areas())
        self.areas_card.setVisible(not (running or has_result))
        self.cpu_only_banner.setVisible(
            not running
            and not unavailable_reason
            and environment is not None
            and environment.cpu_only
            and self.level > 1
        )
        self.cpu_only_banner.set(
            "warn",
            translate(
                "Health",
                "This PyTorch cannot use the card, so the calculations would run only on the CPU. To test the card, "
                "set up PyTorch again with CUDA.",
            ),
        )
        latest = self._sampling.history.latest
        self.no_card_banner.set("neutral", language.texts().translate("monitor.nvml.absent"))
        self.no_card_banner.setVisible(not running and latest is not None and latest.nvml == "absent")
        self.message_banner.setVisible(self._message is not None and not running)
        if self._message is not None:
            self.message_banner.set("warn", self._message())
        self._progress_card.setVisible(running)
        self.live_card.setVisible(running)
        self._show_progress()
        self.copy_button.setText(
            translate("Health", "Copied") if self._was_copied else translate("Health", "Copy the result")
        )
        self.copy_button.setVisible(bool(self.result_view.rows) and not running)
        self._start_row.setVisible(not running)
        self.start_button.setEnabled(environment is not None and not unavailable_reason)
        self._result_card.set_title(
            level_names()[self.level - 1] if running else translate("Health", "What was tested")
        )
        self._result_card.setVisible(running or bool(self.result_view.rows))
        self._arrange()

    def _title(self, *, running: bool, has_verdict: bool) -> str:
        """A question until there is a test, then what the page shows of it."""
        if running:
            return translate("Health", "Testing your graphics card")
        if has_verdict:
            return translate("Health", "Result of the health test")
        return translate("Health", "Is your graphics card healthy?")

    def _subtitle(self, *, running: bool, has_verdict: bool) -> str:
        """What the test is for, then what it does to other programs; of a result what was tested, when and how long."""
        if running:
            return translate("Health", "Other programs may run slower meanwhile. Nothing is changed.")
        if has_verdict:
            return self._result_subtitle()
        return translate(
            "Health", "For a new, used or crashing card: runs calculations and checks the results. Nothing is changed."
        )

    def _result_subtitle(self) -> str:
        """Level and card of the result, when the test ended, and how long it took."""
        parts = [self.result_view.title]
        if self._ended is not None:
            parts.append(date_text(self._ended))
        if self._seconds is not None:
            duration = format_duration(max(self._seconds, 1), language.texts().language)
            parts.append(translate("Health", "took {time}").format(time=duration))
        return " · ".join(part for part in parts if part)

    def _limit_text(self) -> str:
        """When the test stops by itself; "" where only the driver is asked."""
        environment = self._environment
        if environment is None or environment.environment is None:
            return ""
        return translate("Health", "You can cancel at any time. It stops by itself if the card gets too hot.")


class HealthTestOptions(QWidget):
    """Which GPU, where there are several; how many minutes of load, where the level has load. `changed` by the user.

    The page places `gpu_dropdown` beside the button that starts the test.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._gpus: tuple[GpuSample, ...] = ()
        self._has_load = False
        self._gpu: int | None = None
        self.gpu_dropdown = Dropdown()
        self.load_label = label("body")
        self.minutes = SegmentedControl([""] * len(LOAD_MINUTES))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for widget in (self.load_label, self.minutes):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        self.gpu_dropdown.chosen.connect(self._set_gpu)
        self.minutes.chosen.connect(lambda _: self.changed.emit())
        self.retranslate()
        self.show_for_level(has_load=False)

    def retranslate(self) -> None:
        """Set the texts in the current language."""
        self.load_label.setText(translate("Health", "Full load for"))
        self.minutes.set_options([translate("Health", "{count} min").format(count=minutes) for minutes in LOAD_MINUTES])
        self.minutes.setAccessibleName(self.load_label.text())
        self._update_text()

    def show_gpus(self, gpus: Sequence[GpuSample]) -> None:
        """Offer these GPUs; one that was selected and is gone leaves all of them selected."""
        self._gpus = tuple(gpus)
        self.choose_gpu(self._gpu)

    def choose_gpu(self, gpu: int | None) -> None:
        """Select the GPU with this index; all (None) where there is just one."""
        is_there = len(self._gpus) > 1 and any(each.index == gpu for each in self._gpus)
        self._gpu = gpu if is_there else None
        self._update_text()
        self.show_for_level(has_load=self._has_load)

    @property
    def device(self) -> str | None:
        """The device id for the test ("cuda:1"); None for all GPUs."""
        return None if self._gpu is None else f"cuda:{self._gpu}"

    @property
    def chosen_load_seconds(self) -> float:
        """How long a level with load loads the GPUs."""
        return 60.0 * LOAD_MINUTES[self.minutes.current()]

    @property
    def load_seconds(self) -> float | None:
        """How long the GPUs are loaded; None for a level without load."""
        return self.chosen_load_seconds if self._has_load else None

    def show_for_level(self, *, has_load: bool, running: bool = False) -> None:
        """Show the options of a level with or without load; none while a test runs."""
        self._has_load = has_load
        self.gpu_dropdown.setVisible(len(self._gpus) > 1)
        for widget in (self.load_label, self.minutes):
            widget.setVisible(has_load)
        self.setVisible(has_load and not running)

    def _set_gpu(self, gpu: int | None) -> None:
        self._gpu = gpu
        self._update_text()
        self.changed.emit()

    def _update_text(self) -> None:
        all_text = translate("Health", "All cards")
        entries = [DropdownEntry(value=None, text=all_text)]
        entries += [
            DropdownEntry(value=gpu.index, text=f"GPU {gpu.index}", detail=gpu.name or "") for gpu in self._gpus
        ]
        text = all_text if self._gpu is None else f"GPU {self._gpu}"
        self.gpu_dropdown.set_entries(entries, self._gpu, text, translate("Health", "Which card"))


class HealthTestEnvironment(Struct, frozen=True, kw_only=True):
    """What a test runs with: the environment in use (None: only the driver can be tested), and whether its PyTorch is a
    CPU build.
    """

    environment: Path | None
    cpu_only: bool


class HealthTestEnvironmentJob:
    """Reads the environment in use from disk."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> HealthTestEnvironment:
        context.check_cancelled()
        installed = current_environment(self._app)
        return HealthTestEnvironment(
            environment=installed.folder if installed is not None else None,
            cpu_only=installed is not None and installed.variant == "cpu",
        )


class HealthTestJob:
    """One test of a level, as `gpu-assistant health` runs it: of one `device` or all, with `load_seconds` of load.

    It has a sampler of its own beside the window's.
    """

    def __init__(
        self,
        app: App,
        environment: Path | None,
        level: int,
        *,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> None:
        self._app, self._environment, self._level = app, environment, level
        self._device, self._load_seconds = device, load_seconds

    def run(self, context: JobContext[Any]) -> Checks:
        """Run the test; raises as the job of `health.job` does."""
        with closing(self._app.monitoring.sampler()) as sampler:
            job = self._app.monitoring.health_test(
                self._environment, sampler, level=self._level, device=self._device, load_seconds=self._load_seconds
            )
            return job.run(context)
