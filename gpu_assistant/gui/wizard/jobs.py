"""The wizard's jobs that read files or compute for long: recommendation and plan, interrupted install, plan file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from ...core import json
from ...core.errors import AppError, InsufficientDiskSpace, SetupNotSupported, UsageError
from ...core.jobs import JobContext
from ...core.machine import Machine
from ...core.plan import InterruptedInstall, Plan, plan_for_file, with_checked_files
from ...core.plan_cost import disk_shortage, plan_cost
from ...core.recommendation import Choice, Recommendation
from ...core.types import Channel, EnvironmentKind, Goal
from ..machine_facts import InstalledEnvironment, all_environments
from .choices import build_option_notes, dropped_choices, retained_choice, smaller_choices
from .state import OptionNotes, SmallerChoice, WizardState, folder_of_goal

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from ...app import App

# An existing environment that has to be created again.
DAMAGED_CODES = ("now.damaged", "now.damaged-conda")

_log = logging.getLogger(__name__)


class RecommendationResult(Struct, frozen=True, kw_only=True):
    """A recommendation and its plan. `blocking_error` says why there is no plan or why its folder cannot be used;
    `smaller_choice` is there where the disk is too small for the user's choices, `options` and `option_notes` while the
    user chooses versions. `environments` are all that exist.
    """

    recommendation: Recommendation
    plan: Plan | None
    already_installed: bool
    blocking_error: AppError | None = None
    smaller_choice: SmallerChoice | None = None
    options: Options | None = None
    option_notes: OptionNotes | None = None
    dropped_choices: tuple[tuple[PartName, str], ...] = ()
    environments: tuple[InstalledEnvironment, ...] = ()


class RecommendJob:
    """Computes a recommendation and its plan from the wizard's state."""

    def __init__(self, app: App, state: WizardState, machine: Machine) -> None:
        self._app = app
        self._state = state
        self._machine = machine

    def run(self, context: JobContext[Any]) -> RecommendationResult:
        """Raises what `recommend` and `plan` raise; a goal that cannot be set up here, or a default folder that cannot
        be used, is a `blocking_error`.
        """
        app, state = self._app, self._state
        if state.bundle is not None:
            return self._from_bundle(Path(state.bundle))
        choice = retained_choice(app, self._machine, state)
        arguments: RecommendArguments = {"goal": state.goal, "channel": state.channel, "choice": choice}
        recommendation = app.setup.recommend(self._machine, **arguments, sources=state.sources)
        context.check_cancelled()
        folder = app.setup.environment_path(state.environment, state.goal)
        plan: Plan | None = None
        blocking_error: AppError | None = None
        try:
            plan = app.setup.plan(self._machine, recommendation, folder, made_by=state.environment_kind)
            plan = with_checked_files(plan, state.checked_files)
        except SetupNotSupported as error:
            blocking_error = error
        except UsageError as error:
            if error.data.get("path") != str(folder):
                raise
            blocking_error = error
        context.check_cancelled()
        already_installed = (
            plan is not None and not app.simulated and _is_already_installed(app, plan, state.environment_kind)
        )
        if plan is not None and not already_installed:
            blocking_error = _install_error(app, plan, folder)
        smaller_choice = None
        if isinstance(blocking_error, InsufficientDiskSpace):
            has_toolkit = recommendation.cuda_toolkit.action == "install"
            smaller_choice = self._find_smaller_choice(choice, blocking_error, has_toolkit=has_toolkit)
            context.check_cancelled()
        options = app.setup.options(self._machine, **arguments) if state.customizing else None
        context.check_cancelled()
        return RecommendationResult(
            recommendation=recommendation,
            plan=plan,
            already_installed=already_installed,
            blocking_error=blocking_error,
            smaller_choice=smaller_choice,
            options=options,
            option_notes=build_option_notes(app, self._machine, options, **arguments) if options is not None else None,
            dropped_choices=dropped_choices(state.choice, choice),
            environments=all_environments(app),
        )

    def _find_smaller_choice(
        self, choice: Choice | None, error: InsufficientDiskSpace, *, has_toolkit: bool
    ) -> SmallerChoice | None:
        """The choice nearest to the user's that the disk has enough space for; if none fits, the one that needs the
        least; None if none needs less.
        """
        app, state = self._app, self._state
        found: list[SmallerChoice] = []
        for code, goal, smaller in smaller_choices(state.goal, choice, has_toolkit=has_toolkit):
            try:
                recommendation = app.setup.recommend(
                    self._machine, goal=goal, channel=state.channel, choice=smaller, sources=state.sources
                )
                chosen_folder = folder_of_goal(state.environment, state.goal, goal)
                folder = app.setup.environment_path(chosen_folder, goal)
                plan = app.setup.plan(self._machine, recommendation, folder, made_by=state.environment_kind)
            except (SetupNotSupported, UsageError):
                continue
            plan = with_checked_files(plan, state.checked_files)
            needed_bytes, fits = plan_cost(plan).disk_bytes, _install_error(app, plan, folder) is None
            if needed_bytes is None or not (fits or needed_bytes < int(error.data["needed_bytes"] or 0)):
                continue
            found.append(SmallerChoice(code=code, goal=goal, choice=smaller, needed_bytes=needed_bytes, fits=fits))
            if fits:
                return found[-1]
        return min(found, key=lambda each: each.needed_bytes, default=None)

    def _from_bundle(self, folder: Path) -> RecommendationResult:
        """The recommendation that an offline folder was created for: there is nothing to choose."""
        app = self._app
        recommendation = app.bundles.recommend(folder, self._machine)
        environment = app.setup.environment_path(self._state.environment, recommendation.goal)
        plan = app.bundles.plan(folder, self._machine, recommendation, environment)
        already_installed = not app.simulated and _is_already_installed(app, plan)
        return RecommendationResult(
            recommendation=replace(recommendation, alternatives=()),
            plan=plan,
            already_installed=already_installed,
            blocking_error=None if already_installed else _folder_error(app, environment) or _disk_error(app, plan),
            environments=all_environments(app),
        )


