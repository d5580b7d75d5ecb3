"""How fast: a quick benchmark in place, its one figure and a bar for each device."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from ...core.errors import AppError
from ...core.results import Benchmark
from ...texts import Texts
from ..bench import scores
from ..components import Bars, Button, Card, ProgressBar, label


class SpeedCard(Card):
    """Not measured, measuring, measured. `wanted` starts it, `unwanted` stops it."""

    wanted = Signal()
    unwanted = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.figure, self.of_what = label("display"), label("small")
        self.figure.set_one_line(True)
        self.bar, self.bars = ProgressBar(), Bars()
        self.note = label("small")
        self.button = Button(icon="play")
        self.button.clicked.connect(self._pressed)
        self._measuring = False
        row = QHBoxLayout()
        row.setSpacing(14)
        row.addWidget(self.figure)
        row.addWidget(self.of_what, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.note, 1)
        foot.addWidget(self.button)
        self.column.addLayout(row)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.bars)
        self.column.addStretch(1)
        self.column.addLayout(foot)

    def draw(self, benchmark: Benchmark | None, *, measuring: bool, error: AppError | None, texts: Texts) -> None:
        """The state of now."""
        self._measuring = measuring
        best = scores.headline(benchmark) if benchmark is not None and not measuring else None
        self.set_title(self.tr("How fast"))
        shown = scores.comparable(benchmark)[:3] if best is not None and benchmark is not None else []
        self.figure.setVisible(best is not None)
        self.bars.setVisible(len(shown) > 1)  # a length says nothing where there is nothing beside it
        self.bar.setVisible(measuring)
        if best is not None and benchmark is not None:
            self.figure.setText(best.figure)
            self.of_what.setText(best.brief)
            self.bars.set_bars(
                [(scores.device_name(each), each.median, scores.value(each), scores.colour(each)) for each in shown]
            )
            self.note.setText(self._devices(benchmark))
            self.button.setText(self.tr("Measure again"))
        elif measuring:
            self.note.setText(self.tr("The fan may get loud."))
            self.button.setText(self.tr("Stop"))
        else:
            self.of_what.setText(texts.error(error) if error is not None else self.tr("Not measured yet."))
            self.note.setText(self.tr("Takes about a minute."))
            self.button.setText(self.tr("Measure it"))
        self.button.set_icon("cross" if measuring else "play")

    def began(self) -> None:
        """The benchmark starts."""
        self.bar.set_fraction(None)
        self.of_what.setText(self.tr("Starting PyTorch…"))

    def heard(self, news: Any) -> None:  # noqa: ANN401 - the benchmark's progress, or a result
        """What is being measured."""
        if not hasattr(news, "workload"):
            return
        self.of_what.setText(f"{scores.workload(news.workload, news.dtype)} · {scores.device_label(news.device)}")
        self.bar.set_fraction((news.n - 1) / max(news.of, 1))

    def _devices(self, benchmark: Benchmark) -> str:
        names = [device.name for device in benchmark.devices if device.name]
        return " · ".join(dict.fromkeys(names))

    def _pressed(self) -> None:
        (self.unwanted if self._measuring else self.wanted).emit()
