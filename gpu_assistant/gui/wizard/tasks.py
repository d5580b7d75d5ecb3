"""What the wizard has done on a thread of its own, since it reads files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...core.jobs import JobContext
from ...core.machine import Machine
from ...core.plan import Plan
from ...core.recommendation import Choice, Goal, Recommendation

if TYPE_CHECKING:
    from ...app import App


class Reckoning(Struct, frozen=True, kw_only=True):
    """What suits a machine, the plan for it, and whether an environment is already just that."""

    recommendation: Recommendation
    plan: Plan
    settled: bool


class Reckon:
    """Asks for a recommendation and its plan."""

    def __init__(self, app: App, machine: Machine, goal: Goal, choice: Choice | None, environment: str | None) -> None:
        self._app = app
        self._machine = machine
        self._goal: Goal = goal
        self._choice = choice
        self._environment = environment

    def run(self, context: JobContext[Any]) -> Reckoning:
        """The reckoning; raises what `recommend` and `plan` raise."""
        app = self._app
        recommendation = app.recommend(self._machine, goal=self._goal, choice=self._choice)
        context.check_cancelled()
        folder = app.environment_path(self._environment, self._goal)
        plan = app.plan(self._machine, recommendation, folder)
        settled = not app.simulated and _settled(app, recommendation, folder)
        return Reckoning(recommendation=recommendation, plan=plan, settled=settled)


def _settled(app: App, recommendation: Recommendation, folder: Path) -> bool:
    """Whether install already put the very same PyTorch there."""
    wanted = recommendation.pytorch
    if wanted is None:
        return False
    build = (wanted.version, wanted.variant)
    return any(Path(known.path) == folder and (known.torch, known.variant) == build for known in app.environments())


class AskInterrupted:
    """Asks whether an install was interrupted."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> Plan | None:  # noqa: ARG002
        """The interrupted install's plan, if there is one."""
        return self._app.interrupted_plan()


class OpenPlace:
    """Opens a terminal or a folder; starting a program may take a moment."""

    def __init__(self, app: App, environment: Path, *, terminal: bool) -> None:
        self._app = app
        self._environment = environment
        self._terminal = terminal

    def run(self, context: JobContext[Any]) -> None:  # noqa: ARG002
        """Open it; raises AppError("no-terminal")."""
        if self._terminal:
            self._app.system.open_terminal(self._environment)
        else:
            self._app.system.open_folder(self._environment)
