"""The messages of the benchmark's child, as JSON lines, and how a child that misbehaves is ended.

`run_child` (`system/processes.py`) starts it and enforces its time limits; `ChildMessageCollector` keeps what it
reported. All codes of notes, verdicts and workloads are listed here: they are keys of texts, and stored results are
checked against them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from ..core.errors import AppError
from ..core.results import (
    WORKLOAD_UNITS,
    BenchDevice,
    BenchResult,
    DType,
    FitVariant,
    SkippedWorkload,
    StepMemory,
)
from ..system.processes import ChildExit, DeadlineEvent

NOTE_PREFIX = "bench.note."
BUSY_CPU_NOTE = "busy-cpu"
# Reasons to skip a workload, and notes on a result; each has a text `bench.note.<code>`.
SKIP_REASONS = frozenset(
    {
        *("memory", "time", "failed", "lost", "reset", "unsupported", "hardware"),
        *("no-gain", "no-graph", "long-kernel", "pinned"),
    }
)
SPILLED_NOTE = "spilled"
RESULT_NOTES = frozenset({"spread", "few", "wrong", BUSY_CPU_NOTE, SPILLED_NOTE})
CHILD_ENDINGS = ("stopped", "killed", "crashed", "cancelled")  # how a child ended before it had finished
CANCELLED_NOTE = NOTE_PREFIX + "cancelled"
UNFAIR_CONDITIONS = ("battery", "saving", "busy", "throttled")  # conditions that slow a benchmark down
UNSAVED_NOTE = NOTE_PREFIX + "unsaved"
PARALLEL_FAILED_NOTE = NOTE_PREFIX + "parallel"
# All notes on a benchmark, all reasons to skip a workload, and all verdicts, as keys of texts.
BENCHMARK_NOTES = frozenset(
    NOTE_PREFIX + name for name in (*SKIP_REASONS, *RESULT_NOTES, *CHILD_ENDINGS, *UNFAIR_CONDITIONS)
) | {UNSAVED_NOTE, PARALLEL_FAILED_NOTE}
SKIP_NOTES = frozenset(NOTE_PREFIX + name for name in (*SKIP_REASONS, *CHILD_ENDINGS))
VERDICT_PREFIX = "bench.verdict."
VERDICTS = frozenset(
    VERDICT_PREFIX + name
    for name in (
        "cpu-only",
        "cpu-chosen",
        "cpu-build",
        "card-unseen",
        "card-failed",
        "measured",
        "as-expected",
        "above",
        "below",
    )
)
HARMLESS_REASONS = frozenset(
    {"hardware", "no-gain", "no-graph", "long-kernel", "unsupported"}
)  # not noted on the whole benchmark


class TorchLoading(Struct, frozen=True, kw_only=True):
    """PyTorch is being loaded, for at most `limit_s` seconds (None: no limit)."""

    limit_s: float | None


class BenchmarkProgress(Struct, frozen=True, kw_only=True):
    """The measurement now running, number `index` (from 1) of `total`; the other fields as in `BenchResult`.

    `limit_s`: how many seconds all measurements take at most, from the first one on.
    """

    index: int
    total: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]
    limit_s: float | None = None


class MemoryFitProgress(Struct, frozen=True, kw_only=True):
    """The training variant now being measured, number `index` (from 1) of `total`."""

    index: int
    total: int
    variant: FitVariant


class MeasurementStart(Struct, frozen=True):
    """A measurement begins, the child's `n`th (from 1)."""

    n: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]


class ChildDevice(Struct, frozen=True, kw_only=True):
    """A device as in `BenchDevice`, with the driver's UUID of a GPU, which is not stored."""

    id: str
    name: str | None = None
    threads: int | None = None
    memory_bytes: int | None = None
    uuid: str | None = None


