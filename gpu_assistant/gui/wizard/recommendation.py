"""Recommendation: what should I install, and why?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent

from ...core.errors import AppError, CannotSetUp
from ...core.machine import Machine
from ...core.plan import Plan, awaits_driver
from ...core.recommendation import Alternative, Recommendation
from ..bundle.source_card import Offline
from ..components import Button, Hero
from ..components.picker import Picker
from . import words as said
from .along import along
from .base import WizardPage, chain
from .cards import PARTS, others, parts
from .choosers import about, of_card
from .coverage import driver_by_hand, left_out
from .driver_reach import reach
from .folder_card import FolderCard
from .headline import headline
from .held import Held
from .offers import OTHER_GOALS, Offers
from .option_notes import OptionNotes
from .part_card import Heads, PartCard
from .plan_list import PlanList
from .price_card import PriceCard
from .road import Road
from .verdict_hero import show_verdict
from .wishes import Wishes


class RecommendationPage(WizardPage):
    """A card for each part, what else would do, the price, the folder, the steps. `offline_wanted` asks for a folder
    for a computer without internet.
    """

    offline_wanted = Signal()

    def __init__(self, road: Road, cards: dict[str, PartCard] | None = None) -> None:
        # Cards that were made before their page (`ahead.py`).
        self.cards = cards if cards is not None else {}
        super().__init__(road)

    def build(self) -> None:
        """The parts."""
        self.wishes = Wishes(self.road)
        column = self.page.column
        self.hero = Hero("error")
        self.hero.button.clicked.connect(self._mend)
        self.heads = Heads()
        self.cards = {name: self.cards.get(name) or PartCard(name) for name in PARTS}
        self.cautions, self.offers = Offers(), Offers()
        self.price = PriceCard()
        self.folder, self.offline = FolderCard(), Offline(self)
        self.offline.make.clicked.connect(self.offline_wanted)
        self.offline.card.away.clicked.connect(lambda: self.road.use_bundle(None))
        self.steps = PlanList(self.road)
        self.steps.hide()
        below = (self.cautions, self.price, self.steps, self.folder, self.offers)
        for widget in (self.wishes, self.hero, self.heads, *self.cards.values(), *below):
            column.addWidget(widget)
        column.insertWidget(column.indexOf(self.heads), self.offline.card)
        column.addWidget(self.offline.make, 0, Qt.AlignmentFlag.AlignLeft)
        # All that is decided here stays in sight on a small laptop, with a system's tall font, too.
        column.setSpacing(8)
        column.addStretch(1)
        for card in self.cards.values():
            card.offered.connect(self.road.take)
            card.picked.connect(self.road.pick)
            card.alone.connect(self.road.pick_alone)
            card.why.toggled.connect(self._explain)
        self.offers.taken.connect(self._take)
        self.cautions.undone.connect(self.road.undo)
        self.price.steps.clicked.connect(self._fold)
        self.folder.chosen.connect(self.use_folder)
        self.back = self.add_back()
        self.footer.add(self.primary)
        self._known = self._unfolded = self._led = False

    def draw(self) -> None:
        """The recommendation of now."""
        held = Held(self.page)
        road, facts = self.road, self.road.flow.facts
        error = road.errors.get("reckon") or road.errors.get("prove")
        machine, recommendation, plan = facts.machine, facts.recommendation, facts.plan
        self.back.setText(self.tr("Back"))
        self.heads.set_words(self.tr("Now"), self.tr("After"))
        self.wishes.draw()
        self.wishes.setVisible(not self.offline.draw(facts))
        # What was worked out last stays to be read until the next is there.
        if not (road.reckoning and recommendation is None and self._known):
            self._known = machine is not None and recommendation is not None
            for widget in (self.price, self.folder):
                widget.setVisible(plan is not None)
            if not self._known:
                self._led = False
                for each in (*self.cards.values(), self.cautions, self.offers):
                    each.hide()
            self.steps.setVisible(plan is not None and self._unfolded)
            self.page.set_title(*headline(machine, recommendation))
            if machine is not None and recommendation is not None:
                self._show(machine, recommendation)
                self._cost(machine, plan)
        show_verdict(self.hero, road, self.texts, known=self._known, obstacle=self.obstacle, error=error)
        self._foot()
        self._align()
        wishes = (self.wishes.ours, self.wishes.by_hand)
        undo = (self.cautions.undo,) if self.cautions.undo is not None else ()
        held.keep((self.hero.button, *undo, *self._pickers(), *wishes, self.primary, self.back))

    def _show(self, machine: Machine, recommendation: Recommendation) -> None:
        texts, facts, turn = self.texts, self.road.flow.facts, self.road.flow.facts.turn
        spoken = texts.recommendation(recommendation)
        options = facts.options if facts.by_hand else None
        changed = along(turn, recommendation, facts.notes)
        there = []
        reaches = reach(self.road.app.catalog, recommendation.driver)
        for part in parts(machine, recommendation, texts, settled=facts.settled, plan=facts.plan, reaches=reaches):
            card, offer = self.cards[part.id], part.offer
            choose = self.tr("Use that instead") if offer is not None else ""
            card.set_part(part, choose, said.offer(texts, offer)[0] if offer is not None else "")
            card.set_heads(self.heads.now.text(), self.heads.after.text())
            mine = of_card(part.id, options, card.choosers, recommendation)
            here = turn is not None and any(each.name == turn.part for each in mine)
            cautions = about(part.id, spoken.warnings)
            card.set_choices(mine, facts.notes or OptionNotes(), texts, changed if here else "", cautions)
            there.append(part.id)
        # What stays is never hidden in between: the keyboard would leave it.
        for name, card in self.cards.items():
            card.setVisible(name in there)
        self._explain()
        missing = self.tr(", ").join(left_out(recommendation, facts.plan))
        taken = turn is not None and turn.part is None and facts.choice is not None
        by_hand = driver_by_hand(spoken, facts.plan)
        # What a card says beside the pick that brings it is not said again below.
        noted = {code for name, card in self.cards.items() if name in there for code in card.noted}
        warnings = [warning for warning in spoken.warnings if f"warning.{warning.code}.text" not in noted]
        first = facts.plan is not None and awaits_driver(facts.plan)
        self.cautions.set(warnings, (), by_hand, missing, changed if taken else "", driver_first=first)
        self.offers.set((), others(spoken, facts.plan), None, "")
        for each in (self.cautions, self.offers):
            each.setVisible(each.any)

    def _explain(self) -> None:
        """Each word is explained once: in the first reason that stands open."""
        told: tuple[str, ...] = ()
        for card in self.cards.values():
            told = card.explain(told)
        self._order()

    def _cost(self, machine: Machine, plan: Plan | None) -> None:
        """What the plan costs, where there is one."""
        texts = self.texts
        if plan is not None:
            recommendation = self.road.flow.facts.recommendation
            left = recommendation is not None and driver_by_hand(recommendation, plan) is not None
            self.price.set_price(plan, machine, texts, by_hand=left)
            words = self.tr("Hide the steps") if self._unfolded else self.tr("Show all {n} steps")
            self.price.steps.setText(words.format(n=len(plan.steps)))
            self.price.steps.set_icon(None, "up" if self._unfolded else "down")
            foreign = plan.simulated and machine.os.system != self.road.app.system.name
            place = self.tr("Installed into (named as on this computer)") if foreign else self.tr("Installed into")
            self.folder.set(place, plan.env, self.tr("Change"))
            if self._unfolded:
                self.steps.draw()
        self._order()

    def _order(self) -> None:
        """The order of Tab, which is that of reading."""
        first = (self.wishes.goal, self.wishes.channel, self.wishes.maker, self.wishes.by_hand, self.wishes.ours)
        cards = [control for card in self.cards.values() for control in card.controls]
        below = (self.price.steps, *self.steps.controls, self.folder.change, *self.offers.controls)
        last = (*below, self.offline.make, self.back)
        # From the primary, where the keyboard begins, on to what is on the page; the foot and the rail come last.
        chain(self.primary, *first, self.hero.button, self.offline.card.away, *cards, *self.cautions.controls, *last)

    def _pickers(self) -> list[Picker]:
        """The drop-downs, that of the part changed last before all others."""
        turn = self.road.flow.facts.turn
        found = {n: p for card in self.cards.values() if card.choosers for n, p in card.choosers.pickers.items()}
        return [picker for _, picker in sorted(found.items(), key=lambda each: turn is None or each[0] != turn.part)]

    def ahead(self) -> list[Callable[[], object]]:
        """The plan's steps."""
        return self.steps.ahead() if not self._unfolded else []

    @property
    def obstacle(self) -> AppError | None:
        """Why what is wanted cannot be carried out: its goal is still to come, or its folder will not do."""
        error = self.road.errors.get("reckon")
        if isinstance(error, CannotSetUp):
            return error
        return self.road.flow.facts.obstacle

    @property
    def way_on(self) -> Button:
        """The primary; where there is nothing to install, the way out of that."""
        stuck = self.hero.kind == "warn" or (self.hero.kind == "error" and not self._installable)
        return self.hero.button if self.hero.isVisible() and stuck else self.primary

    @property
    def _installable(self) -> bool:
        return self.road.flow.facts.plan is not None and self.obstacle is None

    def _foot(self) -> None:
        facts = self.road.flow.facts
        self.footer.set_hint(self.tr("Nothing is changed before you press Install."), "ok")
        if facts.settled:
            self.footer.set_hint("")
        self.primary.setText(self.tr("Check it") if facts.settled else self.tr("Install"))
        self.primary.set_icon("check" if facts.settled else "download")
        # While another answer is on its way, the keyboard stays where it is.
        waiting = self.road.reckoning and self._known and self.primary.isEnabled()
        ready = waiting or (self._installable and not self.road.reckoning)
        was = self.primary.isEnabled()
        self.primary.setEnabled(ready)
        self.primary.set_busy(self.road.proving or waiting)
        self.mark_way_on(self.hero.button)
        if ready and not was and not (self._led and self._choosing):
            self._led = True
            self.focus_primary()

    @property
    def _choosing(self) -> bool:
        """Whether the keyboard is on what the user chooses with."""
        focus = self.focusWidget()
        places = (self.wishes, self.hero, self.cautions, self.offers, *self.cards.values())
        return focus is not None and any(place.isAncestorOf(focus) for place in places)

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
        self.wishes.fit(room)
        for card in self.cards.values():
            card.set_room(room)
        for each in (self.cautions, self.offers):
            each.set_room(room)
        self.price.set_room(room)
        self.folder.set_room(room)
        self.offline.card.set_room(room)
        shown = (each for each in self.cards.values() if not each.isHidden())
        self.heads.fit(next(shown, None), room)

    def _take(self, offer: Alternative) -> None:
        goal = OTHER_GOALS.get(offer.code)
        if goal is not None:
            self.road.want(goal=goal)
        else:
            self.road.take(offer)

    def _mend(self) -> None:
        facts, obstacle = self.road.flow.facts, self.obstacle
        if obstacle is not None and facts.plan is not None:
            # What is wrong with the data folder is mended outside of us.
            if obstacle.data.get("path") == str(self.road.app.data.root):
                self.road.reckon()
            else:
                self.folder.choose()
        elif obstacle is not None:
            self.road.want(goal="pytorch")
        elif facts.turn is not None:
            self.road.undo()
        elif facts.choice is not None:
            self.road.ours_again()
        else:
            self.road.reckon()

    def _fold(self) -> None:
        self._unfolded = not self._unfolded
        self.draw()
        if self._unfolded:
            QTimer.singleShot(0, self, self._show_steps)

    def _show_steps(self) -> None:
        """Bring the steps into view, below the button that closes them."""
        self.page.content.layout().activate()  # type: ignore[union-attr]
        self.page.verticalScrollBar().setValue(self.price.mapTo(self.page.content, QPoint()).y())

    def use_folder(self, folder: str) -> None:
        """Install below a folder: the environment gets one of its own in it."""
        goal = self.road.flow.facts.goal
        path = Path(folder)
        self.road.set_folder(str(path if path.name == goal else path / goal))
