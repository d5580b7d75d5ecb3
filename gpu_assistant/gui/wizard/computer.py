"""This computer: what have I got?"""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication

from ...core.machine import Machine
from ..components import Banner, Button, Card, Divider, Hero, ValueRow, announce
from ..components.hero import HeroKind
from . import rows
from . import words as said
from .base import WizardPage
from .findings import findings, partly
from .findings_card import FindingsCard
from .headline import WORKS

COPIED_MS = 2000


class ComputerPage(WizardPage):
    """A verdict, then one row each; rows appear as they are found."""

    def build(self) -> None:
        """The parts."""
        column = self.page.column
        self.trouble = Banner("error")
        self.trouble.hide()
        self.hero = Hero("neutral", icon="search")
        self.card = Card(padding=16)
        self.card.column.setSpacing(0)
        self.rows: dict[str, ValueRow] = {}
        self._lines: list[Divider] = []
        for name in rows.ORDER:
            if self.rows:
                self._lines.append(Divider())
                self.card.column.addWidget(self._lines[-1])
            self.rows[name] = ValueRow(rows.ICONS[name])
            self.card.column.addWidget(self.rows[name])
        self.more = FindingsCard()
        self.more.hide()
        for widget in (self.trouble, self.hero, self.card, self.more):
            column.addWidget(widget)
        column.addStretch(1)
        self.again = self.footer.add_left(Button(kind="ghost", icon="restart"))
        self.copy = self.footer.add_left(Button(kind="ghost", icon="copy"))
        self.back = self.add_back()
        self.footer.add(self.primary)
        self.again.clicked.connect(self.road.look)
        self.copy.clicked.connect(self._copy)
        self._partial: Machine | None = None
        self._told: Machine | None = None
        self._clock = QTimer(self)
        self._clock.setInterval(200)
        self._clock.timeout.connect(self._tick)
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(COPIED_MS)
        self._copied.timeout.connect(self.draw)
        self.road.looked_at.connect(self._found_some)

    def draw(self) -> None:
        """Verdict and rows of now."""
        road, facts = self.road, self.road.flow.facts
        looking = road.looking
        if looking and not self._clock.isActive():
            self._partial = None
            self._clock.start()
        elif not looking:
            self._clock.stop()
        self.again.setText(self.tr("Look again"))
        self.copy.setText(self.tr("Copied") if self._copied.isActive() else self.tr("Copy details"))
        self.copy.set_icon("check" if self._copied.isActive() else "copy")
        self.back.setText(self.tr("Back"))
        self.primary.setText(self.tr("See what suits it"))
        self.again.setEnabled(not looking)
        self.copy.setEnabled(facts.machine is not None and not looking)
        was = self.primary.isEnabled()
        self.primary.setEnabled(facts.machine is not None and not looking)
        self._subtitle()
        self._verdict()
        self._rows()
        error = road.errors.get("look")
        self.trouble.setVisible(error is not None)
        if error is not None:
            self.trouble.set("error", said.error(self.texts, error))
        if self.primary.isEnabled() and not was and self.isVisible():
            self.focus_primary()

    def _subtitle(self) -> None:
        title = self.tr("This computer")
        seconds = self.road.look_seconds
        if self.road.looking:
            self._tick()
        elif self.road.flow.simulated:
            self.page.set_title(title, self.tr("Read from a machine file; nothing here was looked at."))
        elif seconds is not None:
            words = self.tr("Looked at in {seconds} seconds. Nothing was changed and nothing was sent.")
            self.page.set_title(title, words.format(seconds=f"{seconds:.1f}"))
        else:
            self.page.set_title(title)

    def _tick(self) -> None:
        spent = round(self.road.look_spent(time.monotonic()))
        self.page.set_title(self.tr("This computer"), self.tr("Looking… {seconds} s").format(seconds=spent))

    def _verdict(self) -> None:
        machine = self.road.flow.facts.machine
        if machine is None or self.road.looking:
            self.hero.set(
                "neutral", self.tr("Looking at this computer"), self.tr("Takes a few seconds."), icon="search"
            )
            return
        kind, title, detail = self.verdict(machine)
        known = self.road.flow.facts.recommendation is not None
        self.hero.set(kind, title, detail, icon=("cpu" if known else "search") if kind == "neutral" else None)
        if (known or kind == "warn") and machine is not self._told and self.isVisible():
            self._told = machine
            announce(self.hero, title)

    def verdict(self, machine: Machine) -> tuple[HeroKind, str, str]:
        """What it comes to: kind, sentence, one line of evidence."""
        facts, nvidia = self.road.flow.facts, machine.gpus_of("nvidia")
        recommendation = facts.recommendation
        if recommendation is None:
            return self._not_yet()
        if not nvidia and recommendation.accelerator == "cpu":
            words = self.tr("No NVIDIA GPU here. PyTorch still works, on the CPU.")
            good_for = self.tr(
                "The CPU is the chip that every computer works with: good for learning and small models; large ones "
                "take long."
            )
            return "neutral", words, good_for
        if recommendation.accelerator == "cpu":
            cautions = self.texts.recommendation(recommendation).warnings
            detail = cautions[0].text if cautions else ""
            return "warn", self.tr("PyTorch works here, but on the CPU only"), detail or ""
        driver = recommendation.driver.action
        details = {
            "update": self.tr("Only the driver is too old for it; the next page says which one it takes."),
            "back": self.tr("Only the driver is too new for the card; the next page says which one to go back to."),
            "install": self.tr("Only the driver is missing; the next page says which one it takes."),
            "keep": self.tr("Card and driver fit as they are."),
            "none": self.tr("PyTorch has a build for its graphics."),
        }
        if any(each.code in WORKS for each in recommendation.alternatives):
            detail = self.tr("The PyTorch that is here computes on it already; the next page has what is newer.")
            return "ok", self.tr("Good news: this computer can train on its GPU"), detail
        held = next((each for each in recommendation.reasons if each.code == "version-newest-with-code"), None)
        if driver == "keep" and held is not None:
            words = self.tr(
                "Card and driver fit as they are, for PyTorch {version}: the newest, {newest}, has no code for it."
            )
            detail = words.format(version=held.data["version"], newest=held.data["newest"])
            return "ok", self.tr("Good news: this computer can train on its GPU"), detail
        return "ok", self.tr("Good news: this computer can train on its GPU"), details[driver]

    def _not_yet(self) -> tuple[HeroKind, str, str]:
        error = self.road.errors.get("reckon")
        if error is None:
            return "neutral", self.tr("Working out what suits it"), ""
        return "warn", self.tr("What suits it is not worked out yet"), said.error(self.texts, error)

    def _rows(self) -> None:
        facts = self.road.flow.facts
        looking = self.road.looking
        machine = self._partial if looking else facts.machine
        known = {
            row.id: row
            for row in (
                rows.rows(machine, facts.recommendation if not looking else None, facts.plan if not looking else None)
                if machine is not None
                else ()
            )
        }
        for name, text in rows.labels().items():
            row = known.get(name)
            widget = self.rows[name]
            if row is None or (looking and row.value is None):
                widget.set(text, "…" if looking else None)
            else:
                widget.set(row.label, row.value, row.detail or row.reason, row.pill, row.reason)

        self._more(machine if not looking else None)

    def _more(self, machine: Machine | None) -> None:
        """What else was noticed; a row that could be read in part says the rest here."""
        told = {note.probe for note in machine.notes if not partly(note)} if machine is not None else set()
        in_rows = frozenset(told & set(rows.PROBES.values()))
        self.more.set(self.tr("Good to know"), findings(machine, in_rows) if machine is not None else ())

    def _found_some(self, news: Any) -> None:  # noqa: ANN401 - the look's own news
        if isinstance(news, Machine):
            self._partial = news
            self._rows()

    def _copy(self) -> None:
        facts = self.road.flow.facts
        if facts.machine is None:
            return
        found = rows.rows(facts.machine, facts.recommendation, facts.plan)
        told = rows.as_text(found)
        more = [finding.text for finding in findings(facts.machine, frozenset(rows.PROBES.values()))]
        QGuiApplication.clipboard().setText("\n".join((told, *more)))
        self._copied.start()
        self.draw()
        announce(self.copy, self.copy.text())
