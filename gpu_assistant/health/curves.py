"""Curves of a health test: temperature, power, clock and throttling of a GPU, and their summary by the minute. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from ..core.results import GpuSample, HealthTestCurve

Readings = Sequence[tuple[float, GpuSample]]  # seconds since the test began

# Throttle reasons, the likeliest cause first, and the rules for them.
THROTTLE_RULES = {
    "power-brake": "power-supply",
    "hardware-thermal": "slowed-by-heat",
    "thermal": "slowed-by-heat",
    "hardware-slowdown": "slowed-by-itself",
}
MAX_CURVE_ROWS = 12
MINUTE_S = 60.0


class CurveInterval(Struct, frozen=True, kw_only=True):
    """Some minutes of a curve, until `until` seconds: mean and highest temperature in °C, mean clock in MHz and power
    in W, and the share of readings with throttling by heat or power supply; None is unknown.
    """

    until: float
    temp: float | None
    temp_max: int | None
    clock_sm: float | None
    power_w: float | None
    throttled_share: float | None


def make_curve(readings: Readings, speeds: Sequence[tuple[float, float]]) -> HealthTestCurve:
    """One GPU's curve; `speeds` are (seconds, 10^12 operations a second)."""
    gpus = [gpu for _, gpu in readings]
    return HealthTestCurve(
        gpu=gpus[0].index,
        name=gpus[0].name,
        t=tuple(round(t, 2) for t, _ in readings),
        temp=tuple(gpu.temp for gpu in gpus),
        power_w=tuple(gpu.power_w for gpu in gpus),
        clock_sm=tuple(gpu.clock_sm for gpu in gpus),
        throttle=tuple(gpu.throttle for gpu in gpus),
        speed_t=tuple(round(t, 2) for t, _ in speeds),
        speed=tuple(speed for _, speed in speeds),
    )


def curve_intervals(curve: HealthTestCurve, max_rows: int = MAX_CURVE_ROWS) -> tuple[CurveInterval, ...]:
    """An interval for each minute, or longer ones to have at most `max_rows`; () for an empty curve."""
    if not curve.t:
        return ()
    interval_s = MINUTE_S * max(math.ceil(curve.t[-1] / MINUTE_S / max_rows), 1)
    edges = [n * interval_s for n in range(math.ceil(max(curve.t[-1], 1e-9) / interval_s) + 1)]
    intervals = []
    for start, end in pairwise(edges):
        is_last = end >= edges[-1]
        indexes = [n for n, t in enumerate(curve.t) if start <= t < end or (is_last and t == end)]
        if indexes:
            intervals.append(_make_interval(curve, indexes, min(end, curve.t[-1])))
    return tuple(intervals)


def is_throttled(throttle: tuple[str, ...] | None) -> bool | None:
    """Whether heat or the power supply throttled the GPU; its own power limit is no fault."""
    return None if throttle is None else any(reason in THROTTLE_RULES for reason in throttle)


def throttled_share(curve: HealthTestCurve) -> float | None:
    """The share of readings with throttling; None where the driver never told."""
    return _mean_or_none([throttled for reasons in curve.throttle if (throttled := is_throttled(reasons)) is not None])


def _make_interval(curve: HealthTestCurve, indexes: list[int], until: float) -> CurveInterval:
    temps = [temp for n in indexes if (temp := curve.temp[n]) is not None]
    return CurveInterval(
        until=until,
        temp=_mean_or_none(temps),
        temp_max=max(temps, default=None),
        clock_sm=_mean_or_none([clock for n in indexes if (clock := curve.clock_sm[n]) is not None]),
        power_w=_mean_or_none([power for n in indexes if (power := curve.power_w[n]) is not None]),
        throttled_share=_mean_or_none(
            [throttled for n in indexes if (throttled := is_throttled(curve.throttle[n])) is not None]
        ),
    )


def _mean_or_none(values: list[int] | list[float] | list[bool]) -> float | None:
    return sum(values) / len(values) if values else None
