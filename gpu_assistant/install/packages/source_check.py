"""Asks one package index whether it has a PyTorch build or what goes with it: uv resolves that package alone, without
its dependencies.

For PyTorch and TensorFlow uv is asked for the newest release that is not newer than the wanted one, so that one
question tells whether it is there, and else which release is. No file is downloaded but the index's page and the
wheel's metadata.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from msgspec import Struct

from ...core import filesystem
from ...core.errors import AppError, storage_errors
from ...core.recommendation import IndexName, PackageName, SourceAnswer, SourceState, WheelReference
from ...core.versions import Version
from ...system.base import ProcessResult
from .lockfile import parse_lockfile
from .requirements import Platform
from .resolver import LOCK_FILE, ResolveAttempt, is_network_failure
from .uv import Uv

NO_SOLUTION = "no solution found"
NO_INTERPRETER = "no interpreter found"


class SourceQuestion(Struct, frozen=True, kw_only=True):
    """Whether an index has a `package`: PyTorch, torchvision and torchaudio in a build. `index_url` None is the general
    index; `name` that of a mirror; `python` like "3.13"; `platform` the computer that it is for, if it is not this one.
    `interpreter` is a Python of this computer that uv may ask; without one it looks for one.
    """

    source: IndexName
    version: str | None
    variant: str | None
    python: str
    interpreter: Path | None = None
    package: PackageName = "torch"
    index_url: str | None = None
    name: str | None = None
    platform: Platform | None = None

    def answer(self, state: SourceState, newest: str | None = None, file: WheelReference | None = None) -> SourceAnswer:
        """An answer to this question."""
        return SourceAnswer(
            source=self.source,
            version=self.version,
            variant=self.variant,
            state=state,
            package=self.package,
            newest=newest,
            name=self.name,
            file=file,
        )


def ask_index(question: SourceQuestion, uv: Uv, folder: Path, *, seconds: float) -> SourceAnswer:
    """What the index says within this time; no answer then is "late". `folder` is for temporary files.

    Raises Cancelled; AppError if uv is missing, or the folder cannot be written.
    """
    attempt = ResolveAttempt(
        source="index" if question.index_url is not None else "general",
        requirements=(),
        pinned=(_requirement(question),),
        torch_index=question.index_url,
    )
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="ask-", dir=folder))
        project, output = scratch / "pyproject.toml", scratch / LOCK_FILE
        project.write_text(attempt.render_pyproject(question.python), encoding="utf-8")
    platform = ("--python-platform", question.platform.uv_platform) if question.platform is not None else ()
    interpreter = ("--python", question.interpreter) if question.interpreter is not None else ()
    try:
        finished = uv.run(
            *("pip", "compile", project, "--no-deps", "--python-version", question.python, *interpreter, *platform),
            *("--format", "pylock.toml", "--output-file", output, "--no-header", "--only-binary", ":all:", "--quiet"),
            timeout=seconds,
            cwd=scratch,
        )
        return _read_answer(question, finished, output)
    except AppError as error:
        if error.code != "program-timeout":
            raise
        return question.answer("late")
    finally:
        filesystem.rmtree(scratch, ignore_errors=True)


def _requirement(question: SourceQuestion) -> str:
    """For TensorFlow every release of the wanted series or an older one; for what goes with PyTorch that release."""
    if question.package == "torch":
        return f"torch<={question.version}"
    version = Version.parse(question.version)
    if question.package == "tensorflow" and version is not None:
        return f"tensorflow<{version.series.major}.{version.series.minor + 1}"
    return question.package if version is None else f"{question.package}=={version.text}"


def _read_answer(question: SourceQuestion, finished: ProcessResult, output: Path) -> SourceAnswer:
    if finished.returncode != 0:
        text = finished.stderr.lower()
        if NO_SOLUTION in text:
            return question.answer("absent")
        if NO_INTERPRETER in text:
            # uv resolves with a Python, and an installed program on a new computer has none for it: nobody was asked.
            return question.answer("late")
        return question.answer("unreachable" if is_network_failure(text) else "damaged")
    try:
        lockfile = parse_lockfile(output.read_text(encoding="utf-8"), question.python, question.platform)
    except (OSError, UnicodeDecodeError, AppError):
        return question.answer("damaged")  # such as a wheel without a hash
    package = next((package for package in lockfile.packages if package.name == question.package), None)
    release, _, variant = (package.version if package is not None else "").partition("+")
    if package is None or (question.source != "general" and variant != question.variant):
        return question.answer("absent")
    locked = package.file
    file = WheelReference(url=locked.url, name=locked.name, sha256=locked.sha256 or "", bytes=locked.bytes)
    state: SourceState = "available" if _is_wanted(question, release) else "absent"
    return question.answer(state, newest=release, file=file)


def _is_wanted(question: SourceQuestion, release: str) -> bool:
    wanted, found = Version.parse(question.version), Version.parse(release)
    if question.package == "tensorflow" and wanted is not None and found is not None:
        return found.series == wanted.series
    return question.version in (None, release)
