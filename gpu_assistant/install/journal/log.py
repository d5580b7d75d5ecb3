"""The write-ahead journal: what a run is going to change, and what it has changed.

    step (steps/*)                          journal/<time>-<pid>.jsonl
      with context.effect(step, effect):      EffectStarted   flushed to disk first
          ... the change itself ...
                                              EffectDone      flushed to disk afterwards

One file per run, opened by `jobs/install.py`, `jobs/uninstall.py`, `jobs/purge.py`, `jobs/add_packages.py` and
`environment/integrations.py`, and only ever appended to. A line that a power failure cut short counts as not written.
An `EffectStarted` without its `EffectDone` may or may not have happened: `recovery.py` asks the computer, through
`revert.effect_state` or the step's kind, and records the answer as `EffectObserved`. An uninstall records `UndoStarted`
and `UndoDone`, or `EffectRetained` for what stays. `recovery.active_effects` reads all files together; nothing else
decides what is ours.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec
from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import MAX_NAME_LENGTH, storage_error
from ...core.paths import DataDir
from ...core.plan import EndState, InterruptedInstall, Plan, StepState
from ...core.types import Value
from ...system.paths import is_private

# The kinds of steps whose tree is an environment: built by uv, and by the user's conda.
ENVIRONMENT_KINDS = ("python-packages", "conda-environment")
# No path has one, and no line of ours.
MAX_PATH_CHARACTERS = 4096  # Linux' PATH_MAX; Windows has less
_NULL_CHARACTER = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class FolderCreated(Struct, frozen=True, kw_only=True, tag_field="effect", tag="folder"):
    """An empty folder that others are put into."""

    path: str


class TreeCreated(Struct, frozen=True, kw_only=True, tag_field="effect", tag="tree"):
    """A folder that appears complete, by a rename; `files/inventory.py` knows which files in it are ours.

    `existed`: an empty folder was there before, so an uninstall leaves one.
    """

    path: str
    existed: bool = False


class FolderMoved(Struct, frozen=True, kw_only=True, tag_field="effect", tag="folder-moved"):
    """A folder of the user's that was moved out of the way, from `path` to `to`."""

    path: str
    to: str


class FilesAdded(Struct, frozen=True, kw_only=True, tag_field="effect", tag="files"):
    """Files put among others in a folder; `receipt` is the name of the file there that lists them."""

    path: str
    receipt: str


class PackagesAdded(Struct, frozen=True, kw_only=True, tag_field="effect", tag="packages"):
    """Packages put into the finished environment at `path` beside those that it was made with: "jupyterlab==4.5.0".
    `lock` is the name of their lock file there.
    """

    path: str
    packages: tuple[str, ...]
    lock: str


class FileWritten(Struct, frozen=True, kw_only=True, tag_field="effect", tag="file"):
    """A file that is replaced as a whole: the `sha256` of its new and the bytes of its `previous` content (None: there
    was no file).
    """

    path: str
    sha256: str
    previous: bytes | None = None


class VariableSet(Struct, frozen=True, kw_only=True, tag_field="effect", tag="variable"):
    """One of the user's environment variables, with its previous value and type (None: it was not set).

    `expand`: the value contains other variables (REG_EXPAND_SZ on Windows).
    """

    name: str
    value: str
    expand: bool = False
    previous: str | None = None
    previous_expand: bool = False


class PathEntryAdded(Struct, frozen=True, kw_only=True, tag_field="effect", tag="path-entry"):
    """A folder at the end of the user's PATH; `previous` is a backup of the whole variable."""

    folder: str
    previous: str | None = None
    previous_expand: bool = False


class LoginCommandSet(Struct, frozen=True, kw_only=True, tag_field="effect", tag="login-command"):
    """The command that runs after the next login."""

    command: tuple[str, ...]


class ProgramInstalled(Struct, frozen=True, kw_only=True, tag_field="effect", tag="program"):
    """A program put on the computer by its own installer. Only the kind of step that ran it knows how to look for it.

    `version` and `previous_version` as the publisher writes them (None: it was not installed); `details` are the
    kind's own.
    """

    name: str
    version: str
    previous_version: str | None = None
    details: dict[str, Value] = {}


Effect = (
    FolderCreated
    | TreeCreated
    | FolderMoved
    | FilesAdded
    | PackagesAdded
    | FileWritten
    | VariableSet
    | PathEntryAdded
    | LoginCommandSet
    | ProgramInstalled
)


def effect_key(effect: Effect) -> tuple[str, str]:  # noqa: PLR0911 - one for each effect
    """Equal for effects on the same thing; for files and folders the second value is the path."""
    match effect:
        case FolderCreated() | TreeCreated() | FileWritten():
            return "path", os.path.normcase(effect.path)
        case FolderMoved():
            return "folder-moved", os.path.normcase(effect.to)
        case FilesAdded():
            return "files", os.path.normcase(f"{effect.path}/{effect.receipt}")
        case PackagesAdded():
            return "packages", os.path.normcase(f"{effect.path}/{effect.lock}")
        case VariableSet():
            return "variable", effect.name.upper()
        case PathEntryAdded():
            return "path-entry", os.path.normcase(effect.folder)
        case LoginCommandSet():
            return "login-command", ""
        case ProgramInstalled():
            return "program", effect.name


