"""When a figure is steady enough: warm-up, repeats, quartiles."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any, Callable, List, Tuple

from .devices import Device

WARM_UP_S, WARM_UP_LEAST_S = 2.0, 0.05
GROUP_S = 0.1  # about as long runs are taken together before anybody looks at the clock
LEAST_S, FEWEST, LEAST_RUNS, MOST_RUNS = 0.3, 3, 7, 500
FEW = 2  # runs that are still a figure, marked as one of few, where the time is over
HOPED = 1.5  # times a first run's time, which is the slowest: a few more take no longer
SPREAD_REACHED, SPREAD_NOTED = 0.05, 0.10  # interquartile range by median
AGREE = 0.05


def warm_up(device: Device, work: Callable[[], Any], limit_s: float) -> float:
    """Run until two medians of three agree within 5 % or the time is up; the last median in seconds."""
    began = time.perf_counter()
    before = math.inf
    while True:
        group: List[float] = []
        for _ in range(3):
            group += device.seconds(work)
            if time.perf_counter() - began > limit_s:
                return statistics.median(group)
        now = statistics.median(group)
        if abs(now - before) <= AGREE * now and time.perf_counter() - began > WARM_UP_LEAST_S:
            return now
        before = now


def measure(
    device: Device, work: Callable[[], Any], limit_s: float, expected_s: float, most_s: float = math.inf
) -> List[float]:
    """Seconds of each run: until the quartiles are close, or the time or the runs are up; `FEWEST` at least.

    `expected_s` is what one run takes. Where one more would end after `most_s`, `FEW` are enough, and after it there
    may be fewer.
    """
    began = time.perf_counter()
    samples: List[float] = []
    count = max(1, min(50, int(GROUP_S / max(expected_s, 1e-9))))
    while True:
        samples += device.seconds(work, count)
        spent = time.perf_counter() - began
        if (len(samples) >= FEWEST and spent > limit_s) or len(samples) >= MOST_RUNS or spent > most_s:
            return samples
        if len(samples) >= FEW and spent + sum(samples[-count:]) > most_s:
            return samples
        enough = len(samples) >= LEAST_RUNS and spent > LEAST_S
        if enough and spread(samples) < SPREAD_REACHED:
            return samples


def quartiles(samples: List[float]) -> Tuple[float, float, float]:
    """First quartile, median, third quartile."""
    q1, median, q3 = statistics.quantiles(samples, n=4, method="inclusive")
    return q1, median, q3


def spread(samples: List[float]) -> float:
    """Interquartile range by median."""
    q1, median, q3 = quartiles(samples)
    return (q3 - q1) / median
