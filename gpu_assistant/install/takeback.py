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
    FolderCreated,
    FolderMoved,
    LoginCommandSet,
    PathEntryAdded,
    ProgramInstalled,
    TreeCreated,
    VariableSet,
    effect_key,
)
from .journal import ENVIRONMENT_KINDS
from .ledger import ActiveEffect, observe_state, active_effects
from .place import Host


class UninstallItem(Struct, frozen=True, kw_only=True):
    """One thing in the world and all that was done to it, the last first; `needed` where it stays for now.

    `by` is the other environment that needs it, or something inside of it.
    """

    step: Step
    effects: tuple[ActiveEffect, ...]
    is_needed: bool
    by: str | None = None


def plan_uninstall(host: Host, environment: Path | None) -> tuple[UninstallItem, ...]:
    """What is to be taken back for one environment (None: for all), the last first; raises AppError."""
    all_effects = active_effects(host.data)
    env = None if environment is None else str(environment)
    own_effects = [active for active in all_effects if env is None or active.env == env or active.kept]
    present_effects: dict[tuple[str, str], list[ActiveEffect]] = {}
    for active in reversed(own_effects):
        # What we keep everything in goes with the program; a program that stayed was told of when it did.
        if (isinstance(active.effect, FolderCreated) and _contains(active.effect.path, str(host.data.root))) or (
            isinstance(active.effect, ProgramInstalled) and active.kept
        ):
            continue
        effect_state = observe_state(active, host)
        # A folder of somebody's own that took the place of ours is none of our business.
        if effect_state != "before" and not (isinstance(active.effect, TreeCreated) and effect_state == "changed"):
            present_effects.setdefault(effect_key(active.effect), []).append(active)
    other_effects = [active for active in all_effects if active not in own_effects]
    items_found = []
    # What was added to a folder goes before the folder, which may have been repaired after that.
    last_first = sorted(present_effects.values(), key=lambda effects: not isinstance(effects[0].effect, FilesAdded))
    for number, effects in enumerate(last_first, 1):
        first = effects[0]
        step = Step(
            id="environment" if isinstance(first.effect, TreeCreated) and first.effect.path == env else f"back-{number}",
            kind=first.kind,
            code=step_code(first),
            data=step_data(first.effect),
        )
        dependent = _dependent_effect(first, other_effects)
        if dependent is not None and all(active.kept for active in effects):
            continue
        inner_environment = _environment_inside(first, other_effects) if isinstance(first.effect, FolderCreated) else None
        item = UninstallItem(step=step, effects=tuple(effects), is_needed=dependent is not None, by=dependent.env if dependent else inner_environment)
        items_found.append(item)
    return tuple(items_found)


STEP_CODES: dict[type[Effect], str] = {
    TreeCreated: "remove-folder",
    FolderCreated: "remove-empty",
    FolderMoved: "move-back",
    FilesAdded: "remove-files",
    FileWritten: "restore-file",
    VariableSet: "restore-variable",
    PathEntryAdded: "remove-path-entry",
    LoginCommandSet: "clear-login",
}


def step_code(active: ActiveEffect) -> str:
    """The texts' key for taking it back; a program never is, and the forecast has its words."""
    is_environment = isinstance(active.effect, TreeCreated) and active.kind in ENVIRONMENT_KINDS
    return "remove-environment" if is_environment else STEP_CODES.get(type(active.effect), "leave-needed")


def step_data(effect: Effect) -> dict[str, Value]:
    """What the texts name of it."""
    match effect:
        case TreeCreated() | FolderCreated() | FilesAdded() | FileWritten():
            return {"thing": effect.path, "env": effect.path, "path": effect.path}
        case FolderMoved():
            return {"thing": effect.to, "path": effect.path}
        case VariableSet():
            return {"thing": effect.name, "name": effect.name, "before": effect.before}
        case PathEntryAdded():
            return {"thing": effect.folder, "path": effect.folder}
        case LoginCommandSet():
            return {"thing": "@remove.login"}
        case ProgramInstalled():
            return {"thing": effect.name, "version": effect.after}


def _dependent_effect(active: ActiveEffect, other_effects: Sequence[ActiveEffect]) -> ActiveEffect | None:
    """What stays and was made on top of it, or is of another environment whose plan has the very same step."""
    later = (other for other in other_effects if (other.run, other.number) > (active.run, active.number))
    same_target = next((other for other in later if effect_key(other.effect) == effect_key(active.effect)), None)
    # Whether a plain folder is empty is seen when its turn comes.
    if same_target is not None or isinstance(active.effect, FolderCreated) or active.step is None or active.kind in ENVIRONMENT_KINDS:
        return same_target
    if not active.step.spec and not active.step.files:
        return None
    step = active.step
    return next((other for other in other_effects if _uses_step(other, step)), None)


def _environment_inside(active: ActiveEffect, other_effects: Sequence[ActiveEffect]) -> str | None:
    """The other environment of which something lies in a folder."""
    folder = effect_key(active.effect)[1]
    targets = ((*effect_key(other.effect), other.env) for other in other_effects if other.env is not None)
    return next((environment for kind, path, environment in targets if kind in ("place", "files") and _contains(folder, path)), None)


def _contains(folder: str, path: str) -> bool:
    """Whether a folder is above another path, or that path itself."""
    return Path(folder) in (Path(path), *Path(path).parents)


def _uses_step(other: ActiveEffect, step: Step) -> bool:
    return any((own_step.kind, own_step.spec, own_step.files) == (step.kind, step.spec, step.files) for own_step in other.steps)
