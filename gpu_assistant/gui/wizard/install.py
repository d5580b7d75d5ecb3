"""Install: what is happening, how long, can I leave?"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, QTimer, Signal

from ...core.message import Value
from ...core.plan import Event, StepEvent
from ...texts.format import duration
from ..components import Button, Card, ConfirmDialog, LogDrawer, ProgressBar, StepList, announce
from . import install_words, words
from .base import WizardPage, chain
from .facts import Stage
from .install_columns import InstallColumns
from .note_card import NoteCard
from .plan_list import PlanList
from .progress import LATER, Progress, StepProgress
from .step_block import StepBlock
from .trouble_box import TroubleBox

SAID = ("done", "failed", "skipped")


class InstallPage(WizardPage):
    """The plan's steps with the running one large beside them. `folder_wanted` asks for another folder."""

    folder_wanted = Signal()

    def build(self) -> None:
        """The parts."""
        column = self.page.column
        self.whole = ProgressBar(height=6)
        self.steps = StepList()
        self.block = StepBlock()
        self.trouble = TroubleBox()
        self.notes = (NoteCard(), NoteCard())
        self.log = LogDrawer()
        self._list_card = Card(padding=8)
        self._list_card.column.addWidget(self.steps)
        self.shown = PlanList(self.road)
        self._columns = InstallColumns((self._list_card, self.shown), (self.trouble, self.block), self.notes, self.log)
        column.addWidget(self.whole)
        column.addLayout(self._columns)
        column.addStretch(1)
        self.page.shape_.changed.connect(self._fit)
        self._fit()
        self.back = self.add_back()
        self.cancel = self.footer.add(Button())
        self.again = self.footer.add(Button())
        self.again.clicked.connect(self.road.install)
        self.footer.add(self.primary)
        self.cancel.clicked.connect(self.ask_to_stop)
        self.trouble.taken.connect(self.road.take)
        self.trouble.folder.connect(self.folder_wanted)
        self.block.controls.held.connect(self.road.hold)
        self.block.controls.limit.chosen.connect(self.road.limit)
        self.road.stepped.connect(self._stepped)
        self.road.logged.connect(self._logged)
        self._progress: Progress | None = None
        self._kinds: tuple[tuple[str, bool], ...] = ()
        self._heard: dict[str, StepEvent] = {}  # shown once in a turn, however much it was
        self._telling = QTimer(self, singleShot=True, interval=0)
        self._telling.timeout.connect(self._tell)
        self._stage: Stage | None = None

    def prepare(self) -> None:
        """The rows of the plan that is going to be carried out."""
        plan = self.road.flow.facts.plan
        if plan is not None and not self.isVisible():
            self._fill((step.id, step.code, step.data, step.needs_admin) for step in plan.steps)

    def draw(self) -> None:
        """Everything of now."""
        road, facts = self.road, self.road.flow.facts
        stage = facts.stage
        progress = road.progress
        if progress is not self._progress:
            self._progress = progress
            self.log.clear()
            self.block.line.clear()
            self._fill_all()
        if progress is not None:
            for step in progress.steps.values():
                self._row(step)
        self._heads(progress)
        running = stage in ("running", "stopping")
        self._show_plan()
        self._fit()
        self.whole.setVisible(running)
        self.block.setVisible(running and progress is not None and progress.running is not None)
        self.trouble.setVisible(facts.trouble is not None)
        if facts.trouble is not None:
            self.trouble.set(facts.trouble, self.texts)
        self._notes()
        self._foot(stage)
        self.mark_way_on(*self.trouble.buttons)
        if stage != self._stage:
            self._changed_to(stage)

    @property
    def way_on(self) -> Button:
        """A release that can be had leads further than the same try again."""
        trouble = self.road.flow.facts.trouble
        offered = trouble is not None and bool(trouble.offers) and bool(self.trouble.buttons)
        return self.trouble.buttons[0] if offered else self.primary

    def go_on(self) -> None:
        """On to the proof, or on with the install; before a restart there is nothing more to do here."""
        stage = self.road.flow.facts.stage
        if stage == "done" or self.road.flow.stands:
            self.road.next()
        elif stage == "reboot-needed":
            self.window().close()
        else:
            self.road.install()

    def ask_to_stop(self) -> None:
        """Cancel, after a question; nothing is lost."""
        line = install_words.kept(self._progress, late=self._late)
        stop = ConfirmDialog.ask(
            self,
            self.tr("Stop here?"),
            line,
            self.tr("Stop"),
            self.tr("Go on"),
        )
        if stop:
            self.road.stop()

    def _show_plan(self) -> None:
        """For a simulated machine the plan with its commands and sizes stands here: nothing is logged."""
        simulated, plan = self.road.flow.simulated, self.road.flow.facts.plan
        for widget in (self._columns.side, self.log, self._list_card):
            widget.setVisible(not simulated)
        self.shown.setVisible(simulated)
        if simulated and plan is not None:
            self.shown.draw()

    def _logged(self, lines: list[str]) -> None:
        self.log.append(lines)
        # What a tool says on its way reads like trouble to who does not know it: it is for the open drawer.
        self.log.head.set_last("")

    def _fill_all(self) -> None:
        steps = self._progress.steps.values() if self._progress is not None else ()
        self._fill((step.id, step.code, step.data, step.admin) for step in steps)

    def _fill(self, steps: Iterable[tuple[str, str, dict[str, Value], bool]]) -> None:
        """A row for each (id, code, data, asks for rights); those that are there already stay."""
        wanted = tuple(steps)
        kinds = tuple((name, admin) for name, _, _, admin in wanted)
        if kinds != self._kinds:
            self._kinds = kinds
            self.steps.clear()
            for name, code, data, admin in wanted:
                self.steps.add(name, self.texts.say(f"step.{code}.title", data), admin=admin)

    def _row(self, step: StepProgress) -> None:
        texts = self.texts
        if step.id not in self.steps.rows:
            self._fill_all()
        self.steps.set_title(step.id, texts.say(f"step.{step.code}.title", step.data))
        # The trouble box says why a step failed; where others went on without it, its row does.
        told = self.road.flow.facts.stage == "left-out" or step.state != "failed"
        detail, right = install_words.detail(step, texts, told=told), install_words.right(step, texts)
        self.steps.set_state(step.id, step.state, detail, right)

    def _stepped(self, event: Event) -> None:
        progress = self.road.progress
        if not isinstance(event, StepEvent) or progress is None:
            return
        if event.unit == "bytes" and event.state == "running":
            self.block.line.add(event.speed)
        if self.isVisible():
            self._heard[event.id] = event
            if not self._telling.isActive():
                self._telling.start()

    def _tell(self) -> None:
        progress, heard = self.road.progress, self._heard
        self._heard = {}
        if progress is None:
            return
        if progress is not self._progress or not heard.keys() <= progress.steps.keys():
            self.draw()
            return
        for name in heard:
            self._row(progress.steps[name])
        self._heads(progress)
        self._notes()
        self.block.setVisible(progress.running is not None and self.road.flow.locked)
        for event in heard.values():
            if event.state in SAID:
                announce(self.steps, self.steps.rows[event.id].accessibleName())

    def _heads(self, progress: Progress | None) -> None:
        stage = self.road.flow.facts.stage
        title, line = install_words.title(stage), ""
        if self.road.flow.simulated and stage == "done":
            title, line = self.tr("This is what an install would do"), self.tr("Shown only: nothing was executed.")
        if progress is not None and stage == "running":
            line = self._where(progress)
            running = progress.running
            self.whole.set_fraction(progress.share)
            if running is not None:
                pace = self.road.pace
                if pace is not None:
                    self.block.controls.set(holding=pace.paused, rate=pace.most)
                self.block.set_step(running, self.texts)
        elif stage == "stopping":
            line = self.tr("It ends at the next safe place.")
        self.page.set_title(title, line)

    def _where(self, progress: Progress) -> str:
        counted = {"n": str(max(progress.number, 1)), "of": str(len(progress.steps))}
        left = None if self.block.controls.holding else progress.seconds_left
        if left is None:
            line = self.tr("Step {n} of {of}. You may minimise this window.")
            return line.format(**counted)
        line = self.tr("Step {n} of {of} · about {time} left. You may minimise this window.")
        return line.format(time=duration(left, self.texts.language), **counted)

    def _notes(self) -> None:
        facts, simulated = self.road.flow.facts, self.road.flow.simulated
        found = () if simulated else install_words.notes(facts, self._progress, self.texts, late=self._late)
        for number, card in enumerate(self.notes):
            card.setVisible(number < len(found))
            if number < len(found):
                card.set(found[number].icon, found[number].title, found[number].line)

    @property
    def _late(self) -> bool:
        """Whether only the download would be left of the work so far."""
        running = self._progress.running if self._progress is not None else None
        return running is not None and running.kind in LATER

    def _foot(self, stage: Stage) -> None:
        running = stage in ("running", "stopping")
        self.back.setText(self.tr("Back"))
        self.back.setVisible(not running)
        self.cancel.setText(self.tr("Cancel"))
        self.cancel.setVisible(running)
        self.cancel.set_busy(stage == "stopping")
        stands = self.road.flow.stands
        self.again.setText(self.tr("Ask again"))
        self.again.setVisible(stands)
        primary = {"failed": self.tr("Try again"), "cancelled": self.tr("Go on"), "reboot-needed": self.tr("Close")}
        if stage == "left-out" and not stands:
            primary["left-out"] = self.tr("Ask again")
        self.primary.setText(primary.get(stage, self.tr("Next")))
        trouble = self.road.flow.facts.trouble
        self.primary.setEnabled(not running and (trouble is None or "retry" in trouble.ways))

    def _changed_to(self, stage: Stage) -> None:
        self._stage = stage
        self.focus_primary()
        trouble = self.road.flow.facts.trouble
        if trouble is not None:
            announce(self.trouble, words.say(self.texts, trouble.message))
        chain(*self.trouble.buttons, *self.block.controls.all, self.steps.fold, self.log.head)

    def focus_primary(self) -> None:
        """While it runs there is only Cancel."""
        if self.cancel.isVisible():
            self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_primary()

    def _fit(self) -> None:
        """In one column the list stands low, and in sight, below the running step."""
        narrow, running = self.page.shape_.tight, self.road.flow.locked
        self._columns.fit(narrow=narrow, running=running)
        self.block.set_compact(narrow)
        self.steps.set_compact(narrow, folds=narrow and running)
