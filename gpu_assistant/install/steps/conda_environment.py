"""The environment of those who live with conda: made by their own conda, with the Python in it; nothing else of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...core import json
from ...core.errors import AppError, UsageError
from ...core.plan import Step
from ..environment.location import damaged_metadata, managed_manifest, pending_verification
from ..files import staging
from ..files.inventory import format_names
from ..host import Host
from ..journal import revert as journal_revert
from ..journal.log import Effect, RetentionReason, TreeCreated
from ..packages import conda
from ..packages.conda import CHANNEL, CONDA_META, Conda
from .base import StepKind, parse_spec
from .context import BaseInterpreter, InstallContext, Outcome, StagedEnvironment
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
    provides: ClassVar[str | None] = "python-runtime"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One, where the user chose conda; raises AppError("conda-missing"), CallError("conda-needs-network")."""
        if builder.made_by != "conda":
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
                data={"python": builder.series, "env": environment, "channel": CHANNEL},
                # What conda will choose is known to conda alone.
                bytes=None,
                disk_bytes=None,
                minutes=None,
                commands=((program or "conda", *conda.create_arguments(environment, builder.series)),),
            ),
        )

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """It stands, or a run that was stopped got as far; raises AppError("environment-differs") for uv's."""
        env = context.environment
        if managed_manifest(env, context.data) is not None:
            if not (env / CONDA_META).is_dir():
                raise AppError("environment-differs", path=str(env))
        elif broken := damaged_metadata(env, context.data):
            raise AppError("environment-damaged", path=str(env), files=format_names(broken))
        elif (
            staging.read_mark(env) != _creation_mark(step, context)
            and pending_verification(context.plan, context.journal) is None
        ):
            return None
        python = context.system.environment_python(env)
        data = {**step.data, "path": str(python)}
        return Outcome(code="progress.python-here", data=data, produces=(BaseInterpreter(python),))

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: conda-failed, conda-offline, conda-gone, disk-full."""
        environment, program = context.environment, Path(str(parse_spec(step, CondaSpec).conda))
        if not program.is_file():
            raise AppError("conda-gone", path=str(program))
        context.reporter.report_progress(done=0, total=None, unit="items", bottleneck="installing")
        # It has happened when the last step gives the environment its name.
        staged = StagedEnvironment(context.journal.start_effect(self.name, context.tree_made(environment), step.id))
        staging.begin_in_place(environment)
        try:
            conda_runner = Conda(program, context.system, context.data, cancel=context.cancel, log=context.reporter.log)
            conda_runner.create_environment(environment, context.python)
        except AppError:
            staging.discard_unfinished(environment)
            raise
        for path, content in context.system.conda_activation_files(environment, program).items():
            json.write_file(path, content)
        staging.write_mark(environment, _creation_mark(step, context))
        return Outcome(produces=(BaseInterpreter(context.system.environment_python(environment)), staged))

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Take it off conda's list, too, unless the user put files there."""
        why = journal_revert.revert(effect, host)
        home = host.system.user().home
        if isinstance(effect, TreeCreated) and home is not None and not (Path(effect.path) / CONDA_META).is_dir():
            conda.unregister_environment(Path(effect.path), Path(home))
        return why


def _creation_mark(step: Step, context: InstallContext) -> str:
    """What is written down when conda is done: the very command, so that another wish does not take it for its own."""
    return f"{' '.join((str(parse_spec(step, CondaSpec).conda), *conda.create_arguments(str(context.environment), context.python)))}\n"
