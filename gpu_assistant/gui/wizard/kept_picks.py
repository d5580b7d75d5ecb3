"""Which of the user's picks go with another goal or another kind of driver: those stay, the others are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...core.machine import Machine
from ...core.recommendation import Choice
from .facts import Facts, Turn
from .option_notes import kinds_of, works

if TYPE_CHECKING:
    from ...advise.options import PartName
    from ...app import App

# What decides most comes first: where two picks exclude each other, it stays.
ORDER: tuple[PartName, ...] = (
    *("driver", "pytorch", "variant", "python", "tensorflow"),
    *("cuda_toolkit", "cudnn", "toolkit_way"),
)
COMPILING = frozenset({"cuda-dev", "all"})


def kept(app: App, machine: Machine, facts: Facts) -> Choice | None:
    """The picks that can be carried out with what is wanted now; None where none is left. Unless the wish itself was
    changed last, that is all of them.
    """
    choice, turn = facts.choice, facts.turn
    if choice is None or turn is None or not turn.wished:
        return choice
    asked = _asked(app, machine, choice, facts, turn)
    if not works(app, machine, asked, goal=facts.goal, channel=facts.channel):
        wished, asked = asked, Choice()
        for name in ORDER:
            more = replace(asked, **{name: getattr(wished, name)})
            if more != asked and works(app, machine, more, goal=facts.goal, channel=facts.channel):
                asked = more
    return asked if asked != Choice() else None


def fallen(choice: Choice | None, left: Choice | None) -> tuple[tuple[PartName, str], ...]:
    """The picks that are not kept: part and value."""
    before, after = choice or Choice(), left or Choice()
    picks = ((name, getattr(before, name)) for name in ORDER)
    return tuple((name, value) for name, value in picks if value is not None and getattr(after, name) is None)


def _asked(app: App, machine: Machine, choice: Choice, facts: Facts, turn: Turn) -> Choice:
    """Without the picks that the new wish speaks against; a driver that is of the new kind, too, stays."""
    lost: set[str] = set()
    numbered = choice.driver if choice.driver != "keep" else None
    if facts.channel != turn.channel and numbered and facts.channel not in kinds_of(app.catalog, machine, numbered):
        lost.add("driver")
    if facts.goal != turn.goal:
        if facts.goal == "tensorflow":
            lost |= {"pytorch", "variant"}
        elif facts.goal != "all":
            lost.add("tensorflow")
        if facts.goal in COMPILING:
            # Who wants to compile wants what compiles.
            lost |= {name for name in ("cuda_toolkit", "cudnn") if getattr(choice, name) == "none"}
    return replace(choice, **dict.fromkeys(lost))
