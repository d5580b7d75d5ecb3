"""Taking an environment back: first what will go is shown, then it goes, then what stayed is said.

Home: is all well?
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from ....core.errors import AppError
from ....core.jobs import JobContext, LazyJob
from ....core.message import Message
from ....core.plan import Event, Step, StepEvent
from ....core.results import Checks, Health
from ....texts.format import format_counted, format_size
from ....texts.localized import Texts
from ... import theme
from ...environment_actions import EnvironmentActionsPanel
from ...health.dialog import ADVISED_TEST_LEVEL
from ...language import Language
from ...monitor.alarms import AlarmsCard
from ...monitor.gpu_summary import LiveMetricsCard
from ...monitor.sampling import SamplingService
from ...widgets.buttons import Button
from ...widgets.cards import Banner, Hero
from ...widgets.dialogs import ConfirmDialog
from ...widgets.page import Page
from ...widgets.text import label
from ...wizard import messages
from ...worker import JobRunner
from ..machine_facts import InstalledEnvironment, MachineFacts, MachineFactsJob
from ..tray import is_muted
from ..updates import UpdateController
from .cards import InstalledEnvironmentCard, LatestBenchmarkCard, UpdateNoticeCard
from .verdict import HeroTarget, home_verdict

if TYPE_CHECKING:
    from ....app import App


translate = QCoreApplication.translate
MAX_LIST_HEIGHT = 260


class UninstallPreviewJob:
    """Reads from the journal what a removal would take back."""

    def __init__(self, app: App, folder: Path) -> None:
        self._app, self._folder = app, folder

    def run(self, context: JobContext[Any]) -> tuple[Step, ...]:  # noqa: ARG002
        """The steps, in order; raises AppError where nothing there is ours."""
        return self._app.setup.uninstall(self._folder).steps()


class EnvironmentRemoval(QObject):
    """`changed` says that it began or ended, `ended` brings what there is to say, `failed` what stopped it."""

    changed = Signal()
    finished = Signal(str)
    failed = Signal(object)

    def __init__(self, app: App, language: Language, parent: QWidget) -> None:
        super().__init__(parent)
        self._app, self._language, self._window = app, language, parent
        self._installed: InstalledEnvironment | None = None
        self._leftover_messages: dict[str, str] = {}
        self._preview_runner, self._uninstall_runner = JobRunner(self), JobRunner(self)
        self._preview_runner.done.connect(self._show_confirmation)
        self._uninstall_runner.reported.connect(self._on_event)
        self._uninstall_runner.done.connect(self._on_uninstalled)
        for runner in (self._preview_runner, self._uninstall_runner):
            runner.failed.connect(self.failed)
            runner.started.connect(self.changed)
            runner.finished.connect(self.changed)

    @property
    def is_running(self) -> bool:
        """Whether it reads or removes just now."""
        return self._preview_runner.running or self._uninstall_runner.running

    def confirm_and_remove(self, installed: InstalledEnvironment) -> None:
        """Find out what would be taken back, and ask whether it shall be."""
        if not self.is_running:
            self._installed = installed
            self._preview_runner.start(UninstallPreviewJob(self._app, installed.folder))

    def _show_confirmation(self, steps: tuple[Step, ...]) -> None:
        installed = self._installed
        if installed is None:
            return
        dialog = build_removal_dialog(self._window, installed, steps, self._language.texts())
        dialog.accepted.connect(self._uninstall)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _uninstall(self) -> None:
        if self._installed is not None and not self.is_running:
            self._leftover_messages.clear()
            self._uninstall_runner.start(self._app.setup.uninstall(self._installed.folder))

    def _on_event(self, event: Event) -> None:
        # Only what did not go as shown has something to say.
        if isinstance(event, StepEvent) and event.code is not None and event.state in ("done", "skipped"):
            self._leftover_messages[event.id] = self._language.texts().message_text(Message(event.code, event.data))

    def _on_uninstalled(self, folder: Path) -> None:
        template = (
            self.tr("Taken back what was installed for {path}:")
            if self._leftover_messages
            else self.tr("Removed: {path}")
        )
        self.finished.emit("\n".join([template.format(path=folder), *dict.fromkeys(self._leftover_messages.values())]))


def build_removal_dialog(
    parent: QWidget, installed: InstalledEnvironment, steps: tuple[Step, ...], texts: Texts
) -> ConfirmDialog:
    """All that will be taken back, with the safe answer as the default."""
    size_text = f" ({format_size(installed.bytes)})" if installed.bytes is not None else ""
    title = translate("Removal", "Remove “{name}”{size}?").format(name=installed.folder.name, size=size_text)
    explanation = translate("Removal", "This is taken back, and nothing else. What stays is named with its reason.")
    remove_text, keep_text = translate("Removal", "Remove"), translate("Removal", "Keep")
    return ConfirmDialog(parent, title, explanation, remove_text, keep_text, details=UninstallStepList(steps, texts))


class UninstallStepList(QScrollArea):
    """What each step takes back; long lists scroll."""

    def __init__(self, steps: tuple[Step, ...], texts: Texts) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 4, 8, 4)
        column.setSpacing(2)
        for number, step in enumerate(steps, 1):
            title = label("strong", f"{number}. " + texts.translate(f"step.{step.code}.title", step.data))
            column.addWidget(title)
            column.addWidget(label("small", texts.translate(f"step.{step.code}.what", step.data)))
            column.addSpacing(6)
        column.addStretch(1)
        self.setWidget(content)
        self.setAccessibleName(translate("Removal", "What is taken back"))
        self._column = column

    def sizeHint(self) -> QSize:
        """As high as its words, up to a limit."""
        width = theme.px(520)
        return QSize(width, min(self._column.heightForWidth(width - 16), theme.px(MAX_LIST_HEIGHT)))

    def minimumSizeHint(self) -> QSize:
        """Some lines at least."""
        return QSize(theme.px(320), min(self.sizeHint().height(), theme.px(120)))


MONITOR, BENCHMARK = 1, 2
CUDA_CHECK_ID = "torch-cuda"
# Below this height of the page the words that others say, too, give way.
FOLD_BELOW_HEIGHT = 700


class HomePage(Page):
    """Verdict, live figures, what is installed, how fast, start working.

    `wanted(page)` asks for another page, `setup_wanted` for the wizard, `offline_wanted` for its page of that
    name, `silenced(Alarm, on)` for an alarm's silence,
    `test_wanted(level, card)` for the health test, of one card or of all (None).
    """

    setup_requested = Signal()
    side_page_requested = Signal(str)
    page_requested = Signal(int)
    alarm_muted = Signal(object, bool)
    health_test_requested = Signal(int, object)

    def __init__(self, app: App, language: Language, sampling: SamplingService, updates: UpdateController) -> None:
        self._app, self._language, self._sampling = app, language, sampling
        self.facts = MachineFacts()
        self._checks: Checks | None = None
        self._error: AppError | None = None
        self._is_built = False
        self._hero_target: HeroTarget = "graphs"
        super().__init__(" ")
        self.hero = Hero("neutral", " ")
        self.alarms_card = AlarmsCard(include_info=False)
        self.live_card = LiveMetricsCard(simulated=app.simulated)
        self.setup_button, self.offline_button = (
            Button(kind="ghost", icon_name="bolt"),
            Button(kind="ghost", icon_name="folder"),
        )
        self.installed_card = InstalledEnvironmentCard()
        self.benchmark_card = LatestBenchmarkCard()
        self.banner = Banner("warn")
        self.banner.hide()
        self.update_card = UpdateNoticeCard(updates)
        self._actions_heading = label("heading")
        self.actions_panel = EnvironmentActionsPanel(app, language, shows_command=True)
        self._cards_layout = QGridLayout()
        self._cards_layout.setSpacing(16)
        self.column.setSpacing(16)
        for part in (self.banner, self.update_card, self.hero, self.alarms_card, self.live_card):
            self.column.addWidget(part)
        for button in (self.setup_button, self.offline_button):
            self.column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addLayout(self._cards_layout)
        self.column.addWidget(self._actions_heading)
        self.column.addWidget(self.actions_panel)
        self.column.addStretch(1)
        self._facts_runner, self._verify_runner = JobRunner(self), JobRunner(self)
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
        self._verify_runner.finished.connect(lambda: self.installed_card.verify_button.set_busy(False))
        self._sampling.sampled.connect(self._on_sampled)
        self.alarms_card.alarm_muted.connect(self.alarm_muted)
        self.alarms_card.alarm_muted.connect(lambda *_: self._show_verdict())
        self.alarms_card.health_test_requested.connect(
            lambda: self.health_test_requested.emit(ADVISED_TEST_LEVEL, None)
        )
        self.live_card.health_test_requested.connect(lambda card: self.health_test_requested.emit(1, card))
        self.live_card.monitor_requested.connect(lambda: self.page_requested.emit(MONITOR))
        self.hero.button.clicked.connect(self._run_hero_action)
        self.setup_button.clicked.connect(self.setup_requested)
        self.offline_button.clicked.connect(lambda: self.side_page_requested.emit("load-bundle"))
        self.installed_card.verify_button.clicked.connect(self.verify)
        self.installed_card.remove_button.clicked.connect(self.remove)
        self.environment_removal.changed.connect(
            lambda: self.installed_card.remove_button.set_busy(self.environment_removal.is_running)
        )
        self.environment_removal.finished.connect(self._on_removed)
        self.environment_removal.failed.connect(self._on_failed)
        self.benchmark_card.button.clicked.connect(lambda: self.page_requested.emit(BENCHMARK))
        self.actions_panel.message_shown.connect(self._scroll_to_result)

    # Looking

    def reload(self) -> None:
        """Read again what is installed and what this computer is."""
        if not self._facts_runner.running:
            self._clear_error()
            self._facts_runner.start(MachineFactsJob(self._app))

    def showEvent(self, event: QShowEvent) -> None:
        """Figures are taken while somebody looks; the first look starts by itself."""
        super().showEvent(event)
        self._sampling.request_samples("home", True)
        self._show_current()
        if not self.facts.loaded and not event.spontaneous():
            self.reload()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks. A minimised window keeps its figures coming, so that its lines have no hole."""
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
        self.live_card.show_history(self._sampling.history, self._health())
        self._show_verdict()

    # Words

    def retranslate(self) -> None:
        """All words of the page."""
        if not self._is_built:
            return
        facts, installed = self.facts, self.facts.installed
        self.set_title(self.tr("Home"), facts.computer_text())
        self._show_verdict()
        self.live_card.show_history(self._sampling.history, self._health())
        has_environment = installed is not None
        self.setup_button.setText(self.tr("Set up again") if has_environment else self.tr("Set up PyTorch"))
        self.offline_button.setText(self.tr("I have an offline folder"))
        self.offline_button.setVisible(facts.loaded and not has_environment and not self._app.simulated)
        self.installed_card.setVisible(has_environment)
        self.benchmark_card.setVisible(has_environment)
        self.actions_panel.setVisible(has_environment)
        self.actions_panel.set_environment(installed.folder if installed is not None else None)
        self._actions_heading.setText(self.tr("Start working"))
        self._fold_texts()
        self.benchmark_card.show_benchmark(facts.benchmark)
        if installed is not None:
            self.installed_card.set_installed(installed)
        self._show_verification()
        self._show_error()

    def _health(self) -> Health | None:
        return None if self._app.simulated else self._sampling.health

    def _show_verdict(self) -> None:
        health = self._health()
        current_verdict = home_verdict(
            self.facts,
            self._sampling.history.latest,
            health,
            simulated=self._app.simulated,
            # Whom the setup was finished for once wants one.
            only_look=self._app.settings.only_look and not self._app.settings.setup_done,
        )
        is_alarm_muted = partial(is_muted, self._app.settings, gpus=self._sampling.history.gpus())
        self.alarms_card.show_health(health, is_alarm_muted, first_brief=current_verdict.shows_alarm)
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
        setup_useful = self.facts.loaded and (self.facts.installed is None or self.facts.is_gpu_unused())
        self.setup_button.setVisible(setup_useful and current_verdict.target != "setup" and not self._app.simulated)

    def _show_verification(self) -> None:
        checks = self._checks
        self.installed_card.checks_banner.setVisible(checks is not None)
        if checks is None:
            return
        run_checks = [check for check in checks.checks if check.state != "skip"]
        passed = sum(check.state == "pass" for check in run_checks)
        text = format_counted(self.tr("{passed} of {count} checks passed"), passed=passed, count=len(run_checks))
        worst_check = next((check for check in run_checks if check.state == checks.verdict != "pass"), None)
        if worst_check is not None:
            text = self._language.texts().translate(f"check.{worst_check.id}.{worst_check.state}", worst_check.data)
        show_banner: dict[str, Callable[[], None]] = {
            "pass": partial(self.installed_card.checks_banner.set, "ok", text),
            "warn": partial(self.installed_card.checks_banner.set, "warn", text),
            "fail": partial(self.installed_card.checks_banner.set, "error", text),
        }
        show_banner[checks.verdict]()

    # Acting

    def _run_hero_action(self) -> None:
        if self._hero_target == "setup":
            self.setup_requested.emit()
        elif self._hero_target == "test":
            self.health_test_requested.emit(ADVISED_TEST_LEVEL if self.facts.installed is not None else 1, None)
        else:
            self.page_requested.emit(MONITOR)

    def verify(self) -> None:
        """Prove the environment again."""
        installed = self.facts.installed
        if installed is not None and not self._verify_runner.running:
            self.installed_card.verify_button.set_busy(True)
            self._verify_runner.start(LazyJob(partial(self._app.setup.verify, installed.folder)))

    def remove(self) -> None:
        """Take the environment back, after what will go was shown."""
        if self.facts.installed is not None:
            self._clear_error()
            self.environment_removal.confirm_and_remove(self.facts.installed)

    def _on_removed(self, text: str) -> None:
        self._checks = None
        self.reload()
        self.banner.set("ok", text)
        self.banner.show()

    def _on_verified(self, checks: Checks) -> None:
        self._checks = checks
        if self._sampling.evaluator is not None:
            self._sampling.evaluator.cuda_state = next(
                (each.state for each in checks.checks if each.id == CUDA_CHECK_ID), None
            )
        self._show_verification()

    def _scroll_to_result(self) -> None:
        """What came of a press stands where it can be read."""
        self.content.layout().activate()  # type: ignore[union-attr]
        self.ensureWidgetVisible(self.actions_panel.result_banner)

    # Arrangement

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the cards get the room."""
        super().resizeEvent(event)
        if self._is_built:
            self._fold_texts()

    def _fold_texts(self) -> None:
        # viewport() would make every class of widgets that there is, which takes 25 ms.
        folded = self.maximumViewportSize().height() < theme.px(FOLD_BELOW_HEIGHT)
        for text_label in (self.subtitle_label, self._actions_heading):
            text_label.setVisible(not folded and bool(text_label.text()))
        if self.facts.installed is None:
            self._actions_heading.hide()

    def _arrange(self) -> None:
        """Two cards side by side, one below the other where it is narrow."""
        one_column = self.breakpoints.is_small
        self._fill_grid(self._cards_layout, (self.installed_card, self.benchmark_card), 1 if one_column else 2)

    def _fill_grid(self, grid: QGridLayout, widgets: tuple[QWidget, ...], columns: int) -> None:
        for index, widget in enumerate(widgets):
            grid.removeWidget(widget)
            grid.addWidget(widget, index // columns, index % columns)
        for column in range(2):
            grid.setColumnStretch(column, 1 if column < columns else 0)
