"""What the curves of a test say, in few figures; pure."""

from __future__ import annotations

import math
from itertools import pairwise

from msgspec import Struct

from ..core.results import Curve
from .cards import HELD_BACK

MOST_ROWS = 12
MINUTE_S = 60.0


class Stretch(Struct, frozen=True, kw_only=True):
    """Some minutes of a curve, up to `until` seconds: mean and highest temperature in °C, mean clock in MHz and power
    in W, and for which share of the moments heat or the power supply held the card back; None is unknown.
    """

    until: float
    temp: float | None
    temp_max: int | None
    clock_sm: float | None
    power_w: float | None
    held: float | None


def stretches(curve: Curve, most: int = MOST_ROWS) -> tuple[Stretch, ...]:
    """A row for each minute, or for more of them where there would be more than `most`; nothing for an empty curve."""
    if not curve.t:
        return ()
    long = MINUTE_S * max(math.ceil(curve.t[-1] / MINUTE_S / most), 1)
    edges = [n * long for n in range(math.ceil(max(curve.t[-1], 1e-9) / long) + 1)]
    made = []
    for begin, end in pairwise(edges):
        last = end >= edges[-1]
        at = [n for n, t in enumerate(curve.t) if begin <= t < end or (last and t == end)]
        if at:
            made.append(_stretch(curve, at, min(end, curve.t[-1])))
    return tuple(made)


def held_back(throttle: tuple[str, ...] | None) -> bool | None:
    """Whether heat or the power supply held the card back at a moment; its own power limit is no fault."""
    return None if throttle is None else any(why in HELD_BACK for why in throttle)


def held_share(curve: Curve) -> float | None:
    """The share of the moments at which it was held back; None where the driver never told."""
    return _mean([held for each in curve.throttle if (held := held_back(each)) is not None])


def _stretch(curve: Curve, at: list[int], until: float) -> Stretch:
    temps = [temp for n in at if (temp := curve.temp[n]) is not None]
    return Stretch(
        until=until,
        temp=_mean(temps),
        temp_max=max(temps, default=None),
        clock_sm=_mean([clock for n in at if (clock := curve.clock_sm[n]) is not None]),
        power_w=_mean([power for n in at if (power := curve.power_w[n]) is not None]),
        held=_mean([held for n in at if (held := held_back(curve.throttle[n])) is not None]),
    )


def _mean(values: list[int] | list[float] | list[bool]) -> float | None:
    return sum(values) / len(values) if values else None
