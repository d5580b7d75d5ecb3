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
    FolderMoved,
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
    """One thing in the world and all that was done to it, the last first; `needed` where it stays for now.

    `by` is the other environment that needs it, or something inside of it.
    """

    step: Step
    effects: tuple[Standing, ...]
    needed: bool
    by: str | None = None


def items(place: Place, environment: Path | None) -> tuple[Item, ...]:
    """What is to be taken back for one environment (None: for all), the last first; raises AppError."""
    every = standing(place.data)
    env = None if environment is None else str(environment)
    mine = [each for each in every if env is None or each.env == env or each.kept]
    there: dict[tuple[str, str], list[Standing]] = {}
    for each in reversed(mine):
        # What we keep everything in goes with the program; a program that stayed was told of when it did.
        if (isinstance(each.effect, FolderMade) and _holds(each.effect.path, str(place.data.root))) or (
            isinstance(each.effect, ProgramInstalled) and each.kept
        ):
            continue
        sight = look(each, place)
        # A folder of somebody's own that took the place of ours is none of our business.
        if sight != "before" and not (isinstance(each.effect, TreeMade) and sight == "changed"):
            there.setdefault(key(each.effect), []).append(each)
    others = [each for each in every if each not in mine]
    found = []
    # What was added to a folder goes before the folder, which may have been repaired after that.
    last_first = sorted(there.values(), key=lambda effects: not isinstance(effects[0].effect, FilesAdded))
    for number, effects in enumerate(last_first, 1):
        first = effects[0]
        step = Step(
            id="environment" if isinstance(first.effect, TreeMade) and first.effect.path == env else f"back-{number}",
            kind=first.kind,
            code=code(first),
            data=figures(first.effect),
        )
        by = _needed(first, others)
        if by is not None and all(each.kept for each in effects):
            continue
        inside = _inside(first, others) if isinstance(first.effect, FolderMade) else None
        item = Item(step=step, effects=tuple(effects), needed=by is not None, by=by.env if by else inside)
        found.append(item)
    return tuple(found)


CODES: dict[type[Effect], str] = {
    TreeMade: "remove-folder",
    FolderMade: "remove-empty",
    FolderMoved: "move-back",
    FilesAdded: "remove-files",
    FileWritten: "restore-file",
    VariableSet: "restore-variable",
    PathEntry: "remove-path-entry",
    LoginSet: "clear-login",
}


def code(each: Standing) -> str:
    """The texts' key for taking it back; a program never is, and the forecast has its words."""
    made_environment = isinstance(each.effect, TreeMade) and each.kind in MAKERS
    return "remove-environment" if made_environment else CODES.get(type(each.effect), "leave-needed")


def figures(effect: Effect) -> dict[str, Value]:
    """What the texts name of it."""
    match effect:
        case TreeMade() | FolderMade() | FilesAdded() | FileWritten():
            return {"thing": effect.path, "env": effect.path, "path": effect.path}
        case FolderMoved():
            return {"thing": effect.to, "path": effect.path}
        case VariableSet():
            return {"thing": effect.name, "name": effect.name, "before": effect.before}
        case PathEntry():
            return {"thing": effect.folder, "path": effect.folder}
        case LoginSet():
            return {"thing": "@remove.login"}
        case ProgramInstalled():
            return {"thing": effect.name, "version": effect.after}


def _needed(each: Standing, others: Sequence[Standing]) -> Standing | None:
    """What stays and was made on top of it, or is of another environment whose plan has the very same step."""
    after = (other for other in others if (other.run, other.n) > (each.run, each.n))
    on_top = next((other for other in after if key(other.effect) == key(each.effect)), None)
    # Whether a plain folder is empty is seen when its turn comes.
    if on_top is not None or isinstance(each.effect, FolderMade) or each.step is None or each.kind in MAKERS:
        return on_top
    if not each.step.spec and not each.step.files:
        return None
    step = each.step
    return next((other for other in others if _uses(other, step)), None)


def _inside(each: Standing, others: Sequence[Standing]) -> str | None:
    """The other environment of which something lies in a folder."""
    folder = key(each.effect)[1]
    places = ((*key(other.effect), other.env) for other in others if other.env is not None)
    return next((env for kind, at, env in places if kind in ("place", "files") and _holds(folder, at)), None)


def _holds(folder: str, path: str) -> bool:
    """Whether a folder is above another path, or that path itself."""
    return Path(folder) in (Path(path), *Path(path).parents)


def _uses(other: Standing, step: Step) -> bool:
    return any((s.kind, s.spec, s.files) == (step.kind, step.spec, step.files) for s in other.steps)
