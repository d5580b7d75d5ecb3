"""Home: is the card healthy, are driver and PyTorch up to date, which environments are there, how fast is it?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout

from ....core.errors import AppError
from ....core.jobs import LazyJob
from ....core.results import Checks, Health
from ....texts.format import format_counted
from ... import messages, theme
from ...environment_actions import LOCK_FILE_NAME, EnvironmentActionsPanel
from ...environment_name import RenameDialog
from ...language import Language
from ...machine_facts import InstalledEnvironment, MachineFacts, MachineFactsJob
from ...monitor.alarms import ADVISED_TEST_LEVEL, AlarmsCard
from ...monitor.live_card import LiveMetricsCard
from ...monitor.sampling import SamplingService
from ...saving import FileOpener
from ...widgets.base import announce
from ...widgets.buttons import Button
from ...widgets.cards import Banner, BannerKind, Hero, IconListCard
from ...widgets.dialogs import ConfirmDialog, save_dialog
from ...widgets.layouts import WrappingRow
from ...widgets.page import Page
from ...widgets.text import label
from ...worker import FunctionJob, JobRunner
from ..tray import is_muted
from ..updates import UpdateController
from .cards import (
    EnvironmentAction,
    EnvironmentsCard,
    LatestBenchmarkCard,
    RowState,
    SoftwareCard,
    UpdateNoticeCard,
)
from .uninstall import EnvironmentRemoval
from .verdict import HeroTarget, UsualClocks, home_verdict, last_test_text

if TYPE_CHECKING:
    from ....app import App


MONITOR, BENCHMARK = 1, 3
CUDA_CHECK_ID = "torch-cuda"
VERDICT_BANNERS: dict[str, BannerKind] = {"pass": "ok", "warn": "warn", "fail": "error"}
PROSPECT_ICONS = ("play", "bench", "code", "undo")
FOLD_BELOW_HEIGHT = 700  # pixels at 100 %: lower pages hide the subtitle


class HomePage(Page):
    """`page_requested` asks for another page, `setup_requested` for the wizard, `side_page_requested` for a side page
    of it, `environment_requested` for the wizard with that folder's environment, new or not; `environment_chosen`
    brings the path of the one to use from now on, `environment_renamed` that of one and its new name.

    `alarm_muted(Alarm, muted)` mutes an alarm; `health_test_requested(level, GPU)` asks for the test of one GPU, or of
    all (None), `programs_requested` for the programs on the GPUs.
    """

    setup_requested = Signal()
    side_page_requested = Signal(str)
    page_requested = Signal(int)
    alarm_muted = Signal(object, bool)
    environment_chosen = Signal(str)
    environment_requested = Signal(str)
    environment_renamed = Signal(str, str)
    health_test_requested = Signal(int, object)
    programs_requested = Signal()

    def __init__(self, app: App, language: Language, sampling: SamplingService, updates: UpdateController) -> None:
        self._app, self._language, self._sampling = app, language, sampling
        self.facts = MachineFacts()
        self._usual_clocks = UsualClocks(sampling.history)
        self._error: AppError | None = None
        self._is_built = False
        self._hero_target: HeroTarget = "graphs"
        self._shows_advice = False
        self._advised_alarm: str | None = None  # the alarm that the advice is about
        super().__init__(" ")
        self.hero = Hero("neutral", " ")
        self.alarms_card = AlarmsCard(include_info=False, framed=False, programs_icon=None)
        self.hero.add_row(self.alarms_card)
        self.live_card = LiveMetricsCard(simulated=app.simulated)
        self.setup_button = Button(kind="ghost", icon_name="bolt", flush="left")
        self.benchmark_card, self.software_card = LatestBenchmarkCard(), SoftwareCard()
        self.environments_card = EnvironmentsCard()
        self.prospect_card = IconListCard(PROSPECT_ICONS)
        self._benchmark_runner: JobRunner | None = None
        # Verified one after the other, the first one now; with all its files or not.
        self._verifications: list[tuple[InstalledEnvironment, bool]] = []
        self._outcome: tuple[BannerKind, Callable[[], str]] | None = None
        self._exporting = Path()
        self._exported_file: Path | None = None
        self._removed_path: str | None = None
        self._measured_path: str | None = None
        self._removed_after_stop: InstalledEnvironment | None = None
        self.banner = Banner("warn", inset=True)
        self.banner.hide()
        self.update_card = UpdateNoticeCard(updates)
        self._actions_heading = label("heading")
        self.actions_panel = EnvironmentActionsPanel(app, language, on_home=True)
        self._cards_layout = QGridLayout()
        self._cards_layout.setSpacing(16)
        self.column.setSpacing(12)
        for part in (self.banner, self.hero, self.update_card):
            self.column.addWidget(part)
        # What one comes for is seen without scrolling.
        self.column.addLayout(WrappingRow(self._actions_heading, *self.actions_panel.link_buttons, spacing=20))
        self.column.addWidget(self.actions_panel)
        self.column.addWidget(self.live_card)
        self.column.addWidget(self.setup_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self.environments_card)
        self.column.addLayout(self._cards_layout)
        self.column.addStretch(1)
        self._facts_runner, self._verify_runner, self._action_runner, self._export_runner = (
            JobRunner(self) for _ in range(4)
        )
        self._opener = FileOpener(app, self)
        self.environment_removal = EnvironmentRemoval(app, language, self)
        self._connect_signals()
        self.breakpoints.changed.connect(self._arrange)
        self._is_built = True
        self._arrange()
        self.retranslate()

    def _connect_signals(self) -> None:
        self._facts_runner.reported.connect(self._on_facts)
        self._facts_runner.done.connect(self._on_facts)
        self._facts_runner.failed.connect(self._on_failed)
        self._verify_runner.done.connect(self._on_verified)
        self._verify_runner.failed.connect(self._on_failed)
        self._verify_runner.finished.connect(self._verify_next)
        self._export_runner.done.connect(self._on_exported)
        for runner in (self._export_runner, self._opener):
            runner.failed.connect(self._on_failed)
        self.environments_card.banner.button.clicked.connect(self._open_exported)
        self._action_runner.failed.connect(self._on_failed)
        self.software_card.change_button.clicked.connect(self.setup_requested)
        self.software_card.update_requested.connect(self.setup_requested)
        self.environments_card.new_button.clicked.connect(
            lambda: self.environment_requested.emit(self.facts.free_folder or "")
        )
        self.environments_card.action_requested.connect(self.run_environment_action)
        self._sampling.sampled.connect(self._on_sampled)
        self.alarms_card.alarm_muted.connect(self.alarm_muted)
        self.alarms_card.alarm_muted.connect(lambda *_: self._show_verdict())
        self.alarms_card.health_test_requested.connect(
            lambda: self.health_test_requested.emit(ADVISED_TEST_LEVEL, None)
        )
        self.alarms_card.programs_requested.connect(self.programs_requested)
        self.alarms_card.graphs_requested.connect(lambda: self.page_requested.emit(MONITOR))
        self.live_card.health_test_requested.connect(lambda card: self.health_test_requested.emit(1, card))
        self.live_card.monitor_requested.connect(lambda: self.page_requested.emit(MONITOR))
        self.hero.button.clicked.connect(self._run_hero_action)
        self.setup_button.clicked.connect(self.setup_requested)
        self.environments_card.offline_button.clicked.connect(lambda: self.side_page_requested.emit("load-bundle"))
        self.environment_removal.changed.connect(self._show_row_states)
        self.environment_removal.finished.connect(self._on_removed)
        self.environment_removal.failed.connect(self._on_failed)
        for button in (self.benchmark_card.button, self.benchmark_card.run_button):
            button.clicked.connect(lambda: self.page_requested.emit(BENCHMARK))
        self.actions_panel.message_shown.connect(lambda: self.scroll_to(self.actions_panel.result_banner))

    # Facts and samples

    def reload(self) -> None:
        """Read the environments, the benchmarks and the machine again."""
        if not self._facts_runner.running:
            self._clear_error()
            self._facts_runner.start(MachineFactsJob(self._app))

    def showEvent(self, event: QShowEvent) -> None:
        """Sample while the page is shown; the first time, read the facts."""
        super().showEvent(event)
        self._sampling.request_samples("home", True)
        self._show_current()
        if not self.facts.loaded and not event.spontaneous():
            self.reload()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop sampling when another page opens; a minimised window goes on, so that its lines have no gap."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._sampling.request_samples("home", False)

    def _on_facts(self, facts: MachineFacts) -> None:
        self.facts = facts
        self.retranslate()

    def _on_failed(self, error: AppError) -> None:
        self._error = error
        self._show_error()

    def _show_error(self) -> None:
        if self._error is not None:
            self.banner.set("warn", messages.error_text(self._language.texts(), self._error))
            self.banner.show()

    def _clear_error(self) -> None:
        self._error = None
        self.banner.hide()

    def _on_sampled(self) -> None:
        if self.is_shown:
            self._show_current()

    def _show_current(self) -> None:
        self._show_readings()
        self._show_verdict()

    def _show_readings(self) -> None:
        gpus = self._sampling.history.gpus()
        self.live_card.show_history(self._sampling.history, self._health())
        self.live_card.set_note(last_test_text(self.facts, gpus) if gpus and self.facts.loaded else "")

    # Texts

    @property
    def help_topic(self) -> str:
        return "home"

    def retranslate(self) -> None:
        if not self._is_built:
            return
        facts, installed = self.facts, self.facts.installed
        self.set_title(self.tr("Home"), facts.computer_text())
        self._show_verdict()
        self._show_readings()
        has_environment = installed is not None
        self.setup_button.setText(self.tr("Set up again") if has_environment else self.tr("Set up PyTorch"))
        self.benchmark_card.setVisible(has_environment)
        self.actions_panel.setVisible(has_environment)
        self.actions_panel.set_environment(installed.folder if installed is not None else None)
        self._actions_heading.setText(
            self.tr("Start working in “{environment}”").format(environment=installed.name)
            if installed is not None and len(facts.environments) > 1
            else self.tr("Start working")
        )
        self._fold_texts()
        self.benchmark_card.show_benchmark(facts.benchmark)
        is_known = facts.loaded and not self._app.simulated
        self.environments_card.setVisible(is_known)
        # Without a card and without PyTorch it would say only what the verdict says.
        self.software_card.setVisible(is_known and (has_environment or facts.has_nvidia(None)))
        self.prospect_card.setVisible(is_known and not has_environment)
        self._show_prospect()
        self._arrange()
        self.software_card.show_facts(facts)
        self.environments_card.show_environments(
            facts.environments, installed.path if installed is not None else None, has_gpu=facts.has_nvidia(None)
        )
        self._show_row_states()
        self._show_outcome()
        self._show_error()

    def _show_prospect(self) -> None:
        """What there is to do after the setup, for whoever has not run one."""
        self.prospect_card.set_lines(
            self.tr("After the setup"),
            (
                self.tr("Run a first program, and watch a small network learn to read digits"),
                self.tr("Measure how fast PyTorch is on this computer"),
                self.tr("Open your editor, Jupyter or a terminal with the right Python"),
                self.tr("Remove everything again whenever you like"),
            ),
        )

    def _health(self) -> Health | None:
        return None if self._app.simulated else self._sampling.health

    def _show_verdict(self) -> None:
        health = self._health()
        current_verdict = home_verdict(
            self.facts,
            self._sampling.history.latest,
            health,
            simulated=self._app.simulated,
            # Who finished a setup once wants one.
            setup_skipped=self._app.settings.setup_skipped and not self._app.settings.setup_done,
            usual_clocks=self._usual_clocks,
        )
        is_alarm_muted = partial(is_muted, self._app.settings, gpus=self._sampling.history.gpus())
        self.alarms_card.show_health(
            health, is_alarm_muted, told=current_verdict.detail if current_verdict.shows_alarm else None
        )
        self._fold_advice(health if current_verdict.shows_alarm else None)
        self._place_live_card(below_hero=current_verdict.shows_alarm)
        if current_verdict[:4] != (
            self.hero.kind,
            self.hero.title_label.text(),
            self.hero.detail_label.text(),
            self.hero.button.text(),
        ):
            self.hero.set(
                current_verdict.kind,
                current_verdict.title,
                current_verdict.detail,
                current_verdict.action,
                current_verdict.icon,
            )
            self.hero.button.setEnabled(bool(current_verdict.action))
        self._hero_target = current_verdict.target
        # What such a computer or an ailing card needs; beside a card that is well, it is one of many things to do, and
        # advice that is shown was asked for already.
        is_needed = current_verdict.target == "setup" or current_verdict.kind in ("warn", "error")
        is_open = current_verdict.target == "advice" and self._shows_advice
        self.hero.button.set_kind("primary" if is_needed and not is_open else "secondary")
        icon = ("up" if is_open else "down") if current_verdict.target == "advice" else "right"
        if icon != self.hero.button.trailing_icon:
            self.hero.button.set_icon(trailing_icon=icon)
        fold_text = (
            (self.tr("expanded") if is_open else self.tr("collapsed")) if current_verdict.target == "advice" else ""
        )
        if fold_text != self.hero.button.accessibleDescription():
            self.hero.button.setAccessibleDescription(fold_text)
        setup_useful = self.facts.loaded and (self.facts.installed is None or self.facts.is_gpu_unused())
        self.setup_button.setVisible(setup_useful and current_verdict.target != "setup" and not self._app.simulated)

    def _fold_advice(self, health: Health | None) -> None:
        """Show the advice about the most severe alarm once it is asked for, that about an error at once; None where
        the verdict is about no alarm.
        """
        alarm = health.alarms[0].id if health is not None else None
        if alarm != self._advised_alarm:
            self._advised_alarm = alarm
            self._shows_advice = health is not None and health.state == "error"
        self.alarms_card.set_first_folded(folded=alarm is not None and not self._shows_advice)

    def _show_row_states(self) -> None:
        states: dict[str, RowState] = {each.path: "waiting" for each, _ in self._verifications[1:]}
        if self._verifications:
            states[self._verifications[0][0].path] = "verifying"
        if self.environment_removal.is_running and self._removed_path is not None:
            states[self._removed_path] = "removing"
        self.environments_card.show_states(states)

    def _show_outcome(self) -> None:
        """What came of the last action with an environment."""
        if self._outcome is None:
            self.environments_card.show_outcome("ok", "")
            return
        kind, text = self._outcome
        self.environments_card.show_outcome(kind, text(), self.tr("Open") if self._exported_file is not None else "")

    def _set_outcome(self, kind: BannerKind, text: Callable[[], str], exported_file: Path | None = None) -> None:
        self._outcome, self._exported_file = (kind, text), exported_file
        self._show_outcome()
        announce(self.environments_card.banner, text())

    def _verification_text(self, checks: Checks) -> str:
        """How many checks passed, else the worst one."""
        run_checks = [check for check in checks.checks if check.state != "skip"]
        passed = sum(check.state == "pass" for check in run_checks)
        text = format_counted(self.tr("{passed} of {count} checks passed"), passed=passed, count=len(run_checks))
        worst_check = next((check for check in run_checks if check.state == checks.verdict != "pass"), None)
        if worst_check is not None:
            text = self._language.texts().translate(f"check.{worst_check.id}.{worst_check.state}", worst_check.data)
        return text

    # Actions

    def _run_hero_action(self) -> None:
        if self._hero_target == "setup":
            self.setup_requested.emit()
        elif self._hero_target == "advice":
            self._shows_advice = not self._shows_advice
            self._show_verdict()
        elif self._hero_target == "program":
            self.actions_panel.open_examples()
        elif self._hero_target == "test":
            self.health_test_requested.emit(ADVISED_TEST_LEVEL if self.facts.installed is not None else 1, None)
        else:
            self.page_requested.emit(MONITOR)

    def _verify(self, environment: InstalledEnvironment, *, files: bool = False) -> None:
        """Verify an environment, after those that were asked for before; each once."""
        if any(each.path == environment.path for each, _ in self._verifications):
            return
        self._clear_error()
        self._verifications.append((environment, files))
        if len(self._verifications) == 1:
            self._start_verification()
        self._show_row_states()

    def _start_verification(self) -> None:
        environment, files = self._verifications[0]
        self._verify_runner.start(LazyJob(partial(self._app.setup.verify, environment.folder, files=files)))

    def _verify_next(self) -> None:
        del self._verifications[:1]
        if self._verifications:
            self._start_verification()
        self._show_row_states()

    def _remove(self, environment: InstalledEnvironment) -> None:
        """Ask, and remove; a benchmark that runs in the environment is stopped first, if the user agrees."""
        self._clear_error()
        self._removed_path = environment.path
        runner = self._benchmark_runner
        if runner is None or not self._is_measured(environment):
            self.environment_removal.confirm_and_remove(environment)
            return
        stop_agreed = ConfirmDialog.ask(
            self,
            self.tr("Stop the benchmark?"),
            self.tr("It is running in this environment, which can only be removed afterwards."),
            accept_text=self.tr("Stop"),
            reject_text=self.tr("Continue"),
            dismiss_signal=runner.finished,
        )
        if not self._is_measured(environment):
            self.environment_removal.confirm_and_remove(environment)
        elif stop_agreed:
            self._removed_after_stop = environment
            runner.cancel()

    def _is_measured(self, environment: InstalledEnvironment) -> bool:
        """Whether a benchmark runs in this environment."""
        runner = self._benchmark_runner
        return runner is not None and runner.running and environment.path == self._measured_path

    def watch_benchmark(self, runner: JobRunner) -> None:
        """Show while this runner measures; what waits for its end goes on then."""
        self._benchmark_runner = runner
        runner.started.connect(self._on_benchmark_started)
        runner.finished.connect(self._on_benchmark_finished)
        if runner.running:
            self._on_benchmark_started()

    def _on_benchmark_started(self) -> None:
        # Another environment may be chosen while this one is measured.
        self._measured_path = self.facts.installed.path if self.facts.installed is not None else None
        self.benchmark_card.set_measuring(True)

    def _on_benchmark_finished(self) -> None:
        self.benchmark_card.set_measuring(False)
        environment, self._removed_after_stop = self._removed_after_stop, None
        if environment is not None:
            self.environment_removal.confirm_and_remove(environment)

    def run_environment_action(self, action: EnvironmentAction, environment: InstalledEnvironment) -> None:
        """What the menu of an environment asks for."""
        folder = environment.folder
        match action:
            case "use":
                self.environment_chosen.emit(environment.path)
            case "rename":
                self.create_rename_dialog(environment).open()
            case "terminal":
                self._run_short(lambda: self._app.system.open_terminal(folder))
            case "folder":
                self._run_short(lambda: self._app.system.open_folder(folder))
            case "verify":
                self._verify(environment)
            case "check-files":
                self._verify(environment, files=True)
            case "update":
                self.environment_requested.emit(environment.path)
            case "export":
                self.create_export_dialog(environment).open()
            case "remove":
                self._remove(environment)

    def _run_short(self, work: Callable[[], None]) -> None:
        """Do it in a thread; not while the last one is still under way, as after a double click."""
        if not self._action_runner.running:
            self._action_runner.start(FunctionJob(work))

    def create_rename_dialog(self, environment: InstalledEnvironment) -> RenameDialog:
        """The dialog for another name; the folder keeps its own."""
        dialog = RenameDialog(self, environment, self.facts.environments)
        dialog.accepted.connect(lambda: self.environment_renamed.emit(environment.path, dialog.name_field.name))
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def create_export_dialog(self, environment: InstalledEnvironment) -> QFileDialog:
        """The dialog for where to save an environment's list of packages."""
        dialog = save_dialog(self, self.tr("Export package list"), "TOML (*.toml)", LOCK_FILE_NAME)
        dialog.fileSelected.connect(lambda file: self.export_packages(environment, Path(file)))
        return dialog

    def export_packages(self, environment: InstalledEnvironment, file: Path) -> None:
        """Save an environment's list of packages."""
        if not self._export_runner.running:
            self._clear_error()
            self._exporting = file
            export = partial(self._app.integrations.export_lockfile, environment.folder, file)
            self._export_runner.start(FunctionJob(export))

    def _on_exported(self, _: object) -> None:
        file = self._exporting
        self._set_outcome("ok", lambda: self.tr("Saved: {path}").format(path=file), file)

    def _open_exported(self) -> None:
        if self._exported_file is not None:
            self._opener.open(self._exported_file)

    def _on_removed(self, text: str) -> None:
        self._outcome = None
        self.reload()
        self.banner.set("ok", text)
        self.banner.show()

    def _on_verified(self, checks: Checks) -> None:
        environment = self._verifications[0][0]
        installed = self.facts.installed
        if installed is not None and environment.path == installed.path and self._sampling.evaluator is not None:
            self._sampling.evaluator.cuda_state = next(
                (each.state for each in checks.checks if each.id == CUDA_CHECK_ID), None
            )
        kind = VERDICT_BANNERS[checks.verdict]
        self._set_outcome(kind, lambda: f"{environment.name}: {self._verification_text(checks)}")

    # Layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_built:
            self._fold_texts()

    def _fold_texts(self) -> None:
        # PySide creates the classes of all widgets at a call of viewport(): 25 ms.
        folded = self.maximumViewportSize().height() < theme.px(FOLD_BELOW_HEIGHT)
        self.subtitle_label.setVisible(not folded and bool(self.subtitle_label.text()))
        self._actions_heading.setVisible(self.facts.installed is not None)

    def _place_live_card(self, *, below_hero: bool) -> None:
        """The readings that an alarm is about come right after it; without one, what one comes for does."""
        before = self.update_card if below_hero else self.actions_panel
        if self.column.indexOf(self.live_card) != self.column.indexOf(before) + 1:
            self.column.removeWidget(self.live_card)
            self.column.insertWidget(self.column.indexOf(before) + 1, self.live_card)

    def _arrange(self) -> None:
        """Two cards side by side, in a small window one below the other."""
        side_by_side = not self.breakpoints.is_small and not self.software_card.isHidden()
        for card in (self.software_card, self.benchmark_card, self.prospect_card):  # of the last two, one is shown
            index = 0 if card is self.software_card else 1
            self._cards_layout.addWidget(card, *((0, index) if side_by_side else (index, 0)))
        for column in range(2):
            self._cards_layout.setColumnStretch(column, 1 if column == 0 or side_by_side else 0)
