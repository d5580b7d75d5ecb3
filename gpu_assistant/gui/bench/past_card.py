"""Your own past: the same measurement over time, and what changed since the last one."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...bench import compare
from ...core.results import Benchmark, BenchResult
from ..components import Bars, Card, label
from . import moments, scores

PAST = 5
NAMES = {"torch": "PyTorch", "cuda": "CUDA", "cudnn": "cuDNN", "python": "Python", "driver": None}

translate = QCoreApplication.translate


class PastCard(Card):
    """Hidden until there are two that can be compared."""

    def __init__(self) -> None:
        self._shown: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._ready = False
        super().__init__(" ")
        self._of, self.bars, self.change = label("small"), Bars(), label("body")
        for each in (self._of, self.bars, self.change):
            self.column.addWidget(each)
        self.column.addStretch(1)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        """This one among those that were kept, oldest first."""
        self._shown = (benchmark, kept)
        self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._shown is None:
            return
        benchmark, kept = self._shown
        past = scores.history(benchmark, kept)[-PAST:]
        best = scores.reference(benchmark)
        self.setVisible(len(past) > 1)
        self.set_title(self.tr("Your own past"))
        if best is None:
            return
        self._of.setText(measured(past[-1][1] if past else best))
        whens = moments.each([each for each, _ in past])
        self.bars.set_bars(
            [
                (when, result.median, scores.marked(result), "accent" if each is benchmark else "s5")
                for when, (each, result) in zip(whens, past, strict=True)
            ]
        )
        if len(past) > 1:
            self.change.setText(change_words(past[-2], past[-1], whens[-2]))


def change_words(before: tuple[Benchmark, BenchResult], after: tuple[Benchmark, BenchResult], when: str) -> str:
    """Faster, slower, no change that the runs could tell, or why they cannot be compared; and which versions are not
    what they were. `when` the first of them was measured.
    """
    factor = compare.change(before[1], after[1])
    if why := scores.doubt(before[1], after[1]):
        said = translate("PastCard", "Cannot be compared with {when}: {why}.").format(when=when, why=why)
    elif factor is None:
        said = translate("PastCard", "No difference to {when} beyond what runs differ by anyway.").format(when=when)
    elif factor > 1:
        said = translate("PastCard", "{percent} % faster than {when}.")
        said = said.format(percent=round(100 * (factor - 1)), when=when)
    else:
        said = translate("PastCard", "{percent} % slower than {when}.")
        said = said.format(percent=round(100 * (1 - factor)), when=when)
    changed = translate("PastCard", ", ").join(_versions(before[0].versions, after[0].versions))
    return f"{said} {translate('PastCard', 'Since then: {changed}.').format(changed=changed)}" if changed else said


def measured(result: BenchResult) -> str:
    """What is compared: the measurement, its format and its size."""
    size = scores.extent(result.size) if result.id == "matmul" else ""
    return " · ".join(part for part in (scores.name(result), size) if part)


def _versions(before: dict[str, str], after: dict[str, str]) -> list[str]:
    found = []
    for key, name in NAMES.items():
        old, new = before.get(key), after.get(key)
        if old is not None and new is not None and old != new:
            found.append(f"{name or translate('PastCard', 'driver')} {old} → {new}")
    return found
