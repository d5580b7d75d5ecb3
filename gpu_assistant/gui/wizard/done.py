"""Done: does it really work?"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout

from ...texts.format import duration
from ..components import (
    Button,
    Card,
    CommandBox,
    Hero,
    LogDrawer,
    Pill,
    StepList,
    announce,
    label,
)
from ..ways import WaysPanel
from . import proof
from . import words as said
from .base import WizardPage
from .proof_card import ProofCard
from .speed_card import SpeedCard


class DonePage(WizardPage):
    """Verdict, proof, speed, what now, the command. `home_wanted` comes from the primary."""

    home_wanted = Signal()

    def build(self) -> None:
        """The parts."""
        column = self.page.column
        column.setSpacing(14)
        self.hero = Hero("neutral")
        self.pill = Pill("ok", "", on_tint=True)
        self.hero.add(self.pill)
        self.hero.button.clicked.connect(self.road.prove)
        self.proof, self.speed = ProofCard(), SpeedCard()
        self.speed.wanted.connect(self._measure)
        self.speed.unwanted.connect(self.road.stop_measuring)
        self._pair = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._pair.setSpacing(16)
        self._pair.addWidget(self.proof, 54)
        self._pair.addWidget(self.speed, 46)
        self.now = label("heading")
        self.ways = WaysPanel(self.road.app, self.road.language)
        self.ways.told.connect(self._show_news)
        self.type_this, self.command = label("small"), CommandBox()
        self.was_done = Card(" ", padding=16)
        self._steps, self._log = StepList(), LogDrawer()
        self.was_done.column.addWidget(self._steps)
        self.was_done.column.addWidget(self._log)
        self.was_done.hide()
        column.addWidget(self.hero)
        column.addLayout(self._pair)
        column.addWidget(self.now)
        for widget in (self.ways, self.type_this, self.command, self.was_done):
            column.addWidget(widget)
        column.addStretch(1)
        self.back = self.add_back()
        self.show_done = self.footer.add(Button())
        self.show_done.clicked.connect(self._unfold)
        self.footer.add(self.primary)
        self.road.measuring_news.connect(self.speed.heard)
        self.page.shape_.changed.connect(self._fit)
        self._fit()
        self._told: object = None

    def draw(self) -> None:
        """Everything of now."""
        road, facts = self.road, self.road.flow.facts
        simulated = road.flow.simulated
        self.page.setAccessibleName(self.tr("Done"))
        self._verdict()
        checks = facts.checks
        self.proof.set_title(self.tr("The proof"))
        self.proof.set_rows(proof.rows(checks, self.texts) if checks is not None else ())
        proven = checks is not None and not simulated
        works = proven and checks is not None and checks.verdict != "fail"
        self.proof.setVisible(proven)
        self.speed.setVisible(works)
        error = road.errors.get("measure")
        self.speed.draw(facts.benchmark, measuring=road.measuring, error=error, texts=self.texts)
        self.now.setText(self.tr("What now?"))
        self.ways.set_environment(road.environment if works else None)
        self.type_this.setText(self.tr("Or type this in any terminal"))
        if road.environment is not None and not simulated:
            self.command.set_text(road.app.system.activation(road.environment))
        for widget in (self.now, self.ways, self.type_this, self.command):
            widget.setVisible(works)
        self._what_was_done()
        hint = self.tr("Everything is written down: a lock file and a log.") if works else ""
        self.footer.set_hint(hint, "file")
        self.back.setText(self.tr("Back"))
        self.back.setVisible(not works)
        opened = not self.was_done.isHidden()
        self.show_done.setText(self.tr("Hide what was done") if opened else self.tr("Show what was done"))
        self.show_done.setVisible(road.progress is not None and not simulated)
        self.primary.setText(self.tr("Go to Home"))

    def go_on(self) -> None:
        """On to Home."""
        self.home_wanted.emit()

    def _verdict(self) -> None:
        road, facts = self.road, self.road.flow.facts
        checks, error = facts.checks, road.errors.get("prove")
        self.pill.hide()
        again = self.tr("Check again")
        if road.flow.simulated:
            title = self.tr("Nothing was installed: this machine is simulated")
            self.hero.set("neutral", title, self.tr("On the real one, the proof would stand here."), icon="sim")
        elif road.proving:
            title = self.tr("Proving that it works…")
            self.hero.set(
                "neutral", title, self.tr("PyTorch is loaded and computes; takes some seconds."), icon="search"
            )
        elif error is not None:
            title = self.tr("It could not be proven")
            self.hero.set("error", title, said.error(self.texts, error), again)
        elif checks is not None:
            found = proof.verdict(checks, facts.recommendation, facts.machine)
            title, detail = found.title, found.detail
            if facts.end is not None and found.kind == "ok":
                detail = self.tr("Installed and proven. Nothing else on your computer was changed.")
                if not facts.continued:
                    words = self.tr("Installed and proven in {time}. Nothing else on your computer was changed.")
                    detail = words.format(time=duration(facts.end.elapsed_s, self.texts.language))
            self.hero.set(found.kind, title, detail, "" if found.kind == "ok" else again)
            whole = found.passed == found.counted
            passed = self.tr("All {counted} checks passed") if whole else self.tr("{passed} of {counted} checks passed")
            self.pill.set("ok" if whole else "warn", passed.format(passed=found.passed, counted=found.counted))
            self.pill.show()
        else:
            title = self.tr("Not proven yet")
            self.hero.set("neutral", title, "", self.tr("Check it"))
        if title != self._told and self.isVisible():
            self._told = title
            announce(self.hero, title)

    def _what_was_done(self) -> None:
        self.was_done.set_title(self.tr("What was done"))
        progress = self.road.progress
        if self.was_done.isHidden() or progress is None:
            return
        texts = self.texts
        self._steps.clear()
        for step in progress.steps.values():
            title = texts.say(f"step.{step.code}.title", step.data)
            took = step.seconds_worth_saying
            seconds = duration(took, texts.language) if took is not None else ""
            said = texts.message(step.message) if step.message is not None else ""
            self._steps.add(step.id, title)
            self._steps.set_state(step.id, step.state, said or texts.say(f"step.{step.code}.undo", step.data), seconds)
        self._log.clear()
        self._log.append(self.road.lines)

    def _unfold(self) -> None:
        self.was_done.setVisible(self.was_done.isHidden())
        self.draw()
        if not self.was_done.isHidden():
            self.page.content.layout().activate()  # type: ignore[union-attr]
            self.page.ensureWidgetVisible(self.was_done)

    def _show_news(self) -> None:
        """What came of a press stands where it can be read."""
        self.page.content.layout().activate()  # type: ignore[union-attr]
        self.page.ensureWidgetVisible(self.ways.news)

    def _measure(self) -> None:
        self.speed.began()
        self.road.measure()

    def _fit(self) -> None:
        narrow = self.page.shape_.tight
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._pair.setDirection(down if narrow else right)
