"""What the first look at Monitor would do is done before it, while another page is looked at."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..steps import Steps, lay_out, pictures

if TYPE_CHECKING:
    from .history import History
    from .page import MonitorPage


def prepare(page: MonitorPage, history: History, steps: Steps) -> None:
    """Within a step: let the next ones make tiles and plots, find their places, and draw them one by one."""

    def painted() -> None:
        steps.insert([*pictures(page.content), drawn])

    def drawn() -> None:
        steps.insert([partial(card.draw, history) for card in page.cards])

    steps.insert([partial(page.follow_gpus, history.gpus()), partial(lay_out, page, page.content), painted])
