"""Events on the plots' time axis: past health alarms, driver errors, installs and benchmarks.

`gpu_events` applies the rules of `resources/catalog/health.json`, as the health monitor does, to the stored history.
`ActivityJob` reads installs and benchmarks from disk. `AnnotationSource` keeps both up to date for a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Signal

from ....catalog.records.health import NameCondition, NumberCondition
from ....core.jobs import JobContext
from ....core.results import GpuSample
from ....health.baselines import value_changes
from ....health.rules import critical_action, critical_temperature, temperature_limit
from ....monitor.series import (
    GONE_SERIES,
    LOST_SERIES,
    MACHINE_FIGURES,
    NVML_STATE_PREFIX,
    THROTTLE_PREFIX,
    series_name,
)
from ...worker import JobRunner
from ..alarms import ALARM_METRICS
from .curves import GAP_STEPS, Array

if TYPE_CHECKING:
    from ....app import App
    from ....catalog.records.health import AlarmRule, HealthRules
    from ....monitor.history import SeriesWindow
    from ..history_model import SampleHistory
    from ..sampling import SamplingService
    from .time_axis import TimeAxis


Tone = Literal["warn", "error", "soft", "accent"]
TONES_BY_WEIGHT: tuple[Tone, ...] = ("error", "warn", "accent", "soft")
# How a span is shaded; states of one tone differ in it.
Hatch = Literal["plain", "rising", "falling", "crossed", "upright", "level", "dotted"]
# rule: (short text, tone, hatch); the plot of its metric shows the text
RULES: dict[str, tuple[str, Tone, Hatch]] = {
    "slowed-by-heat": (str(QT_TRANSLATE_NOOP("Marks", "slowed by heat")), "warn", "rising"),
    "slowed-by-itself": (str(QT_TRANSLATE_NOOP("Marks", "slowed itself down")), "warn", "falling"),
    "power-limit": (str(QT_TRANSLATE_NOOP("Marks", "power limit")), "soft", "plain"),
    "power-starved": (str(QT_TRANSLATE_NOOP("Marks", "too little power")), "warn", "crossed"),
    "power-supply": (str(QT_TRANSLATE_NOOP("Marks", "power supply")), "error", "rising"),
    "weak-charger": (str(QT_TRANSLATE_NOOP("Marks", "charger")), "soft", "rising"),
    "hot": (str(QT_TRANSLATE_NOOP("Marks", "hot")), "warn", "plain"),
    "too-hot": (str(QT_TRANSLATE_NOOP("Marks", "far too hot")), "error", "plain"),
    "fan-stopped": (str(QT_TRANSLATE_NOOP("Marks", "fan stopped")), "error", "falling"),
}
SAMPLE_S = 1.0  # between two samples of a GPU
MISSING: dict[str, tuple[str, Tone, Hatch]] = {
    LOST_SERIES: (str(QT_TRANSLATE_NOOP("Marks", "no longer responds")), "error", "crossed"),
    GONE_SERIES: (str(QT_TRANSLATE_NOOP("Marks", "no longer there")), "warn", "upright"),
}
SILENT: dict[str, tuple[str, Hatch]] = {
    "version-mismatch": (str(QT_TRANSLATE_NOOP("Marks", "driver updated")), "upright"),
    "hung": (str(QT_TRANSLATE_NOOP("Marks", "driver hung")), "level"),
}
ERRORS = str(QT_TRANSLATE_NOOP("Marks", "memory errors"))
NO_DATA = str(QT_TRANSLATE_NOOP("Marks", "no data"))
INSTALLED = str(QT_TRANSLATE_NOOP("Marks", "install"))
MEASURED = str(QT_TRANSLATE_NOOP("Marks", "benchmark"))

Allowed = Callable[[GpuSample], float | None]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
# A rule's input by name: values over time, a constant number or name, or None where it is unknown.
Figure = Callable[[str], Array | float | str | None]
Span = tuple[float, float]  # (start, end) in seconds since the epoch; end inf: it lasts

# A throttle reason counts in an interval where it was reported for this share of it.
MOSTLY = 0.5
# The inputs of rules that are sets of throttle reasons.
REASONS = ("throttle", "held_by")
# A pause of sampling is marked from this share of the shown range on; no plot has its text, the key above them does.
PAUSE_SHARE, PAUSE_METRIC = 0.01, "none"
PRELUDE_SHARE = 0.01  # of the shown range
# Events are computed again after 1 / REFRESH_SHARE of the shown span, but not within REFRESH_SECONDS.
REFRESH_SHARE, REFRESH_SECONDS = 200, 5.0


class Event(Struct, frozen=True, kw_only=True):
    """A span of time on the plots; `start` and `end` in seconds since the epoch (end inf: it lasts; equal: an instant).

    `tone` is the name of a colour token. `gpu` is the GPU's index, None for the whole computer. `metric_key` is the key
    of the metric whose plot shows the text, "" for every plot; it is empty in the plots of other metrics. In a plot of
    several GPUs, `text` is `gpu_label` ("GPU 0") followed by `short_text`.
    """

    start: float
    end: float
    text: str
    tone: Tone
    hatch: Hatch = "plain"
    gpu: int | None = None
    metric_key: str = ""
    gpu_label: str = ""
    short_text: str = ""

    @property
    def is_instant(self) -> bool:
        """Whether it has no duration."""
        return self.end <= self.start

    def within(self, start: float, end: float) -> bool:
        """Whether it overlaps the range from `start` to `end`."""
        return self.start <= end and (self.end >= start or math.isinf(self.end))


def gpu_events(
    history: SampleHistory,
    gpus: Iterable[GpuSample],
    start: float,
    span: float,
    *,
    allowed: Allowed,
    rules: HealthRules | None,
) -> list[Event]:
    """Alarms, missing answers and driver errors of these GPUs from `start` to now, the plots showing `span` seconds.

    `allowed` gives a GPU's maximum temperature in °C; None for `rules`: no alarms.
    """
    # From a multiple of half the span before the shown range: an event there keeps its start as time advances.
    half = span / 2
    begin = math.floor((start - half) / half) * half
    marked = [rule for rule in rules.rules if rule.id in RULES] if rules is not None else []
    ends = rules.ends_seconds if rules is not None else 0.0
    return [
        event
        for gpu in gpus
        if (past := _GpuHistory(history, gpu, begin, start, temperature_limit(gpu, allowed))).known
        for event in (
            *_rule_events(past, marked, ends, PRELUDE_SHARE * span),
            *_missing_events(past),
            *_silent_events(past),
            *_error_events(past),
        )
    ]


def pause_events(history: SampleHistory, start: float, span: float) -> list[Event]:
    """The times in which nobody sampled, from `start` to the newest sample, the plots showing `span` seconds."""
    window = history.series(MACHINE_FIGURES[0], start, start)
    if window is None:
        return []
    t = window.t[np.isfinite(window.mean)]
    pauses = np.flatnonzero(np.diff(t) > max(GAP_STEPS * window.step, PAUSE_SHARE * span))
    text = QCoreApplication.translate("Marks", NO_DATA)
    return [
        Event(start=float(t[at]), end=float(t[at + 1]), text=text, tone="soft", hatch="dotted", metric_key=PAUSE_METRIC)
        for at in pauses
    ]


class _GpuHistory:
    """A GPU's stored series in a range, each read once, all aligned to the same times."""

    def __init__(self, history: SampleHistory, gpu: GpuSample, begin: float, start: float, limit: float | None) -> None:
        self.gpu = gpu
        self._limit = limit
        self._history, self._begin, self._start = history, begin, start
        self._read: dict[str, SeriesWindow | None] = {}
        self._t: Array | None = None
        store = history.store
        self._names = frozenset(store.names) if store is not None else frozenset()
        self.known = bool(self._names)

    def window(self, figure: str) -> SeriesWindow | None:
        """The series of a figure; None where it was never recorded."""
        if figure not in self._read:
            series = series_name(self.gpu, figure)
            window = self._history.series(series, self._begin, self._start) if series in self._names else None
            self._t = window.t if self._t is None and window is not None else self._t
            self._read[figure] = _align(self._t, window)
        return self._read[figure]

    def silence(self, state: str) -> SeriesWindow | None:
        """The share of each interval in which NVML was in this state and reported no GPU."""
        series = NVML_STATE_PREFIX + state
        return self._history.series(series, self._begin, self._start) if series in self._names else None

    def figure(self, name: str) -> Array | float | str | None:
        """A rule's input: values over time where they are stored, else the GPU's present value."""
        if name == "temp_limit":
            return self._limit
        if name == "temp_danger":
            return critical_temperature(self.gpu)
        if name == "temp_danger_kind":
            return critical_action(self.gpu)
        if name == "fan_turns":
            rpm = self.figure("fan_rpm")
            return rpm if rpm is not None else self.figure("fan")
        window = self.window(name)
        if window is not None:
            return window.mean
        now = getattr(self.gpu, name, None)
        return float(now) if isinstance(now, int | float) else None

    def alarms(self, rule: AlarmRule, ends_seconds: float) -> list[Span]:
        """The spans in which the rule's alarm was active: from its conditions' start until `until` ended them."""
        window, began = self.window(LOST_SERIES), rule_holds(rule, self.figure)
        if began is None or window is None:
            return []
        continues = rule_holds(rule, self.figure, on=True)
        ends = ends_seconds if rule.ends_seconds is None else rule.ends_seconds
        active = find_spans(window.t, began if continues is None else began | continues, window.step, max_gap=ends)
        alarms: list[Span] = []
        for first, last in find_spans(window.t, began, window.step, rule.for_seconds):
            if not alarms or first > alarms[-1][1]:
                alarms.append((first, max([last, *(end for start, end in active if start <= first)])))
        return alarms

    def events(
        self, spans: Iterable[Span], source_text: str, tone: Tone, metric_key: str, hatch: Hatch = "plain"
    ) -> Iterator[Event]:
        """One event for each span; `source_text` is translated in the context "Marks"."""
        text, gpu = QCoreApplication.translate("Marks", source_text), self.gpu.index
        for first, last in spans:
            yield Event(start=first, end=last, text=text, tone=tone, hatch=hatch, gpu=gpu, metric_key=metric_key)


