"""What a step can do to the world, as the journal keeps it: enough to see whether it is there, and to take it back.

What was begun and what was done, line by line, on the disk before and after each effect.

One file for each run, `journal/<time>-<pid>.jsonl`, which is only ever appended to. A line that was cut by a power
loss counts as not written. An effect is one `Intends` before and one `Happened` after; where the second is missing,
nobody knows but the world, which `ledger.py` asks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec
from msgspec import Struct

from ...core import json
from ...core.json import storage_error
from ...core.paths import DataDir
from ...core.plan import EndState, InterruptedInstall, Plan, StepState
from ...core.types import Value


class FolderCreated(Struct, frozen=True, kw_only=True, tag_field="effect", tag="folder"):
    """An empty folder for others to lie in."""

    path: str


class TreeCreated(Struct, frozen=True, kw_only=True, tag_field="effect", tag="tree"):
    """A folder that appears whole, by a rename; `removal.py` knows what in it is ours.

    `stood`: an empty one was there before, so it is not ours to take away.
    """

    path: str
    stood: bool = False


class FolderMoved(Struct, frozen=True, kw_only=True, tag_field="effect", tag="moved"):
    """A folder of the user's that stood in the way, and where it is now."""

    path: str
    to: str


class FilesAdded(Struct, frozen=True, kw_only=True, tag_field="effect", tag="files"):
    """Files among others in a folder; `receipt` is the name of the file there that lists them."""

    path: str
    receipt: str


class FileWritten(Struct, frozen=True, kw_only=True, tag_field="effect", tag="file"):
    """A file that is replaced whole: `sha256` of its new text, `before` its old bytes (None: there was none)."""

    path: str
    sha256: str
    before: bytes | None = None


class VariableSet(Struct, frozen=True, kw_only=True, tag_field="effect", tag="variable"):
    """One of the user's environment variables; `before` and `before_expand` are what it was (None: there was none)."""

    name: str
    value: str
    expand: bool = False
    before: str | None = None
    before_expand: bool = False


class PathEntryAdded(Struct, frozen=True, kw_only=True, tag_field="effect", tag="path-entry"):
    """A folder at the end of the user's PATH; `before` is a backup of the whole text."""

    folder: str
    before: str | None = None
    before_expand: bool = False


class LoginCommandSet(Struct, frozen=True, kw_only=True, tag_field="effect", tag="at-login"):
    """The command that runs after the next login."""

    words: tuple[str, ...]


class ProgramInstalled(Struct, frozen=True, kw_only=True, tag_field="effect", tag="program"):
    """A program that its own installer put there; the kind that installed it says how it is seen and removed.

    Versions are as the maker writes them; `before` is None where there was none.
    """

    name: str
    after: str
    before: str | None = None
    more: dict[str, Value] = {}


Effect = (
    FolderCreated
    | TreeCreated
    | FolderMoved
    | FilesAdded
    | FileWritten
    | VariableSet
    | PathEntryAdded
    | LoginCommandSet
    | ProgramInstalled
)


def effect_key(effect: Effect) -> tuple[str, str]:  # noqa: PLR0911 - one for each effect
    """Equal for effects on the same thing."""
    match effect:
        case FolderCreated() | TreeCreated() | FileWritten():
            return "place", os.path.normcase(effect.path)
        case FolderMoved():
            return "moved", os.path.normcase(effect.to)
        case FilesAdded():
            return "files", os.path.normcase(f"{effect.path}/{effect.receipt}")
        case VariableSet():
            return "variable", effect.name.upper()
        case PathEntryAdded():
            return "path-entry", os.path.normcase(effect.folder)
        case LoginCommandSet():
            return "at-login", ""
        case ProgramInstalled():
            return "program", effect.name


RetentionReason = Literal["needed", "changed", "files", "filled", "taken", "system"]


# The kinds whose tree is an environment, the second where conda makes it.
ENVIRONMENT_KINDS = ("python-packages", "conda-environment")


