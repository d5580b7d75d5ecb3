"""The next page is made while the present one is read, a little in each turn of the event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ..components.base import load_announcing
from ..steps import Steps, lay_out, pictures
from .flow import PageName

if TYPE_CHECKING:
    from .base import WizardPage
    from .part_card import PartCard

MAIN = (".monitor.sampling", ".main.updates", ".main.home", ".main.area")
# What a page's code rests on: to load it takes as long as to make the widgets.
MODULES: Mapping[PageName, tuple[str, ...]] = {
    "welcome": ("welcome",),
    # The main area is one press away from here, too.
    "computer": ("findings", "findings_card", "computer", *MAIN),
    "recommendation": (
        "choosers",
        "part_card",
        "offers",
        "plan_row",
        "plan_list",
        "price_card",
        "wishes",
        "folder_card",
        "recommendation",
    ),
    "install": ("plan_list", "step_block", "trouble_box", "progress", "install"),
    "done": ("proof_card", "speed_card", "done"),
}


class Ahead(QObject):
    """Makes one page in steps; `cards` are the parts of a recommendation that are there before their page."""

    def __init__(self, page: Callable[[PageName], WizardPage], parent: QObject) -> None:
        super().__init__(parent)
        self.cards: dict[str, PartCard] = {}
        self._page = page
        self._made: set[PageName] = set()
        self._steps = Steps(self)

    def begin(self, name: PageName) -> None:
        """Make a page in the next moments."""
        steps: list[Callable[[], object]] = []
        if name not in self._made:
            steps += [partial(import_module, f".{module}", __package__) for module in MODULES[name]]
            if name == "recommendation":
                from .cards import PARTS

                steps += [partial(self._card, part) for part in PARTS]
            steps += [partial(self._make, name), load_announcing]
        if name == "recommendation":
            # Its words, too, if they are known: what is left to do when it is shown is to paint it.
            steps += [partial(step, name) for step in (self._draw, self._lay_out, self._paint)]
        elif name == "install":
            steps += [self._plan, *(partial(step, name) for step in (self._draw, self._lay_out, self._paint))]
        self._steps.begin(steps)

    def stop(self) -> None:
        """Another page is shown: what is not made is made when it is asked for."""
        self._steps.stop()

    def _card(self, part: str) -> None:
        from .part_card import PartCard

        self.cards[part] = PartCard(part)

    def _make(self, name: PageName) -> None:
        self._page(name)
        self._made.add(name)

    def _draw(self, name: PageName) -> None:
        self._page(name).prepare()

    def _lay_out(self, name: PageName) -> None:
        page = self._page(name)
        lay_out(page, page.page.content)

    def _plan(self) -> None:
        """The plan's steps to read, one a turn: the present page opens them."""
        self._steps.insert(self._page("recommendation").ahead())

    def _paint(self, name: PageName) -> None:
        self._steps.insert(pictures(self._page(name).page.content))
