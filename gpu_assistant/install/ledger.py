"""What stands of all that the journals say: the effects that are not taken back, and what the world shows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ..core.paths import DataDir
from ..core.plan import Plan, Step
from . import journal, undoing
from .effects import Effect
from .journal import Began, Found, Happened, Intends, Journal, Kept, Undid, Undoes
from .undoing import Sight

if TYPE_CHECKING:
    from .place import Place


class Standing(Struct, frozen=True, kw_only=True):
    """An effect that nobody took back: the `n`-th of `run`, for the environment `env`, by a step of `kind`, which is
    `step` of the run's `steps`.

    `sure`: the journal itself says that it happened. `kept`: its environment is gone, but another one needed it.
    """

    run: str
    n: int
    env: str | None
    kind: str
    step: Step | None
    steps: tuple[Step, ...]
    effect: Effect
    sure: bool
    kept: bool


def standing(data: DataDir) -> tuple[Standing, ...]:
    """All of them, oldest first."""
    found: dict[tuple[str, int], Standing] = {}
    for path in journal.files(data):
        plan: Plan | None = None
        env: str | None = None
        for entry in journal.read(path):
            match entry:
                case Began():
                    plan, env = entry.plan, entry.plan.env if entry.plan is not None else entry.env
                case Intends():
                    found[path.name, entry.n] = Standing(
                        run=path.name,
                        n=entry.n,
                        env=env,
                        kind=entry.kind,
                        step=_step(plan, entry.id),
                        steps=plan.steps if plan is not None else (),
                        effect=entry.effect,
                        sure=False,
                        kept=False,
                    )
                case Happened():
                    _change(found, path.name, entry.n, sure=True)
                case Found(there=True):
                    _change(found, entry.run, entry.n, sure=True)
                case Found() | Undid():
                    found.pop((entry.run, entry.n), None)
                case Undoes():
                    # Until its end is written down only the world knows.
                    _change(found, entry.run, entry.n, sure=False)
                case Kept():
                    _change(found, entry.run, entry.n, sure=True, kept=True)
                case _:
                    pass
    return tuple(found.values())


def _step(plan: Plan | None, given: str | None) -> Step | None:
    return next((step for step in plan.steps if step.id == given), None) if plan is not None else None


def _change(found: dict[tuple[str, int], Standing], run: str, n: int, **fields: bool) -> None:
    from msgspec.structs import replace

    if (run, n) in found:
        found[run, n] = replace(found[run, n], **fields)


def look(each: Standing, place: Place) -> Sight:
    """What the world shows of it, seen by the kind that made it; raises AppError."""
    from .steps import KINDS

    kind = KINDS.get(each.kind)
    return kind.look(each.effect, place) if kind is not None else undoing.look(each.effect, place)


def settle(place: Place, book: Journal) -> None:
    """Write down what became of the effects whose run was killed in the middle; what is half made stays open.

    The data folder is held by us: every run but our own has ended.
    """
    for each in standing(place.data):
        if each.sure or each.run == book.path.name:
            continue
        sight = look(each, place)
        if sight != "half":
            book.found(each.run, each.n, there=sight == "made")