class RecommendArguments(TypedDict):
    """The arguments of `recommend` and `options`."""

    goal: Goal
    channel: Channel
    choice: Choice | None


def _install_error(app: App, plan: Plan, folder: Path) -> AppError | None:
    """Why a plan cannot be carried out in a folder, as far as is known before."""
    return app.setup.availability_error(plan) or _folder_error(app, folder) or _disk_error(app, plan)


def _folder_error(app: App, folder: Path) -> AppError | None:
    """Why no environment can be created in a folder, so that it is shown before the install."""
    try:
        app.setup.check_folder(folder)
    except AppError as error:
        return error
    return None


def _disk_error(app: App, plan: Plan) -> InsufficientDiskSpace | None:
    """That a disk is known to be too small for the plan."""
    step = disk_shortage(plan)
    if step is None:
        return None
    data = step.data
    contents = str(data.get("goes", ""))
    return InsufficientDiskSpace(
        path=str(app.data.root) if contents == "data" else str(data["disk"]),
        needed_bytes=int(data["disk_bytes"] or 0),
        free_bytes=int(data["free_bytes"] or 0),
        contents=contents,
        other_disk={name: data[name] for name in ("other", "other_free_bytes", "there") if name in data},
    )


def _is_already_installed(app: App, plan: Plan, environment_kind: EnvironmentKind = "venv") -> bool:
    """Whether the plan's folder has an intact environment with this PyTorch. One created by conda also
    satisfies the wish for a venv.
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


class CheckFolderJob:
    """Finds out whether an environment can be created in a folder; its result is the folder's path."""

    def __init__(self, app: App, folder: str, goal: Goal) -> None:
        self._app = app
        self._folder = folder
        self._goal = goal

    def run(self, context: JobContext[Any]) -> str:
        """Raises AppError or UsageError for a folder that cannot be used. A data folder that cannot be written is not
        this folder's fault; the recommendation says it.
        """
        folder = self._app.setup.environment_path(self._folder, self._goal)
        try:
            self._app.setup.check_folder(folder)
        except AppError as error:
            if error.data.get("path") != str(self._app.data.root):
                raise
        context.check_cancelled()
        return str(folder)


class FindInterruptedJob:
    """Looks for an interrupted install."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> InterruptedInstall | None:  # noqa: ARG002
        """None, too, for one that cannot go on as it was planned: the setup is begun again."""
        try:
            return self._app.setup.interrupted_install()
        except AppError as error:
            _log.warning("the interrupted install is not offered: %s", error)
            return None


class SavePlanJob:
    """Writes a plan with its localized texts as a JSON file; its result is the file's path."""

    def __init__(self, localized_plan: Plan, path: Path) -> None:
        self._localized_plan = localized_plan
        self._path = path

    def run(self, context: JobContext[Any]) -> Path:  # noqa: ARG002
        """Raises AppError if the file cannot be written."""
        json.write_file(self._path, json.encode_pretty(plan_for_file(self._localized_plan)) + "\n")
        return self._path
