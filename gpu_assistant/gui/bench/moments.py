"""When a benchmark was, in words."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from ...core.results import Benchmark
from ...texts.format import UNKNOWN_VALUE

translate = QCoreApplication.translate


def measured_when(benchmark: Benchmark) -> str:
    """Measured today at …, or on a day."""
    if benchmark.started is None:
        return ""
    local_time = time.localtime(benchmark.started)
    time_text = time.strftime("%H:%M", local_time)
    if local_time[:3] == time.localtime()[:3]:
        return translate("Scores", "Measured today, {time}").format(time=time_text)
    return measured_on(benchmark)


def measured_on(benchmark: Benchmark) -> str:
    """Measured on a day, for what is read on another day."""
    if benchmark.started is None:
        return ""
    local_time = time.localtime(benchmark.started)
    day, time_text = time.strftime("%Y-%m-%d", local_time), time.strftime("%H:%M", local_time)
    return translate("Scores", "Measured {date}, {time}").format(date=day, time=time_text)


def previous_date_label(previous: Benchmark | None) -> str:
    """When the one before was, for a bar's name."""
    return date_labels([previous], with_year=True)[0] if previous is not None else ""


def date_labels(benchmarks: Sequence[Benchmark], *, with_year: bool = False) -> list[str]:
    """When each was, no two alike: to the second where minutes do not tell them apart, and full tests are marked.

    Short enough for a bar's label unless `whole`, which has the year, for what is read on another day.
    """
    labels: list[str] = []
    for time_format in ("%H:%M", "%H:%M:%S"):
        labels = [_date_label(benchmark, time_format, with_year=with_year) for benchmark in benchmarks]
        if len(set(labels)) == len(labels):
            break
    return labels


def _date_label(benchmark: Benchmark, time_format: str, *, with_year: bool) -> str:
    if benchmark.started is None:
        return UNKNOWN_VALUE
    local_time = time.localtime(benchmark.started)
    is_today = local_time[:3] == time.localtime()[:3]
    label = time.strftime(f"%Y-%m-%d {time_format}" if with_year else time_format if is_today else f"%m-%d {time_format}", local_time)
    return translate("Scores", "{when}, full").format(when=label) if benchmark.scope == "full" else label
