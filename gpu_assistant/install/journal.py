"""What was begun and what was done, line by line, on the disk before and after each effect.

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

from ..core import json
from ..core.json import storage_error
from ..core.paths import DataDir
from ..core.plan import EndState, Interrupted, Plan, StepState
from .effects import Effect, TreeMade

Why = Literal["needed", "changed", "files", "filled", "taken", "system"]


# The kinds whose tree is an environment, the second where conda makes it.
MAKERS = ("python-packages", "conda-environment")


class Began(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="began"):
    """A run begins: an install with its plan, the removal of `env` (None: of everything), or something small that is
    done for `env` afterwards, which has no `Ended`. `at` since the epoch.
    """

    at: float
    pid: int
    plan: Plan | None = None
    env: str | None = None


class StepBegan(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="step-began"):
    """A step begins."""

    at: float
    id: str


class StepEnded(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="step-ended"):
    """A step ended."""

    at: float
    id: str
    state: StepState


class Intends(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="intends"):
    """The `n`-th effect of this run is going to be made, by a step of this kind; `id` is the step's in the plan."""

    at: float
    n: int
    kind: str
    effect: Effect
    id: str | None = None


class Happened(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="happened"):
    """The `n`-th effect of this run is there."""

    at: float
    n: int


class Found(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="found"):
    """What the world shows of an effect that another run intended, and of which it could not say the end."""

    at: float
    run: str
    n: int
    there: bool


class Undoes(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="undoes"):
    """The `n`-th effect of another run is going to be taken back."""

    at: float
    run: str
    n: int


class Undid(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="undid"):
    """It is taken back; `why` tells what of it stays: what the user changed, or files that are not ours. What is
    "needed" by another environment, "filled" with files of others, part of the "system" now, or has no free place to
    go back to ("taken"), has `Kept` instead.
    """

    at: float
    run: str
    n: int
    why: Why | None = None


class Kept(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="kept"):
    """It stays for now, because another environment needs it; it goes with the last one that does."""

    at: float
    run: str
    n: int


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="ended"):
    """The run came to an end of its own; without this line it was killed."""

    at: float
    state: EndState
    code: str | None = None


Entry = Began | StepBegan | StepEnded | Intends | Happened | Found | Undoes | Undid | Kept | Ended


