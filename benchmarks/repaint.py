"""A day of 8 GPUs on the Monitor page against bare pyqtgraph plots of the same points, in one run.

    python benchmarks/repaint.py [--gpus N] [--runs N] [--json]

Four kinds of repaint, each from new data to painted pixels, at the 95th percentile in milliseconds of the window's
thread (other work of the computer does not count):

- "plot": one plot with the lines of all GPUs painted anew, what another size or theme wants of it; beside it one bare
  plot with as many curves and points. The ratio is of these two.
- "strips": the same plot with a strip for each GPU, as that of load has; beside it the same bare plot.
- "page": everything on the page that is in sight painted anew; beside it as many bare plots with the same points.
- "second": what a second more wants of the page, tiles and sentence included; beside it the same bare plots.

Offscreen unless QT_QPA_PLATFORM says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from gpu_assistant.app import App
from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.page import MonitorPage
from gpu_assistant.gui.monitor.plot.cards import gpu_line
from gpu_assistant.gui.monitor.plot.curves import SeriesCurve
from gpu_assistant.gui.monitor.plot.widget import Plot
from gpu_assistant.gui.monitor.sampling import SamplingService
from gpu_assistant.monitor.history import History

SIZE = (1092, 760)
PLOT = (520, 200)
DAY_S, STEP_S = 86_400, 10
GIB = 2**30
BEGIN = 1_790_000_000.0


class Silent:
    """A sampler that nobody waits for: the benchmark hands the samples over itself."""

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        """A moment long ago."""
        del detailed, processes
        time.sleep(60)
        return Sample(t=0.0, gpus=())

    def close(self) -> None:
        """Nothing to let go of."""


def sample(t: float, gpus: int, dice: np.random.Generator) -> Sample:
    """One moment of busy cards."""
    cards = []
    for index in range(gpus):
        noise = dice.random(4)
        cards.append(
            GpuSample(
                index=index,
                name="NVIDIA H100 80GB HBM3",
                util=int(60 + 30 * noise[0]),
                mem_used=int(50 * GIB + GIB * noise[1]),
                mem_total=80 * GIB,
                temp=int(60 + 5 * noise[2]),
                temp_max=87,
                power_w=float(600 + 90 * noise[3]),
                power_limit_w=700.0,
                clock_sm=1980,
                throttle=(),
            )
        )
    return Sample(
        t=t, gpus=tuple(cards), cpu=float(50 + 30 * dice.random()), ram_used=6 * GIB, ram_total=24 * GIB, nvml="ready"
    )


def p95(runs: int, repaint: Callable[[int], None], prepare: Callable[[int], None] = lambda _: None) -> float:
    """The 95th percentile of `runs` repaints, in milliseconds; a few before them warm up. `prepare` is not counted."""
    took = []
    for run in range(runs + 3):
        prepare(run)
        start = time.thread_time()
        repaint(run)
        took.append((time.thread_time() - start) * 1e3)
    return float(np.percentile(took[3:], 95))


def bare(count: int, curves: int, size: tuple[int, int], runs: int, application: QApplication) -> float:
    """`count` plots with `curves` curves each, a day of points in each curve, as pyqtgraph's own examples do it."""
    holder = QWidget()
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    made = []
    for index in range(count):
        plot = pg.PlotWidget()
        grid.addWidget(plot, index // 2, index % 2)
        made += [plot.plot(pen=pg.mkPen(pg.intColor(curve), width=1), antialias=True) for curve in range(curves)]
    holder.resize(*size)
    holder.show()
    t = np.arange(DAY_S / STEP_S) * STEP_S
    values = [100 * np.random.default_rng(curve).random(len(t)) for curve in range(len(made))]

    def repaint(run: int) -> None:
        for curve, y in zip(made, values, strict=True):
            curve.setData(t + run, y)
        application.processEvents()

    milliseconds = p95(runs, repaint)
    holder.close()
    return milliseconds


def plot_alone(gpus: int, runs: int, application: QApplication, *, has_strips: bool) -> float:
    """One of our plots with a day of each GPU, painted anew each time."""
    from gpu_assistant.gui.monitor.plot.time_axis import TimeAxis

    now = [BEGIN]
    clock = TimeAxis(now=lambda: now[0])
    clock.choose(DAY_S)
    plot = Plot(clock, ticks=lambda _: (0, 25, 50, 75, 100), has_strips=has_strips)
    length = DAY_S // STEP_S
    curves = {}
    for gpu in range(gpus):
        plot.set_line(str(gpu), gpu_line(gpu, gpu, fill=False))
        y = 100 * np.random.default_rng(gpu).random(length)
        curves[str(gpu)] = y
    plot.resize(*PLOT)
    plot.show()

    def fetch(key: str, since: float, reach: float) -> SeriesCurve:
        del since, reach
        t = (now[0] - DAY_S + STEP_S * (np.arange(length) + 0.5)).astype(np.float64)
        y = curves[key]
        return SeriesCurve(t=t, mean=y, low=y - 1, high=y + 1, step=STEP_S)

    def repaint(run: int) -> None:
        now[0] = BEGIN + run
        plot.apply_theme()
        plot.refresh(fetch)
        application.processEvents()

    milliseconds = p95(runs, repaint)
    plot.close()
    return milliseconds


def on_page(gpus: int, runs: int, application: QApplication, folder: str) -> dict[str, float]:
    """The page itself, with a day behind it."""
    dice = np.random.default_rng(1)
    now = [BEGIN]
    store = History(clock=lambda: now[0])
    sampling = SamplingService(Silent, lambda: store)
    page = MonitorPage(App(data_dir=folder), sampling)
    sampling.request_samples("monitor", False)
    page.time_axis.now = lambda: now[0]
    page.time_axis.choose(DAY_S)
    sampling.load_now()
    for second in range(0, DAY_S, STEP_S):
        now[0] = BEGIN + second
        sampling.writer.add_sample(sample(now[0], gpus, dice))
    sampling.process_sample(sample(now[0] + 1, gpus, dice))
    page.resize(*SIZE)
    page.show()
    for _ in range(20):
        application.processEvents()

    def come(run: int) -> None:
        """Kept, judged and sent by the sampling thread; the window's thread has the rest."""
        now[0] += 1
        sampling.process_sample(sample(now[0], gpus, dice))
        del run

    def paint(run: int) -> None:
        del run
        application.processEvents()

    def anew(run: int) -> None:
        for card in page.plot_cards:
            card.plot.apply_theme()
        page.draw()
        paint(run)

    milliseconds = {"second": p95(runs, paint, come), "page": p95(runs, anew, come)}
    milliseconds["plots"] = sum(card.is_in_view() for card in page.plot_cards)
    milliseconds["lines"] = len(page.plot_cards[0].gpus)
    page.hide()
    sampling.stop(0.1)
    return milliseconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    application = QApplication([])
    theme.set_theme(application, "dark")
    with tempfile.TemporaryDirectory() as folder:
        page = on_page(given.gpus, given.runs, application, folder)
    plots, lines = int(page["plots"]), int(page["lines"])
    plot, strips = (
        plot_alone(given.gpus, given.runs, application, has_strips=has_strips) for has_strips in (False, True)
    )
    plot_bare = bare(1, given.gpus, PLOT, given.runs, application)
    page_bare = bare(plots, lines, SIZE, given.runs, application)
    milliseconds = {
        "plot": {"assistant_ms": plot, "bare_ms": plot_bare, "ratio": plot / plot_bare},
        "strips": {"assistant_ms": strips, "bare_ms": plot_bare, "ratio": strips / plot_bare},
        "page": {"assistant_ms": page["page"], "bare_ms": page_bare, "ratio": page["page"] / page_bare},
        "second": {"assistant_ms": page["second"], "bare_ms": page_bare, "ratio": page["second"] / page_bare},
    }
    if given.json:
        print(json.dumps(milliseconds))
        return
    print(f"{given.gpus} GPUs, 24 hours, {plots} plots of up to {lines} lines in sight; 95th percentiles")
    for name, row in milliseconds.items():
        print(f"{name:>7}: {row['assistant_ms']:7.1f} ms, bare {row['bare_ms']:7.1f} ms, ratio {row['ratio']:.2f}")


if __name__ == "__main__":
    main()