class RunStarted(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="began"):
    """A run begins: an install with its plan, the removal of `env` (None: of everything), or something small that is
    done for `env` afterwards, which has no `Ended`. `at` since the epoch.
    """

    at: float
    pid: int
    plan: Plan | None = None
    env: str | None = None


class StepStarted(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="step-began"):
    """A step begins."""

    at: float
    id: str


class StepFinished(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="step-ended"):
    """A step ended."""

    at: float
    id: str
    state: StepState


class EffectStarted(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="intends"):
    """The `n`-th effect of this run is going to be made, by a step of this kind; `id` is the step's in the plan."""

    at: float
    n: int
    kind: str
    effect: Effect
    id: str | None = None


class EffectDone(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="happened"):
    """The `n`-th effect of this run is there."""

    at: float
    n: int


class EffectObserved(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="found"):
    """What the world shows of an effect that another run intended, and of which it could not say the end."""

    at: float
    run: str
    n: int
    there: bool


class UndoStarted(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="undoes"):
    """The `n`-th effect of another run is going to be taken back."""

    at: float
    run: str
    n: int


class UndoDone(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="undid"):
    """It is taken back; `why` tells what of it stays: what the user changed, or files that are not ours. What is
    "needed" by another environment, "filled" with files of others, part of the "system" now, or has no free place to
    go back to ("taken"), has `Kept` instead.
    """

    at: float
    run: str
    n: int
    why: RetentionReason | None = None


class EffectRetained(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="kept"):
    """It stays for now, because another environment needs it; it goes with the last one that does."""

    at: float
    run: str
    n: int


class RunEnded(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="ended"):
    """The run came to an end of its own; without this line it was killed."""

    at: float
    state: EndState
    code: str | None = None


