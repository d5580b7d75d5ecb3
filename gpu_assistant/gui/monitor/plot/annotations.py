"""What stands on the time line of the plots: health alarms of before, driver errors, installs, bench

`gpu_events` judges the history by the same rules of `resources/catalog/health.json` as the alarms of now;
`ActivityJob` reads installs and benchmarks from disk; `AnnotationSource` keeps both up to date for a page.
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
from ....monitor.series import GONE_SERIES, LOST_SERIES, NVML_STATE_PREFIX, THROTTLE_PREFIX, series_name
from ...worker import JobRunner
from .curves import GAP_STEPS, Array

if TYPE_CHECKING:
    from ....app import App
    from ....catalog.records.health import AlarmRule, HealthRules
    from ....monitor.history import SeriesWindow
    from ..history_model import SampleHistory
    from ..sampling import SamplingService
    from .time_axis import TimeAxis


Tone = Literal["warn", "error", "soft", "accent"]
# rule of a card: (word, tone, the plot that says it)
RULES: dict[str, tuple[str, Tone, str]] = {
    "slowed-by-heat": (str(QT_TRANSLATE_NOOP("Marks", "slowed by heat")), "warn", "temp"),
    "slowed-by-itself": (str(QT_TRANSLATE_NOOP("Marks", "slowed by itself")), "warn", "power"),
    "power-limit": (str(QT_TRANSLATE_NOOP("Marks", "power limit")), "soft", "power"),
    "power-starved": (str(QT_TRANSLATE_NOOP("Marks", "too little power")), "warn", "power"),
    "power-supply": (str(QT_TRANSLATE_NOOP("Marks", "power supply")), "error", "power"),
    "hot": (str(QT_TRANSLATE_NOOP("Marks", "hot")), "warn", "temp"),
    "too-hot": (str(QT_TRANSLATE_NOOP("Marks", "far too hot")), "error", "temp"),
    "fan-stopped": (str(QT_TRANSLATE_NOOP("Marks", "fan stands still")), "error", "temp"),
}
SAMPLE_S = 1.0  # between two looks at a card
MISSING: dict[str, tuple[str, Tone]] = {
    LOST_SERIES: (str(QT_TRANSLATE_NOOP("Marks", "no longer answers")), "error"),
    GONE_SERIES: (str(QT_TRANSLATE_NOOP("Marks", "no longer there")), "warn"),
}
SILENT = {
    "version-mismatch": str(QT_TRANSLATE_NOOP("Marks", "driver updated")),
    "hung": str(QT_TRANSLATE_NOOP("Marks", "driver hung")),
}
ERRORS = str(QT_TRANSLATE_NOOP("Marks", "memory errors"))
INSTALLED = str(QT_TRANSLATE_NOOP("Marks", "install"))
MEASURED = str(QT_TRANSLATE_NOOP("Marks", "benchmark"))

Allowed = Callable[[GpuSample], float | None]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
# A GPU's figure as a line over time, a figure or a name that does not change, or None where nobody knows it.
Figure = Callable[[str], Array | float | str | None]
Span = tuple[float, float]  # from when to when, in seconds since the epoch; inf: it goes on

# The share of a stretch of time for which a reason must have been reported.
MOSTLY = 0.5
# The figures of a rule that are sets of throttle reasons.
REASONS = ("throttle", "held_by")
# Events are looked up again after this share of what is shown, but not more often than every few seconds.
REFRESH_SHARE, REFRESH_SECONDS = 200, 5.0


class Event(Struct, frozen=True, kw_only=True):
    """From `start` to `end` in seconds since the epoch (inf: it goes on), or at a moment where both are the same.

    `text` is what is said of it: where there are several cards, `whose` it is and the `word` for it; `reason` is the
    word in every plot, for the cross-hair.
    `tone` is a token's name for its colour, `gpu` the card's index (None: the whole computer); `about` is the key of
    the metric whose plot says the text, "" for all of them.
    """

    start: float
    end: float
    text: str
    tone: Tone
    gpu: int | None = None
    about: str = ""
    whose: str = ""
    word: str = ""
    reason: str = ""

    @property
    def moment(self) -> bool:
        """Whether it has no length."""
        return self.end <= self.start

    @property
    def says(self) -> bool:
        """Whether its text is more than a card's number."""
        return bool(self.word if self.whose else self.text)

    def within(self, start: float, end: float) -> bool:
        """Whether any of it lies between two moments."""
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
    """Held back, hot, lost, errors, over a range that begins at `start` and is `span` seconds long. Without `rules`
    nothing is judged.
    """
    # From a round moment before what is shown: what goes on there keeps its beginning as time moves on.
    half = span / 2
    begin = math.floor((start - half) / half) * half
    marked = [rule for rule in rules.rules if rule.id in RULES] if rules is not None else []
    ends = rules.ends_seconds if rules is not None else 0.0
    return [
        event
        for gpu in gpus
        if (past := _GpuHistory(history, gpu, begin, start, temperature_limit(gpu, allowed))).known
        for event in (
            *_rule_events(past, marked, ends),
            *_missing_events(past),
            *_silent_events(past),
            *_error_events(past),
        )
    ]


