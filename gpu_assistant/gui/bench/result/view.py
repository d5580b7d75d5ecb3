"""Your own past: the same measurement over time, and what changed since the last one.

What the cards did while they were measured, as their driver told it: in words.

What each card did along the run: temperature, clocks, power, and what held it back.

A benchmark's result: headline, bars, whether that is right, whether it was fair, and what came before.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ....bench import results
from ....bench.gpu_log import ABNORMAL_THROTTLE_REASONS
from ....core.results import BenchGpuLog, Benchmark, BenchResult
from ....texts.format import UNKNOWN_VALUE, short_name
from ....texts.translate import remove_cjk_gaps
from ... import language
from ...widgets.base import Breakpoints, Themed
from ...widgets.cards import Banner, Card, Pill, name_value_row
from ...widgets.charts import BarChart
from ...widgets.icons import IconWidget
from ...widgets.layouts import clear_layout
from ...widgets.text import label
from .. import messages
from ..messages import pair_description
from .charts import ComparisonRow
from .expected_card import (
    BELOW_EXPECTED,
    NORMAL_VERDICTS,
    ExpectedRangeCard,
    RangeSource,
    validity_notes,
    verdict_label,
)
from .table import ResultsTable

MAX_RUNS = 5
VERSION_NAMES = {"torch": "PyTorch", "cuda": "CUDA", "cudnn": "cuDNN", "python": "Python", "driver": None}

translate = QCoreApplication.translate


class RunHistoryCard(Card):
    """Hidden until there are two that can be compared."""

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
        """This one among those that were kept, oldest first."""
        self._result = (benchmark, stored)
        self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._result is None:
            return
        benchmark, stored = self._result
        runs = messages.comparable_runs(benchmark, stored)[-MAX_RUNS:]
        reference = messages.reference_result(benchmark)
        self.setVisible(len(runs) > 1)
        self.set_title(self.tr("Your own past"))
        if reference is None:
            return
        self.measurement_label.setText(measurement_label(runs[-1][1] if runs else reference))
        dates = messages.date_labels([each for each, _ in runs])
        self.chart.set_bars(
            [
                (date, result.median, messages.marked_median(result), "accent" if each is benchmark else "s5")
                for date, (each, result) in zip(dates, runs, strict=True)
            ]
        )
        if len(runs) > 1:
            self.change_label.setText(change_text(runs[-2], runs[-1], dates[-2]))


def change_text(previous: tuple[Benchmark, BenchResult], current: tuple[Benchmark, BenchResult], date: str) -> str:
    """Faster, slower, no change that the runs could tell, or why they cannot be compared; and which versions are not
    what they were. `when` the first of them was measured.
    """
    factor = results.speed_ratio(previous[1], current[1])
    if reason := messages.doubt_text(previous[1], current[1]):
        text = translate("PastCard", "Cannot be compared with {when}: {why}.").format(when=date, why=reason)
    elif factor is None:
        text = translate("PastCard", "No difference to {when} beyond what runs differ by anyway.").format(when=date)
    elif factor > 1:
        text = translate("PastCard", "{percent} % faster than {when}.")
        text = text.format(percent=round(100 * (factor - 1)), when=date)
    else:
        text = translate("PastCard", "{percent} % slower than {when}.")
        text = text.format(percent=round(100 * (1 - factor)), when=date)
    version_changes = translate("PastCard", ", ").join(_version_changes(previous[0].versions, current[0].versions))
    return (
        f"{text} {translate('PastCard', 'Since then: {changed}.').format(changed=version_changes)}"
        if version_changes
        else text
    )


def measurement_label(result: BenchResult) -> str:
    """What is compared: the measurement, its format and its size."""
    size_label = messages.size_text(result.size) if result.id == "matmul" else ""
    return " · ".join(part for part in (messages.result_name(result), size_label) if part)


def _version_changes(previous: dict[str, str], current: dict[str, str]) -> list[str]:
    changes = []
    for key, name in VERSION_NAMES.items():
        old, new = previous.get(key), current.get(key)
        if old is not None and new is not None and old != new:
            changes.append(f"{name or translate('PastCard', 'driver')} {old} → {new}")
    return changes


THROTTLE_KEY = "monitor.throttle."
THROTTLE_ROW = 4  # the row that says what held it back


def gpu_label(gpu: BenchGpuLog, gpus: Sequence[BenchGpuLog]) -> str:
    """The card's name, with its number where there are several."""
    name = short_name(gpu.name) if gpu.name else "GPU"
    return f"GPU {gpu.index} · {name}" if len(gpus) > 1 else name


