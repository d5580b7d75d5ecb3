"""What was picked on the command line, and what is recommended then; the same for every command that plans."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..core.recommendation import Choice
from .idle import refuse_idle
from .jobs import run_job

if TYPE_CHECKING:
    from ..app import App
    from ..core.machine import Machine
    from ..core.recommendation import Recommendation


def picked(arguments: argparse.Namespace) -> Choice | None:
    """What was picked by hand; None for nothing."""
    choice = Choice(
        pytorch=arguments.pytorch,
        variant=arguments.variant,
        python=arguments.python,
        toolkit_way=arguments.toolkit,
        wsl=arguments.wsl2,
    )
    return None if choice == Choice() else choice


def recommended(app: App, arguments: argparse.Namespace) -> tuple[Machine, Recommendation]:
    """The machine, and what suits it; raises CallError for a choice that cannot work or of which nothing comes."""
    machine = run_job(app.detect())
    choice = picked(arguments)
    recommendation = app.recommend(machine, goal=arguments.goal, channel=arguments.channel, choice=choice)
    refuse_idle(arguments, machine, recommendation)
    return machine, recommendation
