"""Is that right for this card? Measured figures beside the range of healthy GPUs of the same model.

`ExpectedRangeCard` also says where the ranges are from; what to do where a figure is below its range stands above all.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QVBoxLayout

from ....core.results import Benchmark, BenchResult
from ....reports import messages
from ....reports.expected_ranges import (
    BELOW_EXPECTED,
    RangeSource,
    compared_name,
    expected_results,
    range_source_text,
)
from ...widgets.buttons import Button
from ...widgets.cards import Card
from ...widgets.icons import IconWidget
from ...widgets.layouts import clear_layout
from ...widgets.text import label


class ExpectedRangeCard(Card):
    """Hidden for a result without a GPU; without a known range it says why there is none."""

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._range_source: RangeSource | None = None
        self._ready = False
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._source_label = label("small")
        self._is_source_open = False
        self.range_button = Button(kind="ghost", trailing_icon="down", small=True, flush="left")
        self.source_button = Button(kind="ghost", trailing_icon="open", small=True, flush="left")
        self.range_button.clicked.connect(self._toggle_source)
        self.source_button.clicked.connect(self._open_source)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.range_button)
        self.column.addWidget(self._source_label)
        self.column.addWidget(self.source_button)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark, range_source: RangeSource | None) -> None:
        self._benchmark, self._range_source = benchmark, range_source
        self.retranslate()

    def retranslate(self) -> None:
        if not self._ready:
            return
        benchmark = self._benchmark
        has_gpu = benchmark is not None and any(result.device != "cpu" for result in benchmark.results)
        compared = expected_results(benchmark) if benchmark is not None else []
        # Where ranges are known and nothing was judged by them, there is nothing to say.
        is_shown = benchmark is not None and has_gpu and bool(compared or not benchmark.expected)
        self.setVisible(is_shown)
        if benchmark is None or not is_shown:
            return
        self.set_title(self.tr("What is usual for this card"))
        if not compared:
            self._show_unknown()
            return
        is_below = benchmark.verdict == BELOW_EXPECTED
        if is_below:
            below = sum(result.judgement == "below" for result, _ in compared)
            template = self.tr("Slower than usual: {below} of {count} measurements")
            self.set_title(template.format(below=below, count=len(compared)))
        clear_layout(self._grid)
        for row, (result, expected) in enumerate(compared):
            self._add_range_row(row, result, expected, benchmark)
        self._show_source()

    def _show_source(self) -> None:
        """Where the ranges are from, once that is asked for."""
        source, is_open = self._range_source, self._is_source_open
        self.range_button.setVisible(source is not None)
        self.range_button.setText(self.tr("Where these ranges come from"))
        self.range_button.set_icon(None, "up" if is_open else "down")
        self._source_label.setVisible(source is not None and is_open)
        self.source_button.setVisible(source is not None and source.url is not None and is_open)
        if source is not None:
            self._source_label.setText(range_source_text(source))
            self.source_button.setText(self.tr("Sources"))
            self.source_button.setToolTip(source.url or "")

    def _toggle_source(self) -> None:
        self._is_source_open = not self._is_source_open
        self._show_source()

    def _show_unknown(self) -> None:
        clear_layout(self._grid)
        self.range_button.hide()
        self.source_button.hide()
        self._source_label.show()
        self._source_label.setText(
            self.tr(
                "There are no reference figures for this card: too few results are known for this model, "
                "or it is a laptop card that does not report its power limit. Your own earlier results "
                "show whether it is getting slower."
            )
        )

    def _add_range_row(
        self, row: int, result: BenchResult, expected: tuple[float, float], benchmark: Benchmark
    ) -> None:
        is_below = result.judgement == "below"
        low, high = (messages.readable_value(each, result.unit)[0] for each in expected)
        unit = messages.unit_label(messages.readable_value(expected[1], result.unit)[1])
        value_label = label("body", messages.median_text(result))
        template = self.tr("usual: {low} to {high} {unit}")
        if result.judgement == "above":
            template = self.tr("above the usual range: {low} to {high} {unit}")
        range_label = label("small", template.format(low=low, high=high, unit=unit))
        for each in (value_label, range_label):
            each.setAlignment(Qt.AlignmentFlag.AlignRight)
        figures = QVBoxLayout()
        figures.setSpacing(0)
        figures.addWidget(value_label)
        figures.addWidget(range_label)
        state = "warn" if is_below else "ok"
        self._grid.addWidget(IconWidget(state, state, 16, beside="body"), row, 0, Qt.AlignmentFlag.AlignTop)
        name = compared_name(result, benchmark)
        self._grid.addWidget(label("body", name, "soft"), row, 1, Qt.AlignmentFlag.AlignTop)
        self._grid.addLayout(figures, row, 2)

    def _open_source(self) -> None:
        if self._range_source is not None and self._range_source.url is not None:
            QDesktopServices.openUrl(QUrl(self._range_source.url))
