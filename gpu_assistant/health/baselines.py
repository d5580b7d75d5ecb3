"""A card's own past: how hot it usually is at the same load, learned where the load was even, and what error the driver
reported of it last.

The figures that rules ask for: a sample's own, and what follows from them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from ..catalog.records.health import NumberCondition
from ..core.results import GpuSample, Sample
from ..core.types import device_label

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..catalog.records.health import HealthRules, SteadyStateSettings, XidKind


if TYPE_CHECKING:
    Floats = NDArray[np.float64]

MINUTE_S, DAY_S = 60, 86_400
Baseline = Mapping[int, float]  # band of load -> °C


class SeriesView(Protocol):
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


class HistoryReader(Protocol):
    """The monitor's history."""

    def window(self, name: str, seconds: float) -> SeriesView:
        """A series over the last `seconds`."""
        ...


def load_ratio(gpu: GpuSample) -> float | None:
    """How hard a card works, 0 to 1: its power by its limit, else how busy it is."""
    if gpu.power_w is not None and gpu.power_limit_w:
        return gpu.power_w / gpu.power_limit_w
    return None if gpu.util is None else gpu.util / 100


class SteadyState:
    """The last minutes of one card: whether its load was even, and how hot it was meanwhile."""

    def __init__(self, rules: SteadyStateSettings) -> None:
        self._rules = rules
        # Minute's number, sums of °C and load, samples; the last one is under way.
        self._minutes: deque[tuple[int, float, float, int]] = deque(maxlen=2 * rules.minutes + 1)
        self._steady: tuple[float, int] | None = None

    def add(self, t: float, temp: float | None, load: float | None) -> None:
        """Take a moment in; an unknown one begins anew."""
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
        """(mean °C, band of load) of the last whole minutes, if the load was even before and in them."""
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
    """Band of load -> usual °C, from means of minutes (nan: not seen), oldest first; without the last days.

    Each day counts the same, however long the card worked on it: the median of the days' medians.
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
    """`usual` of a month of the monitor's history; `card` begins its series' names ("gpu0")."""
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
    """When a number came (seconds since the epoch), and which; what stood there at first is older. A count that goes
    `down` began anew.
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
    """The last error that the driver reported of a card, and when, where a rule still asks for it and it came after
    `since` (seconds since the epoch); `card` as in `remembered`.
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


FigureValue = float | str | tuple[str, ...] | None
# What a card is built into, as far as its name tells.
FormFactor = Literal["desktop", "laptop", "server", "any"]

# What this module adds to the fields of a `GpuSample` and of a `Sample`.
DERIVED_FIGURES = (
    "temp_limit",
    "temp_unlimited",
    "temp_danger",
    "temp_danger_kind",
    "temp_unwarned",
    "heat_where",
    "held_by",
    "fan_turns",
    "pcie_width_card",
    "xid_kind",
    "xid_age",
    "temp_settled",
    "temp_usual",
)
# Advice that differs with what a card is built into (texts `health.<advice>.<form>`).
ADVICE_KEYS = ("air", "power", "slot", "link", "pace", "lowered")
EXTRA_COMPUTER_FIGURES = ("cuda",)


def gpu_figure_names() -> frozenset[str]:
    """Every name that a rule about a card may use."""
    return frozenset((*GpuSample.__struct_fields__, *DERIVED_FIGURES))


def computer_figure_names() -> frozenset[str]:
    """Every name that a rule about the computer may use."""
    return frozenset((*Sample.__struct_fields__, *EXTRA_COMPUTER_FIGURES)) - {"gpus"}


def temperature_limit(gpu: GpuSample, max_temperature: Callable[[GpuSample], float | None]) -> float | None:
    """°C from which on the card is slowed down: by the driver, else by itself, else what its maker allows."""
    limits = (limit for limit in (gpu.temp_max, gpu.temp_slow) if limit is not None)
    return next(limits, None) or max_temperature(gpu)


def critical_temperature(gpu: GpuSample) -> int | None:
    """°C from which on the card saves itself: by slowing down hard, else by switching itself off."""
    return gpu.temp_slow if gpu.temp_slow is not None else gpu.temp_shutdown


def critical_action(gpu: GpuSample) -> str:
    """What the card does at that temperature."""
    return "slow" if gpu.temp_slow is not None else "shutdown"


def heat_location(gpu: GpuSample, limit: float | None) -> str:
    """What is hot where heat slows the card down: its core from its `limit` in °C on, else maybe another part."""
    return "core" if gpu.temp is not None and limit is not None and gpu.temp >= limit else "elsewhere"


def fan_speed(gpu: GpuSample) -> int | None:
    """How fast the fan turns: as measured (turns a minute), else as asked for (%)."""
    return gpu.fan_rpm if gpu.fan_rpm is not None else gpu.fan


def is_judgeable(gpu: GpuSample) -> bool:
    """Whether anything is known by which it could be unwell: how warm it is, or what holds it back."""
    return any(figure is not None for figure in (gpu.temp, gpu.temp_memory, gpu.throttle))


def gpu_display_name(gpu: GpuSample, *, has_several: bool) -> str:
    """What a card is called in sentences: its name; of `several` its number first, as marks and tables call it."""
    return device_label(f"cuda:{gpu.index}", gpu.name, several=has_several)


def advice_codes(form_factor: FormFactor) -> dict[str, str]:
    """The advice for such a card, as the codes of texts, by its name in the sentences around it."""
    return {name: f"@health.{name}.{form_factor}" for name in ADVICE_KEYS}


class GpuRuleInputs:
    """One card's figures by name. Units as in `GpuSample`.

    `temp_limit`: see `temperature_limit`; `temp_unlimited` is the temperature where nobody knows that. `temp_danger`:
    see `danger`, `temp_danger_kind` what the card does then ("slow", "shutdown"); `temp_unwarned` is the temperature
    where the driver does not tell that. `heat_where`: see there, as the code of a
    text. `held_by`: why clocks are held back; nothing, where the driver does not tell.
    `fan_turns`: measured, else asked for. `pcie_width_card`:
    the lanes that the card has, by its maker (NVML tells only what card and slot can do together). `xid_age`: seconds
    since the driver's last error, `xid_kind` what that speaks of. `temp_settled`: mean °C under an even load,
    `temp_usual` the same in its own past; both None while the load is not even.
    """

    def __init__(
        self,
        t: float,
        gpu: GpuSample,
        *,
        max_temperature: Callable[[GpuSample], float | None],
        lanes: Callable[[GpuSample], int | None],
        xids: Mapping[int, XidKind],
        temp_comparison: tuple[float, float] | None,
    ) -> None:
        self._gpu = gpu
        limit, critical = temperature_limit(gpu, max_temperature), critical_temperature(gpu)
        self._derived: dict[str, FigureValue] = {
            "temp_limit": limit,
            "temp_unlimited": gpu.temp if limit is None else None,
            "temp_danger": critical,
            "temp_danger_kind": critical_action(gpu),
            "temp_unwarned": gpu.temp if critical is None else None,
            "heat_where": f"@health.heat-where.{heat_location(gpu, limit)}",
            "held_by": gpu.throttle or (),
            "pcie_width_card": lanes(gpu),
            "fan_turns": fan_speed(gpu),
            "xid_kind": xids.get(gpu.xid, "unknown") if gpu.xid else None,
            "xid_age": t - gpu.xid_t if gpu.xid and gpu.xid_t is not None else None,
            "temp_settled": temp_comparison[0] if temp_comparison is not None else None,
            "temp_usual": temp_comparison[1] if temp_comparison is not None else None,
        }

    def __getitem__(self, name: str) -> FigureValue:
        if name in self._derived:
            return self._derived[name]
        value: FigureValue = getattr(self._gpu, name)
        return value


class ComputerRuleInputs:
    """What is known of the whole computer, by name; `cuda` is the state of the last check of CUDA ("pass", "fail")."""

    def __init__(self, sample: Sample, *, cuda_state: str | None) -> None:
        self._sample = sample
        self._cuda_state = cuda_state

    def __getitem__(self, name: str) -> FigureValue:
        if name == "cuda":
            return self._cuda_state
        value: FigureValue = getattr(self._sample, name)
        return value
