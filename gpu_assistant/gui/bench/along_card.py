"""What each card did along the run: temperature, clocks, power, and what held it back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from ...bench import summary
from ...bench.watch import ABNORMAL_THROTTLE_REASONS
from ...core.results import Benchmark, BenchGpuLog
from ..components import Card, Breakpoints, label
from . import along
from .layouts import clear_layout, name_value_row


class GpuLogCard(Card):
    """Hidden where no driver told anything. Several cards stand beside each other where there is room for two."""

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._ready = False
        super().__init__(" ")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(40)
        self._grid.setVerticalSpacing(16)
        self.column.addLayout(self._grid)
        self._description = label("small")
        self.column.addWidget(self._description)
        self._breakpoints = Breakpoints(self)
        self._breakpoints.changed.connect(self.retranslate)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark) -> None:
        """Another result."""
        self._benchmark = benchmark
        self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._benchmark is None:
            return
        gpus = summary.relevant_gpu_logs(self._benchmark)
        self.setVisible(bool(gpus))
        self.set_title(
            self.tr("What the card did meanwhile") if len(gpus) == 1 else self.tr("What the cards did meanwhile")
        )
        self._description.setText(
            self.tr(
                "As the driver told it, twice a second; clocks are medians under load. A card at its power limit is "
                "what one wants: it does all that it is allowed to."
            )
        )
        clear_layout(self._grid)
        columns = 1 if self._breakpoints.is_narrow or len(gpus) == 1 else 2
        for index, gpu in enumerate(gpus):
            block = self._gpu_block(gpu, along.gpu_label(gpu, gpus) if len(gpus) > 1 else "")
            self._grid.addWidget(block, index // columns, index % columns, Qt.AlignmentFlag.AlignTop)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < min(columns, len(gpus)) else 0)

    def _gpu_block(self, gpu: BenchGpuLog, name: str) -> QWidget:
        block = QWidget()
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        if name:
            column.addWidget(label("strong", name))
        for row, (caption, value) in enumerate(along.gpu_log_rows(gpu)):
            throttled = row == along.THROTTLE_ROW and ABNORMAL_THROTTLE_REASONS & set(gpu.throttle)
            column.addLayout(name_value_row(caption, value, "warn" if throttled else "text"))
        return block
