"""What the child says, line by line, and what was heard of it so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..core.results import BenchDevice, BenchResult, DType, LeftOut, MemoryFit

NOTE = "bench.note."
# Why a workload is left out, and what is noted about a result; each has a text `bench.note.<code>`.
REASONS = frozenset({"memory", "time", "failed", "lost", "unsupported", "hardware", "pinned"})
REMARKS = frozenset({"spread", "wrong"})
QUIET = frozenset({"hardware", "unsupported"})  # says nothing against the figures


class BenchProgress(Struct, frozen=True, kw_only=True):
    """What is being measured now: the `n`th of `of`, a workload on a device in a format; `size` as in results."""

    n: int
    of: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]


class Start(Struct, frozen=True):
    """What is there, and how many measurements come."""

    torch: str
    devices: tuple[BenchDevice, ...]
    of: int
    versions: dict[str, str] = {}


class Begin(Struct, frozen=True):
    """A measurement begins."""

    n: int
    workload: str
    device: str
    dtype: DType
    size: tuple[int, ...]


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the child; `missing` names the wanted device where there is none such, `have` those there are."""

    start: Start | None = None
    begin: Begin | None = None
    result: BenchResult | None = None
    left: str | None = None
    fit: MemoryFit | None = None
    variant: str | None = None
    torch: str | None = None
    broken: str | None = None
    missing: str | None = None
    have: tuple[str, ...] = ()
    end: bool = False


class Heard:
    """What the child said so far; `report` gets `BenchProgress` and results."""

    def __init__(self, report: Callable[[Any], None]) -> None:
        self._report = report
        self._at: Begin | None = None
        self.start: Start | None = None
        self.results: list[BenchResult] = []
        self.left_out: list[LeftOut] = []
        self.notes: dict[str, None] = {}  # each once, in order
        self.broken: str | None = None
        self.missing: Line | None = None
        self.ended = False

    def line(self, line: Line) -> None:
        """Take one line in and pass its news on."""
        self.start = line.start or self.start
        self.broken = line.broken if line.broken is not None else self.broken
        self.missing = line if line.missing is not None else self.missing
        self.ended = self.ended or line.end
        if line.begin is not None and self.start is not None:
            self._at = at = line.begin
            self._report(
                BenchProgress(
                    n=at.n, of=self.start.of, workload=at.workload, device=at.device, dtype=at.dtype, size=at.size
                )
            )
        if line.left is not None and line.left in REASONS and self._at is not None:
            self._left(self._at, line.left)
        if line.result is not None:
            self.take(line.result)

    def take(self, result: BenchResult) -> None:
        """One more result."""
        self.results.append(result)
        self.notes.update({NOTE + note: None for note in result.notes if note in REMARKS})
        self._report(result)

    def _left(self, at: Begin, why: str) -> None:
        self.left_out.append(LeftOut(id=at.workload, device=at.device, dtype=at.dtype, size=at.size, why=NOTE + why))
        if why not in QUIET:
            self.notes[NOTE + why] = None