def _rule_events(
    past: _GpuHistory, rules: list[AlarmRule], ends_seconds: float, prelude_seconds: float
) -> Iterator[Event]:
    """Each alarm where no graver one says more; what lasts no longer than `prelude_seconds` before a graver one, as a
    GPU on its way to being slowed by heat, is not marked.
    """
    alarms = {rule.id: past.alarms(rule, ends_seconds) for rule in rules}
    for rule in rules:
        graver = (other for other in rules if rule.id in other.suppresses or _is_graver(other.id, rule.id))
        suppressed = [span for other in graver for span in alarms[other.id]]
        begins = {first for first, _ in suppressed}
        spans = [
            (first, last)
            for first, last in subtract_spans(alarms[rule.id], suppressed)
            if last not in begins or last - first > prelude_seconds
        ]
        text, tone, hatch = RULES[rule.id]
        yield from past.events(spans, text, tone, ALARM_METRICS[rule.id], hatch)


def _is_graver(rule: str, other: str) -> bool:
    """Whether a rule says more than another that may hold at the same time: a GPU that is slowed by heat is also hot.

    RULES has the graver ones of a tone first. Two warnings about different metrics have different causes.
    """
    order = [*RULES]
    (_, tone, _), (_, other_tone, _) = RULES[rule], RULES[other]
    is_same_metric = ALARM_METRICS[rule] == ALARM_METRICS[other]
    if tone != other_tone:
        return is_same_metric and TONES_BY_WEIGHT.index(tone) < TONES_BY_WEIGHT.index(other_tone)
    return is_same_metric and order.index(rule) < order.index(other)


