"""Recommendation: what should I install, and why?"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog

from ...core.errors import AppError, CannotSetUp
from ...core.machine import Machine
from ...core.plan import Plan
from ...core.recommendation import Alternative, Recommendation
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Button, Hero
from ..components.picker import Picker
from . import words as said
from .along import along, fallen_words
from .base import WizardPage, chain
from .cards import PARTS, Part, others, parts
from .choosers import CARDS
from .coverage import driver_by_hand, left_out
from .folder_card import FolderCard
from .headline import headline
from .held import Held
from .offers import OTHER_GOALS, Offers
from .option_notes import OptionNotes
from .part_card import Heads, PartCard
from .plan_list import PlanList
from .price_card import PriceCard
from .road import Road
from .wishes import Wishes

BESIDE = 500  # the room that the title and its line need beside the wishes


class RecommendationPage(WizardPage):
    """A card for each part, what else would do, the price, the folder, the steps."""

    def __init__(self, road: Road, cards: dict[str, PartCard] | None = None) -> None:
        # Cards that were made before their page (`ahead.py`).
        self.cards = cards if cards is not None else {}
        super().__init__(road)

    def build(self) -> None:
        """The parts."""
        self.wishes = Wishes(self.road)
        self.page.add_action(self.wishes)
        column = self.page.column
        column.setSpacing(10)
        self.hero = Hero("error")
        self.hero.button.clicked.connect(self._mend)
        self.heads = Heads()
        self.cards = {name: self.cards.get(name) or PartCard(name) for name in PARTS}
        self.offers = Offers()
        self.price = PriceCard()
        self.folder = FolderCard()
        self.steps = PlanList(self.road)
        self.steps.hide()
        for widget in (self.hero, self.heads, *self.cards.values(), self.offers, self.price, self.folder, self.steps):
            column.addWidget(widget)
        column.setSpacing(10)
        column.addStretch(1)
        for card in self.cards.values():
            card.offered.connect(self.road.take)
            card.picked.connect(self.road.pick)
            card.alone.connect(self.road.pick_alone)
        self.offers.taken.connect(self._take)
        self.offers.undone.connect(self.road.undo)
        self.price.steps.clicked.connect(self._fold)
        self.folder.change.clicked.connect(self.choose_folder)
        self.back = self.add_back()
        self.footer.add(self.primary)
        self._known = self._unfolded = False

    def draw(self) -> None:
        """The recommendation of now."""
        held = Held(self.page)
        road, facts = self.road, self.road.flow.facts
        error = road.errors.get("reckon") or road.errors.get("prove")
        machine, recommendation, plan = facts.machine, facts.recommendation, facts.plan
        self.back.setText(self.tr("Back"))
        self.heads.set_words(self.tr("Now"), self.tr("After"))
        self.wishes.draw()
        # What was worked out last stays to be read until the next is there.
        if not (road.reckoning and recommendation is None and self._known):
            self._known = machine is not None and recommendation is not None
            for widget in (self.price, self.folder):
                widget.setVisible(plan is not None)
            if not self._known:
                for each in (*self.cards.values(), self.offers):
                    each.hide()
            self.steps.setVisible(plan is not None and self._unfolded)
            self._title(machine)
            if machine is not None and recommendation is not None:
                self._show(machine, recommendation)
                self._cost(machine, plan)
        self._verdict(error)
        self._foot()
        self._align()
        wishes = (self.wishes.ours, self.wishes.by_hand)
        undo = (self.offers.undo,) if self.offers.undo is not None else ()
        held.keep((self.hero.button, *undo, *self._pickers(), *wishes, self.primary, self.back))

    def _title(self, machine: Machine | None) -> None:
        self.page.set_title(*headline(machine, self.road.flow.facts.recommendation))

    def _show(self, machine: Machine, recommendation: Recommendation) -> None:
        texts, facts, turn = self.texts, self.road.flow.facts, self.road.flow.facts.turn
        spoken = texts.recommendation(recommendation)
        choices = facts.options.parts if facts.options is not None and facts.by_hand else ()
        changed = along(turn, recommendation)
        there = []
        for part in parts(machine, recommendation, texts, settled=facts.settled, plan=facts.plan):
            card, offer = self.cards[part.id], part.offer
            choose = self.tr("Use that instead") if offer is not None else ""
            card.set_part(said.named(texts, part), choose, said.offer(texts, offer)[0] if offer is not None else "")
            card.set_heads(self.heads.now.text(), self.heads.after.text())
            mine = tuple(each for each in choices if CARDS[each.name] == part.id)
            here = turn is not None and any(each.name == turn.part for each in mine)
            card.set_choices(mine, facts.notes or OptionNotes(), texts, changed if here else "")
            card.say(self._sentence(part))
            there.append(part.id)
        # What stays is never hidden in between: the keyboard would leave it.
        for name, card in self.cards.items():
            card.setVisible(name in there)
        missing = self.tr(", ").join(left_out(recommendation, facts.plan))
        taken = turn is not None and turn.part is None and facts.choice is not None
        by_hand = driver_by_hand(spoken, facts.plan)
        self.offers.set(spoken.warnings, others(spoken), by_hand, missing, changed if taken else "")
        self.offers.setVisible(self.offers.any)

    def _cost(self, machine: Machine, plan: Plan | None) -> None:
        """What the plan costs, where there is one."""
        texts = self.texts
        if plan is not None:
            self.price.set_price(plan, machine, texts)
            words = self.tr("Hide the steps") if self._unfolded else self.tr("Show all {n} steps")
            self.price.steps.setText(words.format(n=len(plan.steps)))
            self.price.steps.set_icon(None, "up" if self._unfolded else "down")
            foreign = plan.simulated and machine.os.system != self.road.app.system.name
            place = self.tr("Installed into (named as on this computer)") if foreign else self.tr("Installed into")
            self.folder.set(place, plan.env, self.tr("Change"))
            if self._unfolded:
                self.steps.draw()
        first = (self.wishes.goal, self.wishes.channel, self.wishes.by_hand, self.wishes.ours)
        cards = []
        for card in self.cards.values():
            cards += [card.why.toggle, card.why.choose, card.why.source]
            if card.choosers is not None:
                cards += [*card.choosers.pickers.values(), card.choosers.way]
        last = (self.price.steps, self.folder.change, *self.steps.controls, self.back)
        # From the primary, where the keyboard begins, on to what is on the page; the foot and the rail come last.
        chain(self.primary, *first, self.hero.button, *cards, *self.offers.controls, *last)

    def _pickers(self) -> list[Picker]:
        """The drop-downs, that of the part changed last before all others."""
        turn = self.road.flow.facts.turn
        found = {n: p for card in self.cards.values() if card.choosers for n, p in card.choosers.pickers.items()}
        return [picker for _, picker in sorted(found.items(), key=lambda each: turn is None or each[0] != turn.part)]

    def _sentence(self, part: Part) -> str:
        words = self.tr("{part}: now {now}, after {after}, {what}")
        return words.format(part=part.title, now=part.now or UNKNOWN, after=part.after or UNKNOWN, what=part.pill[1])

    def _verdict(self, error: AppError | None) -> None:
        road, facts = self.road, self.road.flow.facts
        visible = True
        if road.reckoning and not self._known:
            self.hero.set("neutral", self.tr("Working out what suits this computer"), icon="search")
        elif road.reckoning:
            visible = False
        elif self.obstacle is not None:
            words = self.tr("This has to be set up by hand")
            action = self.tr("Set up PyTorch instead") if facts.goal != "pytorch" else ""
            self.hero.set("warn", words, said.error(self.texts, self.obstacle), action)
        elif error is not None:
            action = self.tr("Back to the recommendation") if facts.choice is not None else self.tr("Try again")
            if facts.turn is not None:
                action = self.tr("Take this change back")
            self.hero.set("error", self.tr("This does not work out"), said.error(self.texts, error), action)
        elif facts.fell and not road.reckoning:
            words, detail = fallen_words(facts.fell)
            self.hero.set("neutral", words, detail, self.tr("Take this change back"), icon="info")
        elif facts.settled:
            there = facts.plan.env if facts.plan is not None else ""
            self.hero.set("ok", self.tr("You have all you need"), there)
        else:
            visible = False
        self.hero.setVisible(visible)

    @property
    def obstacle(self) -> AppError | None:
        """Why what is wanted cannot be carried out though nothing is wrong: its goal is still to come."""
        error = self.road.errors.get("reckon")
        if isinstance(error, CannotSetUp):
            return error
        return self.road.flow.facts.obstacle

    @property
    def way_on(self) -> Button:
        """The primary; where there is nothing to install, the way out of that."""
        stuck = self.hero.kind == "warn" or (self.hero.kind == "error" and self.road.flow.facts.plan is None)
        return self.hero.button if self.hero.isVisible() and stuck else self.primary

    def _foot(self) -> None:
        facts = self.road.flow.facts
        self.footer.set_hint(self.tr("Nothing is changed before you press Install."), "ok")
        if facts.settled:
            self.footer.set_hint("")
        self.primary.setText(self.tr("Check it") if facts.settled else self.tr("Install"))
        self.primary.set_icon("check" if facts.settled else "download")
        # While another answer is on its way, the keyboard stays where it is.
        waiting = self.road.reckoning and self._known and self.primary.isEnabled()
        ready = waiting or (facts.plan is not None and not self.road.reckoning)
        was = self.primary.isEnabled()
        self.primary.setEnabled(ready)
        self.primary.set_busy(self.road.proving or waiting)
        self.mark_way_on(self.hero.button)
        if ready and not was and not self._choosing:
            self.focus_primary()

    @property
    def _choosing(self) -> bool:
        """Whether the keyboard is on what the user chooses with."""
        focus = self.focusWidget()
        places = (self.wishes, self.hero, self.offers, *self.cards.values())
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
        level = self.wishes.fit(room, theme.px(BESIDE))
        way = QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom
        self.page.head.setDirection(way)
        for card in self.cards.values():
            card.set_room(room)
        self.offers.set_room(room)
        self.price.set_room(room)
        self.folder.set_room(room)
        shown = (each for each in self.cards.values() if not each.isHidden())
        self.heads.fit(next(shown, None), room)

    def _take(self, offer: Alternative) -> None:
        goal = OTHER_GOALS.get(offer.code)
        if goal is not None:
            self.road.want(goal=goal)
        else:
            self.road.take(offer)

    def _mend(self) -> None:
        if self.obstacle is not None:
            self.road.want(goal="pytorch")
        elif self.road.flow.facts.turn is not None:
            self.road.undo()
        elif self.road.flow.facts.choice is not None:
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