JournalEntry = (
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
    """The open journal of one run. Every line is on the disk when its call returns; raises AppError."""

    def __init__(self, data: DataDir, plan: Plan | None = None, environment: str | None = None) -> None:
        self.path = data.journal / f"{time.time_ns() // 1_000_000:014d}-{os.getpid()}.jsonl"
        self._effect_count = 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb")
        except OSError as error:
            raise storage_error(error, data.journal) from error
        _sync_folder(self.path.parent)
        self._write(RunStarted(at=time.time(), pid=os.getpid(), plan=plan, env=environment))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def start_step(self, step: str) -> None:
        """A step begins."""
        self._write(StepStarted(at=time.time(), id=step))

    def finish_step(self, step: str, state: StepState) -> None:
        """A step ended."""
        self._write(StepFinished(at=time.time(), id=step, state=state))

    def start_effect(self, kind: str, effect: Effect, step: str | None = None) -> int:
        """Say what is going to be done; gives its number for `happened`."""
        self._effect_count += 1
        self._write(EffectStarted(at=time.time(), n=self._effect_count, kind=kind, effect=effect, id=step))
        return self._effect_count

    def finish_effect(self, number: int) -> None:
        """Say that it is done."""
        self._write(EffectDone(at=time.time(), n=number))

    @contextmanager
    def effect(self, kind: str, effect: Effect, step: str | None = None) -> Iterator[None]:
        """Both lines around what is done inside; after an error the second is missing, and the world is asked."""
        number = self.start_effect(kind, effect, step)
        yield
        self.finish_effect(number)

    def observe_effect(self, run: str, number: int, *, is_present: bool) -> None:
        """Say what the world shows of another run's effect."""
        self._write(EffectObserved(at=time.time(), run=run, n=number, there=is_present))

    def start_undo(self, run: str, number: int) -> None:
        """Say that another run's effect is going to be taken back."""
        self._write(UndoStarted(at=time.time(), run=run, n=number))

    def finish_undo(self, run: str, number: int, reason: RetentionReason | None = None) -> None:
        """Say that it is, and what of it stays."""
        self._write(UndoDone(at=time.time(), run=run, n=number, why=reason))

    def retain_effect(self, run: str, number: int) -> None:
        """Say that it stays for now."""
        self._write(EffectRetained(at=time.time(), run=run, n=number))

    def end_run(self, state: EndState, code: str | None = None) -> None:
        """The run ends."""
        self._write(RunEnded(at=time.time(), state=state, code=code))

    def _write(self, entry: JournalEntry) -> None:
        try:
            self._file.write(json.encode(entry) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise storage_error(error, self.path.parent) from error


def _sync_folder(folder: Path) -> None:
    """The new file's name, too, where the system lets us; NTFS keeps names in a journal of its own."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_entries(path: Path) -> tuple[JournalEntry, ...]:
    """The whole lines of one journal, in order; damaged ones are passed over."""
    entries: list[JournalEntry] = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return ()
    for line in lines:
        try:
            entries.append(json.decode(line, JournalEntry))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return tuple(entries)


def journal_paths(data: DataDir) -> tuple[Path, ...]:
    """The journals of a data folder, oldest first."""
    return tuple(sorted(data.journal.glob("*.jsonl")))


def environment_paths(data: DataDir) -> tuple[Path, ...]:
    """Every folder that a run set out to make an environment of, each once; it may be gone, or half made."""
    paths: dict[Path, None] = {}
    for path in journal_paths(data):
        for entry in read_entries(path):
            if (
                isinstance(entry, EffectStarted)
                and entry.kind in ENVIRONMENT_KINDS
                and isinstance(entry.effect, TreeCreated)
            ):
                paths[Path(entry.effect.path)] = None
    return tuple(paths)


def has_retained_files(data: DataDir, environment: Path) -> bool:
    """Whether the last that was done about an environment is a removal that left files of the user's in its place."""
    environment_effects: set[tuple[str, int]] = set()
    retained = False
    for path in journal_paths(data):
        for entry in read_entries(path):
            match entry:
                case EffectStarted(kind=kind, effect=TreeCreated(path=tree_path)) if (
                    kind in ENVIRONMENT_KINDS and Path(tree_path) == environment
                ):
                    environment_effects.add((path.name, entry.n))
                    retained = False
                case UndoDone() if (entry.run, entry.n) in environment_effects:
                    retained = retained or entry.why == "files"
                case _:
                    pass
    return retained


def last_install_ended(current: Journal, environment: str) -> bool:
    """Whether the last install for an environment before the run of `book` ended by itself, whatever its end."""
    for path in sorted(current.path.parent.glob("*.jsonl"), reverse=True):
        if path == current.path:
            continue
        entries = read_entries(path)
        if any(
            isinstance(entry, RunStarted) and entry.plan is not None and entry.plan.env == environment
            for entry in entries
        ):
            return any(isinstance(entry, RunEnded) for entry in entries)
    return False


def interrupted_install(data: DataDir) -> InterruptedInstall | None:
    """The last install if it did not come to a good end, and nobody took it back since."""
    removed: set[str | None] = set()
    for path in reversed(journal_paths(data)):
        entries = read_entries(path)
        start = next((entry for entry in entries if isinstance(entry, RunStarted)), None)
        end = next((entry for entry in entries if isinstance(entry, RunEnded)), None)
        if start is None:
            continue
        if start.plan is None:
            if end is not None and end.state == "done":
                removed.add(start.env)
            continue
        if (end is not None and end.state == "done") or start.plan.env in removed or None in removed:
            return None
        return InterruptedInstall(
            plan=start.plan, step=_failed_step(entries), began=start.at, state=end.state if end is not None else None
        )
    return None


def _failed_step(entries: tuple[JournalEntry, ...]) -> str | None:
    """The first step that did not end well, else the last one that began."""
    started = [entry.id for entry in entries if isinstance(entry, StepStarted)]
    completed = {
        entry.id for entry in entries if isinstance(entry, StepFinished) and entry.state in ("done", "skipped")
    }
    return next((step for step in started if step not in completed), started[-1] if started else None)
