"""An environment made by the user's conda, which installs only Python; the packages come from the lock file."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...core import json
from ...core.errors import AppError, UsageError
from ...core.paths import DataDir
from ...core.plan import Step
from ...system.conda import is_conda_environment
from ..environment.location import damaged_metadata, managed_manifest, pending_verification
from ..files import staging
from ..files.inventory import format_names
from ..host import Host
from ..journal import revert as journal_revert
from ..journal.log import Effect, RetentionReason, TreeCreated
from ..journal.validation import is_same
from ..packages import conda
from ..packages.conda import CHANNEL, Conda
from .base import StepKind, parse_spec
from .context import BaseInterpreter, InstallContext, Outcome, StagedEnvironment
from .plan_builder import PlanBuilder


class CondaSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """`conda` is the full path of the program; None in a plan for another computer."""

    conda: str | None = None


class CondaEnvironment(StepKind):
    """Takes the place of the step "python-runtime".

    conda writes the folder's path into its files, so the environment is made in its final place, marked as unfinished
    until it is verified (`files/staging.py`).
    """

    name: ClassVar[str] = "conda-environment"
    provides: ClassVar[str | None] = "python-runtime"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if the user chose conda; raises AppError("conda-missing"), UsageError("conda-needs-network")."""
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
                data={"python": builder.series, "env": environment, "channel": CHANNEL},
                # conda chooses the packages when it runs.
                bytes=None,
                disk_bytes=None,
                minutes=None,
                commands=((program or "conda", *conda.create_arguments(environment, builder.series)),),
            ),
        )

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        return isinstance(effect, TreeCreated) and environment is not None and is_same(effect.path, Path(environment))

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """The environment is complete, or conda has finished; raises AppError("environment-differs") for one of uv."""
        environment = context.environment
        if managed_manifest(environment, context.data) is not None:
            if not is_conda_environment(environment):
                raise AppError("environment-differs", path=str(environment))
        elif damaged := damaged_metadata(environment, context.data):
            raise AppError("environment-damaged", path=str(environment), files=format_names(damaged))
        elif (
            staging.read_mark(environment) != _creation_mark(step, context)
            and pending_verification(context.plan, context.journal) is None
        ):
            return None
        python = context.system.environment_python(environment)
        data = {**step.data, "path": str(python)}
        return Outcome(code="progress.python-here", data=data, produces=(BaseInterpreter(python),))

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: conda-failed, conda-offline, conda-gone, disk-full."""
        environment, program = context.environment, Path(str(parse_spec(step, CondaSpec).conda))
        if not program.is_file():
            raise AppError("conda-gone", path=str(program))
        context.reporter.report_progress(done=0, total=None, unit="items", bottleneck="installing")
        # The effect is done when `verify.py` removes the mark.
        staged = StagedEnvironment(context.journal.start_effect(self.name, context.tree_effect(environment), step.id))
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
        return Outcome(produces=(BaseInterpreter(context.system.environment_python(environment)), staged))

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Also removes it from conda's list of environments, unless files of the user stay in it."""
        reason = journal_revert.revert(effect, host)
        home = host.system.user().home
        if isinstance(effect, TreeCreated) and home is not None and not is_conda_environment(Path(effect.path)):
            conda.unregister_environment(Path(effect.path), Path(home))
        return reason


def _creation_mark(step: Step, context: InstallContext) -> str:
    """What is written into the environment when conda has finished: its command, so that an install with another
    Python or another conda does not continue with it.
    """
    program = str(parse_spec(step, CondaSpec).conda)
    arguments = conda.create_arguments(str(context.environment), context.python_series)
    return f"{' '.join((program, *arguments))}\n"
