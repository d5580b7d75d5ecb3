"""The benchmark page in its states, for `tests.gui.screenshots`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

from gpu_assistant.bench.child_protocol import BenchmarkProgress
from gpu_assistant.core.results import BenchGpuLog, Benchmark, MemoryFits
from gpu_assistant.gui.bench.page import MEMORY_TAB, BenchmarkPage
from gpu_assistant.gui.main.main_area import BENCHMARK
from gpu_assistant.gui.main.window import MainWindow
from tests.fakes.benchmarks import card_benchmark, figure, worked_out

Scene = Callable[[MainWindow], None]
MEASURED = 4
RUNNING_S, LIMIT_S = 31.0, 150.0


def results(*stored: Benchmark, expanded: bool = False) -> Scene:
    """These results, a week between them, the last one just now; the driver reported all that it can."""

    def scene(window: MainWindow) -> None:
        page, now = _page(window), time.time()
        logged = [
            replace(with_language_model(each), watched=tuple(fully_logged(gpu) for gpu in each.watched))
            for each in stored
        ]
        dated = [replace(each, started=now - 60 - 604_800 * age) for age, each in enumerate(reversed(logged))]
        if len(dated) > 1:
            # Before the driver was updated it was the newest release that works with the old one.
            earlier = {"torch": "2.14.1+cu126", "cuda": "12.6", "driver": "566.03"}
            dated[-1] = replace(dated[-1], torch=earlier["torch"], versions={**dated[-1].versions, **earlier})
        window.app.stored = dated[::-1]
        page.reload()
        _wait_until(lambda: len(page.benchmarks) == len(stored))
        if expanded:
            page.result_view.results_table.toggle_button.click()

    return scene


def with_language_model(benchmark: Benchmark) -> Benchmark:
    """With the figures of a small language model, where there is a GPU."""
    gpus = [device.id for device in benchmark.devices if device.id != "cpu"]
    if not gpus:
        return benchmark
    writing = [figure("decode", "cpu", "float32", (32,), "tokens/s", 14.2)]
    for gpu in gpus:
        writing.append(figure("decode", gpu, "bfloat16", (32,), "tokens/s", 168.0))
        writing.append(figure("decode-graph", gpu, "bfloat16", (32,), "tokens/s", 412.0))
    return replace(benchmark, results=(*benchmark.results, *writing))


def fully_logged(gpu: BenchGpuLog) -> BenchGpuLog:
    """The log of an RTX 4060 at work, where it lacks figures."""
    figures = {"clock_sm": 2505, "clock_mem": 8501, "power_max_w": 113.4, "power_limit_w": 115.0}
    return replace(gpu, **{name: value for name, value in figures.items() if getattr(gpu, name) is None})


def running(window: MainWindow) -> None:
    """A run that has measured four workloads and is at the fifth."""
    page = _page(window)
    *results, current = card_benchmark().results[: MEASURED + 1]
    window.app.gate = threading.Event()
    report = BenchmarkProgress(
        index=MEASURED + 1,
        total=24,
        workload=current.id,
        device=current.device,
        dtype=current.dtype,
        size=current.size,
        limit_s=LIMIT_S,
    )
    window.app.events["bench"] = (*results, report)
    page.measure()
    _wait_until(lambda: page.running_view.report is not None)
    page.running_view.monotonic = lambda: time.monotonic() + RUNNING_S
    page.running_view.retranslate()


def what_fits(window: MainWindow) -> None:
    """What fits by published figures, before anything is measured."""
    page = _page(window)
    page.tabs.buttons[MEMORY_TAB].click()
    _wait_until(lambda: bool(page.memory_view.model_card.rows) and not page.memory_view.is_reading)


def memory_fit(window: MainWindow) -> None:
    """The memory estimate with its answer."""
    answer = window.app.results["fit"]
    window.app.results["fit"] = on_one_card(answer() if callable(answer) else answer)
    page = _page(window)
    page.tabs.buttons[MEMORY_TAB].click()
    page.memory_view.measure_button.click()
    _wait_until(lambda: bool(page.memory_view.fits) and not page.memory_view.busy)
    page.memory_view.variant_dropdown.choose(page.memory_view.variant_dropdown.entries[-1])


def memory_fit_too_large(window: MainWindow) -> None:
    """A batch that fits with some ways of training and not with others."""
    window.app.results["fit"] = worked_out(256)
    page = _page(window)
    page.memory_view.batch_box.setValue(256)
    memory_fit(window)


def on_one_card(result: MemoryFits) -> MemoryFits:
    """An answer of the second of two cards as one of the window's only card."""
    return replace(
        result,
        devices=tuple(each for each in result.devices if each.id != "cuda:1"),
        fits=tuple(replace(each, device="cuda:0") for each in result.fits),
        steps=tuple(replace(each, device="cuda:0") for each in result.steps),
    )


def _page(window: MainWindow) -> BenchmarkPage:
    page: BenchmarkPage = window.main_area.pages[BENCHMARK]
    _wait_until(lambda: page.is_loaded)
    return page


def _wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        QApplication.processEvents()
        time.sleep(0.005)
