"""The Python that the environment is made with: one that is installed, or a standalone build."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ...core.errors import AppError
from ...core.machine import Machine, Python
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan, PlanFile, Step
from ...core.versions import Version, version_key
from ...fetch.request import DownloadRequest
from ..files import inventory
from ..files.archives import unpack
from ..files.staging import begin_partial, commit_folder, discard_folder
from ..host import PreviewContext
from ..journal.log import Effect, TreeCreated
from ..journal.validation import is_child
from .base import StepKind, parse_spec
from .context import BaseInterpreter, InstallContext, Outcome, download_files
from .plan_builder import PlanBuilder

# The kinds of interpreters to use. One in an environment or of conda may be removed with it, and the files of the
# Microsoft Store's cannot be read.
INTERPRETER_KINDS = ("system", "managed")


class InterpreterSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """`path` of an interpreter on this computer; None if the step installs one."""

    path: str | None = None


class PythonRuntimeInstall(StepKind):
    """Either `spec` names an installed Python, or `files` has the archive of a standalone build."""

    name: ClassVar[str] = "python-runtime"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        if builder.environment_kind == "conda":
            return ()  # conda installs its own
        series, machine = builder.series, builder.machine
        interpreter = find_interpreter(machine, series)
        if interpreter is not None:
            return (
                Step(
                    id="python",
                    kind=self.name,
                    code="python-here",
                    data={"python": interpreter.version, "path": interpreter.path},
                    spec={"path": interpreter.path},
                    bytes=0,
                    disk_bytes=0,
                    minutes=0.0,
                ),
            )
        build = builder.catalog.standalone_python(series, machine.os.system, machine.os.arch or "x86_64")
        if build is None:
            raise AppError("no-python", python=series)
        file_name = PurePosixPath(unquote(urlsplit(build.url).path)).name
        remote_size = builder.remote_size(build.url)
        size = build.bytes if build.bytes is not None else remote_size.bytes
        return (
            Step(
                id="python",
                kind=self.name,
                code="python-runtime",
                data={"python": build.version.text, "path": None},
                bytes=size,
                disk_bytes=remote_size.unpacked,
                minutes=builder.durations.archive_minutes(size, remote_size.unpacked),
                files=(PlanFile(url=build.url, name=file_name, sha256=build.sha256, bytes=size),),
            ),
        )

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        """A standalone build that an earlier run installed."""
        if not step.files:
            return None
        python = context.system.standalone_python(_runtime_folder(step, context.data))
        return CurrentState(code="now.here", data={"path": str(python)}) if python.is_file() else None

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        return isinstance(effect, TreeCreated) and is_child(effect.path, data.pythons)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Raises AppError("python-gone") if the planned interpreter is missing."""
        planned_path = parse_spec(step, InterpreterSpec).path
        interpreter = (
            Path(planned_path)
            if planned_path is not None
            else context.system.standalone_python(_runtime_folder(step, context.data))
        )
        if interpreter.is_file():
            data = {**step.data, "path": str(interpreter)}
            return Outcome(code="progress.python-here", data=data, produces=(BaseInterpreter(interpreter),))
        if planned_path is not None:
            raise AppError("python-gone", path=planned_path)
        return None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError("archive-broken"), and what `download_files` raises."""
        file, folder = step.files[0], _runtime_folder(step, context.data)
        request = DownloadRequest(file=file.remote, path=context.data.files / file.name)
        (archive,) = download_files(context.downloads, [request])
        with context.tree(step, folder):
            _unpack_runtime(archive, folder, context, file)
        return Outcome(produces=(BaseInterpreter(context.system.standalone_python(folder)),))


def find_interpreter(machine: Machine, series: str) -> Python | None:
    """The newest interpreter of a series like "3.11" on a machine that environments can be made with."""
    candidates = [
        python
        for python in machine.pythons or ()
        if python.version.split(".")[:2] == series.split(".")
        and Version.parse(python.version) is not None  # there are no wheels for pre-releases
        and python.kind in INTERPRETER_KINDS
        and (python.arch is None or machine.os.arch is None or python.arch == machine.os.arch)
    ]
    return max(candidates, key=lambda python: version_key(python.version), default=None)


def _runtime_folder(step: Step, data: DataDir) -> Path:
    stem = step.files[0].name.partition("-install_only")[0].removesuffix(".tar.gz")
    return data.pythons / stem


def _unpack_runtime(archive: Path, folder: Path, context: InstallContext, file: PlanFile) -> None:
    partial = begin_partial(folder)

    def progress(done: int) -> None:
        context.reporter.report_progress(done=done, total=None, unit="bytes", bottleneck="installing")

    unpack(
        archive,
        partial,
        sha256=file.sha256,
        open_archive=context.system.open_unchanging,
        cancel=context.cancel,
        progress=progress,
    )
    if not context.system.standalone_python(partial).is_file():
        raise AppError("archive-broken", name=file.name)
    inventory.write_file_manifest(partial)
    discard_folder(folder)
    commit_folder(folder)
