"""Cheap kinds of steps for the tests: real effects in a small sandbox, done in no time."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, ClassVar

from gpu_assistant.core import json
from gpu_assistant.core.errors import ElevationDenied
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import MARKER_NAME
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Event, Plan, Step
from gpu_assistant.core.recommendation import DriverAdvice, PartAdvice, Recommendation
from gpu_assistant.install.files import inventory
from gpu_assistant.install.files.staging import begin_partial, commit_folder
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal.log import Effect, FileWritten
from gpu_assistant.install.steps.base import StepKind
from gpu_assistant.install.steps.context import InstallContext, Outcome
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.plan_builder import PlanBuilder
from gpu_assistant.system import current_system
from gpu_assistant.system.base import UserEnvironmentVariables
from tests.fakes.environment_variables import FileAtLogin, FileVariables
from tests.fakes.system import FakeSystem


class Plain(StepKind):
    """What the tests' kinds share: nothing is planned."""

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        return ()

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:
        return True


class WriteFile(Plain):
    name: ClassVar[str] = "test-file"

    def is_satisfied(self, step: Step, work: InstallContext) -> Outcome | None:
        path = Path(step.spec["path"])
        return Outcome() if path.is_file() and path.read_text(encoding="utf-8") == step.spec["text"] else None

    def run(self, step: Step, work: InstallContext) -> Outcome:
        path, text = Path(step.spec["path"]), step.spec["text"].encode()
        before = path.read_bytes() if path.is_file() else None
        with work.effect(step, FileWritten(path=str(path), sha256=hashlib.sha256(text).hexdigest(), previous=before)):
            json.write_file(path, text)
        return Outcome()


class MakeTree(Plain):
    name: ClassVar[str] = "test-tree"

    def is_satisfied(self, step: Step, work: InstallContext) -> Outcome | None:
        return Outcome() if Path(step.spec["path"], "inside/one.txt").is_file() else None

    def run(self, step: Step, work: InstallContext) -> Outcome:
        folder = Path(step.spec["path"])
        work.folder(step, folder.parent)
        with work.tree(step, folder):
            partial = begin_partial(folder)
            (partial / "inside").mkdir(parents=True)
            (partial / "inside" / "one.txt").write_text("one", encoding="utf-8")
            inventory.write_file_manifest(partial)
            commit_folder(folder)
        return Outcome()


class Administrator(Plain):
    """Rights are refused until `allowed` is there."""

    name: ClassVar[str] = "test-administrator"

    def run(self, step: Step, work: InstallContext) -> Outcome:
        if not Path(step.spec["allowed"]).exists():
            raise ElevationDenied("rights-refused")
        return Outcome()


class Restart(Plain):
    """Wants a restart until `restarted` is there."""

    name: ClassVar[str] = "test-restart"

    def is_satisfied(self, step: Step, work: InstallContext) -> Outcome | None:
        return Outcome() if Path(step.spec["restarted"]).exists() else None

    def run(self, step: Step, work: InstallContext) -> Outcome:
        return Outcome(restart=True)


def register() -> None:
    """Let plans have them."""
    for kind in (WriteFile(), MakeTree(), Administrator(), Restart()):
        STEP_KINDS[kind.name] = kind


class SmallSandbox:
    """Everything below one folder: the data folder, the user's variables, and `outside`, which is to stay as it was."""

    def __init__(self, root: Path, variables: UserEnvironmentVariables | None = None) -> None:
        register()
        self.root = root
        self.data = DataDir(root / "data")
        self.outside = root / "outside"
        self.outside.mkdir(parents=True, exist_ok=True)
        self.variables = FileVariables(self.outside / "variables.json")
        self.login_command = FileAtLogin(self.outside / "login.json")
        self.system = FakeSystem(
            name=current_system().name, variables=variables or self.variables, login_command=self.login_command
        )
        self.environment = self.outside / "env"

    def plan(self, *more: Step, environment: Path | None = None) -> Plan:
        env = environment or self.environment
        toolkit = self.data.toolkits / "cuda"
        return Plan(
            schema="gpu-assistant/plan/1",
            goal="cuda-dev",
            env=str(env),
            recommendation=Recommendation(
                schema="gpu-assistant/recommendation/1",
                goal="cuda-dev",
                accelerator="cpu",
                python=None,
                pytorch=None,
                driver=DriverAdvice(action="none"),
                cuda_toolkit=PartAdvice(action="install"),
                cudnn=PartAdvice(action="none"),
            ),
            steps=(
                step("note", "test-file", path=str(self.outside / "note.txt"), text="new"),
                step("tree", "test-tree", path=str(self.outside / "deep" / "tree")),
                step("toolkit", "test-tree", path=str(toolkit)),
                Step(
                    id="variables",
                    kind="variables",
                    code="variables",
                    needs=("toolkit",),
                    spec={"set": {"CUDA_PATH": str(toolkit)}, "path": [str(toolkit / "bin"), str(toolkit / "lib")]},
                ),
                *more,
            ),
        )

    def install(self, plan: Plan | None = None, **more: Any) -> list[Event]:
        from gpu_assistant.catalog.store import load_catalog

        events: list[Event] = []
        job = InstallJob(plan or self.plan(), self.system, self.data, load_catalog(resources_dir() / "catalog"), **more)
        try:
            job.run(JobContext(report=events.append))
        except BaseException as error:
            error.events = events  # type: ignore[attr-defined]
            raise
        return events

    def uninstall(self, environment: Path | None = None) -> list[Event]:
        events: list[Event] = []
        UninstallJob(environment or self.environment, self.data, self.system).run(JobContext(report=events.append))
        return events

    def seen(self) -> dict[str, bytes | None]:
        """Every file outside of the data folder and the toolkits in it, byte for byte; folders have no bytes, and of a
        list of ours the names count alone.
        """
        paths = [*self.outside.rglob("*"), *self.data.toolkits.rglob("*")]
        # A marker's inode is another one each time.
        return {path.relative_to(self.root).as_posix(): _seen(path) for path in paths if path.name != MARKER_NAME}


def _seen(place: Path) -> bytes | None:
    if place.name == inventory.FILE_MANIFEST:
        return "\n".join(inventory.read_file_manifest(place.parent)).encode()
    return None if place.is_dir() else place.read_bytes()


def step(name: str, kind: str, *, needs: tuple[str, ...] = (), **spec: str) -> Step:
    return Step(id=name, kind=kind, code="verify", needs=needs, spec=spec, data={"env": ""})