class ChildStart(Struct, frozen=True):
    """The child's first message: versions, devices, and the `total` measurements (`work`) that follow within `limit_s`
    seconds. `pid` is its own process, which on Windows is not the one that was started.
    """

    torch: str
    devices: tuple[ChildDevice, ...]
    total: int = field(name="of")
    limit_s: float
    versions: dict[str, str] = {}
    pid: int | None = None
    work: tuple[MeasurementStart, ...] = ()

    @property
    def bench_devices(self) -> tuple[BenchDevice, ...]:
        """The devices as a result has them."""
        return tuple(
            BenchDevice(id=each.id, name=each.name, threads=each.threads, memory_bytes=each.memory_bytes)
            for each in self.devices
        )


class ChildMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the child.

    `timed` is when the runs of the `result` began and ended, in seconds since the epoch.
    `left` is why a workload is skipped; it required `wanted_s` or `wanted_bytes` of the available `had_s` or
    `had_bytes`. `missing` is a requested device that does not exist, `have` those that do. A `variant` with neither
    `left` nor `fit` has begun.
    """

    start: ChildStart | None = None
    begin: MeasurementStart | None = None
    result: BenchResult | None = None
    timed: tuple[float, float] | None = None
    left: str | None = None
    wanted_s: float | None = None
    had_s: float | None = None
    wanted_bytes: int | None = None
    had_bytes: int | None = None
    fit: StepMemory | None = None
    variant: FitVariant | None = None
    broken: str | None = None
    missing: str | None = None
    have: tuple[str, ...] = ()
    end: bool = False


def is_plausible(result: BenchResult) -> bool:
    """Whether codes are known and figures finite, positive and consistent."""
    figures = (*result.samples, result.median, result.q1, result.q3)
    return (
        WORKLOAD_UNITS.get(result.id) == result.unit
        and all(math.isfinite(each) and each > 0 for each in figures)
        and result.q1 <= result.median <= result.q3
        and all(dimension > 0 for dimension in result.size)
        and (result.batch is None or result.batch > 0)
        and (result.runs > 0) != result.extrapolated
        and 0 <= result.seconds < math.inf
        and result.processes > 0
        and (result.efficiency is None or 0 < result.efficiency < math.inf)
    )


class ChildMessageCollector:
    """What the child has reported so far; `report` gets `BenchmarkProgress` and results, `log` implausible ones.

    `extra_measurements` is how many measurements follow the child's own, for `extra_limit_s` seconds each at most.
    `busy_cpu`: other programs use the CPU, which is noted with each of its results. `read_clock` tells a GPU's clock in
    MHz by its id, its UUID and a period, `was_memory_lent` whether the child computed with memory of the computer
    instead of the GPU's in a period.
    """

    def __init__(
        self,
        report: Callable[[Any], None],
        log: Callable[[str], None] = lambda _: None,
        extra_measurements: Callable[[ChildStart], int] = lambda _: 0,
        *,
        extra_limit_s: float = 0.0,
        busy_cpu: bool = False,
        read_clock: Callable[[str, str | None, tuple[float, float]], int | None] = lambda *_: None,
        was_memory_lent: Callable[[tuple[float, float]], bool] = lambda _: False,
    ) -> None:
        self._read_clock, self._was_memory_lent = read_clock, was_memory_lent
        self._report, self._log, self._extra_measurements, self._busy_cpu = report, log, extra_measurements, busy_cpu
        self._extra_limit_s = extra_limit_s
        self._limit_s: float | None = None
        self.total = 0
        self._current: MeasurementStart | None = None
        self._last_answered = 0  # number of the last measurement with a result or a reason to skip it
        self.start: ChildStart | None = None
        self.results: list[BenchResult] = []
        self.skipped: list[SkippedWorkload] = []
        self.notes: dict[str, None] = {}  # each once, in order
        self.broken: str | None = None
        self.missing: ChildMessage | None = None
        self.is_complete = False

    def receive(self, message: ChildMessage) -> None:
        """Store the content of one message and report it."""
        if message.start is not None:
            extra = self._extra_measurements(message.start)
            self.start, self.total = message.start, message.start.total + extra
            self._limit_s = message.start.limit_s + extra * self._extra_limit_s
        self.broken = message.broken if message.broken is not None else self.broken
        self.missing = message if message.missing is not None else self.missing
        self.is_complete = self.is_complete or message.end
        begin = message.begin
        if begin is not None and self.start is not None and begin.workload in WORKLOAD_UNITS:
            self._current = begin
            self.report_progress(begin)
        if self._current is not None and (message.left is not None or message.result is not None):
            self._last_answered = self._current.n
        if message.left is not None and message.left in SKIP_REASONS and self._current is not None:
            self._skip(self._current, message)
        if message.result is not None:
            self.add_result(self._with_log(message.result, message.timed))

    def _with_log(self, result: BenchResult, period: tuple[float, float] | None) -> BenchResult:
        """The result with the GPU's clock while it was timed, and a note where it was timed in borrowed memory."""
        device = next((each for each in self.start.devices if each.id == result.device), None) if self.start else None
        if device is None or device.id == "cpu" or period is None:
            return result
        notes = (*result.notes, SPILLED_NOTE) if self._was_memory_lent(period) else result.notes
        return replace(result, clock_sm=self._read_clock(device.id, device.uuid, period), notes=notes)

    def report_progress(self, measurement: MeasurementStart) -> None:
        """Report that this measurement has begun."""
        self._report(
            BenchmarkProgress(
                index=measurement.n,
                total=self.total,
                workload=measurement.workload,
                device=measurement.device,
                dtype=measurement.dtype,
                size=measurement.size,
                limit_s=self._limit_s,
            )
        )

    def add_result(self, result: BenchResult) -> None:
        """Store and report a result; an implausible one goes to the log."""
        if not is_plausible(result):
            self._log(f"no figure: {result}")
            return
        if self._busy_cpu and result.device == "cpu":
            result = replace(result, notes=(*result.notes, BUSY_CPU_NOTE))
        self.results.append(result)
        self.notes.update({NOTE_PREFIX + note: None for note in result.notes if note in RESULT_NOTES})
        self._report(result)

    def skip_remaining(self, ending: str) -> None:
        """Record all measurements without an answer as skipped; `ending` is one of CHILD_ENDINGS."""
        self.notes[NOTE_PREFIX + ending] = None
        for begin in self.start.work if self.start is not None else ():
            if begin.n > self._last_answered and begin.workload in WORKLOAD_UNITS:
                self._skip(begin, ChildMessage(left=ending))

    def _skip(self, measurement: MeasurementStart, message: ChildMessage) -> None:
        note = f"{NOTE_PREFIX}{message.left}"
        self.skipped.append(
            SkippedWorkload(
                id=measurement.workload,
                device=measurement.device,
                dtype=measurement.dtype,
                size=measurement.size,
                why=note,
                wanted_s=message.wanted_s,
                had_s=message.had_s,
                wanted_bytes=message.wanted_bytes,
                had_bytes=message.had_bytes,
            )
        )
        if message.left not in HARMLESS_REASONS:
            self.notes[note] = None


EXIT_GRACE_S = 3.0  # after its own deadline, before a child is terminated


def child_exit_error(environment: Path, child_exit: ChildExit, deadline: DeadlineEvent) -> AppError:
    """The error for a child that ended, or was terminated, without a usable result."""
    path, status = str(environment), child_exit.status
    if child_exit.reason == "killed":
        return AppError("bench-killed")
    if child_exit.reason == "crashed":
        return AppError("bench-crashed", path=path, status=status)
    if child_exit.foreign_lines:
        return AppError("bench-garbled", path=path)
    if status is None:
        return AppError("bench-silent", path=path, limit_seconds=deadline.timeout_s)
    return AppError("bench-ended", path=path, status=status, reason=child_exit.last_line or "@bench.wordless")


CHILD_PROGRAM = Path(__file__).parent / "child" / "__main__.py"
