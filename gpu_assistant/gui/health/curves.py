"""How hot a card got while it was tested, how fast it ran, and when it was held back: three small curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QGridLayout, QWidget

from ...core.results import HealthTestCurve
from ...health.curves import is_throttled, throttled_share
from ...texts.format import format_duration
from .. import language
from ..components import Sparkline, label

MAX_POINTS = 400  # more than there are pixels for
MIN_TEMPERATURE = 20.0  # °C, where the temperature's line begins

OptionalValue = float | None


class GpuCurvesView(QWidget):
    """One card's curves over the whole test, each with its figures in words; what the driver never told is left out."""

    def __init__(self, curve: HealthTestCurve, *, several: bool) -> None:
        super().__init__()
        translate, code = QCoreApplication.translate, language.texts().language
        self.sparklines: list[Sparkline] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._span = max(curve.t[-1] - curve.t[0], 1.0)
        title = translate("Health", "What the card did in {duration}").format(duration=format_duration(self._span, code))
        name = f"GPU {curve.gpu}" if several else ""
        self._grid.addWidget(label("strong", " · ".join(part for part in (name, title) if part)), 0, 0, 1, 2)
        temps = [temp for temp in curve.temp if temp is not None]
        if temps:
            template = translate("Health", "Temperature: {first} °C at the start, {most} °C at most")
            text = template.format(first=temps[0], most=max(temps))
            self._add_sparkline(text, "s3", downsample(curve.t, curve.temp, max), low=MIN_TEMPERATURE, high=max(100.0, *temps))
        clocks = [clock for clock in curve.clock_sm if clock is not None]
        if clocks:
            template = translate("Health", "Clock: {least} to {most} MHz")
            text = template.format(least=min(clocks), most=max(clocks))
            self._add_sparkline(text, "s1", downsample(curve.t, curve.clock_sm, min), high=1.1 * max(clocks))
        throttled_fraction = throttled_share(curve)
        if throttled_fraction is not None:
            throttled = [None if (each := is_throttled(moment)) is None else float(each) for moment in curve.throttle]
            self._add_sparkline(self._throttle_text(curve, throttled_fraction), "s5", downsample(curve.t, throttled, max), high=1.2)

    def _throttle_text(self, curve: HealthTestCurve, throttled_fraction: float) -> str:
        """When heat or the power supply held it back, and the driver's reasons."""
        translate, texts = QCoreApplication.translate, language.texts()
        if not throttled_fraction:
            return translate("Health", "Held back by heat or the power supply: never")
        reasons = dict.fromkeys(reason for moment in curve.throttle for reason in moment or () if is_throttled((reason,)))
        reason_texts = [texts.translate(f"monitor.throttle.{reason}") for reason in reasons if texts.has_text(f"monitor.throttle.{reason}")]
        template = translate("Health", "Held back for {percent} % of the time: {reasons}")
        return template.format(percent=max(round(100 * throttled_fraction), 1), reasons=translate("Health", "; ").join(reason_texts))

    def _add_sparkline(self, text: str, token: str, points: list[tuple[float, OptionalValue]], *, high: float, low: float = 0.0) -> None:
        line = Sparkline(token, span=self._span, low=low, high=high, height=44)
        line.set_points(points)
        line.setAccessibleName(text)
        row = self._grid.rowCount()
        self._grid.addWidget(label("small", text), row, 0, 1, 2)
        self._grid.addWidget(line, row + 1, 0, 1, 2)
        self.sparklines.append(line)


def downsample(
    t: Sequence[float], values: Sequence[OptionalValue], aggregate: Callable[[list[float]], float]
) -> list[tuple[float, OptionalValue]]:
    """As many points as can be seen: the worst of its neighbours stands for each."""
    step = math.ceil(len(t) / MAX_POINTS)
    points: list[tuple[float, OptionalValue]] = []
    for start in range(0, len(t), step):
        known = [value for value in values[start : start + step] if value is not None]
        points.append((t[min(start + step, len(t)) - 1], aggregate(known) if known else None))
    return points
