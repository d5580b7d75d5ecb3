"""What the first look at Monitor would do is done before it, while another page is looked at."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..steps import IncrementalQueue, activate_layouts, prerender_steps

if TYPE_CHECKING:
    from .history import SampleHistory
    from .page import MonitorPage


def preload_steps(page: MonitorPage, history: SampleHistory, steps: IncrementalQueue) -> None:
    """Within a step: let the next ones make tiles and plots, find their places, and draw them one by one."""

    def prerender() -> None:
        steps.insert_next([*prerender_steps(page.content), draw_plots])

    def draw_plots() -> None:
        steps.insert_next([partial(card.draw, history) for card in page.plot_cards])

    steps.insert_next([partial(page.set_gpus, history.gpus()), partial(activate_layouts, page, page.content), prerender])
