"""Which events stand on the time line: what the history knows of the cards, installs, benchmarks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from ...core.jobs import JobContext
from ...core.results import GpuSample
from ...health.figures import temperature_limit
from ...monitor.series import name as series_name
from .events import Event, Tone
from .series import GAP_STEPS, Array

if TYPE_CHECKING:
    from ...app import App
    from .history import History

# The share of a stretch of time for which something must have been so.
MOSTLY = 0.5
TEMPERATURE = "temp"
# series of a card: (word, tone, the plot that says it)
SERIES: dict[str, tuple[str, Tone, str]] = {
    "held_heat": (str(QT_TRANSLATE_NOOP("Marks", "slowed by heat")), "warn", "temp"),
    "held_power": (str(QT_TRANSLATE_NOOP("Marks", "power limit")), "soft", "power"),
    "held_supply": (str(QT_TRANSLATE_NOOP("Marks", "power supply")), "error", "power"),
    TEMPERATURE: (str(QT_TRANSLATE_NOOP("Marks", "hot")), "warn", "temp"),
    "lost": (str(QT_TRANSLATE_NOOP("Marks", "lost")), "error", "util"),
}

Yes = np.ndarray[Any, np.dtype[np.bool_]]
Allowed = Callable[[GpuSample], float | None]


def of_cards(history: History, gpus: Iterable[GpuSample], start: float, span: float, allowed: Allowed) -> list[Event]:
    """Throttled, hot and lost, over a range that begins at `start` and is `span` seconds long."""
    # From a round moment before what is shown: what goes on there keeps its beginning as time moves on.
    half = span / 2
    begin = math.floor((start - half) / half) * half
    found: list[Event] = []
    for gpu in gpus:
        limit = temperature_limit(gpu, allowed)
        for figure, (word, tone, about) in SERIES.items():
            least = limit if figure == TEMPERATURE else MOSTLY
            if least is None:
                continue
            seen = history.series(series_name(gpu, figure), begin, start)
            if seen is None:
                return []
            text = QCoreApplication.translate("Marks", word)
            found += [
                Event(start=first, end=last, text=text, tone=tone, gpu=gpu.index, about=about)
                for first, last in runs(seen.t, seen.mean >= least, seen.step)
            ]
    return found


def runs(t: Array, on: Yes, step: float) -> list[tuple[float, float]]:
    """From when to when it was so; a hole of a few steps parts none. What lasts until the newest stretch goes on."""
    at = t[on]
    if not len(at):
        return []
    parts = np.flatnonzero(np.diff(at) > GAP_STEPS * step) + 1
    starts, ends = np.append(at[0], at[parts]), np.append(at[parts - 1], at[-1])
    return [
        (float(first) - step / 2, math.inf if t[-1] - last <= GAP_STEPS * step else float(last) + step / 2)
        for first, last in zip(starts, ends, strict=True)
    ]


class Happenings:
    """A job: the installs and benchmarks of before, as events; they stand on disk."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[object]) -> tuple[Event, ...]:
        """Read them; raises AppError."""
        context.check_cancelled()
        found = []
        for made in self._app.environments():
            if made.created:
                word = QCoreApplication.translate("Marks", "install")
                found.append(Event(start=made.created, end=made.created, text=word, tone="accent"))
        for each in self._app.benchmarks():
            if each.started is not None:
                word = QCoreApplication.translate("Marks", "benchmark")
                end = each.started + (each.seconds or 0.0)
                found.append(Event(start=each.started, end=end, text=word, tone="accent"))
        return tuple(found)
