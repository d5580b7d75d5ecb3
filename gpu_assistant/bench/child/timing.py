"""Timing: warm-up, repetition until the spread is small, quartiles, and a timer for the limit of the whole run."""

from __future__ import annotations

import math
import statistics
import threading
import time
from typing import Any, Callable, List, Optional, Tuple

from .devices import Device

EXIT_MARGIN_S = 1.0  # between the deadline and the moment at which the child is ended


def clock_at_epoch(epoch_seconds: Optional[float]) -> float:
    """Convert seconds since the epoch to the clock of `time.perf_counter`.

    Returns the present time for None and for a moment that is in the future or more than an hour ago.
    """
    elapsed = 0.0 if epoch_seconds is None else time.time() - epoch_seconds
    return time.perf_counter() - (elapsed if 0 <= elapsed < 3600 else 0.0)


def call_at(deadline: float, callback: Callable[[], Any]) -> None:
    """Call `callback` on a thread of its own when `time.perf_counter` reaches `deadline`."""
    timer = threading.Timer(max(0.0, deadline - time.perf_counter()), callback)
    timer.daemon = True
    timer.start()


MAX_WARM_UP_S = 2.0
# A GPU raises its clocks in steps after it was idle, and each step looks steady for a while.
MIN_WARM_UP_S = {"cpu": 0.05, "gpu": 0.3}
BATCH_TIME_S = 0.1  # runs are timed in groups of about this length
MIN_MEASURE_S, MIN_SAMPLES, MIN_STEADY_RUNS, MAX_RUNS = 0.3, 3, 7, 500
MIN_SAMPLES_LATE = 2  # enough for a result (with the note "few") when the time is over
FIRST_RUN_FACTOR = 1.5  # the first run is the slowest: MIN_SAMPLES_LATE runs take at most this many times as long
STEADY_SPREAD, NOTED_SPREAD = 0.05, 0.10  # interquartile range by median
WARM_UP_TOLERANCE = 0.05


def warm_up(device: Device, run: Callable[[], Any], limit_s: float) -> float:
    """Run for MIN_WARM_UP_S and until two consecutive medians of three runs differ by at most WARM_UP_TOLERANCE.

    At most for `limit_s`. Returns the last median in seconds.
    """
    started_at = time.perf_counter()
    previous_median = math.inf
    while True:
        group: List[float] = []
        for _ in range(3):
            group += device.time_runs(run)
            if time.perf_counter() - started_at > limit_s:
                return statistics.median(group)
        median = statistics.median(group)
        if (
            abs(median - previous_median) <= WARM_UP_TOLERANCE * median
            and time.perf_counter() - started_at > MIN_WARM_UP_S[device.kind]
        ):
            return median
        previous_median = median


def measure_runs(
    device: Device, run: Callable[[], Any], limit_s: float, expected_s: float, max_s: float = math.inf
) -> List[float]:
    """Time runs until their spread is below STEADY_SPREAD, or for `limit_s`, or MAX_RUNS; returns seconds of each.

    `expected_s` is the duration of one run. There are MIN_SAMPLES at least; MIN_SAMPLES_LATE where one more would end
    after `max_s`, and fewer where `max_s` has passed.
    """
    started_at = time.perf_counter()
    samples: List[float] = []
    count = max(1, min(50, int(BATCH_TIME_S / max(expected_s, 1e-9))))
    while True:
        samples += device.time_runs(run, count)
        elapsed = time.perf_counter() - started_at
        if (len(samples) >= MIN_SAMPLES and elapsed > limit_s) or len(samples) >= MAX_RUNS or elapsed > max_s:
            return samples
        if len(samples) >= MIN_SAMPLES_LATE and elapsed + sum(samples[-count:]) > max_s:
            return samples
        has_enough_samples = len(samples) >= MIN_STEADY_RUNS and elapsed > MIN_MEASURE_S
        if has_enough_samples and relative_spread(samples) < STEADY_SPREAD:
            return samples


def measure_sustained(device: Device, run: Callable[[], Any], expected_s: float, load_s: float) -> List[float]:
    """Run without a pause for `load_s`; returns the seconds of each run in the last third of that time.

    By then power and temperature limit the clocks, which hardly happens in a shorter measurement.
    """
    started_at = time.perf_counter()
    count = max(1, min(50, int(BATCH_TIME_S / max(expected_s, 1e-9))))
    samples: List[float] = []
    while time.perf_counter() - started_at < load_s:
        is_settled = time.perf_counter() - started_at >= load_s * 2 / 3
        times = device.time_runs(run, count)
        samples += times if is_settled else []
    return samples


def quartiles(samples: List[float]) -> Tuple[float, float, float]:
    """First quartile, median, third quartile."""
    q1, median, q3 = statistics.quantiles(samples, n=4, method="inclusive")
    return q1, median, q3


def relative_spread(samples: List[float]) -> float:
    """Interquartile range divided by the median."""
    q1, median, q3 = quartiles(samples)
    return (q3 - q1) / median