class Journal:
    """The open journal of one run. Every line is on the disk when its call returns; raises AppError."""

    def __init__(self, data: DataDir, plan: Plan | None = None, env: str | None = None) -> None:
        self.path = data.journal / f"{time.time_ns() // 1_000_000:014d}-{os.getpid()}.jsonl"
        self._count = 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb")
        except OSError as error:
            raise storage_error(error, data.journal) from error
        _flush_names(self.path.parent)
        self._write(Began(at=time.time(), pid=os.getpid(), plan=plan, env=env))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def step_began(self, step: str) -> None:
        """A step begins."""
        self._write(StepBegan(at=time.time(), id=step))

    def step_ended(self, step: str, state: StepState) -> None:
        """A step ended."""
        self._write(StepEnded(at=time.time(), id=step, state=state))

    def intends(self, kind: str, effect: Effect, step: str | None = None) -> int:
        """Say what is going to be done; gives its number for `happened`."""
        self._count += 1
        self._write(Intends(at=time.time(), n=self._count, kind=kind, effect=effect, id=step))
        return self._count

    def happened(self, number: int) -> None:
        """Say that it is done."""
        self._write(Happened(at=time.time(), n=number))

    @contextmanager
    def effect(self, kind: str, effect: Effect, step: str | None = None) -> Iterator[None]:
        """Both lines around what is done inside; after an error the second is missing, and the world is asked."""
        number = self.intends(kind, effect, step)
        yield
        self.happened(number)

    def found(self, run: str, number: int, *, there: bool) -> None:
        """Say what the world shows of another run's effect."""
        self._write(Found(at=time.time(), run=run, n=number, there=there))

    def undoes(self, run: str, number: int) -> None:
        """Say that another run's effect is going to be taken back."""
        self._write(Undoes(at=time.time(), run=run, n=number))

    def undid(self, run: str, number: int, why: Why | None = None) -> None:
        """Say that it is, and what of it stays."""
        self._write(Undid(at=time.time(), run=run, n=number, why=why))

    def kept(self, run: str, number: int) -> None:
        """Say that it stays for now."""
        self._write(Kept(at=time.time(), run=run, n=number))

    def ended(self, state: EndState, code: str | None = None) -> None:
        """The run ends."""
        self._write(Ended(at=time.time(), state=state, code=code))

    def _write(self, entry: Entry) -> None:
        try:
            self._file.write(json.encode(entry) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise storage_error(error, self.path.parent) from error


def _flush_names(folder: Path) -> None:
    """The new file's name, too, where the system lets us; NTFS keeps names in a journal of its own."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(path: Path) -> tuple[Entry, ...]:
    """The whole lines of one journal, in order; damaged ones are passed over."""
    entries: list[Entry] = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return ()
    for line in lines:
        try:
            entries.append(json.decode(line, Entry))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return tuple(entries)


def files(data: DataDir) -> tuple[Path, ...]:
    """The journals of a data folder, oldest first."""
    return tuple(sorted(data.journal.glob("*.jsonl")))


def environments(data: DataDir) -> tuple[Path, ...]:
    """Every folder that a run set out to make an environment of, each once; it may be gone, or half made."""
    found: dict[Path, None] = {}
    for path in files(data):
        for entry in read(path):
            if isinstance(entry, Intends) and entry.kind in MAKERS and isinstance(entry.effect, TreeMade):
                found[Path(entry.effect.path)] = None
    return tuple(found)


def left_files(data: DataDir, environment: Path) -> bool:
    """Whether the last that was done about an environment is a removal that left files of the user's in its place."""
    made: set[tuple[str, int]] = set()
    left = False
    for path in files(data):
        for entry in read(path):
            match entry:
                case Intends(kind=kind, effect=TreeMade(path=place)) if kind in MAKERS and Path(place) == environment:
                    made.add((path.name, entry.n))
                    left = False
                case Undid() if (entry.run, entry.n) in made:
                    left = left or entry.why == "files"
                case _:
                    pass
    return left


def came_to_an_end(book: Journal, env: str) -> bool:
    """Whether the last install for an environment before the run of `book` ended by itself, whatever its end."""
    for path in sorted(book.path.parent.glob("*.jsonl"), reverse=True):
        if path == book.path:
            continue
        entries = read(path)
        if any(isinstance(entry, Began) and entry.plan is not None and entry.plan.env == env for entry in entries):
            return any(isinstance(entry, Ended) for entry in entries)
    return False


def interrupted(data: DataDir) -> Interrupted | None:
    """The last install if it did not come to a good end, and nobody took it back since."""
    removed: set[str | None] = set()
    for path in reversed(files(data)):
        entries = read(path)
        began = next((entry for entry in entries if isinstance(entry, Began)), None)
        end = next((entry for entry in entries if isinstance(entry, Ended)), None)
        if began is None:
            continue
        if began.plan is None:
            if end is not None and end.state == "done":
                removed.add(began.env)
            continue
        if (end is not None and end.state == "done") or began.plan.env in removed or None in removed:
            return None
        return Interrupted(
            plan=began.plan, step=_stopped_at(entries), began=began.at, state=end.state if end is not None else None
        )
    return None


def _stopped_at(entries: tuple[Entry, ...]) -> str | None:
    """The first step that did not end well, else the last one that began."""
    begun = [entry.id for entry in entries if isinstance(entry, StepBegan)]
    well = {entry.id for entry in entries if isinstance(entry, StepEnded) and entry.state in ("done", "skipped")}
    return next((step for step in begun if step not in well), begun[-1] if begun else None)
