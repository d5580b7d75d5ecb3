"""What the test program says, line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..core.results import Check

# Whatever the program tells under another name is not ours.
CHILD_IDS = (
    "visual-cpp",
    "torch-import",
    "cpu-compute",
    "device-query",
    "device-compute",
    "copy-bandwidth",
    "matmul-bits",
    "memory-test",
    "load",
)


class HealthProgress(Struct, frozen=True, kw_only=True):
    """What is being tested now: `done` of it, 0 to 1 (None: short), results that came out wrong so far, and what the
    card says meanwhile (°C, W).
    """

    check: str
    device: str | None = None
    done: float | None = None
    errors: int = 0
    temp: int | None = None
    power_w: float | None = None


class TestedDevice(Struct, frozen=True):
    """A device as torch sees it; `uuid` as NVML writes it."""

    id: str
    name: str | None = None
    memory_bytes: int | None = None
    uuid: str | None = None


class _Start(Struct, frozen=True):
    """`for_cards`: whether this build of torch can use a card at all."""

    torch: str
    devices: tuple[TestedDevice, ...]
    for_cards: bool | None = None


class _At(Struct, frozen=True):
    check: str
    device: str
    done: float
    errors: int


class _Load(Struct, frozen=True):
    t: float
    device: str
    dtype: str
    tflops: float
    errors: int
    done: float


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the child."""

    start: _Start | None = None
    begin: str | None = None
    device: str | None = None
    dtype: str | None = None
    check: Check | None = None
    at: _At | None = None
    load: _Load | None = None
    missing: str | None = None
    have: tuple[str, ...] = ()
    end: bool = False


class Heard:
    """What it said so far. `stage` (of a `device`, in a precision `dtype`) is what it was about when it fell silent;
    `speeds` (seconds, precision, 10^12
    operations a second) by device, counted from when the load began, which was `load_after` seconds after `now`'s 0.
    """

    def __init__(
        self, tell: Callable[[Check], None], progress: Callable[[HealthProgress], None], now: Callable[[], float]
    ) -> None:
        self.start: _Start | None = None
        self.missing: Line | None = None
        self.stage = "torch-import"
        self.device: str | None = None
        self.dtype: str | None = None
        self.told = False
        self.ended = False
        self.speeds: dict[str, list[tuple[float, str, float]]] = {}
        self._tell = tell
        self._progress = progress
        self._now = now

    def tested(self, device: str) -> TestedDevice | None:
        """The device that torch calls so."""
        devices = self.start.devices if self.start is not None else ()
        return next((one for one in devices if one.id == device), None)

    def line(self, line: Line) -> None:
        """Take one line in and pass its news on."""
        self.start = line.start or self.start
        self.missing = line if line.missing is not None else self.missing
        self.ended = self.ended or line.end
        if line.begin in CHILD_IDS:
            self.stage, self.device, self.dtype = str(line.begin), line.device or self.device, line.dtype
            self._progress(HealthProgress(check=self.stage, device=line.device))
        if line.check is not None and line.check.id in CHILD_IDS:
            self.told = True
            self._tell(line.check)
        if line.at is not None and line.at.check in CHILD_IDS:
            at = line.at
            self._progress(HealthProgress(check=at.check, device=at.device, done=at.done, errors=at.errors))
        if line.load is not None:
            load = line.load
            self.speeds.setdefault(load.device, []).append((self._now(), load.dtype, load.tflops))
            self._progress(HealthProgress(check="load", device=load.device, done=load.done, errors=load.errors))


def steadiness(speeds: list[tuple[float, str, float]]) -> float | None:
    """How much slower the last third of a load was than its first, 0 to 1, in the precision that lost most; None for
    a load that was too short to say.
    """
    from statistics import median

    losses: list[Any] = []
    for kind in {kind for _, kind, _ in speeds}:
        own = [speed for _, one, speed in speeds if one == kind]
        third = len(own) // 3
        if third >= 3:
            losses.append(1 - median(own[-third:]) / median(own[:third]))
    return max(0.0, *losses) if losses else None
