"""The next page is made while the present one is read, a little in each turn of the event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ..event_loop import IncrementalQueue, activate_layouts, prerender_steps
from ..widgets.base import preload_accessibility
from .flow import PageName

if TYPE_CHECKING:
    from .page import WizardPage
    from .pages.recommendation.part_card import PartCard


# A page's code takes as long to load as its widgets take to build; relative to this package.
MODULES: Mapping[PageName, tuple[str, ...]] = {
    "welcome": (".pages.welcome",),
    # The main area is one click away from the welcome page, too.
    "computer": (
        *(".pages.machine_summary", ".pages.computer"),
        *("..monitor.sampling", "..main.updates", "..main.home.page", "..main.main_area"),
    ),
    "recommendation": (
        *(".pages.recommendation.version_pickers", ".pages.recommendation.part_card"),
        *(".pages.recommendation.notices", ".pages.recommendation.plan_view", ".pages.recommendation.cost_card"),
        *(".pages.recommendation.options_bar", ".pages.recommendation.page"),
    ),
    "install": (".pages.install.progress_panel", ".pages.install.page"),
    "done": (".pages.done",),
}


class PagePreloader(QObject):
    """Makes one page in steps; `cards` are the parts of a recommendation that are there before their page."""

    def __init__(self, get_page: Callable[[PageName], WizardPage], parent: QObject) -> None:
        super().__init__(parent)
        self.part_cards: dict[str, PartCard] = {}
        self._get_page = get_page
        self._created: set[PageName] = set()
        self._steps = IncrementalQueue(self)

    def preload(self, name: PageName) -> None:
        """Make a page in the next moments."""
        steps: list[Callable[[], object]] = []
        if name not in self._created:
            steps += [partial(import_module, module, __package__) for module in MODULES[name]]
            if name == "recommendation":
                from .pages.recommendation.part_summary import PART_IDS

                steps += [partial(self._create_card, part) for part in PART_IDS]
            steps += [partial(self._create_page, name), preload_accessibility]
        if name == "recommendation":
            # Its words, too, if they are known: what is left to do when it is shown is to paint it.
            steps += [partial(step, name) for step in (self._draw_page, self._lay_out_page, self._paint_page)]
        elif name == "install":
            steps += [
                self._preload_plan,
                *(partial(step, name) for step in (self._draw_page, self._lay_out_page, self._paint_page)),
            ]
        self._steps.start(steps)

    def stop(self) -> None:
        """Another page is shown: what is not made is made when it is asked for."""
        self._steps.stop()

    def _create_card(self, part: str) -> None:
        from .pages.recommendation.part_card import PartCard

        self.part_cards[part] = PartCard(part)

    def _create_page(self, name: PageName) -> None:
        self._get_page(name)
        self._created.add(name)

    def _draw_page(self, name: PageName) -> None:
        self._get_page(name).draw_while_hidden()

    def _lay_out_page(self, name: PageName) -> None:
        page = self._get_page(name)
        activate_layouts(page, page.page.content)

    def _preload_plan(self) -> None:
        """The plan's steps to read, one a turn: the present page opens them."""
        self._steps.insert_next(self._get_page("recommendation").preload_steps())

    def _paint_page(self, name: PageName) -> None:
        self._steps.insert_next(prerender_steps(self._get_page(name).page.content))
