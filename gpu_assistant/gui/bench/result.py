"""A benchmark's result: headline, bars, whether that is right, whether it was fair, and what came before."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...bench import summary
from ...core.results import Benchmark
from ...texts.sentences import remove_cjk_gaps
from ..components import Banner, Card, IconWidget, Themed, Pill, Breakpoints, label
from . import moments, scores
from .along_card import GpuLogCard
from .every import ResultsTable
from .fairness import validity_notes
from .layouts import clear_layout, name_value_row
from .meanings import pair_description
from .pair_row import ComparisonRow
from .past_card import RunHistoryCard
from .right_card import BELOW_EXPECTED, NORMAL_VERDICTS, RangeSource, ExpectedRangeCard, verdict_label

CARD_GAP = 12
VALIDITY_ICONS = {"ok": ("ok", "ok"), "warn": ("warn", "warn"), "neutral": ("info", "soft")}


class BenchmarkResultView(Themed, QWidget):
    """Filled by `show_benchmark`."""

    def __init__(self) -> None:
        self._result: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._ready = False
        super().__init__()
        self.headline_card, self.comparison_card, self.validity_card = Card(), Card(), Card(" ")
        self.expected_range_card, self.history_card, self.results_table = ExpectedRangeCard(), RunHistoryCard(), ResultsTable()
        self.gpu_log_card = GpuLogCard()
        self.figure_label, self.headline_label, self.detail_label = (
            label("display", "", "accent_text"),
            label("verdict"),
            label("body", "", "soft"),
        )
        self.figure_label.set_one_line(True)
        self.verdict_pill = Pill()
        self._headline_layout = row = QHBoxLayout()
        text_layout = QVBoxLayout()
        text_layout.setSpacing(2)
        text_layout.addWidget(self.headline_label)
        text_layout.addWidget(self.detail_label)
        row.addWidget(self.figure_label)
        row.addLayout(text_layout, 1)
        row.addWidget(self.verdict_pill, 0, Qt.AlignmentFlag.AlignVCenter)
        self.unmeasured_banner = Banner("warn")
        self.headline_card.column.addLayout(row)
        self.headline_card.column.addWidget(self.unmeasured_banner)
        self._heading, self._legend = label("heading"), label("small")
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(2)
        self.comparison_card.column.addWidget(self._heading)
        self.comparison_card.column.addLayout(self._rows_layout)
        self.comparison_card.column.addWidget(self._legend)
        self.comparison_card.column.addStretch(1)
        self._validity_grid = QGridLayout()
        self._validity_grid.setColumnStretch(1, 1)
        self._validity_grid.setVerticalSpacing(8)
        self._validity_grid.setHorizontalSpacing(10)
        self.validity_card.column.addLayout(self._validity_grid)
        self.validity_card.column.addStretch(1)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(CARD_GAP)
        self._grid.addWidget(self.headline_card, 0, 0, 1, 3)
        for column in range(3):
            self._grid.setColumnStretch(column, 1)
        self._grid.setRowStretch(5, 1)  # what the page has to spare goes below everything
        self._left_column, self._left_layout = _card_column(self.comparison_card, self.expected_range_card)
        self._right_column, self._right_layout = _card_column(self.validity_card, self.history_card)
        self._breakpoints = Breakpoints(self)
        self._breakpoints.changed.connect(self._update_layout)
        self._update_layout()
        self._ready = True
        self.apply_theme()

    def show_benchmark(
        self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None = None
    ) -> None:
        """This result, and those of before (oldest first, this one among them); `source` is where ranges are from."""
        if self._result != (benchmark, stored):
            self._result = (benchmark, stored)
            self.expected_range_card.show_benchmark(benchmark, range_source)
            self.history_card.show_benchmark(benchmark, stored)
            self.gpu_log_card.show_benchmark(benchmark)
            self.results_table.show_benchmark(benchmark)
            self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._result is None:
            return
        benchmark, stored = self._result
        self.validity_card.set_title(self.tr("Was it a fair test?"))
        headline = scores.make_headline(benchmark)
        self.headline_card.setVisible(headline is not None)
        if headline is not None:
            self.figure_label.setText(headline.figure)
            self.headline_label.setText(headline.text)
            detail = "\n".join(part for part in (headline.detail, headline.missing) if part)
            self.detail_label.setText(detail)
            self.detail_label.setVisible(bool(detail))
        has_verdict = benchmark.verdict == BELOW_EXPECTED or benchmark.verdict in NORMAL_VERDICTS
        self.verdict_pill.setVisible(has_verdict)
        if has_verdict:
            self.verdict_pill.set("warn" if benchmark.verdict == BELOW_EXPECTED else "ok", verdict_label(benchmark))
        warning = "\n".join(part for part in (scores.unmeasured_text(benchmark), scores.unfinished_text(benchmark)) if part)
        self.unmeasured_banner.set("warn", warning)
        self.unmeasured_banner.setVisible(bool(warning))
        self._fill_rows(benchmark, stored)
        self._fill_validity(benchmark, stored)
        self._update_layout()

    def _fill_rows(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        clear_layout(self._rows_layout)
        previous = summary.previous_benchmark(benchmark, stored)
        pairs = summary.device_comparisons(benchmark, previous)
        has_gpus, has_ranges = any(pair.gpus for pair in pairs), False
        rows = []
        for pair in pairs:
            expected = scores.expected_range(pair, benchmark)
            has_ranges = has_ranges or expected is not None
            rows.append(ComparisonRow(pair, pair_description(pair, benchmark), expected, moments.previous_date_label(previous)))
        for row in rows:
            row.align_with(rows)
            self._rows_layout.addWidget(row)
        self._heading.setText(self.tr("GPU beside CPU") if has_gpus else self.tr("Measured on the CPU"))
        parts = [self.tr("Blue: the GPU. Grey: the CPU.")] if has_gpus else []
        if any(pair.previous is not None for pair in pairs):
            parts.append(self.tr("Blue: this time. Grey: your last test before it."))
        if has_ranges:
            parts.append(self.tr("The green bracket is the usual range of healthy cards of this kind."))
        if any(pair.parallel is not None for pair in pairs):
            parts.append(self.tr("Several GPUs train one model together."))
        if reason := scores.doubt_text(*(each for pair in pairs for each in pair.results)):
            parts.append(self.tr("Doubtful: {why}.").format(why=reason))
        self._legend.setText(remove_cjk_gaps(" ".join(parts)))
        self._legend.setVisible(bool(parts))

    def _fill_validity(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        clear_layout(self._validity_grid)
        for row, note in enumerate(validity_notes(benchmark, stored)):
            icon, token = VALIDITY_ICONS[note.kind]
            self._validity_grid.addWidget(IconWidget(icon, token, 16), row, 0, Qt.AlignmentFlag.AlignTop)
            if not note.value:
                text = "\n".join(part for part in (note.text, note.detail) if part)
                self._validity_grid.addWidget(label("body", text, "soft"), row, 1)
                continue
            self._validity_grid.addLayout(name_value_row(note.text, note.value), row, 1)

    def _update_layout(self) -> None:
        """Figures at the left, what speaks for them at their right; all in one column where it is narrow."""
        narrow = self._breakpoints.is_narrow
        for widget in (self._left_column, self._right_column, self.gpu_log_card, self.results_table):
            self._grid.removeWidget(widget)
        self._grid.addWidget(self._left_column, 1, 0, 1, 3 if narrow else 2)
        self._grid.addWidget(self._right_column, *((2, 0, 1, 3) if narrow else (1, 2, 1, 1)))
        gpu_count = len(summary.relevant_gpu_logs(self._result[0])) if self._result is not None else 0
        # A processor alone has nothing else below its bars; several cards need the whole width.
        (self._right_layout if gpu_count else self._left_layout).insertWidget(1, self.history_card)
        if gpu_count > 1:
            self._grid.addWidget(self.gpu_log_card, 3, 0, 1, 3)
        else:
            self._right_layout.insertWidget(2, self.gpu_log_card)
        self._grid.addWidget(self.results_table, 4, 0, 1, 3)
        direction = QBoxLayout.Direction
        self._headline_layout.setDirection(direction.TopToBottom if self._breakpoints.is_small else direction.LeftToRight)
        self._headline_layout.setSpacing(4 if self._breakpoints.is_small else 24)


def _card_column(*cards: QWidget) -> tuple[QWidget, QVBoxLayout]:
    """Cards below each other; what is to spare is below them."""
    container = QWidget()
    column = QVBoxLayout(container)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(CARD_GAP)
    for card in cards:
        column.addWidget(card)
    column.addStretch(1)
    return container, column
