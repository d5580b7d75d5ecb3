"""The environment of those who live with conda: made by their own conda, with the Python in it; nothing else of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...core import json
from ...core.errors import AppError, UsageError
from ...core.plan import Plan, Step
from ..environment.location import damaged_metadata, managed_manifest, pending_verification
from ..files import staging
from ..files.inventory import format_names
from ..host import Host, ValidationContext
from ..journal import revert as journal_revert
from ..journal.log import Effect, RetentionReason, TreeCreated
from ..packages import conda
from ..packages.conda import CHANNEL, CONDA_META, Conda
from ..plan.validation import plan_refused_error
from .base import StepKind, check_fields, parse_spec
from .context import InstallContext, Outcome
from .plan_builder import PlanBuilder


class CondaSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """`conda` is the full path of the program; None in a plan that is never carried out."""

    conda: str | None = None


class CondaEnvironment(StepKind):
    """Stands where a plan for an environment of uv's has its Python: this one brings its own.

    conda writes the folder's path into its files, so the environment is made in its place; until it was proven, a
    file in it says that it is unfinished.
    """

    name: ClassVar[str] = "conda-environment"
    codes: ClassVar[tuple[str, ...]] = ("conda-environment",)
    provides: ClassVar[str] = "python-runtime"
    required_before: ClassVar[tuple[str, ...]] = ("check-space",)

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One, where the user chose conda; raises AppError("conda-missing"), CallError("conda-needs-network")."""
        if builder.environment_kind != "conda":
            return ()
        if builder.bundle is not None:
            raise UsageError("conda-needs-network", path=str(builder.bundle))
        has_conda = builder.machine.tools.conda if builder.machine.tools is not None else None
        if builder.conda is None and not (builder.simulated and has_conda):
            raise AppError("conda-missing")
        program, environment = str(builder.conda) if builder.conda is not None else None, str(builder.environment)
        return (
            Step(
                id="python",
                kind=self.name,
                code="conda-environment",
                needs=("space",),
                spec={"conda": program} if program is not None else {},
                data={"python": builder.python_series, "env": environment, "channel": CHANNEL},
                # What conda will choose is known to conda alone.
                bytes=None,
                disk_bytes=None,
                minutes=None,
                commands=((program or "conda", *conda.create_arguments(environment, builder.python_series)),),
            ),
        )

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:
        """The only program that it runs is the conda that is found on this computer."""
        check_fields(step, allow_spec=True)
        program = parse_spec(step, CondaSpec).conda
        if plan.bundle is not None:
            raise plan_refused_error(f"{step.id}: bundle")
        if plan.simulated and program is None:
            return
        if program is None or not Path(program).is_absolute():
            raise plan_refused_error(f"{step.id}: {program}")
        if Path(program) != context.system.find_program("conda"):
            raise AppError("conda-gone", path=program)

    def needs_network(self, step: Step) -> bool:  # noqa: ARG002
        """conda asks its channel, which no folder of files can serve."""
        return True

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """It stands, or a run that was stopped got as far; raises AppError("environment-differs") for uv's."""
        environment = context.environment
        if managed_manifest(environment, context.data) is not None:
            if not (environment / CONDA_META).is_dir():
                raise AppError("environment-differs", path=str(environment))
        elif damaged := damaged_metadata(environment, context.data):
            raise AppError("environment-damaged", path=str(environment), files=format_names(damaged))
        elif (
            staging.read_mark(environment) != _creation_mark(step, context)
            and pending_verification(context.plan, context.journal) is None
        ):
            return None
        context.interpreter = context.system.environment_python(environment)
        return Outcome(code="progress.python-here", data={**step.data, "path": str(context.interpreter)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: conda-failed, conda-offline, conda-gone, disk-full."""
        environment, program = context.environment, Path(str(parse_spec(step, CondaSpec).conda))
        if not program.is_file():
            raise AppError("conda-gone", path=str(program))
        context.reporter.report_progress(done=0, total=None, unit="items", bottleneck="installing")
        # It has happened when the last step gives the environment its name.
        context.environment_effect = context.journal.start_effect(self.name, context.tree_effect(environment), step.id)
        staging.begin_in_place(environment)
        try:
            conda_runner = Conda(program, context.system, context.data, cancel=context.cancel, log=context.reporter.log)
            conda_runner.create_environment(environment, context.python_series)
        except AppError:
            staging.discard_unfinished(environment)
            raise
        for path, content in context.system.conda_activation_files(environment, program).items():
            json.write_file(path, content)
        staging.write_mark(environment, _creation_mark(step, context))
        context.interpreter = context.system.environment_python(environment)
        return Outcome()

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Take it off conda's list, too, unless the user put files there."""
        reason = journal_revert.revert(effect, host)
        home = host.system.user().home
        if isinstance(effect, TreeCreated) and home is not None and not (Path(effect.path) / CONDA_META).is_dir():
            conda.unregister_environment(Path(effect.path), Path(home))
        return reason


def _creation_mark(step: Step, context: InstallContext) -> str:
    """What is written down when conda is done: the very command, so that another wish does not take it for its own."""
    return f"{' '.join((str(parse_spec(step, CondaSpec).conda), *conda.create_arguments(str(context.environment), context.python_series)))}\n"
