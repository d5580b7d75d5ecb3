"""Recommendation: what should I install, and why?"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout

from ...core.errors import AppError
from ...core.machine import Machine
from ...core.plan import Plan
from ...core.recommendation import Recommendation
from ...texts.format import UNKNOWN
from ..components import Button, Card, Hero, Icon, label
from . import words as said
from .base import WizardPage, chain
from .cards import PARTS, Part, others, parts
from .offers import Offers
from .part_card import Heads, PartCard
from .plan_list import PlanList
from .price_card import PriceCard
from .rows import main_card, short_name


class RecommendationPage(WizardPage):
    """Four cards with Now → After, what else would do, the price, the folder, the steps."""

    def build(self) -> None:
        """The parts."""
        self.ours = Button(kind="ghost", icon="undo")
        self.ours.clicked.connect(self.road.ours_again)
        self.page.add_action(self.ours)
        column = self.page.column
        column.setSpacing(10)
        self.hero = Hero("error")
        self.hero.button.clicked.connect(self._mend)
        self.heads = Heads()
        self.cards = {name: PartCard(name) for name in PARTS}
        self.offers = Offers()
        self.price = PriceCard()
        self.folder = _FolderCard()
        self.steps = PlanList()
        self.steps.hide()
        for widget in (self.hero, self.heads, *self.cards.values(), self.offers, self.price, self.folder, self.steps):
            column.addWidget(widget)
        column.setSpacing(10)
        column.addStretch(1)
        for card in self.cards.values():
            card.offered.connect(self.road.take)
        self.offers.taken.connect(self.road.take)
        self.price.steps.clicked.connect(self._fold)
        self.folder.change.clicked.connect(self.choose_folder)
        self.back = self.add_back()
        self.footer.add(self.primary)
        self._drawn: object = None

    def draw(self) -> None:
        """The recommendation of now."""
        road, facts = self.road, self.road.flow.facts
        error = road.errors.get("reckon") or road.errors.get("prove")
        machine, recommendation, plan = facts.machine, facts.recommendation, facts.plan
        self.back.setText(self.tr("Back"))
        self.heads.set_words(self.tr("Now"), self.tr("After"))
        self.ours.setText(self.tr("Our suggestion again"))
        self.ours.setVisible(facts.choice is not None and not road.reckoning)
        known = machine is not None and recommendation is not None and plan is not None
        for widget in (*self.cards.values(), self.price, self.folder):
            widget.setVisible(known)
        self.offers.setVisible(False)
        self.steps.setVisible(known and self.steps.isVisibleTo(self.page.content))
        self._title(machine)
        if machine is not None and recommendation is not None and plan is not None:
            self._show(machine, recommendation, plan)
        self._verdict(error)
        self._foot()
        self._align()

    def _title(self, machine: Machine | None) -> None:
        gpu = main_card(machine) if machine is not None else None
        # A release's nickname in brackets is more than one wants to know here.
        system = (machine.os.name or machine.os.system).split(" (")[0] if machine is not None else UNKNOWN
        if gpu is not None and gpu.name and gpu.vendor == "nvidia":
            title = self.tr("What suits your {gpu}").format(gpu=short_name(gpu.name))
            words = self.tr("Chosen from your card, your driver and {system}. Each choice tells you why.")
        else:
            title = self.tr("What suits this computer")
            words = self.tr("Chosen from your processor and {system}. Each choice tells you why.")
        self.page.set_title(title, words.format(system=system))

    def _show(self, machine: Machine, recommendation: Recommendation, plan: Plan) -> None:
        texts = self.texts
        spoken = texts.recommendation(recommendation)
        for part in parts(machine, recommendation, texts, settled=self.road.flow.facts.settled):
            card, offer = self.cards[part.id], part.offer
            choose = self.tr("Use that instead") if offer is not None else ""
            card.set_part(part, choose, said.offer(texts, offer)[0] if offer is not None else "")
            card.say(self._sentence(part))
        self.offers.set(spoken.warnings, others(spoken), spoken.driver)
        self.offers.setVisible(self.offers.any)
        self.price.set_price(plan, machine, texts)
        opened = self.steps.isVisibleTo(self.page.content)
        words = self.tr("Hide the steps") if opened else self.tr("Show all {n} steps")
        self.price.steps.setText(words.format(n=len(plan.steps)))
        self.price.steps.set_icon(None, "up" if opened else "down")
        self.folder.set(self.tr("Installed into"), plan.env, self.tr("Change"))
        drawn = (plan, texts.language)
        if opened and drawn != self._drawn:
            self._drawn = drawn
            self.steps.set_plan(plan, texts)
        boxes = [each for box in self.steps.commands for each in (box.text, box.copy)]
        last = self.cards["torch"].why.source
        chain(last, *self.offers.buttons, self.price.steps, self.folder.change, *boxes, self.back, self.primary)

    def _sentence(self, part: Part) -> str:
        words = self.tr("{part}: now {now}, after {after}, {what}")
        return words.format(part=part.title, now=part.now or UNKNOWN, after=part.after or UNKNOWN, what=part.pill[1])

    def _verdict(self, error: AppError | None) -> None:
        road, facts = self.road, self.road.flow.facts
        self.hero.show()
        if road.reckoning:
            self.hero.set("neutral", self.tr("Working out what suits this computer"), icon="search")
        elif error is not None:
            action = self.tr("Our suggestion again") if facts.choice is not None else self.tr("Try again")
            self.hero.set("error", self.tr("This does not work out"), said.error(self.texts, error), action)
        elif facts.settled:
            there = facts.plan.env if facts.plan is not None else ""
            self.hero.set("ok", self.tr("You have all you need"), there)
        else:
            self.hero.hide()

    def _foot(self) -> None:
        facts = self.road.flow.facts
        self.footer.set_hint(self.tr("Nothing is changed before you press Install."), "ok")
        if facts.settled:
            self.footer.set_hint("")
        self.primary.setText(self.tr("Check it") if facts.settled else self.tr("Install"))
        self.primary.set_icon("check" if facts.settled else "download")
        ready = facts.plan is not None and not self.road.reckoning
        was = self.primary.isEnabled()
        self.primary.setEnabled(ready)
        self.primary.set_busy(self.road.proving)
        if ready and not was:
            self.focus_primary()

    def go_on(self) -> None:
        """Install, or prove what is there."""
        self.road.errors.pop("prove", None)
        self.road.install()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the heads over their columns."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._align)

    def refresh(self) -> None:
        """Larger text needs other columns."""
        super().refresh()
        QTimer.singleShot(0, self, self._align)

    def _align(self) -> None:
        margins = self.page.content.layout().contentsMargins()  # type: ignore[union-attr]
        room = self.page.viewport().width() - margins.left() - margins.right()
        for card in self.cards.values():
            card.set_room(room)
        self.offers.set_room(room)
        self.price.set_room(room)
        known = not self.cards["torch"].isHidden()
        self.heads.fit(self.cards["torch"], room if known else 0)

    def _mend(self) -> None:
        if self.road.flow.facts.choice is not None:
            self.road.ours_again()
        else:
            self.road.reckon()

    def _fold(self) -> None:
        self.steps.setVisible(not self.steps.isVisibleTo(self.page.content))
        self.draw()
        if self.steps.isVisible():
            QTimer.singleShot(0, self, self._show_steps)

    def _show_steps(self) -> None:
        """Bring the steps into view, below the button that closes them."""
        self.page.content.layout().activate()  # type: ignore[union-attr]
        self.page.verticalScrollBar().setValue(self.price.mapTo(self.page.content, QPoint()).y())

    def choose_folder(self) -> None:
        """Ask where to install."""
        dialog = QFileDialog(self, self.tr("Where shall it be installed?"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.use_folder)
        dialog.open()

    def use_folder(self, folder: str) -> None:
        """Install below a folder: the environment gets one of its own in it."""
        goal = self.road.flow.facts.goal
        path = Path(folder)
        self.road.set_folder(str(path if path.name == goal else path / goal))


class _FolderCard(Card):
    """Where it goes, and a button to put it elsewhere."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 6, 10, 6)
        row = QHBoxLayout()
        row.setSpacing(12)
        self._name, self._path = label("small"), label("mono")
        self.change = Button(kind="ghost", icon="folder")
        row.addWidget(Icon("folder", "soft", 20))
        row.addWidget(self._name)
        row.addWidget(self._path, 1)
        row.addWidget(self.change)
        self.column.addLayout(row)

    def set(self, name: str, path: str, change: str) -> None:
        self._name.setText(name)
        self._path.setText(path)
        self.change.setText(change)
        self.change.setAccessibleName(f"{change}: {path}")
        self.setAccessibleName(f"{name}: {path}")
