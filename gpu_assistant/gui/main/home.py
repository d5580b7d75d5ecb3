"""Home: is all well?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from ...core.errors import AppError
from ...core.health import Health
from ...core.jobs import Later
from ...core.results import Checks
from ...texts.format import counted
from .. import theme
from ..components import Banner, Button, Hero, Page, label
from ..health.advised import ADVISED_LEVEL
from ..language import Language
from ..monitor.alarms_card import AlarmsCard
from ..monitor.live_card import LiveCard
from ..monitor.sampling import Sampling
from ..ways import WaysPanel
from ..wizard import words as said
from ..worker import JobRunner
from .facts import Facts, LookJob
from .fast_card import FastCard
from .installed_card import InstalledCard
from .removal import Removal
from .silences import is_silent
from .updates import Updates
from .updates_home import UpdateCard
from .verdict import Leads, verdict

if TYPE_CHECKING:
    from ...app import App

MONITOR, BENCHMARK = 1, 2
CUDA_CHECK = "torch-cuda"
# Below this height of the page the words that others say, too, give way.
LOW = 700


class HomePage(Page):
    """Verdict, live figures, what is installed, how fast, start working.

    `wanted(page)` asks for another page, `setup_wanted` for the wizard, `offline_wanted` for its page of that
    name, `silenced(Alarm, on)` for an alarm's silence,
    `test_wanted(level, card)` for the health test, of one card or of all (None).
    """

    setup_wanted = Signal()
    offline_wanted = Signal(str)
    wanted = Signal(int)
    silenced = Signal(object, bool)
    test_wanted = Signal(int, object)

    def __init__(self, app: App, language: Language, sampling: Sampling, updates: Updates) -> None:
        self._app, self._language, self._sampling = app, language, sampling
        self.facts = Facts()
        self._checks: Checks | None = None
        self._trouble_error: AppError | None = None
        self._ready = False
        self._leads: Leads = "graphs"
        super().__init__(" ")
        self.hero = Hero("neutral", " ")
        self.alarms = AlarmsCard(infos=False)
        self.live = LiveCard(simulated=app.simulated)
        self.setup, self.offline = Button(kind="ghost", icon="bolt"), Button(kind="ghost", icon="folder")
        self.installed = InstalledCard()
        self.fast = FastCard()
        self.trouble = Banner("warn")
        self.trouble.hide()
        self.update_card = UpdateCard(updates)
        self._start = label("heading")
        self.ways = WaysPanel(app, language, command=True)
        self._cards = QGridLayout()
        self._cards.setSpacing(16)
        self.column.setSpacing(16)
        for part in (self.trouble, self.update_card, self.hero, self.alarms, self.live):
            self.column.addWidget(part)
        for way in (self.setup, self.offline):
            self.column.addWidget(way, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addLayout(self._cards)
        self.column.addWidget(self._start)
        self.column.addWidget(self.ways)
        self.column.addStretch(1)
        self._looking, self._verifying = JobRunner(self), JobRunner(self)
        self.removal = Removal(app, language, self)
        self._wire()
        self.shape_.changed.connect(self._arrange)
        self._ready = True
        self._arrange()
        self.retranslate()

    def _wire(self) -> None:
        self._looking.news.connect(self._found)
        self._looking.done.connect(self._found)
        self._looking.failed.connect(self._failed)
        self._verifying.done.connect(self._verified)
        self._verifying.failed.connect(self._failed)
        self._verifying.finished.connect(lambda: self.installed.verify.set_busy(False))
        self._sampling.sampled.connect(self._sampled)
        self.alarms.silenced.connect(self.silenced)
        self.alarms.silenced.connect(lambda *_: self._show_verdict())
        self.alarms.test_wanted.connect(lambda: self.test_wanted.emit(ADVISED_LEVEL, None))
        self.live.test_wanted.connect(lambda card: self.test_wanted.emit(1, card))
        self.live.others_wanted.connect(lambda: self.wanted.emit(MONITOR))
        self.hero.button.clicked.connect(self._act)
        self.setup.clicked.connect(self.setup_wanted)
        self.offline.clicked.connect(lambda: self.offline_wanted.emit("given"))
        self.installed.verify.clicked.connect(self.verify)
        self.installed.remove.clicked.connect(self.remove)
        self.removal.changed.connect(lambda: self.installed.remove.set_busy(self.removal.running))
        self.removal.ended.connect(self._removed)
        self.removal.failed.connect(self._failed)
        self.fast.button.clicked.connect(lambda: self.wanted.emit(BENCHMARK))
        self.ways.told.connect(self._show_news)

    # Looking

    def look(self) -> None:
        """Read again what is installed and what this computer is."""
        if not self._looking.running:
            self._forget_trouble()
            self._looking.start(LookJob(self._app))

    def showEvent(self, event: QShowEvent) -> None:
        """Figures are taken while somebody looks; the first look starts by itself."""
        super().showEvent(event)
        self._sampling.want("home", True)
        self._show_now()
        if not self.facts.looked and not event.spontaneous():
            self.look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks. A minimised window keeps its figures coming, so that its lines have no hole."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._sampling.want("home", False)

    def _found(self, facts: Facts) -> None:
        self.facts = facts
        self.retranslate()

    def _failed(self, error: AppError) -> None:
        self._trouble_error = error
        self._show_trouble()

    def _show_trouble(self) -> None:
        if self._trouble_error is not None:
            self.trouble.set("warn", said.error(self._language.texts(), self._trouble_error))
            self.trouble.show()

    def _forget_trouble(self) -> None:
        self._trouble_error = None
        self.trouble.hide()

    def _sampled(self) -> None:
        if self.seen:
            self._show_now()

    def _show_now(self) -> None:
        self.live.show_history(self._sampling.history, self._health())
        self._show_verdict()

    # Words

    def retranslate(self) -> None:
        """All words of the page."""
        if not self._ready:
            return
        facts, installed = self.facts, self.facts.installed
        self.set_title(self.tr("Home"), facts.computer())
        self._show_verdict()
        self.live.show_history(self._sampling.history, self._health())
        has = installed is not None
        self.setup.setText(self.tr("Set up again") if has else self.tr("Set up PyTorch"))
        self.offline.setText(self.tr("I have an offline folder"))
        self.offline.setVisible(facts.looked and not has and not self._app.simulated)
        self.installed.setVisible(has)
        self.fast.setVisible(has)
        self.ways.setVisible(has)
        self.ways.set_environment(installed.folder if installed is not None else None)
        self._start.setText(self.tr("Start working"))
        self._fold()
        self.fast.show_benchmark(facts.benchmark)
        if installed is not None:
            self.installed.set_installed(installed)
        self._show_proof()
        self._show_trouble()

    def _health(self) -> Health | None:
        return None if self._app.simulated else self._sampling.health

    def _show_verdict(self) -> None:
        health = self._health()
        said = verdict(
            self.facts,
            self._sampling.history.latest,
            health,
            simulated=self._app.simulated,
            # Whom the setup was finished for once wants one.
            only_look=self._app.settings.only_look and not self._app.settings.setup_done,
        )
        silent = partial(is_silent, self._app.settings, gpus=self._sampling.history.gpus())
        self.alarms.show_health(health, silent, said=said.alarm)
        if said[:4] != (self.hero.kind, self.hero.title.text(), self.hero.detail.text(), self.hero.button.text()):
            self.hero.set(said.kind, said.title, said.detail, said.action, said.icon)
            self.hero.button.setEnabled(bool(said.action))
        self._leads = said.leads
        wanted = self.facts.looked and (self.facts.installed is None or self.facts.gpu_unused())
        self.setup.setVisible(wanted and said.leads != "setup" and not self._app.simulated)

    def _show_proof(self) -> None:
        checks = self._checks
        self.installed.proof.setVisible(checks is not None)
        if checks is None:
            return
        looked = [check for check in checks.checks if check.state != "skip"]
        passed = sum(check.state == "pass" for check in looked)
        text = counted(self.tr("{passed} of {count} checks passed"), passed=passed, count=len(looked))
        worst = next((check for check in looked if check.state == checks.verdict != "pass"), None)
        if worst is not None:
            text = self._language.texts().say(f"check.{worst.id}.{worst.state}", worst.data)
        kind: dict[str, Callable[[], None]] = {
            "pass": partial(self.installed.proof.set, "ok", text),
            "warn": partial(self.installed.proof.set, "warn", text),
            "fail": partial(self.installed.proof.set, "error", text),
        }
        kind[checks.verdict]()

    # Acting

    def _act(self) -> None:
        if self._leads == "setup":
            self.setup_wanted.emit()
        elif self._leads == "test":
            self.test_wanted.emit(ADVISED_LEVEL if self.facts.installed is not None else 1, None)
        else:
            self.wanted.emit(MONITOR)

    def verify(self) -> None:
        """Prove the environment again."""
        installed = self.facts.installed
        if installed is not None and not self._verifying.running:
            self.installed.verify.set_busy(True)
            self._verifying.start(Later(partial(self._app.verify, installed.folder)))

    def remove(self) -> None:
        """Take the environment back, after what will go was shown."""
        if self.facts.installed is not None:
            self._forget_trouble()
            self.removal.ask(self.facts.installed)

    def _removed(self, words: str) -> None:
        self._checks = None
        self.look()
        self.trouble.set("ok", words)
        self.trouble.show()

    def _verified(self, checks: Checks) -> None:
        self._checks = checks
        if self._sampling.judge is not None:
            self._sampling.judge.cuda = next((each.state for each in checks.checks if each.id == CUDA_CHECK), None)
        self._show_proof()

    def _show_news(self) -> None:
        """What came of a press stands where it can be read."""
        self.content.layout().activate()  # type: ignore[union-attr]
        self.ensureWidgetVisible(self.ways.news)

    # Arrangement

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the cards get the room."""
        super().resizeEvent(event)
        if self._ready:
            self._fold()

    def _fold(self) -> None:
        # viewport() would make every class of widgets that there is, which takes 25 ms.
        folded = self.maximumViewportSize().height() < theme.px(LOW)
        for words in (self.subtitle, self._start):
            words.setVisible(not folded and bool(words.text()))
        if self.facts.installed is None:
            self._start.hide()

    def _arrange(self) -> None:
        """Two cards side by side, one below the other where it is narrow."""
        one_column = self.shape_.small
        self._place(self._cards, (self.installed, self.fast), 1 if one_column else 2)

    def _place(self, grid: QGridLayout, widgets: tuple[QWidget, ...], columns: int) -> None:
        for index, widget in enumerate(widgets):
            grid.removeWidget(widget)
            grid.addWidget(widget, index // columns, index % columns)
        for column in range(2):
            grid.setColumnStretch(column, 1 if column < columns else 0)