class _GpuHistory:
    """A GPU's series in a range, each read once and all at the same moments."""

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
        """A series; None where it was never known."""
        if figure not in self._read:
            series = series_name(self.gpu, figure)
            there = series in self._names
            found = self._history.series(series, self._begin, self._start) if there else None
            self._t = found.t if self._t is None and found is not None else self._t
            self._read[figure] = _align(self._t, found)
        return self._read[figure]

    def silence(self, state: str) -> SeriesWindow | None:
        """When the driver reported nothing of any GPU, in this state."""
        series = NVML_STATE_PREFIX + state
        return self._history.series(series, self._begin, self._start) if series in self._names else None

    def figure(self, name: str) -> Array | float | str | None:
        """A figure of the rules: over time where it is kept, else as the GPU reports it now."""
        if name == "temp_limit":
            return self._limit
        if name == "temp_danger":
            return critical_temperature(self.gpu)
        if name == "temp_danger_kind":
            return critical_action(self.gpu)
        if name == "fan_turns":
            turns = self.figure("fan_rpm")
            return turns if turns is not None else self.figure("fan")
        window = self.window(name)
        if window is not None:
            return window.mean
        now = getattr(self.gpu, name, None)
        return float(now) if isinstance(now, int | float) else None

    def alarms(self, rule: AlarmRule, ends_seconds: float) -> list[Span]:
        """When the rule's alarm was on: from when its conditions began to hold, until they no longer did by `until`."""
        window, began = self.window(LOST_SERIES), rule_holds(rule, self.figure)
        if began is None or window is None:
            return []
        stays = rule_holds(rule, self.figure, on=True)
        ends = ends_seconds if rule.ends_seconds is None else rule.ends_seconds
        lasted = find_spans(window.t, began if stays is None else began | stays, window.step, hole=ends)
        alarms: list[Span] = []
        for first, last in find_spans(window.t, began, window.step, rule.for_seconds):
            if not alarms or first > alarms[-1][1]:
                alarms.append((first, max([last, *(end for start, end in lasted if start <= first)])))
        return alarms

    def events(self, spans: Iterable[Span], word: str, tone: Tone, about: str) -> Iterator[Event]:
        """One for each time that it was so."""
        text = QCoreApplication.translate("Marks", word)
        for first, last in spans:
            yield Event(start=first, end=last, text=text, tone=tone, gpu=self.gpu.index, about=about)


def _rule_events(past: _GpuHistory, rules: list[AlarmRule], ends_seconds: float) -> Iterator[Event]:
    alarms = {rule.id: past.alarms(rule, ends_seconds) for rule in rules}
    for rule in rules:
        over = [span for other in rules if rule.id in other.hushes for span in alarms[other.id]]
        yield from past.events(subtract_spans(alarms[rule.id], over), *RULES[rule.id])


