"""`Workload`, the base of everything measured: memory check, preparation, warm-up, timed runs, checked result."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any, Dict, List, Optional, Tuple

from . import timing
from .devices import Device
from .precision import precision_settings, set_precision


class WorkloadSkipped(Exception):
    """The workload cannot run here; `reason` is a code of `SKIP_REASONS` such as "memory".

    `figures` are what it requires and what is available: wanted_s and had_s, or wanted_bytes and had_bytes.
    """

    def __init__(self, reason: str, **figures: float) -> None:
        super().__init__(reason)
        self.reason = reason
        self.figures = figures


class Workload:
    """One workload on one device in one format. Subclasses define what is prepared, run and checked.

    `version` is increased when results can no longer be compared with earlier ones. `size` is the shape of one item,
    `batch` the number of items in a run. `amount` is the work of one run in `unit` times seconds (TFLOP, GB, images).
    """

    id = ""
    version = 1
    unit = ""
    load = "burst"  # the first seconds under load; "sustained": after so long that clocks fall no further
    time_share = 1.0  # of its device's remaining time; the rest is for the workloads after it
    is_checked_last = False  # whether the result is checked after the runs, so that a slow device has one in time

    def __init__(self, device: Device, dtype: str, size: Tuple[int, ...], limit_s: float) -> None:
        self.device = device
        self.dtype = dtype
        self.size = size
        self.limit_s = limit_s
        self.batch: Optional[int] = None
        self.amount = 0.0
        self.deadline = math.inf  # of the clock `time.perf_counter`
        self.spare_s = 0.0  # of a full benchmark: seconds that no later workload needs
        self.operations_per_s: Optional[float] = None  # measured here, for estimates of the models that follow
        self.last_s: Optional[float] = None  # seconds of a run made before the timed ones, for check or batch size
        self.timed_period: Optional[Tuple[float, float]] = None  # of the timed runs, in seconds since the epoch
        self.torch = device.torch

    def start_message(self) -> Dict[str, Any]:
        """The message that announces this workload to the parent."""
        return {"workload": self.id, "device": self.device.id, "dtype": self.dtype, "size": list(self.size)}

    def required_bytes(self) -> int:
        """Estimated bytes on the device."""
        raise NotImplementedError

    def operations(self) -> float:
        """Minimum number of operations, check and warm-up included; 0 where they are negligible."""
        return 0.0

    def min_seconds(self, operations_per_s: float) -> float:
        """Minimum seconds that it needs on a device with `operations_per_s`."""
        return max(self.limit_s / 2, self.operations() / operations_per_s)

    def prepare(self) -> None:
        """Allocate what the runs need; raises WorkloadSkipped and the exceptions of torch."""
        raise NotImplementedError

    def run(self) -> None:
        """One timed run."""
        raise NotImplementedError

    def check(self) -> Tuple[float, float]:
        """(largest relative error against a float64 reference, tolerance for rounding)."""
        raise NotImplementedError

    def check_seconds(self, run_seconds: float) -> float:
        """Estimated seconds of `check` when one run takes `run_seconds`."""
        return run_seconds

    def close(self) -> None:
        """Release all tensors."""
        stored_attributes = (
            "device",
            "dtype",
            "size",
            "limit_s",
            "batch",
            "amount",
            "deadline",
            "spare_s",
            "operations_per_s",
            "last_s",
            "timed_period",
            "torch",
        )
        for name in [name for name in vars(self) if name not in stored_attributes]:
            delattr(self, name)

    def measure(self) -> Dict[str, Any]:
        """Run it and return the result message; raises WorkloadSkipped and the exceptions of torch."""
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
        # A run longer than the warm-up has warmed the device up already.
        if expected_s is None or expected_s < timing.MAX_WARM_UP_S:
            expected_s = timing.warm_up(self.device, self.run, min(timing.MAX_WARM_UP_S, available_s / 2))
        now = time.perf_counter()
        if now + expected_s * timing.FIRST_RUN_FACTOR > self.deadline:
            raise WorkloadSkipped(
                "time", wanted_s=expected_s * timing.FIRST_RUN_FACTOR, had_s=max(0.0, self.deadline - now)
            )
        samples = self.time_samples(max(self.limit_s - (now - started_at), 0.0), expected_s, self.deadline - now)
        if len(samples) < timing.MIN_SAMPLES_LATE:
            estimated_s = statistics.median(samples) * timing.MIN_SAMPLES
            raise WorkloadSkipped("time", wanted_s=estimated_s, had_s=max(0.0, self.deadline - now))
        if (
            self.is_checked_last
            and time.perf_counter() + self.check_seconds(statistics.median(samples)) < self.deadline
        ):
            check_result = self.check()
        return self.result(samples, check_result, time.perf_counter() - started_at)

    def time_samples(self, limit_s: float, expected_s: float, max_s: float) -> List[float]:
        """The seconds of each timed run, as `timing.measure_runs` makes them; sets `timed_period`."""
        timed_from = time.time()
        samples = timing.measure_runs(self.device, self.run, limit_s, expected_s, max_s)
        self.timed_period = timed_from, time.time()
        return samples

    def result(
        self, samples: List[float], check_result: Tuple[Optional[float], Optional[float]], seconds: float
    ) -> Dict[str, Any]:
        """The result message of these samples; `error` is None where it was not checked."""
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
            "load": self.load if self.device.kind == "gpu" else None,
            "settings": {**self.settings(), **self._warm_up_setting()},
            "notes": notes,
        }

    def _warm_up_setting(self) -> Dict[str, Any]:
        """How long a GPU computes at least before it is timed; results after less are not comparable."""
        return {"warm_up_s": timing.MIN_WARM_UP_S["gpu"]} if self.device.kind == "gpu" else {}

    def settings(self) -> Dict[str, Any]:
        """The precision switches of torch that it ran with."""
        return precision_settings(self.device, self.dtype)


def median_seconds(result: Dict[str, Any]) -> float:
    """Seconds of one run."""
    return statistics.median(result["samples"])
