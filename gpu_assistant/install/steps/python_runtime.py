"""The Python that the environment is built on: one that is here, or a standalone build, unpacked safely."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ...catalog.versions import numbers
from ...core.errors import AppError
from ...core.machine import Machine, Python
from ...core.paths import DataDir
from ...core.plan import Now, Plan, PlanFile, Step
from ...fetch.wanted import Wanted
from .. import listing
from ..archives import unpack
from ..draft import Draft
from ..fetching import fetch
from ..place import Ground
from ..removal import delete, name, partial_path
from ..untrusted import check_file
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused, spec_of

# Whose interpreter to build on, as the advice says it: an environment's or Conda's goes away with it, and the
# Store's hides its files.
KINDS = ("system", "managed")


class Here(Struct, frozen=True, forbid_unknown_fields=True):
    """`path` of an interpreter on this computer; None where the step brings one."""

    path: str | None = None


class PythonRuntime(Kind):
    """Either `spec` names a Python that is here, or `files` holds the one archive of the catalog."""

    name: ClassVar[str] = "python-runtime"
    codes: ClassVar[tuple[str, ...]] = ("python-here", "python-runtime")

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """The Python to build on: one that is here, else the standalone build that the catalog knows."""
        if draft.made_by == "conda":
            return ()  # which brings its own
        series, machine = draft.series, draft.machine
        found = python_here(machine, series)
        if found is not None:
            return (
                Step(
                    id="python",
                    kind=self.name,
                    code="python-here",
                    data={"python": found.version, "path": found.path},
                    spec={"path": found.path},
                    bytes=0,
                    disk_bytes=0,
                    minutes=0.0,
                ),
            )
        build = draft.catalog.standalone_python(series, machine.os.system, machine.os.arch or "x86_64")
        if build is None:
            raise AppError("no-python", python=series)
        file = PurePosixPath(unquote(urlsplit(build.url).path)).name
        told = draft.file_extent(build.url)
        size = build.bytes if build.bytes is not None else told.bytes
        return (
            Step(
                id="python",
                kind=self.name,
                code="python-runtime",
                data={"python": build.version, "path": None},
                bytes=size,
                disk_bytes=told.unpacked,
                minutes=draft.paces.archive_minutes(size, told.unpacked),
                files=(PlanFile(url=build.url, name=file, sha256=build.sha256, bytes=size),),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """Only a build of the catalog is fetched; only an interpreter of this computer's own places is run."""
        refuse_fields(step, files=True, spec=True)
        here = spec_of(step, Here)
        if step.files and here.path is not None:
            raise refused(f"{step.id}: files and path")
        if step.files:
            _refuse_files(step, plan, ground)
        elif not plan.simulated:  # which is never carried out, and whose Python is on another computer
            _refuse_interpreter(here, ground)

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002
        """One that an earlier run fetched."""
        if not step.files:
            return None
        python = ground.system.standalone_python(_folder(step, ground.data))
        return Now(code="now.here", data={"path": str(python)}) if python.is_file() else None

    def done(self, step: Step, work: Work) -> Outcome | None:
        """Raises AppError("python-gone") where it should be here and is not."""
        here = spec_of(step, Here).path
        interpreter = Path(here) if here is not None else work.system.standalone_python(_folder(step, work.data))
        if interpreter.is_file():
            work.interpreter = interpreter
            return Outcome(code="progress.python-here", data={**step.data, "path": str(interpreter)})
        if here is not None:
            raise AppError("python-gone", path=here)
        return None

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: archive-broken, and what fetching raises."""
        file, folder = step.files[0], _folder(step, work.data)
        wanted = Wanted(url=file.url, path=work.data.files / file.name, sha256=file.sha256, bytes=file.bytes)
        (archive,) = fetch(work, [wanted])
        with work.tree(step, folder):
            _unpack(archive, folder, work, file)
        work.interpreter = work.system.standalone_python(folder)
        return Outcome()


def python_here(machine: Machine, series: str) -> Python | None:
    """The machine's own interpreter of a "3.11" series that an environment can be built on."""
    fitting = [
        python
        for python in machine.pythons or ()
        if python.version.split(".")[:2] == series.split(".")
        and numbers(python.version) is not None  # a preview's wheels are nobody's
        and python.kind in KINDS
        and (python.arch is None or machine.os.arch is None or python.arch == machine.os.arch)
    ]
    return max(fitting, key=lambda python: numbers(python.version) or (), default=None)


def _folder(step: Step, data: DataDir) -> Path:
    stem = step.files[0].name.partition("-install_only")[0].removesuffix(".tar.gz")
    return data.pythons / stem


def _refuse_files(step: Step, plan: Plan, ground: Ground) -> None:
    if len(step.files) != 1:
        raise refused(f"{step.id}: files")
    file = step.files[0]
    check_file(file)
    series = plan.recommendation.python
    known = {(build.url, build.sha256) for build in ground.catalog.pythons.builds if build.series == series}
    if (file.url, file.sha256) not in known:
        raise refused(f"{step.id}: {file.url}")


def _refuse_interpreter(here: Here, ground: Ground) -> None:
    """The program that will be run is one that this computer's own places hold."""
    path = Path(here.path or "")
    if not path.is_absolute():
        raise refused(f"python-runtime: {here.path}")
    real = path.resolve()
    ours = ground.data.pythons.resolve() in real.parents
    if not ours and real not in {candidate.resolve() for candidate in ground.system.python_candidates()}:
        raise AppError("python-gone", path=str(path))


def _unpack(archive: Path, folder: Path, work: Work, file: PlanFile) -> None:
    """Into a folder beside it first; the final name appears when everything is there."""
    partial = partial_path(folder)
    delete(partial)

    def progress(done: int) -> None:
        work.reporter.progress(done=done, total=None, unit="bytes", bottleneck="installing")

    unpack(archive, partial, cancel=work.cancel, progress=progress)
    if not work.system.standalone_python(partial).is_file():
        raise AppError("archive-broken", name=file.name)
    listing.write(partial)
    delete(folder)
    name(folder)