def _missing_events(past: _GpuHistory) -> Iterator[Event]:
    for figure, (word, tone) in MISSING.items():
        window = past.window(figure)
        if window is not None:
            yield from past.events(find_spans(window.t, window.mean >= MOSTLY, window.step), word, tone, "util")


def _silent_events(past: _GpuHistory) -> Iterator[Event]:
    for state, word in SILENT.items():
        window = past.silence(state)
        if window is not None:
            text = QCoreApplication.translate("Marks", word)
            for first, last in find_spans(window.t, window.mean >= MOSTLY, window.step):
                yield Event(start=first, end=last, text=text, tone="error", gpu=past.gpu.index, about="util")


def _error_events(past: _GpuHistory) -> Iterator[Event]:
    """The moments in which the driver reported an error, or memory errors came that could not be mended."""
    xids, counted = past.window("xid"), past.window("ecc_uncorrected")
    for at, number in value_changes(xids) if xids is not None else ():
        yield Event(start=at, end=at, text=f"Xid {number:.0f}", tone="error", gpu=past.gpu.index, about="util")
    text = QCoreApplication.translate("Marks", ERRORS)
    for at, _ in value_changes(counted, include_decreases=False) if counted is not None else ():
        yield Event(start=at, end=at, text=text, tone="error", gpu=past.gpu.index, about="mem")


def _align(t: Array | None, window: SeriesWindow | None) -> SeriesWindow | None:
    """A series at these moments: one that was read a little later may have one more, or begin one later."""
    if t is None or window is None or np.array_equal(t, window.t):
        return window
    places = np.searchsorted(window.t, t)
    there = places < len(window.t)
    there[there] = window.t[places[there]] == t[there]
    mean, low, high = (np.full(len(t), np.nan) for _ in range(3))
    for part, own in ((mean, window.mean), (low, window.low), (high, window.high)):
        part[there] = own[places[there]]
    return replace(window, t=t, mean=mean, low=low, high=high)


