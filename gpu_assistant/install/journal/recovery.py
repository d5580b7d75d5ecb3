"""Which effects are present now, from all journals and from the computer itself.

    log.read_records (every run, oldest first) ──► active_effects ──► jobs/uninstall.py: what is to be reverted
                                                       │
                          unconfirmed: its run was killed between EffectStarted and EffectDone
                                                       ▼
    recover ──► observe_state ──► STEP_KINDS[kind].effect_state ──► revert.effect_state, or the kind's own look
       └──────► journal.observe_effect: "applied" → present, "absent" and "modified" → not present;
                "partial" stays unconfirmed until a later run completes or reverts it

Each run calls `recover` first, while it holds the data folder's lock. The step kinds are passed in by `jobs/`, since
`steps/` is a floor above.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ..files import staging
from ..host import Host
from . import log, revert, validation
from .log import (
    Effect,
    EffectDone,
    EffectObserved,
    EffectRetained,
    EffectStarted,
    FilesAdded,
    Journal,
    RunStarted,
    UndoDone,
    UndoStarted,
)
from .revert import EffectState

_log = logging.getLogger(__name__)


class ActiveEffect(Struct, frozen=True, kw_only=True):
    """An effect that was not reverted: effect `number` of `run`, made for `environment` by a step of `kind`, which is
    `step` of the `steps` in the run's plan.

    `is_confirmed`: the journal says that it happened. `is_retained`: its environment was uninstalled, but another one
    needs it.
    """

    run: str
    number: int
    environment: str | None
    kind: str
    step: Step | None
    steps: tuple[Step, ...]
    effect: Effect
    is_confirmed: bool
    is_retained: bool


def active_effects(data: DataDir) -> tuple[ActiveEffect, ...]:
    """All of them, oldest first."""
    effects: dict[tuple[str, int], ActiveEffect] = {}
    for path in log.journal_paths(data):
        plan: Plan | None = None
        environment: str | None = None
        for record in log.read_records(path):
            match record:
                case RunStarted():
                    plan = record.plan
                    environment = plan.env if plan is not None else record.environment
                case EffectStarted():
                    effects[path.name, record.number] = ActiveEffect(
                        run=path.name,
                        number=record.number,
                        environment=environment,
                        kind=record.kind,
                        step=_find_step(plan, record.step),
                        steps=plan.steps if plan is not None else (),
                        effect=record.effect,
                        is_confirmed=False,
                        is_retained=False,
                    )
                case EffectDone():
                    _update(effects, path.name, record.number, is_confirmed=True)
                case EffectObserved(present=True):
                    _update(effects, record.run, record.number, is_confirmed=True)
                case EffectObserved() | UndoDone():
                    effects.pop((record.run, record.number), None)
                case UndoStarted():
                    # Until its UndoDone the journal does not know whether it is still there.
                    _update(effects, record.run, record.number, is_confirmed=False)
                case EffectRetained():
                    _update(effects, record.run, record.number, is_confirmed=True, is_retained=True)
                case _:
                    pass
    return tuple(effects.values())


def _find_step(plan: Plan | None, step_id: str | None) -> Step | None:
    return next((step for step in plan.steps if step.id == step_id), None) if plan is not None else None


def _update(effects: dict[tuple[str, int], ActiveEffect], run: str, number: int, **fields: bool) -> None:
    if (run, number) in effects:
        effects[run, number] = replace(effects[run, number], **fields)


class EffectKind(Protocol):
    """The part of a step kind that recovery needs."""

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool: ...

    def effect_state(self, effect: Effect, host: Host) -> EffectState: ...


Kinds = Mapping[str, EffectKind]


def observe_state(active: ActiveEffect, host: Host, kinds: Kinds) -> EffectState:
    """The state of an effect on the computer, by the one of the `kinds` that made it; raises AppError.

    "absent" for what no run of ours can have made, whatever the journal says.
    """
    kind = kinds.get(active.kind)
    is_possible = (
        kind.could_have_made(active.effect, active.environment, host.data)
        if kind is not None
        else validation.could_have_made(active.kind, active.effect, active.environment, host.data)
    )
    if not is_possible:
        _log.warning("%s: effect %d is not one of a step of the kind %r", active.run, active.number, active.kind[:40])
        return "absent"
    return kind.effect_state(active.effect, host) if kind is not None else revert.effect_state(active.effect, host)


def recover(host: Host, journal: Journal, kinds: Kinds) -> None:
    """Record what became of the unconfirmed effects of earlier runs; a partial one stays unconfirmed, and what a
    complete one left behind goes.

    The caller holds the data folder's lock, so every other run has ended. Raises AppError.
    """
    for active in active_effects(host.data):
        if active.is_confirmed or active.run == journal.path.name:
            continue
        state = observe_state(active, host, kinds)
        if state == "applied" and isinstance(active.effect, FilesAdded):
            staging.finish_merge(Path(active.effect.path), active.effect.receipt)
        if state != "partial":
            journal.observe_effect(active.run, active.number, is_present=state == "applied")
