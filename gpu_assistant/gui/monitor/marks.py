"""Which events stand on the time line: what the history knows of the cards, installs, benchmarks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from ...core.jobs import JobContext
from ...core.results import GpuSample
from ...health.baselines import critical_action, critical_temperature, temperature_limit, value_changes
from ...monitor.series import GONE_SERIES, LOST_SERIES, NVML_STATE_PREFIX, series_name
from .bygone import MOSTLY, Yes, met
from .events import Event, Tone
from .history_model import GAP_STEPS, Array

if TYPE_CHECKING:
    from ...app import App
    from ...catalog.records.health import AlarmRule, HealthRules
    from ...monitor.history import SeriesWindow
    from .history_model import SampleHistory


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
AWAY: dict[str, tuple[str, Tone]] = {
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
Span = tuple[float, float]  # from when to when, in seconds since the epoch; inf: it goes on


def of_cards(
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
        if (past := _Past(history, gpu, begin, start, temperature_limit(gpu, allowed))).known
        for event in (*_by_rules(past, marked, ends), *_away(past), *_silent(past), *_errors(past))
    ]


class _Past:
    """A card's series in the range, each read once and all at the same moments."""

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
            self._read[figure] = _at(self._t, found)
        return self._read[figure]

    def silence(self, state: str) -> SeriesWindow | None:
        """When the driver told nothing of any card, in this state."""
        series = NVML_STATE_PREFIX + state
        return self._history.series(series, self._begin, self._start) if series in self._names else None

    def figure(self, name: str) -> Array | float | str | None:
        """As rules ask: over time where it is kept, else as the card tells it now."""
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

    def rang(self, rule: AlarmRule, ends_seconds: float) -> list[Span]:
        """When the rule's alarm rang: from when its conditions began to hold, until they no longer did by `until`."""
        window, began = self.window(LOST_SERIES), met(rule, self.figure)
        if began is None or window is None:
            return []
        stays = met(rule, self.figure, on=True)
        ends = ends_seconds if rule.ends_seconds is None else rule.ends_seconds
        lasted = runs(window.t, began if stays is None else began | stays, window.step, hole=ends)
        rang: list[Span] = []
        for first, last in runs(window.t, began, window.step, rule.for_seconds):
            if not rang or first > rang[-1][1]:
                rang.append((first, max([last, *(end for start, end in lasted if start <= first)])))
        return rang

    def events(self, spans: Iterable[Span], word: str, tone: Tone, about: str) -> Iterator[Event]:
        """One for each time that it was so."""
        text = QCoreApplication.translate("Marks", word)
        for first, last in spans:
            yield Event(start=first, end=last, text=text, tone=tone, gpu=self.gpu.index, about=about)


def _by_rules(past: _Past, rules: list[AlarmRule], ends_seconds: float) -> Iterator[Event]:
    rang = {rule.id: past.rang(rule, ends_seconds) for rule in rules}
    for rule in rules:
        over = [span for other in rules if rule.id in other.hushes for span in rang[other.id]]
        yield from past.events(without(rang[rule.id], over), *RULES[rule.id])


def _away(past: _Past) -> Iterator[Event]:
    for figure, (word, tone) in AWAY.items():
        window = past.window(figure)
        if window is not None:
            yield from past.events(runs(window.t, window.mean >= MOSTLY, window.step), word, tone, "util")


def _silent(past: _Past) -> Iterator[Event]:
    for state, word in SILENT.items():
        window = past.silence(state)
        if window is not None:
            text = QCoreApplication.translate("Marks", word)
            for first, last in runs(window.t, window.mean >= MOSTLY, window.step):
                yield Event(start=first, end=last, text=text, tone="error", gpu=past.gpu.index, about="util")


def _errors(past: _Past) -> Iterator[Event]:
    """The moments in which the driver reported an error, or memory errors came that could not be mended."""
    xids, counted = past.window("xid"), past.window("ecc_uncorrected")
    for at, number in value_changes(xids) if xids is not None else ():
        yield Event(start=at, end=at, text=f"Xid {number:.0f}", tone="error", gpu=past.gpu.index, about="util")
    text = QCoreApplication.translate("Marks", ERRORS)
    for at, _ in value_changes(counted, include_decreases=False) if counted is not None else ():
        yield Event(start=at, end=at, text=text, tone="error", gpu=past.gpu.index, about="mem")


def _at(t: Array | None, window: SeriesWindow | None) -> SeriesWindow | None:
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


def without(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """What is left of each where none of the others is."""
    left = list(spans)
    for begin, end in others:
        pieces = [((first, min(last, begin)), (max(first, end), last)) for first, last in left]
        left = [(first, last) for both in pieces for first, last in both if first < last]
    return left


def runs(t: Array, on: Yes, step: float, for_seconds: float = 0.0, *, hole: float = 0.0) -> list[Span]:
    """From when to when it was so, for so long at least: as an alarm, which looks each second, would have rung. A hole
    of a few steps, or shorter than `hole` seconds, parts none. What lasts until the newest stretch goes on.
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


class Happenings:
    """A job: the installs and benchmarks of before, as events; they stand on disk. Their words are not translated yet:
    Qt asks a translator of ours, which belongs to the window's thread.
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
