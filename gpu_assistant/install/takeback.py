"""What a removal takes back, in reverse order, and what it leaves because something else needs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ..core.names import Value
from ..core.plan import Step
from .effects import (
    Effect,
    FilesAdded,
    FileWritten,
    FolderMade,
    LoginSet,
    PathEntry,
    ProgramInstalled,
    TreeMade,
    VariableSet,
    key,
)
from .journal import MAKERS
from .ledger import Standing, look, standing
from .place import Place


class Item(Struct, frozen=True, kw_only=True):
    """One thing in the world and all that was done to it, the last first; `needed` where it stays for now."""

    step: Step
    effects: tuple[Standing, ...]
    needed: bool


def items(place: Place, environment: Path | None) -> tuple[Item, ...]:
    """What is to be taken back for one environment (None: for all), the last first; raises AppError."""
    every = standing(place.data)
    env = None if environment is None else str(environment)
    mine = [each for each in every if env is None or each.env == env or each.kept]
    there: dict[tuple[str, str], list[Standing]] = {}
    for each in reversed(mine):
        sight = look(each, place)
        # A folder of somebody's own that took the place of ours is none of our business.
        if sight != "before" and not (isinstance(each.effect, TreeMade) and sight == "changed"):
            there.setdefault(key(each.effect), []).append(each)
    others = [each for each in every if each not in mine]
    found = []
    for number, effects in enumerate(there.values(), 1):
        first = effects[0]
        step = Step(
            id="environment" if isinstance(first.effect, TreeMade) and first.effect.path == env else f"back-{number}",
            kind=first.kind,
            code=code(first),
            data=figures(first.effect),
        )
        found.append(Item(step=step, effects=tuple(effects), needed=_needed(first, others)))
    return tuple(found)


CODES: dict[type[Effect], str] = {
    TreeMade: "remove-folder",
    FolderMade: "remove-folder",
    FilesAdded: "remove-files",
    FileWritten: "restore-file",
    VariableSet: "restore-variable",
    PathEntry: "remove-path-entry",
    LoginSet: "clear-login",
    ProgramInstalled: "remove-program",
}


def code(each: Standing) -> str:
    """The texts' key for taking it back."""
    made_environment = isinstance(each.effect, TreeMade) and each.kind in MAKERS
    return "remove-environment" if made_environment else CODES[type(each.effect)]


def figures(effect: Effect) -> dict[str, Value]:
    """What the texts name of it."""
    match effect:
        case TreeMade() | FolderMade() | FilesAdded() | FileWritten():
            return {"env": effect.path, "path": effect.path}
        case VariableSet():
            return {"name": effect.name, "before": effect.before}
        case PathEntry():
            return {"path": effect.folder}
        case LoginSet():
            return {}
        case ProgramInstalled():
            return {"name": effect.name, "version": effect.after}


def _needed(each: Standing, others: Sequence[Standing]) -> bool:
    """Whether something that stays was made on top of it, or another environment's plan has the very same step."""
    after = [other for other in others if (other.run, other.n) > (each.run, each.n)]
    if any(key(other.effect) == key(each.effect) for other in after):
        return True
    # Whether a plain folder is empty is seen when its turn comes.
    if isinstance(each.effect, FolderMade) or each.step is None or each.kind in MAKERS:
        return False
    if not each.step.spec and not each.step.files:
        return False
    return any(_uses(other, each.step) for other in others)


def _uses(other: Standing, step: Step) -> bool:
    return any((s.kind, s.spec, s.files) == (step.kind, step.spec, step.files) for s in other.steps)