# Why something stays after an uninstall. "changed": by the user; "files": foreign files are in it; "needed": by another
# environment; "filled": a shared folder that is not empty; "taken": something else stands where it would be moved back
# to; "system": it is part of the system now. The texts `progress.left-<reason>` say it.
RetentionReason = Literal["needed", "changed", "files", "filled", "taken", "system"]


class RunStarted(Struct, frozen=True, kw_only=True, tag_field="record", tag="run-started"):
    """A run begins: the install of `plan`; or, without a plan, the uninstall of `environment` (None: of everything) or
    an integration for it, which has no `RunEnded`. `at` in seconds since the epoch.
    """

    at: float
    pid: int
    plan: Plan | None = None
    environment: str | None = None


class StepStarted(Struct, frozen=True, kw_only=True, tag_field="record", tag="step-started"):
    """A step of the plan begins."""

    at: float
    step: str


class StepFinished(Struct, frozen=True, kw_only=True, tag_field="record", tag="step-finished"):
    """A step of the plan ended in `state`."""

    at: float
    step: str
    state: StepState


class EffectStarted(Struct, frozen=True, kw_only=True, tag_field="record", tag="effect-started"):
    """Effect `number` of this run is about to be made, by `step` of the plan, which is of this `kind`."""

    at: float
    number: int
    kind: str
    effect: Effect
    step: str | None = None


class EffectDone(Struct, frozen=True, kw_only=True, tag_field="record", tag="effect-done"):
    """Effect `number` of this run is complete."""

    at: float
    number: int


class EffectObserved(Struct, frozen=True, kw_only=True, tag_field="record", tag="effect-observed"):
    """Whether an effect is present whose run ended without saying so."""

    at: float
    run: str
    number: int
    present: bool


class UndoStarted(Struct, frozen=True, kw_only=True, tag_field="record", tag="undo-started"):
    """An effect of another run is about to be reverted."""

    at: float
    run: str
    number: int


class UndoDone(Struct, frozen=True, kw_only=True, tag_field="record", tag="undo-done"):
    """It is reverted, except for what stays for a `reason`: what the user changed, or foreign files. An effect that
    stays as a whole ("needed", "filled", "taken", "system") has an `EffectRetained` instead.
    """

    at: float
    run: str
    number: int
    reason: RetentionReason | None = None


class EffectRetained(Struct, frozen=True, kw_only=True, tag_field="record", tag="effect-retained"):
    """It stays for now; the uninstall of the last environment that needs it reverts it."""

    at: float
    run: str
    number: int


class RunEnded(Struct, frozen=True, kw_only=True, tag_field="record", tag="run-ended"):
    """The run ended by itself; a run without this record was killed."""

    at: float
    state: EndState
    code: str | None = None


JournalRecord = (
    RunStarted
    | StepStarted
    | StepFinished
    | EffectStarted
    | EffectDone
    | EffectObserved
    | UndoStarted
    | UndoDone
    | EffectRetained
    | RunEnded
)


class Journal:
    """The open journal of one run. Each record is on the disk when its call returns; raises AppError."""

    def __init__(self, data: DataDir, plan: Plan | None = None, environment: str | None = None) -> None:
        self.path = data.journal / f"{time.time_ns() // 1_000_000:014d}-{os.getpid()}.jsonl"
        self._effect_count = 0
        self._is_torn = False
        data.claim(data.journal)
        try:
            # Unbuffered: what could not be written is not written by the end of the run, either.
            self._file = self.path.open("xb", buffering=0)
        except OSError as error:
            raise storage_error(error, data.journal) from error
        _sync_folder(self.path.parent)
        self.append(RunStarted(at=time.time(), pid=os.getpid(), plan=plan, environment=environment))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def start_step(self, step: str) -> None:
        self.append(StepStarted(at=time.time(), step=step))

    def finish_step(self, step: str, state: StepState) -> None:
        self.append(StepFinished(at=time.time(), step=step, state=state))

    def start_effect(self, kind: str, effect: Effect, step: str | None = None) -> int:
        """Record what is about to be done; returns its number for `finish_effect`."""
        self._effect_count += 1
        self.append(EffectStarted(at=time.time(), number=self._effect_count, kind=kind, effect=effect, step=step))
        return self._effect_count

    def finish_effect(self, number: int) -> None:
        self.append(EffectDone(at=time.time(), number=number))

    @contextmanager
    def effect(self, kind: str, effect: Effect, step: str | None = None) -> Iterator[None]:
        """Both records around what is done inside; after an error the second is missing, and `recovery.py` looks."""
        number = self.start_effect(kind, effect, step)
        yield
        self.finish_effect(number)

    def observe_effect(self, run: str, number: int, *, is_present: bool) -> None:
        self.append(EffectObserved(at=time.time(), run=run, number=number, present=is_present))

    def start_undo(self, run: str, number: int) -> None:
        self.append(UndoStarted(at=time.time(), run=run, number=number))

    def finish_undo(self, run: str, number: int, reason: RetentionReason | None = None) -> None:
        self.append(UndoDone(at=time.time(), run=run, number=number, reason=reason))

    def retain_effect(self, run: str, number: int) -> None:
        self.append(EffectRetained(at=time.time(), run=run, number=number))

    def end_run(self, state: EndState, code: str | None = None) -> None:
        self.append(RunEnded(at=time.time(), state=state, code=code))

    def append(self, record: JournalRecord) -> None:
        """Write one record and flush it to the disk."""
        # After a line of which only a part was written, the next one begins anew.
        line = (b"\n" if self._is_torn else b"") + json.encode(record) + b"\n"
        try:
            self._is_torn = True
            while line:
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
            self._is_torn = False
        except OSError as error:
            raise storage_error(error, self.path.parent) from error


