"""One thing to measure, and how it is measured: fits, warm-up, repeats, checked result."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any, Dict, List, Optional, Tuple

from . import timing
from .devices import Device
from .precision import set_precision, stated


class LeftOut(Exception):
    """It cannot run here; `why` is a code like "memory".

    `figures` say how much it wanted and how much there was: wanted_s and had_s, wanted_bytes and had_bytes.
    """

    def __init__(self, why: str, **figures: float) -> None:
        super().__init__(why)
        self.why = why
        self.figures = figures


class Workload:
    """One workload on one device in one format. Subclasses say what is prepared, run and checked.

    `version` goes up whenever figures of before cannot be compared any more. `size` is that of one item, `batch` how
    many items a run has. `amount` is what one run does, in `unit` times seconds.
    """

    id = ""
    version = 1
    unit = ""
    share = 1.0  # of the time that its device has left when it begins: what comes after it needs some too
    checked_last = False  # a slow device shall have its figure before the time for the check is spent

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

    def begin(self) -> Dict[str, Any]:
        """What the parent shows while it runs."""
        return {"workload": self.id, "device": self.device.id, "dtype": self.dtype, "size": list(self.size)}

    def needs(self) -> int:
        """Bytes on the device, about."""
        raise NotImplementedError

    def operations(self) -> float:
        """How much it computes at the least, check and warm-up included; 0 where that is next to nothing."""
        return 0.0

    def least_s(self, pace: float) -> float:
        """Seconds with less than which it need not begin, on a device that makes `pace` operations a second."""
        return max(self.limit_s / 2, self.operations() / pace)

    def prepare(self) -> None:
        """Make what the runs need; raises LeftOut, and what torch raises."""
        raise NotImplementedError

    def run(self) -> None:
        """What is timed."""
        raise NotImplementedError

    def check(self) -> Tuple[float, float]:
        """The largest relative error against a float64 reference, and the most that rounding explains."""
        raise NotImplementedError

    def check_s(self, run_s: float) -> float:
        """About how long a check takes that comes last, where a run takes that long."""
        return run_s

    def close(self) -> None:
        """Let go of all memory."""
        kept = (
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
        for name in [name for name in vars(self) if name not in kept]:
            delattr(self, name)

    def measure(self) -> Dict[str, Any]:
        """The result as the parent reads it."""
        began = time.perf_counter()
        free = self.device.free_bytes()
        if free is not None and self.needs() > free * 0.8:
            raise LeftOut("memory", wanted_bytes=self.needs(), had_bytes=int(free * 0.8))
        set_precision(self.torch, self.dtype)
        self.prepare()
        checked: Tuple[Optional[float], Optional[float]] = (None, None)
        if not self.checked_last:
            checked = self.check()
        left = max(self.limit_s - (time.perf_counter() - began), 0.5)
        expected = self.last_s
        if expected is None or expected < timing.WARM_UP_S:  # a longer one has warmed up what there is to warm up
            expected = timing.warm_up(self.device, self.run, min(timing.WARM_UP_S, left / 2))
        now = time.perf_counter()
        if now + expected * timing.HOPED > self.deadline:
            raise LeftOut("time", wanted_s=expected * timing.HOPED, had_s=max(0.0, self.deadline - now))
        samples = timing.measure(
            self.device, self.run, max(self.limit_s - (now - began), 0.0), expected, self.deadline - now
        )
        if len(samples) < timing.FEW:
            wanted = statistics.median(samples) * timing.FEWEST
            raise LeftOut("time", wanted_s=wanted, had_s=max(0.0, self.deadline - now))
        if self.checked_last and time.perf_counter() + self.check_s(statistics.median(samples)) < self.deadline:
            checked = self.check()
        return self.result(samples, checked, time.perf_counter() - began)

    def result(
        self, samples: List[float], checked: Tuple[Optional[float], Optional[float]], seconds: float
    ) -> Dict[str, Any]:
        """Figures of these samples; what was not checked has no error."""
        error, tolerance = checked
        q1, median, q3 = timing.quartiles(samples)
        notes = []
        if timing.spread(samples) > timing.SPREAD_NOTED:
            notes.append("spread")
        if len(samples) < timing.FEWEST:
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
        return stated(self.device, self.dtype)


def median_of(result: Dict[str, Any]) -> float:
    """Seconds of one run."""
    return statistics.median(result["samples"])
