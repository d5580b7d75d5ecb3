"""Repaint: one second's work of the Monitor page against bare pyqtgraph plots of the same points.

Both show the same series in the same size, each with new data a second further on, drawn to the end. The page also
renews its tiles, figures and sentence, for which the bare plots have nothing to do. Prints medians in milliseconds and
their ratio. Offscreen unless QT_QPA_PLATFORM says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.clock import SPANS
from gpu_assistant.gui.monitor.page import MonitorPage
from gpu_assistant.gui.monitor.sampling import Sampling
from gpu_assistant.monitor.history import History

SIZE = (1092, 760)
GIB = 2**30


class Silent:
    """A sampler that nobody waits for: the benchmark hands the samples over itself."""

    def sample(self, *, looking: bool = True) -> Sample:
        """A moment long ago."""
        del looking
        time.sleep(60)
        return Sample(t=0.0, gpus=())

    def close(self) -> None:
        """Nothing to let go of."""


def sample(t: float, noise: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Sample:
    """One moment of a busy card."""
    gpu = GpuSample(
        index=0,
        name="GPU",
        util=int(60 + 30 * noise[0]),
        mem_used=int(5 * GIB + GIB * noise[1]),
        mem_total=8 * GIB,
        temp=int(60 + 5 * noise[2]),
        power_w=float(100 + 10 * noise[3]),
        power_limit_w=115.0,
        clock_sm=2700,
        fan=40,
        throttle=(),
    )
    return Sample(t=t, gpus=(gpu,), cpu=float(50 + 30 * noise[4]), ram_used=6 * GIB, ram_total=24 * GIB)


def page_ms(application: QApplication, samples: list[Sample], span: int, runs: int) -> float:
    """The median time from a new sample to a painted page."""
    now = [samples[0].t]
    sampling = Sampling(Silent, lambda: History(clock=lambda: now[0]))
    page = MonitorPage(sampling)
    sampling.want("monitor", False)
    page.clock.choose(span)
    page.clock._now = lambda: now[0]
    page.resize(*SIZE)
    page.show()
    for each in samples[: -runs or None]:
        now[0] = each.t
        sampling.take(each)
    application.processEvents()
    took = []
    for each in samples[-runs:]:
        now[0] = each.t
        # Kept and sent by the sampling thread; the window's thread has the rest.
        sampling.take(each)
        start = time.perf_counter()
        application.processEvents()
        took.append(time.perf_counter() - start)
    page.hide()
    sampling.stop(0.1)
    return statistics.median(took) * 1e3


def bare_ms(application: QApplication, samples: list[Sample], span: int, runs: int) -> float:
    """The same figures in plain plots with `setData`, as pyqtgraph's own examples do it."""
    holder = QWidget()
    grid = QGridLayout(holder)
    curves = []
    for index in range(6):
        plot = pg.PlotWidget()
        grid.addWidget(plot, index // 2, index % 2)
        curves.append(plot.plot(pen=pg.mkPen(width=1), antialias=True))
    holder.resize(*SIZE)
    holder.show()
    columns = [
        np.array(column, dtype=np.float64)
        for column in zip(
            *(
                (s.t, s.gpus[0].util, s.gpus[0].mem_used, s.gpus[0].temp, s.gpus[0].power_w, s.cpu, s.ram_used)
                for s in samples
            ),
            strict=True,
        )
    ]
    application.processEvents()
    took = []
    for end in range(len(samples) - runs, len(samples)):
        start = time.perf_counter()
        shown = slice(max(end - span, 0), end)
        for curve, column in zip(curves, columns[1:], strict=True):
            curve.setData(columns[0][shown], column[shown])
        application.processEvents()
        took.append(time.perf_counter() - start)
    holder.hide()
    return statistics.median(took) * 1e3


def main() -> None:
    """Measure each range and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    application = QApplication([])
    theme.set_theme(application, "dark")
    random = np.random.default_rng(1)
    begin = 1_790_000_000.0
    samples = [sample(begin + i, random.random(5)) for i in range(SPANS[-1] + arguments.runs)]
    found = {}
    for span in SPANS:
        part = samples[-(span + arguments.runs) :]
        page, bare = (f(application, part, span, arguments.runs) for f in (page_ms, bare_ms))
        found[str(span)] = {"page_ms": page, "bare_ms": bare, "ratio": page / bare}
        if not arguments.json:
            print(f"{span:5d} s: page {page:.1f} ms, bare plots {bare:.1f} ms, ratio {page / bare:.2f}")
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