def _sync_folder(folder: Path) -> None:
    """Flush the new file's name, where the system allows it; NTFS journals names itself."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_records(path: Path) -> tuple[JournalRecord, ...]:
    """The records of one journal, in order; truncated and damaged lines are skipped. None of a link, or of a file that
    another user owns or may write.
    """
    records: list[JournalRecord] = []
    if not is_private(path):
        return ()
    try:
        lines = filesystem.read_bytes(path).splitlines()
    except OSError:
        return ()
    for line in lines:
        if _NULL_CHARACTER.search(line):
            continue
        try:
            record = json.decode(line, JournalRecord)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if not isinstance(record, EffectStarted) or _can_exist(record.effect):
            records.append(record)
    return tuple(records)


def _can_exist(effect: Effect) -> bool:
    """Whether a system can have the paths of an effect: asking for a longer one is an error of its own."""
    paths = [getattr(effect, name, "") for name in ("path", "to", "folder")]
    return all(
        len(path) < MAX_PATH_CHARACTERS and all(len(name) <= MAX_NAME_LENGTH for name in Path(path).parts)
        for path in paths
    )


def journal_paths(data: DataDir) -> tuple[Path, ...]:
    """The journals of a data folder, oldest first."""
    return tuple(sorted(data.journal.glob("*.jsonl")))


def environment_paths(data: DataDir) -> tuple[Path, ...]:
    """Every folder in which a run began to make an environment, each once; it may be missing or partial now."""
    paths: dict[Path, None] = {}
    for path in journal_paths(data):
        for record in read_records(path):
            match record:
                case EffectStarted(kind=kind, effect=TreeCreated(path=tree_path)) if kind in ENVIRONMENT_KINDS:
                    paths[Path(tree_path)] = None
                case _:
                    pass
    return tuple(paths)


def has_retained_files(data: DataDir, environment: Path) -> bool:
    """Whether the last change to an environment was an uninstall that left the user's files in its folder."""
    environment_effects: set[tuple[str, int]] = set()
    has_files = False
    for path in journal_paths(data):
        for record in read_records(path):
            match record:
                case EffectStarted(kind=kind, effect=TreeCreated(path=tree_path)) if (
                    kind in ENVIRONMENT_KINDS and Path(tree_path) == environment
                ):
                    environment_effects.add((path.name, record.number))
                    has_files = False
                case UndoDone() if (record.run, record.number) in environment_effects:
                    has_files = has_files or record.reason == "files"
                case _:
                    pass
    return has_files


def previous_install_ended(current: Journal, environment: str) -> bool:
    """Whether the last install of an environment before the current run ended by itself, successfully or not."""
    for path in sorted(current.path.parent.glob("*.jsonl"), reverse=True):
        if path == current.path:
            continue
        records = read_records(path)
        if any(
            isinstance(record, RunStarted) and record.plan is not None and record.plan.env == environment
            for record in records
        ):
            return any(isinstance(record, RunEnded) for record in records)
    return False


def interrupted_install(data: DataDir) -> InterruptedInstall | None:
    """The last install, if it did not succeed and has not been uninstalled since."""
    uninstalled: set[str | None] = set()
    for path in reversed(journal_paths(data)):
        records = read_records(path)
        start = next((record for record in records if isinstance(record, RunStarted)), None)
        end = next((record for record in records if isinstance(record, RunEnded)), None)
        if start is None:
            continue
        has_succeeded = end is not None and end.state == "done"
        if start.plan is None:
            if has_succeeded:
                uninstalled.add(start.environment)
            continue
        if has_succeeded or start.plan.env in uninstalled or None in uninstalled:
            return None
        return InterruptedInstall(
            plan=start.plan,
            step=_unfinished_step(records),
            began=start.at,
            state=end.state if end is not None else None,
        )
    return None


def _unfinished_step(records: tuple[JournalRecord, ...]) -> str | None:
    """The first step that did not end well, else the last one that began."""
    started = [record.step for record in records if isinstance(record, StepStarted)]
    finished = {
        record.step for record in records if isinstance(record, StepFinished) and record.state in ("done", "skipped")
    }
    return next((step for step in started if step not in finished), started[-1] if started else None)
