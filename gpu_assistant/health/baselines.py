"""A GPU's past: how hot it usually is at the same load, learned from steady load, and its last Xid error.

Numpy is imported with the first call: a window that just opened needs none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from ..catalog.records.health import NumberCondition
from ..core.results import GpuSample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..catalog.records.health import HealthRules, SteadyStateSettings

    Floats = NDArray[np.float64]


MINUTE_S, DAY_S = 60, 86_400
Baseline = Mapping[int, float]  # load band -> usual °C


class SeriesView(Protocol):
    """One series over time, as the monitor's history gives it."""

    @property
    def t(self) -> Floats:
        """Seconds since the epoch."""
        ...

    @property
    def mean(self) -> Floats:
        """The mean of each bucket."""
        ...

    @property
    def high(self) -> Floats:
        """The highest value of each bucket."""
        ...


class HistoryReader(Protocol):
    """The monitor's history."""

    def window(self, name: str, seconds: float) -> SeriesView:
        """A series over the last `seconds`."""
        ...


def load_ratio(gpu: GpuSample) -> float | None:
    """A GPU's load, 0 to 1: its power divided by its limit, else its utilization."""
    if gpu.power_w is not None and gpu.power_limit_w:
        return gpu.power_w / gpu.power_limit_w
    return None if gpu.util is None else gpu.util / 100


class SteadyState:
    """The last minutes of one GPU: whether its load was steady, and its mean temperature."""

    def __init__(self, rules: SteadyStateSettings) -> None:
        self._rules = rules
        # Minute, sums of °C and load, count of samples; the last minute is not complete.
        self._minutes: deque[tuple[int, float, float, int]] = deque(maxlen=2 * rules.minutes + 1)
        self._steady: tuple[float, int] | None = None

    def add(self, t: float, temp: float | None, load: float | None) -> None:
        """Add a sample; an unknown figure starts over."""
        if temp is None or load is None:
            self._minutes.clear()
            self._steady = None
            return
        minute = int(t // MINUTE_S)
        if self._minutes and not 0 <= minute - self._minutes[-1][0] <= 1:
            self._minutes.clear()
        if self._minutes and self._minutes[-1][0] == minute:
            _, temps, loads, count = self._minutes.pop()
            self._minutes.append((minute, temps + temp, loads + load, count + 1))
        else:
            self._minutes.append((minute, temp, load, 1))
            self._steady = self._evaluate()

    def current(self) -> tuple[float, int] | None:
        """(mean °C, load band) of the last complete minutes, if the load was steady before and in them."""
        return self._steady

    def _evaluate(self) -> tuple[float, int] | None:
        minutes, band = self._rules.minutes, self._rules.band
        if len(self._minutes) <= 2 * minutes:
            return None
        complete = list(self._minutes)[:-1]
        means = [(temps / count, loads / count) for _, temps, loads, count in complete]
        load_before, load_after = (
            sum(load for _, load in part) / minutes for part in (means[:minutes], means[minutes:])
        )
        if abs(load_after - load_before) > band or load_after < self._rules.least_load:
            return None
        return sum(temp for temp, _ in means[minutes:]) / minutes, int(load_after / band)


def learn_baseline(t: Floats, temp: Floats, load: Floats, now: float, rules: SteadyStateSettings) -> dict[int, float]:
    """Load band -> usual °C, from means of minutes (NaN: unknown), oldest first; without the last days.

    It is the median of the days' medians: each day counts the same, however long the GPU was under load.
    """
    import numpy as np

    usable = ~(np.isnan(temp) | np.isnan(load)) & (t < now - rules.young_days * DAY_S)
    t, temp, load = t[usable], temp[usable], load[usable]
    window_minutes = rules.minutes
    if len(t) < 2 * window_minutes:
        return {}

    def moving_means(values: Floats) -> Floats:
        sums = np.concatenate(([0.0], np.cumsum(values)))
        return (sums[window_minutes:] - sums[:-window_minutes]) / window_minutes

    loads, temps = moving_means(load), moving_means(temp)
    minute = np.floor(t / MINUTE_S)
    is_contiguous = (
        minute[2 * window_minutes - 1 :] - minute[: len(minute) - 2 * window_minutes + 1] == 2 * window_minutes - 1
    )
    load_before, load_after = loads[:-window_minutes], loads[window_minutes:]
    is_steady = is_contiguous & (np.abs(load_after - load_before) <= rules.band) & (load_after >= rules.least_load)
    bands = (load_after[is_steady] / rules.band).astype(int)
    days, steady_temps = (
        (minute[2 * window_minutes - 1 :][is_steady] // (DAY_S // MINUTE_S)).astype(int),
        temps[window_minutes:][is_steady],
    )
    baseline: dict[int, float] = {}
    for band in np.unique(bands):
        in_band = bands == band
        band_days = np.unique(days[in_band])
        if in_band.sum() >= rules.least_minutes and len(band_days) >= rules.least_days:
            baseline[int(band)] = float(
                np.median([np.median(steady_temps[in_band & (days == day)]) for day in band_days])
            )
    return baseline


def baseline_from_history(
    history: HistoryReader, gpu_key: str, now: float, rules: SteadyStateSettings
) -> dict[int, float]:
    """`learn_baseline` from a month of the monitor's history; `gpu_key` as in `monitor.series`."""
    import numpy as np

    month = 30 * DAY_S
    power, limit, utilization = (
        history.window(f"{gpu_key}.{name}", month) for name in ("power_w", "power_limit_w", "util")
    )
    temp = history.window(f"{gpu_key}.temp", month)
    with np.errstate(divide="ignore", invalid="ignore"):
        power_ratio = power.mean / limit.mean
    load = np.where(np.isfinite(power_ratio), power_ratio, utilization.mean / 100)
    return learn_baseline(temp.t, temp.mean, load, now, rules)


def value_changes(series: SeriesView, *, include_decreases: bool = True) -> Iterator[tuple[float, float]]:
    """(seconds since the epoch, value) of each change of a series to a value above 0; the first value is older.

    A counter that decreases was reset; `include_decreases` counts that as a change, too.
    """
    import numpy as np

    valid = np.isfinite(series.high)
    t, high = series.t[valid], series.high[valid]
    changed = (np.diff(high) != 0) if include_decreases else (np.diff(high) > 0)
    for position in np.flatnonzero(changed & (high[1:] > 0)) + 1:
        yield float(t[position]), float(high[position])


def last_reported_xid(
    history: HistoryReader, gpu_key: str, now: float, rules: HealthRules, *, since: float
) -> tuple[int, float] | None:
    """The last Xid error of a GPU after `since`, and when it was reported (seconds since the epoch).

    None where there is none, or it is too old for every rule. `gpu_key` as in `monitor.series`.
    """
    max_ages = [
        condition.below
        for rule in rules.rules
        for condition in rule.when
        if isinstance(condition, NumberCondition) and condition.figure == "xid_age" and condition.below is not None
    ]
    window_start = max(now - max(max_ages, default=0.0), since)
    xids = [
        (round(code), reported_at)
        for reported_at, code in value_changes(history.window(f"{gpu_key}.xid", now - window_start))
        if reported_at >= window_start
    ]
    return xids[-1] if xids else None
