"""What was picked on the command line, and what is recommended then; the same for every command that plans."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..core.recommendation import Choice
from .idle import reject_unused_options
from .jobs import run_job

if TYPE_CHECKING:
    from ..app import App
    from ..core.machine import Machine
    from ..core.recommendation import Recommendation


def choice_from_arguments(arguments: argparse.Namespace) -> Choice | None:
    """What was picked by hand; None for nothing."""
    choice = Choice(
        pytorch=arguments.pytorch,
        variant=arguments.variant,
        python=arguments.python,
        toolkit_way=arguments.toolkit,
        wsl=arguments.wsl2,
    )
    return None if choice == Choice() else choice


def detect_and_recommend(app: App, arguments: argparse.Namespace) -> tuple[Machine, Recommendation]:
    """The machine, and what suits it; raises CallError for a choice that cannot work or of which nothing comes."""
    machine = run_job(app.detect())
    choice = choice_from_arguments(arguments)
    recommendation = app.recommend(machine, goal=arguments.goal, channel=arguments.channel, choice=choice)
    reject_unused_options(arguments, machine, recommendation)
    return machine, recommendation
