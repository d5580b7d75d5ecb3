"""What the child says, line by line, and what was heard of it so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..core.memory import FitSteps, FitVariant
from ..core.results import BenchDevice, BenchResult, DType, LeftOut

NOTE = "bench.note."
BUSY_CPU = "busy-cpu"
# Why a workload is left out, and what is noted about a result; each has a text `bench.note.<code>`.
REASONS = frozenset({"memory", "time", "failed", "lost", "unsupported", "hardware", "pinned"})
REMARKS = frozenset({"spread", "few", "wrong", BUSY_CPU})
ENDINGS = ("stopped", "killed", "crashed", "cancelled")  # how a child ended before its end
CANCELLED = NOTE + "cancelled"
CONDITIONS = ("battery", "saving", "busy", "throttled")  # what made the test unfair
UNSAVED = NOTE + "unsaved"
PARALLEL = NOTE + "parallel"
# All that is noted about a benchmark, why something of it was left out, and what is said of it all; texts' keys.
NOTES = frozenset(NOTE + name for name in (*REASONS, *REMARKS, *ENDINGS, *CONDITIONS)) | {UNSAVED, PARALLEL}
LEFT = frozenset(NOTE + name for name in (*REASONS, *ENDINGS))
VERDICT = "bench.verdict."
VERDICTS = frozenset(
    VERDICT + name
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
QUIET = frozenset({"hardware", "unsupported"})  # says nothing against the figures
# What can be measured; each has a text `bench.workload.<id>`.
WORKLOADS = frozenset(
    {
        "matmul",
        "copy-within",
        "copy-to-device",
        "copy-to-device-pinned",
        "copy-to-host",
        "copy-to-host-pinned",
        "resnet50",
        "bert-base",
        "decode",
        "resnet50-parallel",
        "bert-base-parallel",
    }
)
UNITS = frozenset({"TFLOP/s", "GB/s", "images/s", "sequences/s", "tokens/s"})


class Loading(Struct, frozen=True, kw_only=True):
    """PyTorch is being loaded, which may take so many seconds the first time; None: nobody says how long."""

    limit_s: float | None


class BenchProgress(Struct, frozen=True, kw_only=True):
    """What is being measured now: the `n`th of `of`, a workload on a device in a format; `size` as in results."""

    n: int
    of: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]


class FitProgress(Struct, frozen=True, kw_only=True):
    """What is being worked out now: the `n`th of `of` ways to train."""

    n: int
    of: int
    variant: FitVariant


class Begin(Struct, frozen=True):
    """A measurement begins."""

    n: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]


class Start(Struct, frozen=True):
    """What is there, how many measurements come and which, and the seconds until it ends at the latest."""

    torch: str
    devices: tuple[BenchDevice, ...]
    of: int
    limit_s: float
    versions: dict[str, str] = {}
    work: tuple[Begin, ...] = ()


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the child; what is `left` out wanted and had so many seconds or bytes. `missing` names the wanted
    device where there is none such, `have` those there are.

    A `variant` with neither `left` nor `fit` begins.
    """

    start: Start | None = None
    begin: Begin | None = None
    result: BenchResult | None = None
    left: str | None = None
    wanted_s: float | None = None
    had_s: float | None = None
    wanted_bytes: int | None = None
    had_bytes: int | None = None
    fit: FitSteps | None = None
    variant: FitVariant | None = None
    broken: str | None = None
    missing: str | None = None
    have: tuple[str, ...] = ()
    end: bool = False


def sound(result: BenchResult) -> bool:
    """Whether a measurement can have come out like this."""
    measured = (*result.samples, result.median, result.q1, result.q3)
    return (
        result.id in WORKLOADS
        and result.unit in UNITS
        and all(math.isfinite(each) and each > 0 for each in measured)
        and result.q1 <= result.median <= result.q3
        and all(side > 0 for side in result.size)
        and (result.batch is None or result.batch > 0)
        and (result.runs > 0) != result.extrapolated
        and 0 <= result.seconds < math.inf
        and result.processes > 0
        and (result.efficiency is None or 0 < result.efficiency < math.inf)
    )


class Heard:
    """What the child said so far; `report` gets `BenchProgress` and results, `log` what cannot be.

    `more` is how many measurements come after the child's own. `busy`: other programs keep the processor busy, and each
    of its figures says so.
    """

    def __init__(
        self,
        report: Callable[[Any], None],
        log: Callable[[str], None] = lambda _: None,
        more: Callable[[Start], int] = lambda _: 0,
        *,
        busy: bool = False,
    ) -> None:
        self._report, self._log, self._more, self._busy = report, log, more, busy
        self.of = 0
        self._at: Begin | None = None
        self._answered = 0  # the number of the last measurement that has a result, or a reason to have none
        self.start: Start | None = None
        self.results: list[BenchResult] = []
        self.left_out: list[LeftOut] = []
        self.notes: dict[str, None] = {}  # each once, in order
        self.broken: str | None = None
        self.missing: Line | None = None
        self.ended = False

    def line(self, line: Line) -> None:
        """Take one line in and pass its news on."""
        if line.start is not None:
            self.start, self.of = line.start, line.start.of + self._more(line.start)
        self.broken = line.broken if line.broken is not None else self.broken
        self.missing = line if line.missing is not None else self.missing
        self.ended = self.ended or line.end
        begin = line.begin
        if begin is not None and self.start is not None and begin.workload in WORKLOADS:
            self._at = begin
            self.say(begin)
        if self._at is not None and (line.left is not None or line.result is not None):
            self._answered = self._at.n
        if line.left is not None and line.left in REASONS and self._at is not None:
            self._left(self._at, line)
        if line.result is not None:
            self.take(line.result)

    def say(self, at: Begin) -> None:
        """What is being measured now."""
        self._report(
            BenchProgress(n=at.n, of=self.of, workload=at.workload, device=at.device, dtype=at.dtype, size=at.size)
        )

    def take(self, result: BenchResult) -> None:
        """One more result; one that no measurement can have goes to the log."""
        if not sound(result):
            self._log(f"no figure: {result}")
            return
        if self._busy and result.device == "cpu":
            result = replace(result, notes=(*result.notes, BUSY_CPU))
        self.results.append(result)
        self.notes.update({NOTE + note: None for note in result.notes if note in REMARKS})
        self._report(result)

    def give_up(self, how: str) -> None:
        """The child ended before its end (one of `ENDINGS`): what it had not measured is left out."""
        self.notes[NOTE + how] = None
        for begin in self.start.work if self.start is not None else ():
            if begin.n > self._answered and begin.workload in WORKLOADS:
                self._left(begin, Line(left=how))

    def _left(self, at: Begin, line: Line) -> None:
        why = f"{NOTE}{line.left}"
        self.left_out.append(
            LeftOut(
                id=at.workload,
                device=at.device,
                dtype=at.dtype,
                size=at.size,
                why=why,
                wanted_s=line.wanted_s,
                had_s=line.had_s,
                wanted_bytes=line.wanted_bytes,
                had_bytes=line.had_bytes,
            )
        )
        if line.left not in QUIET:
            self.notes[why] = None
