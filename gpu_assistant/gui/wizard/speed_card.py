"""How fast: a quick benchmark in place, its one figure and a bar for each device."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from ...core.errors import AppError
from ...core.results import Benchmark
from ...texts import Texts
from ..bench import scores
from ..components import BarChart, Button, Card, ProgressBar, label


class QuickBenchmarkCard(Card):
    """Not measured, measuring, measured. `wanted` starts it, `unwanted` stops it."""

    start_requested = Signal()
    stop_requested = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.value_label, self.caption_label = label("display"), label("small")
        self.value_label.set_one_line(True)
        self.progress_bar, self.bars = ProgressBar(), BarChart()
        self.note_label = label("small")
        self.button = Button(icon_name="play")
        self.button.clicked.connect(self._on_button_clicked)
        self._running = False
        row = QHBoxLayout()
        row.setSpacing(14)
        row.addWidget(self.value_label)
        row.addWidget(self.caption_label, 1)
        footer_layout = QHBoxLayout()
        footer_layout.addWidget(self.note_label, 1)
        footer_layout.addWidget(self.button)
        self.column.addLayout(row)
        self.column.addWidget(self.progress_bar)
        self.column.addWidget(self.bars)
        self.column.addStretch(1)
        self.column.addLayout(footer_layout)

    def draw(self, benchmark: Benchmark | None, *, running: bool, error: AppError | None, texts: Texts) -> None:
        """The state of now."""
        self._running = running
        headline = scores.make_headline(benchmark) if benchmark is not None and not running else None
        self.set_title(self.tr("How fast"))
        results = scores.device_results(benchmark)[:3] if headline is not None and benchmark is not None else []
        self.value_label.setVisible(headline is not None)
        self.bars.setVisible(len(results) > 1)  # a length says nothing where there is nothing beside it
        self.progress_bar.setVisible(running)
        if headline is not None and benchmark is not None:
            self.value_label.setText(headline.figure)
            self.caption_label.setText(headline.brief)
            self.bars.set_bars(
                [(scores.result_device(result), result.median, scores.median_text(result), scores.bar_colour(result)) for result in results]
            )
            self.note_label.setText(self._device_names(benchmark))
            self.button.setText(self.tr("Measure again"))
        elif running:
            self.note_label.setText(self.tr("The fan may get loud."))
            self.button.setText(self.tr("Stop"))
        else:
            self.caption_label.setText(texts.error_text(error) if error is not None else self.tr("Not measured yet."))
            self.note_label.setText(self.tr("Takes about a minute."))
            self.button.setText(self.tr("Measure it"))
        self.button.set_icon("cross" if running else "play")

    def show_started(self) -> None:
        """The benchmark starts."""
        self.progress_bar.set_fraction(None)
        self.caption_label.setText(self.tr("Starting PyTorch…"))

    def show_progress(self, progress: Any) -> None:  # noqa: ANN401 - the benchmark's progress, or a result
        """What is being measured."""
        if not hasattr(progress, "workload"):
            return
        self.caption_label.setText(f"{scores.workload_label(progress.workload, progress.dtype)} · {scores.device_label(progress.device)}")
        self.progress_bar.set_fraction((progress.index - 1) / max(progress.total, 1))

    def _device_names(self, benchmark: Benchmark) -> str:
        names = [device.name for device in benchmark.devices if device.name]
        return " · ".join(dict.fromkeys(names))

    def _on_button_clicked(self) -> None:
        (self.stop_requested if self._running else self.start_requested).emit()