def _missing_events(past: _GpuHistory) -> Iterator[Event]:
    for figure, (text, tone, hatch) in MISSING.items():
        window = past.window(figure)
        if window is not None:
            yield from past.events(find_spans(window.t, window.mean >= MOSTLY, window.step), text, tone, "util", hatch)


def _silent_events(past: _GpuHistory) -> Iterator[Event]:
    for state, (text, hatch) in SILENT.items():
        window = past.silence(state)
        if window is not None:
            silent = find_spans(window.t, window.mean >= MOSTLY, window.step)
            yield from past.events(silent, text, "error", "util", hatch)


def _error_events(past: _GpuHistory) -> Iterator[Event]:
    """The times at which the driver reported an Xid error or uncorrectable memory errors."""
    xids, uncorrected = past.window("xid"), past.window("ecc_uncorrected")
    for time, number in value_changes(xids) if xids is not None else ():
        yield Event(start=time, end=time, text=f"Xid {number:.0f}", tone="error", gpu=past.gpu.index, metric_key="util")
    changes = value_changes(uncorrected, include_decreases=False) if uncorrected is not None else ()
    yield from past.events([(time, time) for time, _ in changes], ERRORS, "error", "mem")


def _align(t: Array | None, window: SeriesWindow | None) -> SeriesWindow | None:
    """A series at the times `t`, NaN where it has no value: one read a little later may have one interval more."""
    if t is None or window is None or np.array_equal(t, window.t):
        return window
    indexes = np.searchsorted(window.t, t)
    known = indexes < len(window.t)
    known[known] = window.t[indexes[known]] == t[known]
    mean, low, high = (np.full(len(t), np.nan) for _ in range(3))
    for aligned, values in ((mean, window.mean), (low, window.low), (high, window.high)):
        aligned[known] = values[indexes[known]]
    return replace(window, t=t, mean=mean, low=low, high=high)


