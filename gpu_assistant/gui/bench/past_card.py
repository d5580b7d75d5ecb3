"""Your own past: the same measurement over time, and what changed since the last one."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...bench import compare
from ...core.results import Benchmark, BenchResult
from ..components import BarChart, Card, label
from . import moments, scores

MAX_RUNS = 5
VERSION_NAMES = {"torch": "PyTorch", "cuda": "CUDA", "cudnn": "cuDNN", "python": "Python", "driver": None}

translate = QCoreApplication.translate


class RunHistoryCard(Card):
    """Hidden until there are two that can be compared."""

    def __init__(self) -> None:
        self._result: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._ready = False
        super().__init__(" ")
        self.measurement_label, self.chart, self.change_label = label("small"), BarChart(), label("body")
        for each in (self.measurement_label, self.chart, self.change_label):
            self.column.addWidget(each)
        self.column.addStretch(1)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        """This one among those that were kept, oldest first."""
        self._result = (benchmark, stored)
        self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._result is None:
            return
        benchmark, stored = self._result
        runs = scores.comparable_runs(benchmark, stored)[-MAX_RUNS:]
        reference = scores.reference_result(benchmark)
        self.setVisible(len(runs) > 1)
        self.set_title(self.tr("Your own past"))
        if reference is None:
            return
        self.measurement_label.setText(measurement_label(runs[-1][1] if runs else reference))
        dates = moments.date_labels([each for each, _ in runs])
        self.chart.set_bars(
            [
                (date, result.median, scores.marked_median(result), "accent" if each is benchmark else "s5")
                for date, (each, result) in zip(dates, runs, strict=True)
            ]
        )
        if len(runs) > 1:
            self.change_label.setText(change_text(runs[-2], runs[-1], dates[-2]))


def change_text(previous: tuple[Benchmark, BenchResult], current: tuple[Benchmark, BenchResult], date: str) -> str:
    """Faster, slower, no change that the runs could tell, or why they cannot be compared; and which versions are not
    what they were. `when` the first of them was measured.
    """
    factor = compare.speed_ratio(previous[1], current[1])
    if reason := scores.doubt_text(previous[1], current[1]):
        text = translate("PastCard", "Cannot be compared with {when}: {why}.").format(when=date, why=reason)
    elif factor is None:
        text = translate("PastCard", "No difference to {when} beyond what runs differ by anyway.").format(when=date)
    elif factor > 1:
        text = translate("PastCard", "{percent} % faster than {when}.")
        text = text.format(percent=round(100 * (factor - 1)), when=date)
    else:
        text = translate("PastCard", "{percent} % slower than {when}.")
        text = text.format(percent=round(100 * (1 - factor)), when=date)
    version_changes = translate("PastCard", ", ").join(_version_changes(previous[0].versions, current[0].versions))
    return f"{text} {translate('PastCard', 'Since then: {changed}.').format(changed=version_changes)}" if version_changes else text


def measurement_label(result: BenchResult) -> str:
    """What is compared: the measurement, its format and its size."""
    size_label = scores.size_text(result.size) if result.id == "matmul" else ""
    return " · ".join(part for part in (scores.result_name(result), size_label) if part)


def _version_changes(previous: dict[str, str], current: dict[str, str]) -> list[str]:
    changes = []
    for key, name in VERSION_NAMES.items():
        old, new = previous.get(key), current.get(key)
        if old is not None and new is not None and old != new:
            changes.append(f"{name or translate('PastCard', 'driver')} {old} → {new}")
    return changes
