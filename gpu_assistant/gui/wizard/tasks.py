"""What the wizard has done on a thread of its own, since it reads files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from ...core import json
from ...core.errors import AppError, CannotSetUp
from ...core.jobs import JobContext
from ...core.machine import Machine
from ...core.names import EnvironmentKind
from ...core.plan import Interrupted, Plan
from ...core.recommendation import Channel, Choice, Goal, Recommendation
from .facts import Facts
from .kept_picks import fallen, kept
from .option_notes import OptionNotes, notes

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from ...app import App


# Of an environment that stands: it is to be made anew.
DAMAGED = ("now.damaged", "now.damaged-conda")


class Reckoning(Struct, frozen=True, kw_only=True):
    """What suits a machine; the plan for it; the `obstacle` that it has none, or cannot be carried out there; whether
    an environment is already just that; where the user chooses by hand, what there is to choose; and the picks that do
    not go with another wish.
    """

    recommendation: Recommendation
    plan: Plan | None
    settled: bool
    obstacle: AppError | None = None
    options: Options | None = None
    notes: OptionNotes | None = None
    fell: tuple[tuple[PartName, str], ...] = ()


class Reckon:
    """Asks for a recommendation and its plan."""

    def __init__(self, app: App, facts: Facts, machine: Machine) -> None:
        self._app = app
        self._facts = facts
        self._machine = machine

    def run(self, context: JobContext[Any]) -> Reckoning:
        """The reckoning; raises what `recommend` raises, and what `plan` raises for more than a goal to come."""
        app, facts = self._app, self._facts
        if facts.bundle is not None:
            return self._from_bundle(Path(facts.bundle))
        choice = kept(app, self._machine, facts)
        wanted: Wanted = {"goal": facts.goal, "channel": facts.channel, "choice": choice}
        recommendation = app.recommend(self._machine, **wanted)
        context.check_cancelled()
        folder = app.environment_path(facts.environment, facts.goal)
        plan: Plan | None = None
        obstacle: AppError | None = None
        try:
            plan = app.plan(self._machine, recommendation, folder, made_by=facts.made_by)
        except CannotSetUp as error:
            obstacle = error
        context.check_cancelled()
        settled = plan is not None and not app.simulated and _settled(app, plan, facts.made_by)
        if plan is not None and not settled:
            obstacle = _refused(app, folder)
        options = app.options(self._machine, **wanted) if facts.by_hand else None
        context.check_cancelled()
        return Reckoning(
            recommendation=recommendation,
            plan=plan,
            settled=settled,
            obstacle=obstacle,
            options=options,
            notes=notes(app, self._machine, options, **wanted) if options is not None else None,
            fell=fallen(facts.choice, choice),
        )

    def _from_bundle(self, folder: Path) -> Reckoning:
        """What a folder was made for: there is nothing to choose."""
        app = self._app
        recommendation = app.recommend_from(folder, self._machine)
        environment = app.environment_path(self._facts.environment, recommendation.goal)
        plan = app.plan_from(folder, self._machine, recommendation, environment)
        settled = not app.simulated and _settled(app, plan)
        return Reckoning(
            recommendation=replace(recommendation, alternatives=()),
            plan=plan,
            settled=settled,
            obstacle=None if settled else _refused(app, environment),
        )


class Wanted(TypedDict):
    """What `recommend` and `options` are asked."""

    goal: Goal
    channel: Channel
    choice: Choice | None


def _refused(app: App, folder: Path) -> AppError | None:
    """Why no environment can be put into a folder: told before anybody presses Install."""
    try:
        app.refuse_folder(folder)
    except AppError as error:
        return error
    return None


def _settled(app: App, plan: Plan, maker: EnvironmentKind = "venv") -> bool:
    """Whether install already put the very same PyTorch there and it is whole; one of conda's serves whoever asks for
    none.
    """
    wanted, folder = plan.recommendation.pytorch, Path(plan.env)
    if wanted is None or any(step.now is not None and step.now.code in DAMAGED for step in plan.steps):
        return False
    build = (wanted.version, wanted.variant)
    here = (known for known in app.environments() if Path(known.path) == folder)
    return any((known.torch, known.variant) == build and maker in ("venv", known.made_by) for known in here)


class AskInterrupted:
    """Asks whether an install was interrupted."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> Interrupted | None:  # noqa: ARG002
        """The interrupted install, if there is one."""
        return self._app.interrupted()


class SavePlan:
    """Writes a plan, its sentences filled in, into a file."""

    def __init__(self, spoken: Plan, path: Path) -> None:
        self._spoken = spoken
        self._path = path

    def run(self, context: JobContext[Any]) -> Path:  # noqa: ARG002
        """Write it, and say where; raises AppError where that cannot be."""
        json.write_file(self._path, json.encode_pretty(self._spoken) + "\n")
        return self._path