def subtract_spans(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """The parts of `spans` that overlap none of `others`."""
    remaining = list(spans)
    for begin, end in others:
        pieces = [((first, min(last, begin)), (max(first, end), last)) for first, last in remaining]
        remaining = [(first, last) for both in pieces for first, last in both if first < last]
    return remaining


def find_spans(t: Array, on: Mask, step: float, for_seconds: float = 0.0, *, max_gap: float = 0.0) -> list[Span]:
    """The spans in which `on` held for at least `for_seconds`, as if sampled every SAMPLE_S seconds.

    `t` are the centres of intervals of `step` seconds. A gap of up to GAP_STEPS steps or `max_gap` seconds does not
    split a span. A span that reaches the newest interval ends at inf.
    """
    times = t[on]
    if not len(times):
        return []
    splits = np.flatnonzero(np.diff(times) > max(GAP_STEPS * step, max_gap + step)) + 1
    starts, ends = np.append(times[0], times[splits]), np.append(times[splits - 1], times[-1])
    return [
        (float(first) - step / 2, math.inf if t[-1] - last <= GAP_STEPS * step else float(last) + step / 2)
        for first, last in zip(starts, ends, strict=True)
        if last - first + step - SAMPLE_S >= for_seconds
    ]


def rule_holds(rule: AlarmRule, figure: Figure, *, on: bool = False) -> Mask | None:
    """The intervals in which all conditions of the rule held, None for none; an unknown value meets no condition.

    `on`: the alarm is active, so that `until` replaces a condition's limit. Raises TypeError for a counter's condition.
    """
    together: Mask | None = None
    # Names first: a throttle reason that was never reported ends the loop at once.
    for condition in sorted(rule.when, key=lambda one: not isinstance(one, NameCondition)):
        if isinstance(condition, NameCondition) and isinstance(name := figure(condition.figure), str):
            # A constant name meets the condition in every interval, or in none.
            if (condition.any_of and name not in condition.any_of) or name in condition.none_of:
                return None
            continue
        if isinstance(condition, NameCondition):
            mask = _name_mask(condition, figure)
        elif isinstance(condition, NumberCondition):
            mask = _number_mask(condition, figure, on=on)
        else:
            raise TypeError(f"{rule.id}: counters are not kept in the history")
        if mask is None:
            return None
        together = mask if together is None else together & mask
    return together


def _name_mask(condition: NameCondition, figure: Figure) -> Mask | None:
    """Where one of `any_of` and none of `none_of` was reported; None for names that the history does not store (all
    but throttle reasons).
    """
    if condition.figure not in REASONS:
        return None
    mask: Mask | None = None
    for reason in condition.any_of:
        share = figure(THROTTLE_PREFIX + reason)
        if isinstance(share, np.ndarray):
            mask = (share >= MOSTLY) if mask is None else mask | (share >= MOSTLY)
    for reason in condition.none_of:
        share = figure(THROTTLE_PREFIX + reason)
        if mask is not None and isinstance(share, np.ndarray):
            mask &= ~(share >= MOSTLY)
    return mask


def _number_mask(condition: NumberCondition, figure: Figure, *, on: bool) -> Mask | None:
    value = figure(condition.figure)
    number = condition.least if condition.least is not None else condition.below
    bound: Array | float | None = condition.until if on and condition.until is not None else number
    if not isinstance(value, np.ndarray) or bound is None:
        return None
    base = figure(condition.share_of or condition.beyond or "")
    if (base is None or isinstance(base, str)) and (condition.share_of or condition.beyond):
        return None
    if base is not None and not isinstance(base, str):
        bound = bound * base if condition.share_of else bound + base
    # Comparisons with NaN are false.
    return value >= bound if condition.least is not None else value < bound


class ActivityJob:
    """Reads from disk when environments were installed and benchmarks run.

    The events' texts are not translated yet, because Qt's translators belong to the window's thread.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[object]) -> tuple[Event, ...]:
        """The events of all installs and benchmarks; raises AppError and Cancelled."""
        context.check_cancelled()
        events = [
            Event(start=environment.created, end=environment.created, text=INSTALLED, tone="accent")
            for environment in self._app.setup.environments()
            if environment.created
        ]
        for benchmark in self._app.monitoring.stored_benchmarks().benchmarks:
            if benchmark.started is not None:
                end = benchmark.started + (benchmark.seconds or 0.0)
                events.append(Event(start=benchmark.started, end=end, text=MEASURED, tone="accent"))
        return tuple(events)


class AnnotationSource(QObject):
    """The events of a page, computed only as often as they can change.

    `changed` is emitted when installs and benchmarks were read.
    """

    changed = Signal()

    def __init__(self, app: App, sampling: SamplingService, parent: QObject) -> None:
        super().__init__(parent)
        self._app, self._sampling = app, sampling
        self._activity: tuple[Event, ...] = ()
        self._due = 0.0
        self._known = (False, False)
        self._reading = JobRunner(self)
        self._again = False
        self._reading.done.connect(self._loaded)
        self._reading.finished.connect(self._load_again)

    def limit(self, gpu: GpuSample) -> float | None:
        """The temperature in °C at which a GPU slows down; None where it is unknown.

        The catalog is used only once the sampling thread has read it.
        """
        allowed = self._app.monitoring.max_temperature if self._sampling.health is not None else _unknown_temperature
        return temperature_limit(gpu, allowed)

    def load(self) -> None:
        """Read installs and benchmarks on another thread."""
        if self._app.simulated:
            return
        if self._reading.running:
            self._again = True
        else:
            self._reading.start(ActivityJob(self._app))

    def invalidate(self) -> None:
        """Compute the events at the next call, since another range or GPU is shown."""
        self._due = 0.0

    def events_if_due(self, time_axis: TimeAxis, selected: list[int]) -> tuple[Event, ...] | None:
        """The events of the selected GPUs in the shown range; None where it is too early to compute them again."""
        latest = self._sampling.history.latest
        now = latest.t if latest is not None else 0.0
        # History and rules are loaded some seconds after the window is shown.
        known = (self._sampling.history.store is not None, self._sampling.health is not None)
        if known == self._known and now < self._due <= now + time_axis.span:
            return None
        self._known = known
        self._due = now + max(REFRESH_SECONDS, time_axis.span / REFRESH_SHARE)
        start, end = time_axis.view()
        history = self._sampling.history
        gpus = [history.last_response(gpu) for gpu in history.gpus() if gpu.index in selected]
        rules = self._app.monitoring.health_rules if self._sampling.health is not None else None
        events = gpu_events(history, gpus, start, end - start, allowed=self.limit, rules=rules)
        translate = QCoreApplication.translate
        activity = (replace(event, text=translate("Marks", event.text)) for event in self._activity)
        return (*events, *pause_events(history, start, end - start), *activity)

    def _load_again(self) -> None:
        """Read once more where `load` was called while reading."""
        if self._again:
            self._again = False
            self.load()

    def _loaded(self, events: tuple[Event, ...]) -> None:
        self._activity = events
        self.invalidate()
        self.changed.emit()


def _unknown_temperature(_gpu: GpuSample) -> float | None:
    return None
