"""Measures an environment's devices: starts `child.py` in its own Python, listens, keeps the result."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ..core import json
from ..core.errors import AppError, CallError, Cancelled
from ..core.jobs import JobContext
from ..core.results import BenchDevice, Benchmark, BenchResult, DType
from ..system.json_lines import run_child
from .compare import speedup

if TYPE_CHECKING:
    from ..core.paths import DataDir
    from ..system.base import System

CHILD = Path(__file__).with_name("child.py")
QUICK_LIMIT_S, FULL_LIMIT_S = 300.0, 3600.0  # the child ends long before; this is for one that hangs


class BenchProgress(Struct, frozen=True, kw_only=True):
    """What is being measured now: the `n`th of `of`, a workload on a device in a format; `size` as in results."""

    n: int
    of: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]


class _Start(Struct, frozen=True):
    torch: str
    devices: tuple[BenchDevice, ...]
    of: int


class _Begin(Struct, frozen=True):
    n: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the child; `missing` names the wanted device where there is none such, `have` those there are."""

    start: _Start | None = None
    begin: _Begin | None = None
    result: BenchResult | None = None
    note: str | None = None
    broken: str | None = None
    missing: str | None = None
    have: tuple[str, ...] = ()
    end: bool = False


class _Heard:
    """What the child said so far."""

    def __init__(self, report: Callable[[Any], None], known_note: Callable[[str], bool]) -> None:
        self._report = report
        self._known_note = known_note
        self.start: _Start | None = None
        self.results: list[BenchResult] = []
        self.notes: dict[str, None] = {}  # each once, in order
        self.broken: str | None = None
        self.missing: _Line | None = None
        self.ended = False

    def line(self, line: _Line) -> None:
        """Take one line in and pass its news on."""
        self.start = line.start or self.start
        self.broken = line.broken if line.broken is not None else self.broken
        self.missing = line if line.missing is not None else self.missing
        self.ended = self.ended or line.end
        if line.note is not None and self._known_note(line.note):
            self.notes[line.note] = None
        if line.begin is not None and self.start is not None:
            at = line.begin
            self._report(
                BenchProgress(
                    n=at.n, of=self.start.of, workload=at.workload, device=at.device, dtype=at.dtype, size=at.size
                )
            )
        if line.result is not None:
            self.results.append(line.result)
            self._report(line.result)


class BenchJob:
    """One run. News are `BenchProgress` and `BenchResult`.

    `device` ("cpu", "cuda:0") leaves the others out. `time_limit` in seconds ends a child that hangs.
    """

    def __init__(
        self,
        environment: Path,
        system: System,
        data: DataDir,
        *,
        full: bool = False,
        device: str | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.environment = environment
        self._system = system
        self._data = data
        self._full = full
        self._device = device
        self._time_limit = time_limit or (FULL_LIMIT_S if full else QUICK_LIMIT_S)

    def run(self, context: JobContext[Any]) -> Benchmark:
        """Measure, and keep the result below the data folder.

        A child that dies or hangs after its first results leaves those, with a note. Raises
        AppError("environment-missing", "bench-no-torch", "bench-no-device", "bench-stopped") and Cancelled.
        """
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        started = time.time()
        heard = _Heard(context.report, NOTES.__contains__)
        with self._system.keep_awake("benchmark"):
            self._listen(interpreter, heard, context)
        if heard.start is None or not heard.results:
            raise self._trouble(heard)
        if not heard.ended:
            heard.notes["bench.note.stopped"] = None
        gpu = any(result.device != "cpu" for result in heard.results)
        benchmark = Benchmark(
            schema="gpu-assistant/benchmark/1",
            torch=heard.start.torch,
            devices=self._named(heard.start.devices),
            results=tuple(heard.results),
            speedup=speedup(heard.results),
            verdict="bench.verdict.measured" if gpu else "bench.verdict.cpu-only",
            started=started,
            seconds=time.time() - started,
            notes=tuple(heard.notes),
        )
        return self._kept(benchmark, context)

    def _listen(self, interpreter: Path, heard: _Heard, context: JobContext[Any]) -> None:
        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD]
        argv += ["--full"] if self._full else []
        argv += ["--device", self._device] if self._device else []
        argv += ["--cores", str(cores)] if cores else []
        try:
            run_child(
                self._system,
                argv,
                _Line,
                heard.line,
                timeout=self._time_limit,
                cancel=context.cancel,
                log=context.log,
            )
        except Cancelled:
            raise
        except AppError as error:
            # What was measured before a hang is still true.
            if error.code != "program-timeout" or not heard.results:
                raise

    def _trouble(self, heard: _Heard) -> AppError:
        if heard.broken is not None:
            return AppError("bench-no-torch", path=str(self.environment), reason=heard.broken)
        if heard.missing is not None:
            return CallError("bench-no-device", device=heard.missing.missing, have=", ".join(heard.missing.have))
        reason = next(iter(heard.notes), "bench.note.stopped")
        return AppError("bench-stopped", reason=f"@{reason}")

    def _named(self, devices: tuple[BenchDevice, ...]) -> tuple[BenchDevice, ...]:
        """The processor's name and the memory, which torch does not know."""
        name = self._system.cpu().name
        return tuple(replace(device, name=name) if device.id == "cpu" else device for device in devices)

    def _kept(self, benchmark: Benchmark, context: JobContext[Any]) -> Benchmark:
        moment = datetime.fromtimestamp(benchmark.started or 0, UTC)
        path = self._data.benchmarks / f"{moment:%Y%m%dT%H%M%S.%fZ}.json"
        try:
            json.write_file(path, json.encode_pretty(benchmark) + "\n")
        except AppError as error:
            context.log(f"{error.code}: {path}")
            return replace(benchmark, notes=(*benchmark.notes, "bench.note.unsaved"))
        return benchmark


NOTES = frozenset(
    f"bench.note.{name}" for name in ("memory", "time", "failed", "spread", "wrong", "stopped", "unsaved")
)
