"""Runs an example program in an environment's own Python, and reports what it shows.

    ExampleJob ──► run_child ──► child/__main__.py ──► resources/examples/<script>.py
        └─ ExampleStart, ExampleProgress ◄── JSON lines ◄── show(step=…, loss=…, pictures=…)

Nothing that runs is stored here, and no script saves anything.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from ..core.errors import AppError, UsageError, storage_errors
from ..system.locks import data_folder_lock, environment_lock
from ..system.processes import ChildExit, DeadlineEvent, run_child, torch_load_error
from .child_protocol import CHILD_PROGRAM, ExampleMessage, ExampleProgress, ExampleStart
from .programs import SCRIPT_PACKAGES, ExampleName, script_path

if TYPE_CHECKING:
    from ..core.jobs import JobContext
    from ..core.paths import DataDir
    from ..system.base import System

# What Pillow reads without further packages, and cameras and browsers write.
PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
MIN_CLASSES, MIN_PICTURES = 2, 4  # to learn from three and to be examined with one


class ExampleSettings(Struct, frozen=True, kw_only=True):
    """What the user gave: a folder of pictures, weights (a file or a folder)."""

    pictures: Path | None = None
    weights: Path | None = None


class ExampleResult(Struct, frozen=True, kw_only=True):
    """How a program ended: where it ran, what it showed last, and for how many seconds it ran once torch had loaded."""

    program: ExampleName
    schema: Literal["gpu-assistant/example/1"] = "gpu-assistant/example/1"
    torch: str
    device: str
    name: str | None
    last: ExampleProgress | None
    seconds: float


class ExampleJob:
    """One run of a program; reports `ExampleStart` and `ExampleProgress`. `start_limit`: seconds for loading torch."""

    def __init__(
        self,
        environment: Path,
        system: System,
        data: DataDir,
        program: ExampleName,
        *,
        settings: ExampleSettings | None = None,
        device: str | None = None,
        start_limit: float | None = None,
        simulated: bool = False,
    ) -> None:
        self.environment = environment
        self.program: ExampleName = program
        self._system, self._data = system, data
        self._settings = settings or ExampleSettings()
        self._device = device
        self._start_limit = start_limit
        self._simulated = simulated

    def run(self, context: JobContext[Any]) -> ExampleResult:
        """Run to the end. Raises Cancelled, UsageError (example-simulated, picture-folder and those of
        `count_pictures`), AppError (environment-missing, example-…, bench-running, environment-busy).
        """
        if self._simulated:
            raise UsageError("example-simulated")
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        self._check_settings()
        # A benchmark beside it would measure the half of the card.
        with data_folder_lock(self._data, "benchmark", "example-beside"), environment_lock(self.environment):
            return self._run_child(interpreter, context)

    def _check_settings(self) -> None:
        settings = self._settings
        if self.program == "picture-sorter":
            if settings.pictures is None:
                raise UsageError("picture-folder")
            count_pictures(settings.pictures)
        if settings.weights is not None and not settings.weights.exists():
            raise UsageError("weights-missing", path=str(settings.weights))

    def _argv(self, interpreter: Path) -> list[str | Path]:
        settings = {"folder": self._settings.pictures, "weights": self._settings.weights}
        given = {name: str(path.absolute()) for name, path in settings.items() if path is not None}
        argv: list[str | Path] = [interpreter, CHILD_PROGRAM, script_path(self.program)]
        argv += ["--device", self._device] if self._device is not None else []
        cores = self._system.cpu().cores
        argv += ["--cores", str(cores)] if cores else []
        return [*argv, *(["--settings", json.dumps(given)] if given else [])]

    def _run_child(self, interpreter: Path, context: JobContext[Any]) -> ExampleResult:
        start: ExampleStart | None = None
        last: ExampleProgress | None = None
        failure: ExampleMessage | None = None
        has_ended = False
        started = time.monotonic()
        deadline = DeadlineEvent(context.cancel, self._start_limit)

        def handle(message: ExampleMessage) -> None:
            nonlocal start, last, failure, has_ended, started
            if message.start is not None:
                start, started = message.start, time.monotonic()
                deadline.extend(threading.TIMEOUT_MAX)  # from here on the user says when it is enough
                context.report(start)
            if message.shown is not None:
                last = message.shown.progress()
                context.report(last)
            if message.broken is not None or message.lacks is not None or message.error is not None:
                failure = message
            has_ended = has_ended or message.end

        with self._system.keep_awake("example program"):
            child_exit = run_child(
                self._system,
                self._argv(interpreter),
                ExampleMessage,
                handle,
                deadline=deadline,
                log=context.log,
            )
        if has_ended and start is not None:
            return ExampleResult(
                program=self.program,
                torch=start.torch,
                device=start.device,
                name=start.name,
                last=last,
                seconds=time.monotonic() - started,
            )
        raise self._failure(failure, child_exit, deadline)

    def _failure(self, failure: ExampleMessage | None, child_exit: ChildExit, deadline: DeadlineEvent) -> AppError:
        path = str(self.environment)
        if child_exit.is_garbled:
            return AppError("example-garbled", path=path)
        if child_exit.status is None:
            return AppError("bench-silent", path=path, limit_seconds=deadline.timeout_s)
        if failure is None:
            code = "example-killed" if child_exit.reason == "killed" else "example-ended"
            return AppError(code, path=path, status=child_exit.status)
        if failure.broken is not None:
            return torch_load_error(self.environment, failure.broken)
        if failure.lacks is not None:
            package = SCRIPT_PACKAGES.get(failure.lacks, failure.lacks)
            return AppError("example-package", package=package, path=path)
        return (
            AppError("example-failed", reason=failure.error)
            if failure.memory is None
            else AppError("example-memory", memory=f"@example.memory.{failure.memory}")
        )


def count_pictures(folder: Path) -> dict[str, int]:
    """The number of pictures of each class; a class is a folder in `folder`. Raises UsageError: picture-classes (fewer
    than two folders with pictures), picture-few, and AppError as `storage_errors` does.
    """
    counts: dict[str, int] = {}
    with storage_errors(folder):
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.is_dir() and not entry.name.startswith("."):
                names = [name for _, _, names in os.walk(entry.path) for name in names]
                counts[entry.name] = sum(name.lower().endswith(PICTURE_SUFFIXES) for name in names)
    counts = {name: count for name, count in counts.items() if count}
    if len(counts) < MIN_CLASSES:
        raise UsageError("picture-classes", path=str(folder))
    smallest = min(counts, key=lambda name: counts[name])
    if counts[smallest] < MIN_PICTURES:
        raise UsageError("picture-few", path=str(folder / smallest), count=counts[smallest], least=MIN_PICTURES)
    return counts
