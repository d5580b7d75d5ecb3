"""What was begun and what was done, line by line, on the disk before and after each effect.

One file for each run, `journal/<time>-<pid>.jsonl`. A line that was cut by a power loss counts as not written.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from ..core import json
from ..core.json import storage_error
from ..core.paths import DataDir
from ..core.plan import EndState, Plan, StepState


class Began(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="began"):
    """A run begins; an uninstall has no plan. `at` in seconds since the epoch."""

    at: float
    pid: int
    plan: Plan | None = None


class StepBegan(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="step-began"):
    """A step begins."""

    at: float
    id: str


class StepEnded(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="step-ended"):
    """A step ended."""

    at: float
    id: str
    state: StepState


class Makes(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="makes"):
    """The folder `path` is going to be made; whether it was is seen by what stands there.

    `stood`: an empty one was there before, so it is not ours to take away.
    """

    at: float
    kind: str
    path: str
    stood: bool = False


class Removes(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="removes"):
    """The folder `path` is going to be removed."""

    at: float
    kind: str
    path: str


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="ended"):
    """The run came to an end of its own; without this line it was killed."""

    at: float
    state: EndState
    code: str | None = None


Entry = Began | StepBegan | StepEnded | Makes | Removes | Ended


class Journal:
    """The open journal of one run. Every line is on the disk when its call returns; raises AppError."""

    def __init__(self, data: DataDir, plan: Plan | None = None) -> None:
        self.path = data.journal / f"{time.time_ns() // 1_000_000:014d}-{os.getpid()}.jsonl"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb")
        except OSError as error:
            raise storage_error(error, data.journal) from error
        self._write(Began(at=time.time(), pid=os.getpid(), plan=plan))

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

    def makes(self, kind: str, path: Path) -> None:
        """Say what folder is going to be made."""
        self._write(Makes(at=time.time(), kind=kind, path=str(path), stood=path.is_dir()))

    def removes(self, kind: str, path: Path) -> None:
        """Say what folder is going to be removed."""
        self._write(Removes(at=time.time(), kind=kind, path=str(path)))

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


def read(path: Path) -> tuple[Entry, ...]:
    """The whole lines of one journal, in order; damaged ones are passed over."""
    entries: list[Entry] = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return ()
    for line in lines:
        try:
            entries.append(msgspec.json.decode(line, type=Entry))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return tuple(entries)


def files(data: DataDir) -> tuple[Path, ...]:
    """The journals of a data folder, oldest first."""
    return tuple(sorted(data.journal.glob("*.jsonl")))


def environments(data: DataDir) -> tuple[Path, ...]:
    """Every folder that a run set out to make an environment of, each once; it may be gone, or half made."""
    return tuple(_made(data))


def stood_before(data: DataDir, environment: Path) -> bool:
    """Whether an empty folder was there when the last run set out to make this environment."""
    made = _made(data).get(environment)
    return made is not None and made.stood


def _made(data: DataDir) -> dict[Path, Makes]:
    """What the last run that made each environment said of it."""
    found: dict[Path, Makes] = {}
    for path in files(data):
        for entry in read(path):
            if isinstance(entry, Makes) and entry.kind == "environment":
                found[Path(entry.path)] = entry
    return found


def interrupted(data: DataDir) -> Plan | None:
    """The plan of the last install if it did not come to a good end."""
    for path in reversed(files(data)):
        entries = read(path)
        plan = next((entry.plan for entry in entries if isinstance(entry, Began)), None)
        if plan is None:
            continue
        done = any(isinstance(entry, Ended) and entry.state == "done" for entry in entries)
        return None if done else plan
    return None
