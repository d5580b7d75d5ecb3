"""A card's own past: how hot it usually is at the same load, learned where the load was even, and what error the driver
reported of it last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from ..catalog.health import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..catalog.health import HealthRules, Settling
    from ..core.results import GpuSample

    Floats = NDArray[np.float64]

MINUTE_S, DAY_S = 60, 86_400
Usual = Mapping[int, float]  # band of load -> °C


class SeenBefore(Protocol):
    """One series over time, as the monitor's history gives it."""

    @property
    def t(self) -> Floats:
        """Seconds since the epoch."""
        ...

    @property
    def mean(self) -> Floats:
        """The mean of each stretch."""
        ...

    @property
    def high(self) -> Floats:
        """The highest of each stretch."""
        ...


class Remembers(Protocol):
    """The monitor's history."""

    def window(self, name: str, seconds: float) -> SeenBefore:
        """A series over the last `seconds`."""
        ...


def load_of(gpu: GpuSample) -> float | None:
    """How hard a card works, 0 to 1: its power by its limit, else how busy it is."""
    if gpu.power_w is not None and gpu.power_limit_w:
        return gpu.power_w / gpu.power_limit_w
    return None if gpu.util is None else gpu.util / 100


class Settler:
    """The last minutes of one card: whether its load was even, and how hot it was meanwhile."""

    def __init__(self, settling: Settling) -> None:
        self._settling = settling
        # Minute's number, sums of °C and load, samples; the last one is under way.
        self._minutes: deque[tuple[int, float, float, int]] = deque(maxlen=2 * settling.minutes + 1)
        self._settled: tuple[float, int] | None = None

    def add(self, t: float, temp: float | None, load: float | None) -> None:
        """Take a moment in; an unknown one begins anew."""
        if temp is None or load is None:
            self._minutes.clear()
            self._settled = None
            return
        number = int(t // MINUTE_S)
        if self._minutes and not 0 <= number - self._minutes[-1][0] <= 1:
            self._minutes.clear()
        if self._minutes and self._minutes[-1][0] == number:
            _, temps, loads, count = self._minutes.pop()
            self._minutes.append((number, temps + temp, loads + load, count + 1))
        else:
            self._minutes.append((number, temp, load, 1))
            self._settled = self._of_whole_minutes()

    def settled(self) -> tuple[float, int] | None:
        """(mean °C, band of load) of the last whole minutes, if the load was even before and in them."""
        return self._settled

    def _of_whole_minutes(self) -> tuple[float, int] | None:
        length, band = self._settling.minutes, self._settling.band
        if len(self._minutes) <= 2 * length:
            return None
        whole = list(self._minutes)[:-1]
        means = [(temps / count, loads / count) for _, temps, loads, count in whole]
        before, now = (sum(load for _, load in part) / length for part in (means[:length], means[length:]))
        if abs(now - before) > band or now < self._settling.least_load:
            return None
        return sum(temp for temp, _ in means[length:]) / length, int(now / band)


def usual(t: Floats, temp: Floats, load: Floats, now: float, settling: Settling) -> dict[int, float]:
    """Band of load -> usual °C, from means of minutes (nan: not seen), oldest first; without the last days.

    Each day counts the same, however long the card worked on it: the median of the days' medians.
    """
    import numpy as np

    known = ~(np.isnan(temp) | np.isnan(load)) & (t < now - settling.young_days * DAY_S)
    t, temp, load = t[known], temp[known], load[known]
    length = settling.minutes
    if len(t) < 2 * length:
        return {}

    def means(values: Floats) -> Floats:
        sums = np.concatenate(([0.0], np.cumsum(values)))
        return (sums[length:] - sums[:-length]) / length

    loads, temps = means(load), means(temp)
    minute = np.floor(t / MINUTE_S)
    gapless = minute[2 * length - 1 :] - minute[: len(minute) - 2 * length + 1] == 2 * length - 1
    before, after = loads[:-length], loads[length:]
    even = gapless & (np.abs(after - before) <= settling.band) & (after >= settling.least_load)
    bands = (after[even] / settling.band).astype(int)
    days, hot = (minute[2 * length - 1 :][even] // (DAY_S // MINUTE_S)).astype(int), temps[length:][even]
    found: dict[int, float] = {}
    for band in np.unique(bands):
        here = bands == band
        on = np.unique(days[here])
        if here.sum() >= settling.least_minutes and len(on) >= settling.least_days:
            found[int(band)] = float(np.median([np.median(hot[here & (days == day)]) for day in on]))
    return found


def remembered(history: Remembers, card: str, now: float, settling: Settling) -> dict[int, float]:
    """`usual` of a month of the monitor's history; `card` begins its series' names ("gpu0")."""
    import numpy as np

    month = 30 * DAY_S
    power, limit, busy = (history.window(f"{card}.{name}", month) for name in ("power_w", "power_limit_w", "util"))
    temp = history.window(f"{card}.temp", month)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = power.mean / limit.mean
    load = np.where(np.isfinite(share), share, busy.mean / 100)
    return usual(temp.t, temp.mean, load, now, settling)


def changes(series: SeenBefore, *, down: bool = True) -> Iterator[tuple[float, float]]:
    """When a number came (seconds since the epoch), and which; what stood there at first is older. A count that goes
    `down` began anew.
    """
    import numpy as np

    known = np.isfinite(series.high)
    t, high = series.t[known], series.high[known]
    new = (np.diff(high) != 0) if down else (np.diff(high) > 0)
    for place in np.flatnonzero(new & (high[1:] > 0)) + 1:
        yield float(t[place]), float(high[place])


def reported(
    history: Remembers, card: str, now: float, rules: HealthRules, *, since: float
) -> tuple[int, float] | None:
    """The last error that the driver reported of a card, and when, where a rule still asks for it and it came after
    `since` (seconds since the epoch); `card` as in `remembered`.
    """
    ages = [
        one.below
        for rule in rules.rules
        for one in rule.when
        if isinstance(one, Number) and one.figure == "xid_age" and one.below is not None
    ]
    begin = max(now - max(ages, default=0.0), since)
    found = [(round(number), at) for at, number in changes(history.window(f"{card}.xid", now - begin)) if at >= begin]
    return found[-1] if found else None
