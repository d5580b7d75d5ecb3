"""Verifying the new environment, then giving it its final name.

    verify the partial environment ─► swap_out the damaged one, if any ─► commit_folder ─► check that it starts there
    ─► finish_swap moves the user's files over ─► the effect that `python_packages.py` began is done

On an error before the end the environment gets no name; a failed verification has the next run build it again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from ...core import filesystem
from ...core.errors import AppError, Cancelled
from ...core.jobs import JobContext
from ...core.plan import VERIFY_AFTER_DRIVER, Step
from ...core.results import Check
from ...core.types import Value
from ...core.versions import Version
from ...system.base import ProcessResult
from ..environment.location import discard_pending
from ..files import staging
from ..files.inventory import format_names
from ..files.staging import commit_folder, delete_folder
from .base import StepKind
from .context import EnvironmentStatus, InstallContext, Outcome, StagedEnvironment
from .nvidia_driver import MANUAL_CODES, NvidiaDriverInstall
from .plan_builder import PlanBuilder
from .python_packages import PythonPackagesInstall, start_environment_effect
from .toolkit_proof import make_toolkit_proof

START_TIMEOUT_S = 120.0


class EnvironmentVerification(StepKind):
    """The step after which the environment exists."""

    name: ClassVar[str] = "verify"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        environment, offers = str(builder.environment), builder.recommendation.alternatives
        compiles = builder.recommendation.cuda_toolkit.action != "none"
        usual = "verify-compile" if compiles else "verify"
        uses_wsl2 = any(offer.code == "tensorflow-wsl2" for offer in offers)
        return (
            Step(
                id="verify",
                kind=self.name,
                code="verify-wsl2" if uses_wsl2 else VERIFY_AFTER_DRIVER if _awaits_driver(builder) else usual,
                needs=builder.ids("python-packages"),
                data={"env": environment, "release": builder.release},
                bytes=0,
                disk_bytes=0,
                minutes=builder.durations.compile_minutes if compiles else builder.durations.verify_minutes,
                commands=(("gpu-assistant", "verify", "--env", environment),),
            ),
        )

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Raises AppError: check-failed, environment-broken, and those of `files/staging.py`."""
        status = context.require(EnvironmentStatus)
        if status.is_complete:
            _run_verification(context.environment, context)
            return Outcome()
        if status.is_unverified:
            # An earlier run built it; the effect of that run is not this one's.
            (packages_step,) = (
                candidate for candidate in context.plan.steps if candidate.kind == PythonPackagesInstall.name
            )
            staged = start_environment_effect(context, packages_step)
        else:
            staged = context.require(StagedEnvironment)
        try:
            # Python compiles pip at its first start, while a core is free beside the import of PyTorch; nothing runs
            # beside the start under the final name, which is the one that counts.
            with ThreadPoolExecutor(1, "pip") as thread:
                thread.submit(_run_program, _pip_command(context.partial, context), context)
                _run_verification(context.partial, context)
        except Cancelled:
            raise
        except AppError:
            discard_pending(context.environment)
            raise
        if status.damaged:
            staging.swap_out(context.environment)
        try:
            commit_folder(context.environment)
            check_environment_starts(context)
        except AppError as error:
            # It does not work under its final name: the next run builds it again.
            if context.environment.is_dir():
                filesystem.rename(context.environment, context.partial)
            staging.restore_old(context.environment)
            if not isinstance(error, Cancelled):
                discard_pending(context.environment)
            raise
        remainder = staging.finish_swap(context.environment)
        context.journal.finish_effect(staged.effect)
        if not status.damaged:
            return Outcome()
        code = (
            "progress.repaired"
            + ("-packages" if remainder.package_list else "")
            + ("-kept" if remainder.folder else "")
        )
        data: dict[str, Value] = {
            "files": format_names(status.damaged),
            "path": str(remainder.folder) if remainder.folder is not None else None,
            "list": str(remainder.package_list) if remainder.package_list is not None else None,
        }
        return Outcome(code=code, data=data)


def _awaits_driver(builder: PlanBuilder) -> bool:
    """Whether verification fails until the user has installed a driver by hand."""
    recommendation, advice = builder.recommendation, builder.recommendation.driver
    is_manual = any(step.kind == NvidiaDriverInstall.name and step.code in MANUAL_CODES for step in builder.steps)
    installed, minimum = Version.parse(advice.installed), Version.parse(advice.minimum)
    is_insufficient = advice.action in ("install", "back") or (
        installed is not None and minimum is not None and installed < minimum
    )
    return is_manual and is_insufficient and recommendation.accelerator == "cuda"


def _run_verification(folder: Path, context: InstallContext) -> None:
    from ...verify.job import first_failure

    count = 0

    def report_check(_check: Check) -> None:
        nonlocal count
        count += 1
        context.reporter.report_progress(done=count, total=None, unit="items", bottleneck="checking")

    job_context: JobContext[Check] = JobContext(report=report_check, log=context.reporter.log, cancel=context.cancel)
    advice = context.plan.recommendation
    toolkit = make_toolkit_proof(advice, folder, context.catalog, context.data, context.system)
    if toolkit is not None and toolkit.folder is None:
        toolkit = None  # its step was left out for want of rights, which is said at the end
    checks = context.verifier(folder, context.system, toolkit).run(job_context)
    for check in checks.checks:
        context.reporter.log(f"{check.id}: {check.state} {check.value if check.value is not None else ''}".rstrip())
    failed = first_failure(checks, advice)
    if failed is not None:
        raise AppError("check-failed", check=failed.id, reason=failed.data.get("reason"))


def check_environment_starts(context: InstallContext) -> None:
    """Run a script, and with it Python, under the final name; raises AppError("environment-broken")."""
    command = _pip_command(context.environment, context)
    if not _starts(command, context):
        # Python alone tells which of the two it is.
        python = context.system.environment_python(context.environment)
        broken = Path(command[0]) if _starts([python, "-I", "-c", ""], context) else python
        raise AppError("environment-broken", path=str(context.environment), detail=broken.name)
    delete_folder(context.partial)


def _pip_command(environment: Path, context: InstallContext) -> list[str | Path]:
    return [context.system.environment_program(environment, "pip"), "--version"]


def _starts(command: list[str | Path], context: InstallContext) -> bool:
    """Whether a program of the environment ends well; if not, what it said is logged. Raises AppError, Cancelled."""
    finished = _run_program(command, context)
    if finished.returncode != 0:
        for line in finished.stderr.splitlines():
            context.reporter.log(line)
    return finished.returncode == 0


def _run_program(command: list[str | Path], context: InstallContext) -> ProcessResult:
    # pip prints its path, which fails if the code page of a Windows pipe lacks a character of it.
    return context.system.run(command, timeout=START_TIMEOUT_S, environ={"PYTHONUTF8": "1"}, cancel=context.cancel)
