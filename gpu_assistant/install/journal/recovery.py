"""What stands of all that the journals say: the effects that are not taken back, and what the world shows of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ..host import Host
from . import log, revert
from .log import (
    Effect,
    EffectDone,
    EffectObserved,
    EffectRetained,
    EffectStarted,
    Journal,
    RunStarted,
    UndoDone,
    UndoStarted,
)
from .revert import EffectState


class ActiveEffect(Struct, frozen=True, kw_only=True):
    """An effect that nobody took back: the `n`-th of `run`, for the environment `env`, by a step of `kind`, which is
    `step` of the run's `steps`.

    `sure`: the journal itself says that it happened. `kept`: its environment is gone, but another one needed it.
    """

    run: str
    number: int
    env: str | None
    kind: str
    step: Step | None
    steps: tuple[Step, ...]
    effect: Effect
    sure: bool
    kept: bool


def active_effects(data: DataDir) -> tuple[ActiveEffect, ...]:
    """All of them, oldest first."""
    effects: dict[tuple[str, int], ActiveEffect] = {}
    for path in log.journal_paths(data):
        plan: Plan | None = None
        environment: str | None = None
        for entry in log.read_entries(path):
            match entry:
                case RunStarted():
                    plan, environment = entry.plan, entry.plan.env if entry.plan is not None else entry.env
                case EffectStarted():
                    effects[path.name, entry.n] = ActiveEffect(
                        run=path.name,
                        number=entry.n,
                        env=environment,
                        kind=entry.kind,
                        step=_find_step(plan, entry.id),
                        steps=plan.steps if plan is not None else (),
                        effect=entry.effect,
                        sure=False,
                        kept=False,
                    )
                case EffectDone():
                    _update(effects, path.name, entry.n, sure=True)
                case EffectObserved(there=True):
                    _update(effects, entry.run, entry.n, sure=True)
                case EffectObserved() | UndoDone():
                    effects.pop((entry.run, entry.n), None)
                case UndoStarted():
                    # Until its end is written down only the world knows.
                    _update(effects, entry.run, entry.n, sure=False)
                case EffectRetained():
                    _update(effects, entry.run, entry.n, sure=True, kept=True)
                case _:
                    pass
    return tuple(effects.values())


def _find_step(plan: Plan | None, step_id: str | None) -> Step | None:
    return next((step for step in plan.steps if step.id == step_id), None) if plan is not None else None


def _update(effects: dict[tuple[str, int], ActiveEffect], run: str, number: int, **fields: bool) -> None:
    if (run, number) in effects:
        effects[run, number] = replace(effects[run, number], **fields)


class EffectKind(Protocol):
    """What a kind of step knows of its effects."""

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """What the world shows of an effect."""
        ...


Kinds = Mapping[str, EffectKind]


def observe_state(active: ActiveEffect, host: Host, kinds: Kinds) -> EffectState:
    """What the world shows of it, seen by the one of the `kinds` that made it; raises AppError."""
    kind = kinds.get(active.kind)
    return kind.effect_state(active.effect, host) if kind is not None else revert.effect_state(active.effect, host)


def recover(host: Host, journal: Journal, kinds: Kinds) -> None:
    """Write down what became of the effects whose run was killed in the middle; what is half made stays open.

    The data folder is held by us: every run but our own has ended.
    """
    for active in active_effects(host.data):
        if active.sure or active.run == journal.path.name:
            continue
        state = observe_state(active, host, kinds)
        if state != "half":
            journal.observe_effect(active.run, active.number, is_present=state == "made")
