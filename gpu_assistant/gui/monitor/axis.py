"""The plots' time axis."""

from __future__ import annotations

import time

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QFontMetricsF


class TimeAxis(pg.AxisItem):  # type: ignore[misc]
    """Clock time at round moments, seconds only where they matter."""

    STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Round local moments, far enough apart for their words."""
        room = QFontMetricsF(self.style["tickFont"] or self.font()).horizontalAdvance("00:00:00") * 1.7
        most = max(int(size / room), 2)
        step = next((s for s in self.STEPS if (high - low) / s <= most), self.STEPS[-1])
        shift = time.localtime(low).tm_gmtoff
        first = np.ceil((low + shift) / step) * step - shift
        # A word at the very edge would be cut.
        last = high - room / 3.4 / max(size, 1) * (high - low)
        return [(float(step), list(np.arange(first, last, step)))]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002
        """14:27, or 14:27:10 where ticks are less than a minute apart."""
        form = "%H:%M:%S" if spacing < 60 else "%H:%M"
        return [time.strftime(form, time.localtime(value)) for value in values]
