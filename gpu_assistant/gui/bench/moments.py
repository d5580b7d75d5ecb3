"""When a benchmark was, in words."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from ...core.results import Benchmark
from ...texts.format import UNKNOWN

translate = QCoreApplication.translate


def when(benchmark: Benchmark) -> str:
    """Measured today at …, or on a day."""
    if benchmark.started is None:
        return ""
    moment = time.localtime(benchmark.started)
    clock = time.strftime("%H:%M", moment)
    if moment[:3] == time.localtime()[:3]:
        return translate("Scores", "Measured today, {time}").format(time=clock)
    return dated(benchmark)


def dated(benchmark: Benchmark) -> str:
    """Measured on a day, for what is read on another day."""
    if benchmark.started is None:
        return ""
    moment = time.localtime(benchmark.started)
    day, clock = time.strftime("%Y-%m-%d", moment), time.strftime("%H:%M", moment)
    return translate("Scores", "Measured {date}, {time}").format(date=day, time=clock)


def of_before(before: Benchmark | None) -> str:
    """When the one before was, for a bar's name."""
    return each([before], whole=True)[0] if before is not None else ""


def each(benchmarks: Sequence[Benchmark], *, whole: bool = False) -> list[str]:
    """When each was, no two alike: to the second where minutes do not tell them apart, and full tests are marked.

    Short enough for a bar's label unless `whole`, which has the year, for what is read on another day.
    """
    said: list[str] = []
    for clock in ("%H:%M", "%H:%M:%S"):
        said = [_moment(one, clock, whole=whole) for one in benchmarks]
        if len(set(said)) == len(said):
            break
    return said


def _moment(benchmark: Benchmark, clock: str, *, whole: bool) -> str:
    if benchmark.started is None:
        return UNKNOWN
    moment = time.localtime(benchmark.started)
    today = moment[:3] == time.localtime()[:3]
    said = time.strftime(f"%Y-%m-%d {clock}" if whole else clock if today else f"%m-%d {clock}", moment)
    return translate("Scores", "{when}, full").format(when=said) if benchmark.scope == "full" else said
