"""Proves the new environment, then gives it its name, and proves that it still starts there."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from ...catalog.versions import numbers
from ...core.errors import AppError, Cancelled
from ...core.jobs import JobContext
from ...core.names import Value
from ...core.plan import AWAITS_DRIVER, Plan, Step
from ...core.results import Check
from .. import replacing
from ..built import forget
from ..draft import Draft
from ..place import Ground
from ..removal import delete, name
from ..strangers import named
from ..work import Outcome, Work
from .kind import Kind, refuse_fields
from .nvidia_driver import TO_DO, NvidiaDriver
from .python_packages import PythonPackages, intend

START_S = 120.0


class Verify(Kind):
    """The environment has its name from here on."""

    name: ClassVar[str] = "verify"
    codes: ClassVar[tuple[str, ...]] = ("verify", AWAITS_DRIVER, "verify-wsl2")
    needs: ClassVar[tuple[str, ...]] = ("python-packages",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One proof."""
        env, offers = str(draft.environment), draft.recommendation.alternatives
        elsewhere = any(offer.code == "tensorflow-wsl2" for offer in offers)
        return (
            Step(
                id="verify",
                kind=self.name,
                code="verify-wsl2" if elsewhere else AWAITS_DRIVER if _awaits_driver(draft) else "verify",
                needs=draft.ids("python-packages"),
                data={"env": env, "release": draft.release},
                bytes=0,
                disk_bytes=0,
                minutes=draft.paces.verify_minutes,
                commands=(("gpu-assistant", "verify", "--env", env),),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:  # noqa: ARG002
        """Nothing in it has an effect."""
        refuse_fields(step)

    def run(self, step: Step, work: Work) -> Outcome:  # noqa: ARG002
        """Raises AppError: check-failed (the environment does not get its name), environment-broken."""
        if work.standing:
            _prove(work.environment, work)
            return Outcome()
        if work.built:
            # An earlier run made it, and this one says so before it has its name.
            (made,) = (each for each in work.plan.steps if each.kind == PythonPackages.name)
            work.making = intend(work, made)
        try:
            _prove(work.partial, work)
        except Cancelled:
            raise
        except AppError:
            forget(work.environment)
            raise
        if work.damaged:
            replacing.give_way(work.environment)
        try:
            name(work.environment)
            _starts(work)
        except AppError as error:
            # Not whole after all: the next run makes it again.
            if work.environment.is_dir():
                work.environment.rename(work.partial)
            replacing.put_back(work.environment)
            if not isinstance(error, Cancelled):
                forget(work.environment)
            raise
        rest = replacing.finish(work.environment)
        work.journal.happened(work.making)
        if not work.damaged:
            return Outcome()
        code = "progress.repaired" + ("-packages" if rest.packages else "") + ("-kept" if rest.kept else "")
        data: dict[str, Value] = {
            "files": named(work.damaged),
            "path": str(rest.kept) if rest.kept is not None else None,
            "list": str(rest.packages) if rest.packages is not None else None,
        }
        return Outcome(code=code, data=data)


def _awaits_driver(draft: Draft) -> bool:
    """Whether it cannot pass before somebody has installed the driver."""
    recommendation, advice = draft.recommendation, draft.recommendation.driver
    by_hand = any(step.kind == NvidiaDriver.name and step.code in TO_DO for step in draft.steps)
    here, least = numbers(advice.installed), numbers(advice.minimum)
    lacks = advice.action in ("install", "back") or (here is not None and least is not None and here < least)
    return by_hand and lacks and recommendation.accelerator == "cuda"


def _prove(folder: Path, work: Work) -> None:
    count = 0

    def news(_check: Check) -> None:
        nonlocal count
        count += 1
        work.reporter.progress(done=count, total=None, unit="items", bottleneck="checking")

    context: JobContext[Check] = JobContext(report=news, log=work.reporter.log, cancel=work.cancel)
    checks = work.verifier(folder, work.system).run(context)
    for check in checks.checks:
        work.reporter.log(f"{check.id}: {check.state} {check.value if check.value is not None else ''}".rstrip())
    failed = next((check for check in checks.checks if check.state == "fail"), None)
    if failed is not None:
        raise AppError("check-failed", check=failed.id, reason=failed.data.get("reason"))


def _starts(work: Work) -> None:
    """Python and one of the scripts run under the final name."""
    python = work.system.environment_python(work.environment)
    pip = work.system.environment_program(work.environment, "pip")
    commands: tuple[list[str | Path], ...] = ([python, "-I", "-c", ""], [pip, "--version"])
    for words in commands:
        # pip tells where it lies, and dies of a letter that the code page of a Windows pipe lacks.
        finished = work.system.run(words, timeout=START_S, environ={"PYTHONUTF8": "1"}, cancel=work.cancel)
        if finished.code != 0:
            for line in finished.err.splitlines():
                work.reporter.log(line)
            raise AppError("environment-broken", path=str(work.environment), detail=Path(words[0]).name)
    delete(work.partial)
