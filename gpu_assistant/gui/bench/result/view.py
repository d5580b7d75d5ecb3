"""The result of a benchmark on the page: headline, comparison, expected range, validity, history, GPU log, all figures.

`BenchmarkResultView` arranges the cards in two columns, in one where the page is narrow. Texts are from
`reports/messages.py` and `reports/result_messages.py`; bars are `comparison_row.ComparisonRow`.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ....bench.device_comparison import DeviceComparison, device_comparisons, relevant_gpu_logs
from ....bench.expected_ranges import repair_steps
from ....bench.gpu_log import ABNORMAL_THROTTLE_REASONS
from ....bench.history import previous_benchmark
from ....core.results import BenchGpuLog, Benchmark
from ....reports import messages
from ....reports.expected_ranges import (
    BELOW_EXPECTED,
    NORMAL_VERDICTS,
    RangeSource,
    cause_texts,
    compared_text,
    conditions_text,
    described_pair,
    has_trained_on_cpu,
    link_limit,
    middle_note,
    ordered_comparisons,
    pair_ranges,
    slow_text,
    verdict_sentence,
)
from ....reports.result_messages import (
    THROTTLE_ROW,
    change_text,
    comparison_title,
    gpu_label,
    gpu_log_rows,
    measurement_label,
    validity_notes,
)
from ....texts.benchmark import with_label
from ....texts.translate import remove_cjk_gaps
from ... import language, theme
from ...widgets.base import Breakpoints, Themed
from ...widgets.buttons import Button
from ...widgets.cards import Banner, Card, Hero, name_value_row
from ...widgets.charts import BarChart
from ...widgets.icons import IconWidget
from ...widgets.layouts import HeadedKeyRow, clear_layout
from ...widgets.text import label
from .comparison_key import ComparisonKey
from .comparison_row import ComparisonRow, RowAlignment
from .expected_range import ExpectedRangeCard
from .repair_steps import RepairSteps
from .table import ResultsTable

CARD_GAP, CAPTION_GAP = 12, 8  # pixels between cards, and above the caption of some rows
CPU_ONLY = "bench.verdict.cpu-only"
MIN_BESIDE_WIDTH = 720  # pixels of the window at 100 % text: figure and headline beside each other
MAX_RUNS = 5  # in the history card
VALIDITY_ICONS = {"ok": ("ok", "ok"), "warn": ("warn", "warn"), "neutral": ("info", "soft")}


class BenchmarkResultView(Themed, QWidget):
    """Empty until `show_benchmark`; `comparison_rows` are the rows of the comparison, in their order."""

    def __init__(self) -> None:
        self._result: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._range_source: RangeSource | None = None
        self._ready = False
        self.comparison_rows: tuple[ComparisonRow, ...] = ()
        super().__init__()
        self._build_headline_card()
        self._build_comparison_card()
        self._build_validity_card()
        self.expected_range_card, self.history_card = ExpectedRangeCard(), RunHistoryCard()
        self.gpu_log_card, self.results_table = GpuLogCard(), ResultsTable()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(CARD_GAP)
        self.slow_hero, self.repair_steps = Hero("warn"), RepairSteps()
        self.slow_hero.add_row(self.repair_steps)
        self._grid.addWidget(self.slow_hero, 0, 0, 1, 3)
        self._grid.addWidget(self.headline_card, 1, 0, 1, 3)
        for column in range(3):
            self._grid.setColumnStretch(column, 1)
        self._grid.setRowStretch(6, 1)  # spare height stays below all cards
        self._left_column, self._left_layout = _card_column(self.comparison_card, self.expected_range_card)
        self._right_column, self._right_layout = _card_column(self.validity_card, self.history_card)
        self._breakpoints = Breakpoints(self)
        self._breakpoints.changed.connect(self._update_layout)
        self._breakpoints.resized.connect(self._arrange_headline)
        self._update_layout()
        self._ready = True
        self.apply_theme()

    @property
    def step_buttons(self) -> tuple[Button, ...]:
        """The buttons of the steps against slowness, in their order; empty where there are none."""
        return () if self.slow_hero.isHidden() else tuple(self.repair_steps.buttons.values())

    def _build_headline_card(self) -> None:
        self.headline_card = Card()
        self.figure_label = label("display", "", "accent_text")
        self.figure_label.set_one_line(True)
        self.caption_label = label("small")
        self.headline_label, self.detail_label = label("verdict"), label("body", "", "soft")
        self.normal_icon = IconWidget("ok", "ok", 22, beside="verdict")
        figure_layout, verdict_layout, text_layout = QVBoxLayout(), QHBoxLayout(), QVBoxLayout()
        figure_layout.setSpacing(0)
        figure_layout.addWidget(self.figure_label)
        figure_layout.addWidget(self.caption_label)
        figure_layout.addStretch(1)  # beside a longer text the caption stays at its figure
        verdict_layout.setSpacing(8)
        verdict_layout.addWidget(self.normal_icon, 0, Qt.AlignmentFlag.AlignTop)
        verdict_layout.addWidget(self.headline_label, 1)
        text_layout.setSpacing(4)
        text_layout.addStretch(1)
        text_layout.addLayout(verdict_layout)
        text_layout.addWidget(self.detail_label)
        text_layout.addStretch(1)
        self._headline_layout = QHBoxLayout()
        self._headline_layout.addLayout(figure_layout)
        self._headline_layout.addLayout(text_layout, 1)
        self.unmeasured_banner = Banner("warn", inset=True)
        self.headline_card.column.addLayout(self._headline_layout)
        self.headline_card.column.addWidget(self.unmeasured_banner)

    def _build_comparison_card(self) -> None:
        self.comparison_card = Card()
        self._heading, self._legend = label("heading"), label("small")
        self.key, self.ratio_label = ComparisonKey(), label("caption")
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(2)
        self.comparison_card.column.addWidget(self._heading)
        self.comparison_card.column.addLayout(HeadedKeyRow(self.key, self.ratio_label))
        self.comparison_card.column.addLayout(self._rows_layout)
        self.comparison_card.column.addWidget(self._legend)
        self.comparison_card.column.addStretch(1)

    def _build_validity_card(self) -> None:
        self.validity_card = Card(" ")
        self._validity_grid = QGridLayout()
        self._validity_grid.setColumnStretch(1, 1)
        self._validity_grid.setVerticalSpacing(8)
        self._validity_grid.setHorizontalSpacing(10)
        self.validity_card.column.addLayout(self._validity_grid)
        self.validity_card.column.addStretch(1)

    def show_benchmark(
        self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None = None
    ) -> None:
        """Show a result; `stored` are all benchmarks with this one, oldest first."""
        if self._result != (benchmark, stored):
            self._result, self._range_source = (benchmark, stored), range_source
            self.expected_range_card.show_benchmark(benchmark, range_source)
            self.history_card.show_benchmark(benchmark, stored)
            self.gpu_log_card.show_benchmark(benchmark)
            self.results_table.show_benchmark(benchmark)
            self.retranslate()

    def refresh(self) -> None:
        super().refresh()
        self._arrange_headline()

    def retranslate(self) -> None:
        if not self._ready or self._result is None:
            return
        benchmark, stored = self._result
        self.validity_card.set_title(self.tr("Was it a fair test?"))
        headline_figure = messages.headline_figure(benchmark)
        self.headline_card.setVisible(bool(headline_figure.figure))
        self.figure_label.setText(headline_figure.figure)
        self.caption_label.setText(headline_figure.caption)
        # That a card is slow is said above all figures, and none of them boasts then: what has been compared with the
        # CPU is said in a sentence instead.
        headline, is_slow = messages.make_headline(benchmark), benchmark.verdict == BELOW_EXPECTED
        is_sentence = is_slow and headline is not None and bool(headline.formats)
        for part in (self.figure_label, self.caption_label):
            part.setVisible(not is_sentence)
        sentence = headline.text if headline is not None and is_sentence else ""
        self.headline_label.setText(sentence if is_slow else verdict_sentence(benchmark))
        self.headline_label.setVisible(bool(self.headline_label.text()))
        self.detail_label.setText("\n".join(self._details(benchmark, stored, headline_figure.doubt)))
        self.detail_label.setVisible(bool(self.detail_label.text()))
        self.slow_hero.setVisible(is_slow)
        if is_slow:
            reasons = [middle_note(), *cause_texts(benchmark), conditions_text(benchmark)]
            self.slow_hero.set("warn", slow_text(benchmark), "\n".join(each for each in reasons if each))
            self.repair_steps.show_steps(repair_steps(benchmark))
        is_normal = benchmark.verdict in NORMAL_VERDICTS
        self.normal_icon.setVisible(is_normal)
        self.headline_label.set_tone("ok" if is_normal else "text")
        warning = "\n".join(
            part for part in (messages.unmeasured_text(benchmark), messages.unfinished_text(benchmark)) if part
        )
        self.unmeasured_banner.set("warn", warning)
        self.unmeasured_banner.setVisible(bool(warning))
        self._fill_rows(benchmark, stored)
        self._fill_validity(benchmark, stored)
        self._update_layout()

    def _details(self, benchmark: Benchmark, stored: tuple[Benchmark, ...], doubt: str) -> list[str]:
        """The lines below the verdict: what it is based on, what the figure means, what is missing or doubtful."""
        headline = messages.make_headline(benchmark)
        if headline is None:
            return []
        lines = [compared_text(benchmark)] if benchmark.verdict in NORMAL_VERDICTS else []
        if benchmark.verdict == CPU_ONLY and has_trained_on_cpu(benchmark):
            lines.append(self.tr("Large ones need a graphics card."))
        if all(result.device == "cpu" for result in benchmark.results):
            lines.append(
                self.tr("We have no usual speeds for CPUs. Compare it with your earlier results.")
                if len(messages.comparable_runs(benchmark, stored)) > 1
                else self.tr("We have no usual speeds for CPUs.")
            )
        # The details of one figure stand at its row or in the history, but for its doubts.
        lines += [headline.remark if headline.formats else doubt, headline.missing]
        return [line for line in lines if line]

    def _fill_rows(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        clear_layout(self._rows_layout)
        previous = previous_benchmark(benchmark, stored)
        pairs = ordered_comparisons(benchmark, previous)
        # One measurement on the CPU alone is in the history, with all earlier tests.
        self.comparison_card.setVisible(not _is_only_in_history(pairs))
        previous_date = messages.previous_date_label(previous, names_today=True)
        self.comparison_rows = tuple(self._make_row(pair, benchmark, previous_date) for pair in pairs)
        alignment = RowAlignment(self.comparison_rows)
        for row in self.comparison_rows:
            row.setToolTip(messages.pair_description(row.pair, benchmark))
            row.align_with(alignment)
        judged = [row for row in self.comparison_rows if not row.is_unjudged]
        unjudged = [row for row in self.comparison_rows if row.is_unjudged]
        caption = [label("small-strong", self.tr("Not compared with other cards"), "soft")] if unjudged else []
        for widget in (*judged, *caption, *unjudged):
            if widget in caption:
                self._rows_layout.addSpacing(CAPTION_GAP)
            self._rows_layout.addWidget(widget)
        has_gpus = any(pair.gpus for pair in pairs)
        self._heading.setText(comparison_title(pairs))
        gpu_names = {messages.gpu_name(benchmark, each.device) for pair in pairs for each in pair.gpus}
        self.key.show_entries(
            frozenset[str]().union(*(row.bar_tokens for row in self.comparison_rows)),
            card=gpu_names.pop() if len(gpu_names) == 1 else "",
            has_gpus=has_gpus,
            previous_date=previous_date if any(pair.previous is not None for pair in pairs) else "",
            expected=any(row.expected_ranges for row in self.comparison_rows),
        )
        self.ratio_label.setText(self.tr("times as fast"))
        self.ratio_label.setVisible(any(pair.ratio is not None for pair in pairs))
        parts = []
        if any(pair.parallel is not None for pair in pairs):
            parts.append(self.tr("Several GPUs train one model together."))
        parts.append(self._scales_text())
        doubts = messages.doubt_legend(each for pair in pairs for each in pair.results)
        if doubts and doubts not in self.detail_label.text():
            parts.append(doubts)
        self._legend.setText(remove_cjk_gaps(" ".join(part for part in parts if part)))
        self._legend.setVisible(bool(self._legend.text()))

    def _scales_text(self) -> str:
        """Which rows share a scale; "" for a single row with bars."""
        rows = [row for row in self.comparison_rows if row.has_own_scale and row.has_bars]
        shared = sum(row.is_compared_with_cpu_alone for row in rows)
        if shared < 2:
            return self.tr("Each row has its own scale.") if len(rows) > 1 else ""
        if shared == len(rows):
            return self.tr("All bars share one scale: times as fast as the CPU.")
        return self.tr(
            "Rows compared only with the CPU share one scale (times as fast), so their bars can be compared. "
            "Each other row has its own scale."
        )

    def _make_row(self, pair: DeviceComparison, benchmark: Benchmark, previous_date: str) -> ComparisonRow:
        limit = link_limit(pair, benchmark, self._range_source)
        description = described_pair(pair, benchmark, limit, is_brief=True)
        if pair.parallel is not None and (efficiency := messages.efficiency_text(pair.parallel)):
            together = with_label(messages.gpu_count_label(pair.parallel), efficiency, language.texts().language)
            description = f"{description}\n{together}"
        return ComparisonRow(pair, description, pair_ranges(pair, benchmark), previous_date, limit)

    def _fill_validity(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        clear_layout(self._validity_grid)
        for row, note in enumerate(validity_notes(benchmark, stored)):
            icon, token = VALIDITY_ICONS[note.kind]
            self._validity_grid.addWidget(IconWidget(icon, token, 16, beside="body"), row, 0, Qt.AlignmentFlag.AlignTop)
            if note.value:
                self._validity_grid.addLayout(name_value_row(note.text, note.value), row, 1)
            else:
                text = "\n".join(part for part in (note.text, note.detail) if part)
                self._validity_grid.addWidget(label("body", text, "soft"), row, 1)

    def _update_layout(self) -> None:
        """Figures at the left, validity and history at the right; all in one column where the page is narrow.

        Without a GPU the history is below the figures, in a narrow page beside validity: both are short then.
        """
        narrow = self._breakpoints.is_narrow
        for widget in (self._left_column, self._right_column, self.gpu_log_card, self.results_table):
            self._grid.removeWidget(widget)
        self._grid.addWidget(self._left_column, 2, 0, 1, 3 if narrow else 2)
        self._grid.addWidget(self._right_column, *((3, 0, 1, 3) if narrow else (2, 2, 1, 1)))
        gpu_count = len(relevant_gpu_logs(self._result[0])) if self._result is not None else 0
        is_beside = narrow and not self._breakpoints.is_small and not gpu_count
        right_cards = [self.history_card, self.validity_card] if is_beside else [self.validity_card]
        if gpu_count:
            right_cards.append(self.history_card)
        elif not is_beside:
            self._left_layout.insertWidget(1, self.history_card)
        if gpu_count > 1:  # they need the whole width
            self._grid.addWidget(self.gpu_log_card, 4, 0, 1, 3)
        else:
            right_cards.append(self.gpu_log_card)
        direction = QBoxLayout.Direction
        self._right_layout.setDirection(direction.LeftToRight if is_beside else direction.TopToBottom)
        for index, card in enumerate(right_cards):
            self._right_layout.insertWidget(index, card, int(is_beside and card is not self.gpu_log_card))
        # Behind the cards is the spare height of a column.
        self._right_layout.setStretch(self._right_layout.count() - 1, int(not is_beside))
        left_cards = [self.comparison_card, self.expected_range_card]
        if self.history_card not in right_cards:
            left_cards.append(self.history_card)
        self._left_column.setHidden(all(card.isHidden() for card in left_cards))
        self._grid.addWidget(self.results_table, 5, 0, 1, 3)
        self._arrange_headline()

    def _arrange_headline(self) -> None:
        """The figure beside its sentence, smaller in a small window; above it where large text leaves no room."""
        is_small = self._breakpoints.is_small
        is_above = self.window().width() < theme.px(MIN_BESIDE_WIDTH)
        direction = QBoxLayout.Direction
        self._headline_layout.setDirection(direction.TopToBottom if is_above else direction.LeftToRight)
        self._headline_layout.setSpacing(4 if is_above else 16 if is_small else 24)
        is_slow = self._result is not None and self._result[0].verdict == BELOW_EXPECTED
        self.headline_label.set_kind("strong" if is_slow else "heading" if is_small else "verdict")
        self.detail_label.set_kind("small" if is_small or is_slow else "body")


class RunHistoryCard(Card):
    """ "Your own past": the same measurement over time. Hidden until there are two runs that can be compared."""

    def __init__(self) -> None:
        self._result: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._ready = False
        super().__init__(" ")
        self.measurement_label, self.chart, self.change_label = label("small"), BarChart(), label("body")
        for each in (self.measurement_label, self.chart, self.change_label):
            self.column.addWidget(each)
        self.column.addStretch(1)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        """`stored` are all benchmarks with this one, oldest first."""
        self._result = (benchmark, stored)
        self.retranslate()

    def retranslate(self) -> None:
        if not self._ready or self._result is None:
            return
        benchmark, stored = self._result
        runs = messages.comparable_runs(benchmark, stored)[-MAX_RUNS:]
        reference = messages.reference_result(benchmark)
        self.setVisible(len(runs) > 1)
        # Two runs are beside each other in the comparison of a CPU.
        pairs = device_comparisons(benchmark, previous_benchmark(benchmark, stored))
        are_compared = any(pair.previous is not None for pair in pairs) and not _is_only_in_history(pairs)
        self.chart.setVisible(len(runs) > 2 or not are_compared)
        self.set_title(self.tr("Your earlier results"))
        if reference is None:
            return
        self.measurement_label.setText(measurement_label(runs[-1][1] if runs else reference))
        dates, shown = (
            messages.date_labels([each for each, _ in runs], names_today=True),
            [result for _, result in runs],
        )
        self.chart.set_bars(
            [
                (date, result.median, messages.marked_median(result, shown), "accent" if each is benchmark else "s5")
                for date, (each, result) in zip(dates, runs, strict=True)
            ]
        )
        if len(runs) > 1:
            change = change_text(runs[-2], runs[-1], dates[-2])
            # Where one of the last two is doubtful, the change says why.
            doubts = messages.doubt_legend(shown) if not messages.doubt_text(runs[-2][1], runs[-1][1]) else ""
            self.change_label.setText("\n".join(part for part in (change, doubts) if part))


class GpuLogCard(Card):
    """What the driver logged of each GPU during the run; hidden without a log."""

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
        self._benchmark = benchmark
        self.retranslate()

    def retranslate(self) -> None:
        if not self._ready or self._benchmark is None:
            return
        gpus = relevant_gpu_logs(self._benchmark)
        self.setVisible(bool(gpus))
        self.set_title(
            self.tr("What the card did during the test")
            if len(gpus) == 1
            else self.tr("What the cards did during the test")
        )
        self._description.setText(
            self.tr(
                "Read from the driver five times a second; clocks are medians under load. A card at its "
                "power limit is working at full power, as it should."
            )
        )
        clear_layout(self._grid)
        columns = 1 if self._breakpoints.is_narrow or len(gpus) == 1 else 2
        for index, gpu in enumerate(gpus):
            block = self._gpu_block(gpu, gpu_label(gpu, gpus) if len(gpus) > 1 else "")
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
        for row, (caption, value) in enumerate(gpu_log_rows(gpu)):
            throttled = row == THROTTLE_ROW and ABNORMAL_THROTTLE_REASONS & set(gpu.throttle)
            column.addLayout(name_value_row(caption, value, "warn" if throttled else "text"))
        return block


def _is_only_in_history(pairs: Sequence[DeviceComparison]) -> bool:
    """Whether all that was measured is one measurement of the CPU, which the history shows with all earlier ones."""
    return len(pairs) == 1 and pairs[0].previous is not None and pairs[0].mixed is None


def _card_column(*cards: QWidget) -> tuple[QWidget, QVBoxLayout]:
    """Cards below each other, with spare height below them."""
    container = QWidget()
    column = QVBoxLayout(container)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(CARD_GAP)
    for card in cards:
        column.addWidget(card)
    column.addStretch(1)
    return container, column
