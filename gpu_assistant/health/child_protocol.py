"""The JSON lines of the test program, and its state as they tell it. See `child/__init__.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..core.results import Check

# Checks with other ids are ignored.
CHILD_CHECK_IDS = (
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
    """What is being tested now: how much of it is `done`, 0 to 1 (None: it is short), wrong results so far, temperature
    and power of the GPU (°C, W).
    """

    check: str
    device: str | None = None
    done: float | None = None
    errors: int = 0
    temp: int | None = None
    power_w: float | None = None


class TestedDevice(Struct, frozen=True):
    """A device as torch sees it; `uuid` is the driver's, without NVML's prefix."""

    id: str
    name: str | None = None
    memory_bytes: int | None = None
    uuid: str | None = None


class _StartMessage(Struct, frozen=True):
    """`for_cards`: whether this build of torch supports GPUs."""

    torch: str
    devices: tuple[TestedDevice, ...]
    for_cards: bool | None = None


class _ProgressMessage(Struct, frozen=True):
    check: str
    device: str
    done: float
    errors: int


class _LoadMessage(Struct, frozen=True):
    t: float
    device: str
    dtype: str
    tflops: float
    errors: int
    done: float


class HealthChildMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the program."""

    start: _StartMessage | None = None
    begin: str | None = None
    device: str | None = None
    dtype: str | None = None
    check: Check | None = None
    at: _ProgressMessage | None = None
    load: _LoadMessage | None = None
    missing: str | None = None
    have: tuple[str, ...] = ()
    end: bool = False


class HealthChildState:
    """What the program told so far. `current_check` (on `device`, in the precision `dtype`) is what it is doing.

    `speeds` by device are (seconds of `clock`, precision, 10^12 operations a second).
    """

    def __init__(
        self,
        on_check: Callable[[Check], None],
        on_progress: Callable[[HealthProgress], None],
        clock: Callable[[], float],
    ) -> None:
        self.start: _StartMessage | None = None
        self.missing_device: HealthChildMessage | None = None
        self.current_check = "torch-import"
        self.device: str | None = None
        self.dtype: str | None = None
        self.has_checks = False
        self.has_ended = False
        self.speeds: dict[str, list[tuple[float, str, float]]] = {}
        self._on_check = on_check
        self._on_progress = on_progress
        self._clock = clock

    def find_device(self, device: str) -> TestedDevice | None:
        """The device with this name in torch."""
        devices = self.start.devices if self.start is not None else ()
        return next((candidate for candidate in devices if candidate.id == device), None)

    def handle(self, message: HealthChildMessage) -> None:
        """Process one line."""
        self.start = message.start or self.start
        self.missing_device = message if message.missing is not None else self.missing_device
        self.has_ended = self.has_ended or message.end
        if message.begin in CHILD_CHECK_IDS:
            self.current_check, self.device, self.dtype = (
                str(message.begin),
                message.device or self.device,
                message.dtype,
            )
            self._on_progress(HealthProgress(check=self.current_check, device=message.device))
        if message.check is not None and message.check.id in CHILD_CHECK_IDS:
            self.has_checks = True
            self._on_check(message.check)
        if message.at is not None and message.at.check in CHILD_CHECK_IDS:
            progress = message.at
            self._on_progress(
                HealthProgress(check=progress.check, device=progress.device, done=progress.done, errors=progress.errors)
            )
        if message.load is not None:
            load = message.load
            self.speeds.setdefault(load.device, []).append((self._clock(), load.dtype, load.tflops))
            self._on_progress(HealthProgress(check="load", device=load.device, done=load.done, errors=load.errors))


def speed_loss(speeds: list[tuple[float, str, float]]) -> float | None:
    """How much slower the last third of a load was than its first, 0 to 1, in the precision that lost most; None for
    a load that was too short.
    """
    from statistics import median

    losses: list[Any] = []
    for dtype in {dtype for _, dtype, _ in speeds}:
        dtype_speeds = [speed for _, speed_dtype, speed in speeds if speed_dtype == dtype]
        third_length = len(dtype_speeds) // 3
        if third_length >= 3:
            losses.append(1 - median(dtype_speeds[-third_length:]) / median(dtype_speeds[:third_length]))
    return max(0.0, *losses) if losses else None
