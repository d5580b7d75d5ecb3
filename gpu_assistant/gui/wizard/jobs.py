"""Which of the user's picks go with another goal or another kind of driver: those stay, the others are named.

What the wizard has done on a thread of its own, since it reads files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from ...core import json
from ...core.errors import AppError, SetupNotSupported
from ...core.jobs import JobContext
from ...core.machine import Machine
from ...core.plan import InterruptedInstall, Plan
from ...core.recommendation import Choice, Recommendation
from ...core.types import Channel, EnvironmentKind, Goal
from .state import OptionNotes, UndoState, WizardState, build_option_notes, driver_channels, is_choice_possible

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
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
            if extended != retained and is_choice_possible(
                app, machine, extended, goal=state.goal, channel=state.channel
            ):
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
    if (
        state.channel != undo_state.channel
        and driver_version
        and state.channel not in driver_channels(app.catalog, machine, driver_version)
    ):
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


# Of an environment that stands: it is to be made anew.
DAMAGED_CODES = ("now.damaged", "now.damaged-conda")


class RecommendationResult(Struct, frozen=True, kw_only=True):
    """What suits a machine; the plan for it; the `obstacle` that it has none, or cannot be carried out there; whether
    an environment is already just that; where the user chooses by hand, what there is to choose; and the picks that do
    not go with another wish.
    """

    recommendation: Recommendation
    plan: Plan | None
    already_installed: bool
    blocking_error: AppError | None = None
    options: Options | None = None
    option_notes: OptionNotes | None = None
    dropped_choices: tuple[tuple[PartName, str], ...] = ()


class RecommendJob:
    """Asks for a recommendation and its plan."""

    def __init__(self, app: App, state: WizardState, machine: Machine) -> None:
        self._app = app
        self._state = state
        self._machine = machine

    def run(self, context: JobContext[Any]) -> RecommendationResult:
        """The reckoning; raises what `recommend` raises, and what `plan` raises for more than a goal to come."""
        app, state = self._app, self._state
        if state.bundle is not None:
            return self._from_bundle(Path(state.bundle))
        choice = retained_choice(app, self._machine, state)
        arguments: RecommendArguments = {"goal": state.goal, "channel": state.channel, "choice": choice}
        recommendation = app.setup.recommend(self._machine, **arguments)
        context.check_cancelled()
        folder = app.setup.environment_path(state.environment, state.goal)
        plan: Plan | None = None
        blocking_error: AppError | None = None
        try:
            plan = app.setup.plan(self._machine, recommendation, folder, made_by=state.environment_kind)
        except SetupNotSupported as error:
            blocking_error = error
        context.check_cancelled()
        already_installed = (
            plan is not None and not app.simulated and _is_already_installed(app, plan, state.environment_kind)
        )
        if plan is not None and not already_installed:
            blocking_error = _folder_error(app, folder)
        options = app.setup.options(self._machine, **arguments) if state.customizing else None
        context.check_cancelled()
        return RecommendationResult(
            recommendation=recommendation,
            plan=plan,
            already_installed=already_installed,
            blocking_error=blocking_error,
            options=options,
            option_notes=build_option_notes(app, self._machine, options, **arguments) if options is not None else None,
            dropped_choices=dropped_choices(state.choice, choice),
        )

    def _from_bundle(self, folder: Path) -> RecommendationResult:
        """What a folder was made for: there is nothing to choose."""
        app = self._app
        recommendation = app.bundles.recommend(folder, self._machine)
        environment = app.setup.environment_path(self._state.environment, recommendation.goal)
        plan = app.bundles.plan(folder, self._machine, recommendation, environment)
        already_installed = not app.simulated and _is_already_installed(app, plan)
        return RecommendationResult(
            recommendation=replace(recommendation, alternatives=()),
            plan=plan,
            already_installed=already_installed,
            blocking_error=None if already_installed else _folder_error(app, environment),
        )


class RecommendArguments(TypedDict):
    """What `recommend` and `options` are asked."""

    goal: Goal
    channel: Channel
    choice: Choice | None


def _folder_error(app: App, folder: Path) -> AppError | None:
    """Why no environment can be put into a folder: told before anybody presses Install."""
    try:
        app.setup.check_folder(folder)
    except AppError as error:
        return error
    return None


def _is_already_installed(app: App, plan: Plan, environment_kind: EnvironmentKind = "venv") -> bool:
    """Whether install already put the very same PyTorch there and it is whole; one of conda's serves whoever asks for
    none.
    """
    pytorch, folder = plan.recommendation.pytorch, Path(plan.env)
    if pytorch is None or any(step.now is not None and step.now.code in DAMAGED_CODES for step in plan.steps):
        return False
    build = (pytorch.version, pytorch.variant)
    environments = (candidate for candidate in app.setup.environments() if Path(candidate.path) == folder)
    return any(
        (candidate.torch, candidate.variant) == build and environment_kind in ("venv", candidate.made_by)
        for candidate in environments
    )


class FindInterruptedJob:
    """Asks whether an install was interrupted."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> InterruptedInstall | None:  # noqa: ARG002
        """The interrupted install, if there is one."""
        return self._app.setup.interrupted_install()


class SavePlanJob:
    """Writes a plan, its sentences filled in, into a file."""

    def __init__(self, localized_plan: Plan, path: Path) -> None:
        self._localized_plan = localized_plan
        self._path = path

    def run(self, context: JobContext[Any]) -> Path:  # noqa: ARG002
        """Write it, and say where; raises AppError where that cannot be."""
        json.write_file(self._path, json.encode_pretty(self._localized_plan) + "\n")
        return self._path
