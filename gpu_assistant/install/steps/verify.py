"""Proves the new environment, then gives it its name, and proves that it still starts there."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from ...catalog.versions import parse_version
from ...core.errors import AppError, Cancelled
from ...core.jobs import JobContext
from ...core.plan import VERIFY_AFTER_DRIVER, Plan, Step
from ...core.results import Check
from ...core.types import Value
from ..environment.location import discard_pending
from ..files import staging
from ..files.inventory import format_names
from ..files.staging import commit_folder, delete_folder
from ..host import ValidationContext
from .base import StepKind, check_fields
from .context import InstallContext, Outcome
from .nvidia_driver import MANUAL_CODES, NvidiaDriverInstall
from .plan_builder import PlanBuilder
from .python_packages import PythonPackagesInstall, start_environment_effect

START_TIMEOUT_S = 120.0


class EnvironmentVerification(StepKind):
    """The environment has its name from here on."""

    name: ClassVar[str] = "verify"
    codes: ClassVar[tuple[str, ...]] = ("verify", VERIFY_AFTER_DRIVER, "verify-wsl2")
    required_before: ClassVar[tuple[str, ...]] = ("python-packages",)

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One proof."""
        environment, offers = str(builder.environment), builder.recommendation.alternatives
        uses_wsl2 = any(offer.code == "tensorflow-wsl2" for offer in offers)
        return (
            Step(
                id="verify",
                kind=self.name,
                code="verify-wsl2" if uses_wsl2 else VERIFY_AFTER_DRIVER if _awaits_driver(builder) else "verify",
                needs=builder.step_ids("python-packages"),
                data={"env": environment, "release": builder.release_label},
                bytes=0,
                disk_bytes=0,
                minutes=builder.durations.verify_minutes,
                commands=(("gpu-assistant", "verify", "--env", environment),),
            ),
        )

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:  # noqa: ARG002
        """Nothing in it has an effect."""
        check_fields(step)

    def run(self, step: Step, context: InstallContext) -> Outcome:  # noqa: ARG002
        """Raises AppError: check-failed (the environment does not get its name), environment-broken."""
        if context.is_installed:
            _run_verification(context.environment, context)
            return Outcome()
        if context.awaits_verification:
            # An earlier run made it, and this one says so before it has its name.
            (packages_step,) = (
                candidate for candidate in context.plan.steps if candidate.kind == PythonPackagesInstall.name
            )
            context.environment_effect = start_environment_effect(context, packages_step)
        try:
            _run_verification(context.staging_path, context)
        except Cancelled:
            raise
        except AppError:
            discard_pending(context.environment)
            raise
        if context.damaged_files:
            staging.swap_out(context.environment)
        try:
            commit_folder(context.environment)
            _check_starts(context)
        except AppError as error:
            # Not whole after all: the next run makes it again.
            if context.environment.is_dir():
                context.environment.rename(context.staging_path)
            staging.restore_old(context.environment)
            if not isinstance(error, Cancelled):
                discard_pending(context.environment)
            raise
        remainder = staging.finish_swap(context.environment)
        context.journal.finish_effect(context.environment_effect)
        if not context.damaged_files:
            return Outcome()
        code = (
            "progress.repaired"
            + ("-packages" if remainder.package_list else "")
            + ("-kept" if remainder.folder else "")
        )
        data: dict[str, Value] = {
            "files": format_names(context.damaged_files),
            "path": str(remainder.folder) if remainder.folder is not None else None,
            "list": str(remainder.package_list) if remainder.package_list is not None else None,
        }
        return Outcome(code=code, data=data)


def _awaits_driver(builder: PlanBuilder) -> bool:
    """Whether it cannot pass before somebody has installed the driver."""
    recommendation, advice = builder.recommendation, builder.recommendation.driver
    is_manual = any(step.kind == NvidiaDriverInstall.name and step.code in MANUAL_CODES for step in builder.steps)
    installed, minimum = parse_version(advice.installed), parse_version(advice.minimum)
    is_insufficient = advice.action in ("install", "back") or (
        installed is not None and minimum is not None and installed < minimum
    )
    return is_manual and is_insufficient and recommendation.accelerator == "cuda"


def _run_verification(folder: Path, install_context: InstallContext) -> None:
    count = 0

    def report_check(_check: Check) -> None:
        nonlocal count
        count += 1
        install_context.reporter.report_progress(done=count, total=None, unit="items", bottleneck="checking")

    job_context: JobContext[Check] = JobContext(
        report=report_check, log=install_context.reporter.log, cancel=install_context.cancel
    )
    checks = install_context.verifier(folder, install_context.system).run(job_context)
    for check in checks.checks:
        install_context.reporter.log(
            f"{check.id}: {check.state} {check.value if check.value is not None else ''}".rstrip()
        )
    failed = next((check for check in checks.checks if check.state == "fail"), None)
    if failed is not None:
        raise AppError("check-failed", check=failed.id, reason=failed.data.get("reason"))


def _check_starts(context: InstallContext) -> None:
    """Python and one of the scripts run under the final name."""
    python = context.system.environment_python(context.environment)
    pip = context.system.environment_program(context.environment, "pip")
    commands: tuple[list[str | Path], ...] = ([python, "-I", "-c", ""], [pip, "--version"])
    for command in commands:
        # pip tells where it lies, and dies of a letter that the code page of a Windows pipe lacks.
        finished = context.system.run(
            command, timeout=START_TIMEOUT_S, environ={"PYTHONUTF8": "1"}, cancel=context.cancel
        )
        if finished.returncode != 0:
            for line in finished.stderr.splitlines():
                context.reporter.log(line)
            raise AppError("environment-broken", path=str(context.environment), detail=Path(command[0]).name)
    delete_folder(context.staging_path)
