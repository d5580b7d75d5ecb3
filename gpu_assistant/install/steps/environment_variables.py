"""The user's environment variables, by which other programs find what was installed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...core.errors import AppError
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan, Step
from ...system.base import Hardware, UserEnvironment
from ..files.installed_packages import SITE_PACKAGES
from ..host import PreviewContext
from ..journal.log import Effect, PathEntryAdded, VariableSet
from ..journal.validation import is_child, is_inside
from .base import StepKind, parse_spec
from .context import InstallContext, Outcome
from .plan_builder import PlanBuilder

# The variables that the kinds of steps for CUDA put into a plan.
VARIABLE_NAMES = ("CUDA_PATH", "CUDA_HOME", "CUDNN_PATH")
PATH_NAMES = {"windows": "Path"}


class VariablesSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """`set` maps variables to folders; `path` has the folders to append to PATH."""

    set: dict[str, str] = {}
    path: tuple[str, ...] = ()


class EnvironmentVariables(StepKind):
    """Sets the variables that earlier kinds have put into the plan builder."""

    name: ClassVar[str] = "variables"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        if not builder.variables and not builder.on_path:
            return ()
        return (
            Step(
                id="variables",
                kind=self.name,
                code="variables",
                needs=tuple(dict.fromkeys(builder.variable_owners)),
                data={"names": ", ".join(builder.variables), "folders": ", ".join(builder.on_path) or None},
                spec={"set": dict(builder.variables), "path": list(builder.on_path)},
                bytes=0,
                disk_bytes=0,
                minutes=0.0,
            ),
        )

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        if not _can_set(context.system):
            return CurrentState(code="now.variables-by-hand", data={"lines": _shell_lines(step)})
        return CurrentState(code="now.set") if _all_set(step, context.system) else None

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:
        """The toolkit is in the data folder, or among the environment's packages: which folder is the environment is
        what the journal says, and may be the user's home.
        """
        match effect:
            case VariableSet(name=name, value=value):
                is_place = is_child(value, data.toolkits) or _is_among_packages(value, environment)
                return name in VARIABLE_NAMES and is_place
            case PathEntryAdded(folder=folder):
                return is_inside(folder, data.toolkits) or _is_among_packages(folder, environment)
            case _:
                return False

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Also where this system has no place for variables, such as in a container: the user is told what to set."""
        if not _can_set(context.system):
            return Outcome(code="progress.variables-by-hand", data={"lines": _shell_lines(step)})
        return Outcome() if _all_set(step, context.system) else None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: variable-unusable, path-too-long, path-not-addable."""
        spec, variables = parse_spec(step, VariablesSpec), context.system.variables
        for name, value in spec.set.items():
            previous = variables.get(name)
            if previous is not None and previous.value == value:
                continue
            effect = VariableSet(
                name=name,
                value=value,
                previous=previous.value if previous is not None else None,
                previous_expand=previous is not None and previous.expand,
            )
            with context.effect(step, effect):
                variables.set(name, value)
        backup = variables.get(_path_name(context.system))
        for folder in spec.path:
            if variables.is_on_path(Path(folder)):
                continue
            entry = PathEntryAdded(
                folder=folder,
                previous=backup.value if backup is not None else None,
                previous_expand=backup is not None and backup.expand,
            )
            _add_path_entry(step, entry, context)
        return Outcome(code="progress.variables")


def _can_set(system: UserEnvironment) -> bool:
    """Whether something reads the user's variables at login. Raises AppError: variable-unusable."""
    try:
        system.variables.get(VARIABLE_NAMES[0])
    except AppError as error:
        if error.code != "no-user-variables":
            raise
        return False
    return True


def _shell_lines(step: Step) -> str:
    """The same for the start file of a shell, in one line."""
    spec = parse_spec(step, VariablesSpec)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in spec.set.items()]
    lines += [f'export PATH="$PATH":{shlex.quote(folder)}' for folder in spec.path]
    return "; ".join(lines)


def _is_among_packages(path: str, environment: str | None) -> bool:
    return environment is not None and is_inside(path, Path(environment)) and SITE_PACKAGES in Path(path).parts


def _all_set(step: Step, system: UserEnvironment) -> bool:
    spec, variables = parse_spec(step, VariablesSpec), system.variables
    values = {name: variables.get(name) for name in spec.set}
    variables_match = all(current is not None and current.value == spec.set[name] for name, current in values.items())
    return variables_match and all(variables.is_on_path(Path(folder)) for folder in spec.path)


def _add_path_entry(step: Step, entry: PathEntryAdded, context: InstallContext) -> None:
    number = context.journal.start_effect(step.kind, entry, step.id)
    if context.system.variables.add_to_path(Path(entry.folder)):
        context.journal.finish_effect(number)
    else:  # PATH has the folder already, in another spelling, which is not ours
        context.journal.observe_effect(context.journal.path.name, number, is_present=False)


def _path_name(system: Hardware) -> str:
    return PATH_NAMES.get(system.name, "PATH")
