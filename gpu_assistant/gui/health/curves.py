"""How hot a card got while it was tested, how fast it ran, and when it was held back: three small curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QGridLayout, QWidget

from ...core.results import Curve
from ...health.curves import held_back, held_share
from ...texts.format import duration
from .. import language
from ..components import SparkLine, label

MOST_POINTS = 400  # more than there are pixels for
COOL = 20.0  # °C, where the temperature's line begins

Value = float | None


class CurveView(QWidget):
    """One card's curves over the whole test, each with its figures in words; what the driver never told is left out."""

    def __init__(self, curve: Curve, *, several: bool) -> None:
        super().__init__()
        translate, code = QCoreApplication.translate, language.texts().language
        self.lines: list[SparkLine] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._span = max(curve.t[-1] - curve.t[0], 1.0)
        title = translate("Health", "What the card did in {duration}").format(duration=duration(self._span, code))
        name = f"GPU {curve.gpu}" if several else ""
        self._grid.addWidget(label("strong", " · ".join(part for part in (name, title) if part)), 0, 0, 1, 2)
        temps = [temp for temp in curve.temp if temp is not None]
        if temps:
            said = translate("Health", "Temperature: {first} °C at the start, {most} °C at most")
            words = said.format(first=temps[0], most=max(temps))
            self._add(words, "s3", thinned(curve.t, curve.temp, max), low=COOL, high=max(100.0, *temps))
        clocks = [clock for clock in curve.clock_sm if clock is not None]
        if clocks:
            said = translate("Health", "Clock: {least} to {most} MHz")
            words = said.format(least=min(clocks), most=max(clocks))
            self._add(words, "s1", thinned(curve.t, curve.clock_sm, min), high=1.1 * max(clocks))
        share = held_share(curve)
        if share is not None:
            held = [None if (each := held_back(moment)) is None else float(each) for moment in curve.throttle]
            self._add(self._held(curve, share), "s5", thinned(curve.t, held, max), high=1.2)

    def _held(self, curve: Curve, share: float) -> str:
        """When heat or the power supply held it back, and the driver's reasons."""
        translate, texts = QCoreApplication.translate, language.texts()
        if not share:
            return translate("Health", "Held back by heat or the power supply: never")
        found = dict.fromkeys(why for moment in curve.throttle for why in moment or () if held_back((why,)))
        said = [texts.say(f"monitor.throttle.{why}") for why in found if texts.has(f"monitor.throttle.{why}")]
        words = translate("Health", "Held back for {percent} % of the time: {reasons}")
        return words.format(percent=max(round(100 * share), 1), reasons=translate("Health", "; ").join(said))

    def _add(self, words: str, token: str, points: list[tuple[float, Value]], *, high: float, low: float = 0.0) -> None:
        line = SparkLine(token, span=self._span, low=low, high=high, height=44)
        line.set_points(points)
        line.setAccessibleName(words)
        row = self._grid.rowCount()
        self._grid.addWidget(label("small", words), row, 0, 1, 2)
        self._grid.addWidget(line, row + 1, 0, 1, 2)
        self.lines.append(line)


def thinned(
    t: Sequence[float], values: Sequence[Value], worst: Callable[[list[float]], float]
) -> list[tuple[float, Value]]:
    """As many points as can be seen: the worst of its neighbours stands for each."""
    step = math.ceil(len(t) / MOST_POINTS)
    made: list[tuple[float, Value]] = []
    for begin in range(0, len(t), step):
        known = [value for value in values[begin : begin + step] if value is not None]
        made.append((t[min(begin + step, len(t)) - 1], worst(known) if known else None))
    return made
