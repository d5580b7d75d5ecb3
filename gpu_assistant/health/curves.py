"""What the curves of a test say, in few figures; pure."""

from __future__ import annotations

import math
from itertools import pairwise

from msgspec import Struct

from ..core.results import HealthTestCurve
from .cards import THROTTLE_RULES

MAX_CURVE_ROWS = 12
MINUTE_S = 60.0


class CurveInterval(Struct, frozen=True, kw_only=True):
    """Some minutes of a curve, up to `until` seconds: mean and highest temperature in °C, mean clock in MHz and power
    in W, and for which share of the moments heat or the power supply held the card back; None is unknown.
    """

    until: float
    temp: float | None
    temp_max: int | None
    clock_sm: float | None
    power_w: float | None
    throttled_share: float | None


def curve_intervals(curve: HealthTestCurve, max_rows: int = MAX_CURVE_ROWS) -> tuple[CurveInterval, ...]:
    """A row for each minute, or for more of them where there would be more than `most`; nothing for an empty curve."""
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
    """Whether heat or the power supply held the card back at a moment; its own power limit is no fault."""
    return None if throttle is None else any(reason in THROTTLE_RULES for reason in throttle)


def throttled_share(curve: HealthTestCurve) -> float | None:
    """The share of the moments at which it was held back; None where the driver never told."""
    return _mean_or_none([throttled for reasons in curve.throttle if (throttled := is_throttled(reasons)) is not None])


def _make_interval(curve: HealthTestCurve, indexes: list[int], until: float) -> CurveInterval:
    temps = [temp for n in indexes if (temp := curve.temp[n]) is not None]
    return CurveInterval(
        until=until,
        temp=_mean_or_none(temps),
        temp_max=max(temps, default=None),
        clock_sm=_mean_or_none([clock for n in indexes if (clock := curve.clock_sm[n]) is not None]),
        power_w=_mean_or_none([power for n in indexes if (power := curve.power_w[n]) is not None]),
        throttled_share=_mean_or_none([throttled for n in indexes if (throttled := is_throttled(curve.throttle[n])) is not None]),
    )


def _mean_or_none(values: list[int] | list[float] | list[bool]) -> float | None:
    return sum(values) / len(values) if values else None