def subtract_spans(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """What is left of each span where none of the others is."""
    left = list(spans)
    for begin, end in others:
        pieces = [((first, min(last, begin)), (max(first, end), last)) for first, last in left]
        left = [(first, last) for both in pieces for first, last in both if first < last]
    return left


def find_spans(t: Array, on: Mask, step: float, for_seconds: float = 0.0, *, hole: float = 0.0) -> list[Span]:
    """The spans in which `on` held for `for_seconds` at least, as an alarm would that looks each second.

    A gap of a few steps, or shorter than `hole` seconds, does not split one. One that lasts until the newest stretch
    has no end.
    """
    at = t[on]
    if not len(at):
        return []
    parts = np.flatnonzero(np.diff(at) > max(GAP_STEPS * step, hole + step)) + 1
    starts, ends = np.append(at[0], at[parts]), np.append(at[parts - 1], at[-1])
    return [
        (float(first) - step / 2, math.inf if t[-1] - last <= GAP_STEPS * step else float(last) + step / 2)
        for first, last in zip(starts, ends, strict=True)
        if last - first + step - SAMPLE_S >= for_seconds
    ]


def rule_holds(rule: AlarmRule, figure: Figure, *, on: bool = False) -> Mask | None:
    """The stretches of time in which all conditions of the rule held; None: in none. What is not known meets no
    condition. `on`: judge as an alarm that is on already, by `until`.
    """
    together: Mask | None = None
    # Names first: a reason that was never told makes an end at once.
    for condition in sorted(rule.when, key=lambda one: not isinstance(one, NameCondition)):
        if isinstance(condition, NameCondition) and isinstance(name := figure(condition.figure), str):
            # What does not change holds always, or never.
            if (condition.any_of and name not in condition.any_of) or name in condition.none_of:
                return None
            continue
        if isinstance(condition, NameCondition):
            found = _named(condition, figure)
        elif isinstance(condition, NumberCondition):
            found = _number(condition, figure, on=on)
        else:
            raise TypeError(f"{rule.id}: counters are not kept in the history")
        if found is None:
            return None
        together = found if together is None else together & found
    return together


def _named(condition: NameCondition, figure: Figure) -> Mask | None:
    """At least one of the names, none of the others; of figures that are not throttle reasons the
    history knows nothing.
    """
    if condition.figure not in REASONS:
        return None
    yes: Mask | None = None
    for reason in condition.any_of:
        told = figure(THROTTLE_PREFIX + reason)
        if isinstance(told, np.ndarray):
            yes = (told >= MOSTLY) if yes is None else yes | (told >= MOSTLY)
    for reason in condition.none_of:
        told = figure(THROTTLE_PREFIX + reason)
        if yes is not None and isinstance(told, np.ndarray):
            yes &= ~(told >= MOSTLY)
    return yes


def _number(condition: NumberCondition, figure: Figure, *, on: bool) -> Mask | None:
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
    # NaN is neither.
    return value >= bound if condition.least is not None else value < bound


class ActivityJob:
    """A job that reads from disk when environments were installed and benchmarks run. The texts are not translated yet:
    Qt asks our translator, which belongs to the window's thread.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[object]) -> tuple[Event, ...]:
        """Read them; raises AppError."""
        context.check_cancelled()
        found = [
            Event(start=made.created, end=made.created, text=INSTALLED, tone="accent")
            for made in self._app.setup.environments()
            if made.created
        ]
        for each in self._app.monitoring.stored_benchmarks().benchmarks:
            if each.started is not None:
                end = each.started + (each.seconds or 0.0)
                found.append(Event(start=each.started, end=end, text=MEASURED, tone="accent"))
        return tuple(found)


class AnnotationSource(QObject):
    """Keeps the events of a page up to date, without asking more often than they can change.

    `changed`: installs and benchmarks were read.
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
        """°C from which on a card is slowed down; the catalog is asked once the sampling thread has read it."""
        allowed = self._app.monitoring.max_temperature if self._sampling.health is not None else _nobody_knows
        return temperature_limit(gpu, allowed)

    def load(self) -> None:
        """Read installs and benchmarks again, on a thread of their own."""
        if self._app.simulated:
            return
        if self._reading.running:
            self._again = True
        else:
            self._reading.start(ActivityJob(self._app))

    def invalidate(self) -> None:
        """Another range or GPU is shown: look events up again at once."""
        self._due = 0.0

    def events_if_due(self, time_axis: TimeAxis, picked: list[int]) -> tuple[Event, ...] | None:
        """The events in what the plots show; None where it is too early to ask again."""
        latest = self._sampling.history.latest
        now = latest.t if latest is not None else 0.0
        # What was kept and the rules come some seconds after the window: then it is not too early.
        known = (self._sampling.history.store is not None, self._sampling.health is not None)
        if known == self._known and now < self._due <= now + time_axis.span:
            return None
        self._known = known
        self._due = now + max(REFRESH_SECONDS, time_axis.span / REFRESH_SHARE)
        start, end = time_axis.view()
        history = self._sampling.history
        cards = [history.last_response(gpu) for gpu in history.gpus() if gpu.index in picked]
        # The rules, as the catalog, are there once the sampling thread has read them.
        rules = self._app.monitoring.health_rules if self._sampling.health is not None else None
        found = gpu_events(history, cards, start, end - start, allowed=self.limit, rules=rules)
        translate = QCoreApplication.translate
        activity = (replace(event, text=translate("Marks", event.text)) for event in self._activity)
        return (*found, *activity)

    def _load_again(self) -> None:
        """Installs and benchmarks changed while they were read."""
        if self._again:
            self._again = False
            self.load()

    def _loaded(self, events: tuple[Event, ...]) -> None:
        self._activity = events
        self.invalidate()
        self.changed.emit()


def _nobody_knows(_gpu: GpuSample) -> float | None:
    return None
