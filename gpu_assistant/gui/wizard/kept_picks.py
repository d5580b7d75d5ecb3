"""Which of the user's picks go with another goal or another kind of driver: those stay, the others are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...core.machine import Machine
from ...core.recommendation import Choice
from .facts import WizardState, UndoState
from .option_notes import driver_channels, is_choice_possible

if TYPE_CHECKING:
    from ...advise.options import PartName
    from ...app import App

# What decides most comes first: where two picks exclude each other, it stays.
CHOICE_PRIORITY: tuple[PartName, ...] = (
    *("driver", "pytorch", "variant", "python", "tensorflow"),
    *("cuda_toolkit", "cudnn", "toolkit_way"),
)
COMPILER_GOALS = frozenset({"cuda-dev", "all"})


def retained_choice(app: App, machine: Machine, state: WizardState) -> Choice | None:
    """The picks that can be carried out with what is wanted now; None where none is left. Unless the wish itself was
    changed last, that is all of them.
    """
    choice, undo_state = state.choice, state.undo_state
    if choice is None or undo_state is None or not undo_state.is_goal_change:
        return choice
    retained = _without_conflicts(app, machine, choice, state, undo_state)
    if not is_choice_possible(app, machine, retained, goal=state.goal, channel=state.channel):
        candidate, retained = retained, Choice()
        for name in CHOICE_PRIORITY:
            extended = replace(retained, **{name: getattr(candidate, name)})
            if extended != retained and is_choice_possible(app, machine, extended, goal=state.goal, channel=state.channel):
                retained = extended
    return retained if retained != Choice() else None


def dropped_choices(choice: Choice | None, retained: Choice | None) -> tuple[tuple[PartName, str], ...]:
    """The picks that are not kept: part and value."""
    previous, current = choice or Choice(), retained or Choice()
    choices = ((name, getattr(previous, name)) for name in CHOICE_PRIORITY)
    return tuple((name, value) for name, value in choices if value is not None and getattr(current, name) is None)


def _without_conflicts(app: App, machine: Machine, choice: Choice, state: WizardState, undo_state: UndoState) -> Choice:
    """Without the picks that the new wish speaks against; a driver that is of the new kind, too, stays."""
    dropped_parts: set[str] = set()
    driver_version = choice.driver if choice.driver != "keep" else None
    if state.channel != undo_state.channel and driver_version and state.channel not in driver_channels(app.catalog, machine, driver_version):
        dropped_parts.add("driver")
    if state.goal != undo_state.goal:
        if state.goal == "tensorflow":
            dropped_parts |= {"pytorch", "variant"}
        elif state.goal != "all":
            dropped_parts.add("tensorflow")
        if state.goal in COMPILER_GOALS:
            # Who wants to compile wants what compiles.
            dropped_parts |= {name for name in ("cuda_toolkit", "cudnn") if getattr(choice, name) == "none"}
    return replace(choice, **dict.fromkeys(dropped_parts))