def gpu_log_rows(gpu: BenchGpuLog) -> list[tuple[str, str]]:
    """Each figure's name and the figure; a dash for what the driver does not tell."""
    return [
        (translate("Along", "Temperature, start to end"), _temperature_text(gpu)),
        (translate("Along", "Clock under load"), _clock_text(gpu.clock_sm)),
        (translate("Along", "Memory clock under load"), _clock_text(gpu.clock_mem)),
        (translate("Along", "Power at most"), _power_text(gpu)),
        (translate("Along", "Held back by"), throttle_text(gpu)),
        (translate("Along", "In use before the test"), _percent_text(gpu.util_before)),
    ]


def throttle_text(gpu: BenchGpuLog) -> str:
    """Why its clocks were not higher, in the driver's reasons; nothing where there was none."""
    texts = language.texts()
    if not gpu.throttle:
        return translate("Along", "nothing")
    reasons = [
        texts.translate(THROTTLE_KEY + reason) if texts.has_text(THROTTLE_KEY + reason) else reason
        for reason in gpu.throttle
    ]
    return translate("Along", "; ").join(reasons)


def _temperature_text(gpu: BenchGpuLog) -> str:
    start_and_end = [UNKNOWN_VALUE if each is None else str(each) for each in (gpu.temp_start, gpu.temp_end)]
    if gpu.temp_start is None and gpu.temp_end is None:
        return UNKNOWN_VALUE
    if gpu.temp_max is None:
        return translate("Along", "{first} → {last} °C").format(first=start_and_end[0], last=start_and_end[1])
    template = translate("Along", "{first} → {last} °C, at most {most} °C")
    return template.format(first=start_and_end[0], last=start_and_end[1], most=gpu.temp_max)


def _clock_text(clock: int | None) -> str:
    return UNKNOWN_VALUE if clock is None else f"{clock:,} MHz"


def _power_text(gpu: BenchGpuLog) -> str:
    if gpu.power_max_w is None:
        return UNKNOWN_VALUE
    if gpu.power_limit_w is None:
        return f"{gpu.power_max_w:.0f} W"
    template = translate("Along", "{power} W of {limit} W")
    return template.format(power=round(gpu.power_max_w), limit=round(gpu.power_limit_w))


def _percent_text(percent: int | None) -> str:
    return UNKNOWN_VALUE if percent is None else translate("Along", "{percent} %").format(percent=percent)


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
        gpus = results.relevant_gpu_logs(self._benchmark)
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


CARD_GAP = 12
VALIDITY_ICONS = {"ok": ("ok", "ok"), "warn": ("warn", "warn"), "neutral": ("info", "soft")}


class BenchmarkResultView(Themed, QWidget):
    """Filled by `show_benchmark`."""

    def __init__(self) -> None:
        self._result: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._ready = False
        super().__init__()
        self.headline_card, self.comparison_card, self.validity_card = Card(), Card(), Card(" ")
        self.expected_range_card, self.history_card, self.results_table = (
            ExpectedRangeCard(),
            RunHistoryCard(),
            ResultsTable(),
        )
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
        headline = messages.make_headline(benchmark)
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
        warning = "\n".join(
            part for part in (messages.unmeasured_text(benchmark), messages.unfinished_text(benchmark)) if part
        )
        self.unmeasured_banner.set("warn", warning)
        self.unmeasured_banner.setVisible(bool(warning))
        self._fill_rows(benchmark, stored)
        self._fill_validity(benchmark, stored)
        self._update_layout()

    def _fill_rows(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        clear_layout(self._rows_layout)
        previous = results.previous_benchmark(benchmark, stored)
        pairs = results.device_comparisons(benchmark, previous)
        has_gpus, has_ranges = any(pair.gpus for pair in pairs), False
        rows = []
        for pair in pairs:
            expected = messages.expected_range(pair, benchmark)
            has_ranges = has_ranges or expected is not None
            rows.append(
                ComparisonRow(pair, pair_description(pair, benchmark), expected, messages.previous_date_label(previous))
            )
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
        if reason := messages.doubt_text(*(each for pair in pairs for each in pair.results)):
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
        gpu_count = len(results.relevant_gpu_logs(self._result[0])) if self._result is not None else 0
        # A processor alone has nothing else below its bars; several cards need the whole width.
        (self._right_layout if gpu_count else self._left_layout).insertWidget(1, self.history_card)
        if gpu_count > 1:
            self._grid.addWidget(self.gpu_log_card, 3, 0, 1, 3)
        else:
            self._right_layout.insertWidget(2, self.gpu_log_card)
        self._grid.addWidget(self.results_table, 4, 0, 1, 3)
        direction = QBoxLayout.Direction
        self._headline_layout.setDirection(
            direction.TopToBottom if self._breakpoints.is_small else direction.LeftToRight
        )
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
