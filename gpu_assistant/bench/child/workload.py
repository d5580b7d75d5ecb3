"""One thing to measure, and how it is measured: fits, warm-up, repeats, checked result."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any, Dict, List, Optional, Tuple

from . import timing
from .devices import Device
from .precision import precision_settings, set_precision


class WorkloadSkipped(Exception):
    """It cannot run here; `why` is a code like "memory".

    `figures` say how much it wanted and how much there was: wanted_s and had_s, wanted_bytes and had_bytes.
    """

    def __init__(self, reason: str, **figures: float) -> None:
        super().__init__(reason)
        self.reason = reason
        self.figures = figures


class Workload:
    """One workload on one device in one format. Subclasses say what is prepared, run and checked.

    `version` goes up whenever figures of before cannot be compared any more. `size` is that of one item, `batch` how
    many items a run has. `amount` is what one run does, in `unit` times seconds.
    """

    id = ""
    version = 1
    unit = ""
    time_share = 1.0  # of the time that its device has left when it begins: what comes after it needs some too
    is_checked_last = False  # a slow device shall have its figure before the time for the check is spent

    def __init__(self, device: Device, dtype: str, size: Tuple[int, ...], limit_s: float) -> None:
        self.device = device
        self.dtype = dtype
        self.size = size
        self.limit_s = limit_s
        self.batch: Optional[int] = None
        self.amount = 0.0
        self.deadline = math.inf  # of the clock `time.perf_counter`
        self.spare_s = 0.0  # of a full run: time that nothing after this one wants
        self.pace: Optional[float] = None  # operations a second that a model can be hoped to make after this
        self.last_s: Optional[float] = None  # what a run took that was made already, to check or to choose a batch
        self.torch = device.torch

    def start_message(self) -> Dict[str, Any]:
        """What the parent shows while it runs."""
        return {"workload": self.id, "device": self.device.id, "dtype": self.dtype, "size": list(self.size)}

    def required_bytes(self) -> int:
        """Bytes on the device, about."""
        raise NotImplementedError

    def operations(self) -> float:
        """How much it computes at the least, check and warm-up included; 0 where that is next to nothing."""
        return 0.0

    def min_seconds(self, operations_per_s: float) -> float:
        """Seconds with less than which it need not begin, on a device that makes `pace` operations a second."""
        return max(self.limit_s / 2, self.operations() / operations_per_s)

    def prepare(self) -> None:
        """Make what the runs need; raises LeftOut, and what torch raises."""
        raise NotImplementedError

    def run(self) -> None:
        """What is timed."""
        raise NotImplementedError

    def check(self) -> Tuple[float, float]:
        """The largest relative error against a float64 reference, and the most that rounding explains."""
        raise NotImplementedError

    def check_seconds(self, run_seconds: float) -> float:
        """About how long a check takes that comes last, where a run takes that long."""
        return run_seconds

    def close(self) -> None:
        """Let go of all memory."""
        stored_attributes = (
            "device",
            "dtype",
            "size",
            "limit_s",
            "batch",
            "amount",
            "deadline",
            "spare_s",
            "pace",
            "last_s",
            "torch",
        )
        for name in [name for name in vars(self) if name not in stored_attributes]:
            delattr(self, name)

    def measure(self) -> Dict[str, Any]:
        """The result as the parent reads it."""
        started_at = time.perf_counter()
        free_bytes = self.device.free_bytes()
        if free_bytes is not None and self.required_bytes() > free_bytes * 0.8:
            raise WorkloadSkipped("memory", wanted_bytes=self.required_bytes(), had_bytes=int(free_bytes * 0.8))
        set_precision(self.torch, self.dtype)
        self.prepare()
        check_result: Tuple[Optional[float], Optional[float]] = (None, None)
        if not self.is_checked_last:
            check_result = self.check()
        available_s = max(self.limit_s - (time.perf_counter() - started_at), 0.5)
        expected_s = self.last_s
        if (
            expected_s is None or expected_s < timing.MAX_WARM_UP_S
        ):  # a longer one has warmed up what there is to warm up
            expected_s = timing.warm_up(self.device, self.run, min(timing.MAX_WARM_UP_S, available_s / 2))
        now = time.perf_counter()
        if now + expected_s * timing.FIRST_RUN_FACTOR > self.deadline:
            raise WorkloadSkipped(
                "time", wanted_s=expected_s * timing.FIRST_RUN_FACTOR, had_s=max(0.0, self.deadline - now)
            )
        samples = timing.measure_runs(
            self.device, self.run, max(self.limit_s - (now - started_at), 0.0), expected_s, self.deadline - now
        )
        if len(samples) < timing.MIN_SAMPLES_LATE:
            estimated_s = statistics.median(samples) * timing.MIN_SAMPLES
            raise WorkloadSkipped("time", wanted_s=estimated_s, had_s=max(0.0, self.deadline - now))
        if (
            self.is_checked_last
            and time.perf_counter() + self.check_seconds(statistics.median(samples)) < self.deadline
        ):
            check_result = self.check()
        return self.result(samples, check_result, time.perf_counter() - started_at)

    def result(
        self, samples: List[float], check_result: Tuple[Optional[float], Optional[float]], seconds: float
    ) -> Dict[str, Any]:
        """Figures of these samples; what was not checked has no error."""
        error, tolerance = check_result
        q1, median, q3 = timing.quartiles(samples)
        notes = []
        if timing.relative_spread(samples) > timing.NOTED_SPREAD:
            notes.append("spread")
        if len(samples) < timing.MIN_SAMPLES:
            notes.append("few")
        if error is not None and tolerance is not None and not error <= tolerance:
            notes.append("wrong")
        return {
            "id": self.id,
            "version": self.version,
            "device": self.device.id,
            "dtype": self.dtype,
            "size": list(self.size),
            "batch": self.batch,
            "unit": self.unit,
            "median": self.amount / median,
            "q1": self.amount / q3,
            "q3": self.amount / q1,
            "runs": len(samples),
            "seconds": seconds,
            "samples": samples,
            "error": error,
            "tolerance": tolerance,
            "settings": self.settings(),
            "notes": notes,
        }

    def settings(self) -> Dict[str, Any]:
        """The switches it ran with."""
        return precision_settings(self.device, self.dtype)


def median_seconds(result: Dict[str, Any]) -> float:
    """Seconds of one run."""
    return statistics.median(result["samples"])
