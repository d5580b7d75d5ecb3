"""Words of the time axis: round local moments, far enough apart."""

from __future__ import annotations

import math
import time

MINUTE, HOUR, DAY = 60, 3600, 86_400
STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR)
DAYS = tuple(count * DAY for count in (1, 2, 5, 7, 10, 14))


def moments(start: float, end: float, most: int) -> tuple[int, list[float]]:
    """(seconds between two, the moments), at most about `most` of them; whole days begin at local midnight."""
    step = next((each for each in (*STEPS, *DAYS) if (end - start) / each <= most), DAYS[-1])
    shift = time.localtime(end).tm_gmtoff
    first = math.ceil((start + shift) / step) * step - shift
    return step, [float(at) for at in range(first, math.ceil(end), step)]


def word(moment: float, step: float, span: float) -> str:
    """14:27, or 14:27:10 where ticks are less than a minute apart, or a date where a day or more is shown."""
    local = time.localtime(moment)
    if step >= DAY:
        return time.strftime("%m-%d", local)
    if span >= DAY and (local.tm_hour, local.tm_min) == (0, 0):
        return time.strftime("%m-%d", local)
    return time.strftime("%H:%M:%S" if step < MINUTE else "%H:%M", local)


def since(moment: float, now: float) -> str:
    """A moment in a sentence: 14:20 of today, with its date of another day."""
    local, today = time.localtime(moment), time.localtime(now)
    return time.strftime("%H:%M" if local[:3] == today[:3] else "%Y-%m-%d %H:%M", local)


def said(moment: float, span: float) -> str:
    """A moment in the reading box: with its date from a day on."""
    return time.strftime("%m-%d %H:%M" if span >= DAY else "%H:%M:%S", time.localtime(moment))
