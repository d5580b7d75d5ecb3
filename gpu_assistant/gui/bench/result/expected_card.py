"""Is that right for this card? Figures beside the range of healthy cards, where it is from, what to do when below.

Was it a fair test? What speaks for and against a benchmark's figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ....bench import results as bench_results
from ....bench.child_protocol import CHILD_ENDINGS as HOW
from ....bench.child_protocol import HARMLESS_REASONS, NOTE_PREFIX
from ....bench.gpu_log import ABNORMAL_THROTTLE_REASONS, BUSY_GPU_PERCENT
from ....bench.results import CAUSE_PREFIX, result_key
from ....core.results import Benchmark, BenchResult, SkippedWorkload
from ....texts.format import format_duration
from ... import language
from ...widgets.buttons import Button
from ...widgets.cards import Card, Pill
from ...widgets.icons import IconWidget
from ...widgets.layouts import clear_layout
from ...widgets.text import label
from .. import messages

if TYPE_CHECKING:
    from ....catalog.store import Catalog


BELOW_EXPECTED = "bench.verdict.below"
NORMAL_VERDICTS = frozenset({"bench.verdict.as-expected", "bench.verdict.above"})
UNKNOWN_CAUSE = CAUSE_PREFIX + "unknown"
translate = QCoreApplication.translate


class RangeSource(Struct, frozen=True):
    """Where the ranges are from: shares in percent, the address of the figures, the day they were gathered."""

    matmul_percent: tuple[int, int]
    copy_percent: tuple[int, int]
    pcie_percent: tuple[int, int]
    url: str | None
    as_of: str


def read_range_source(catalog: Catalog) -> RangeSource:
    """From the catalog; it is read from the disk, so not in the window's thread."""
    reference = catalog.reference
    matmul_percent, copy_percent, pcie_percent = (
        (round(100 * low), round(100 * high))
        for low, high in (
            reference.healthy.matmul_share,
            reference.healthy.copy_share,
            reference.healthy.pcie_share,
        )
    )
    urls = [reference.sources[card.source].url for card in reference.cards[:1]]
    return RangeSource(
        matmul_percent, copy_percent, pcie_percent, next((url for url in urls if url), None), reference.as_of
    )


class ExpectedRangeCard(Card):
    """Hidden where nobody knows what is right, or where there is no card."""

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._range_source: RangeSource | None = None
        self._ready = False
        super().__init__()
        header = QHBoxLayout()
        header.setSpacing(12)
        self._heading, self.verdict_pill = label("heading"), Pill()
        header.addWidget(self._heading, 1)
        header.addWidget(self.verdict_pill, 0, Qt.AlignmentFlag.AlignTop)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self.advice_label = label("strong")
        self._causes_layout = QVBoxLayout()
        self._causes_layout.setSpacing(6)
        self._source_label = label("small")
        self.source_button = Button(kind="ghost", trailing_icon="open", small=True)
        self.source_button.clicked.connect(self._open_source)
        self.column.addLayout(header)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.advice_label)
        self.column.addLayout(self._causes_layout)
        self.column.addWidget(self._source_label)
        self.column.addWidget(self.source_button)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark, range_source: RangeSource | None) -> None:
        """Another result."""
        self._benchmark, self._range_source = benchmark, range_source
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        if not self._ready:
            return
        benchmark = self._benchmark
        has_gpu = benchmark is not None and any(result.device != "cpu" for result in benchmark.results)
        self.setVisible(has_gpu)
        if benchmark is None or not has_gpu:
            return
        self._heading.setText(self.tr("Is that right for this card?"))
        self.verdict_pill.setVisible(bool(benchmark.expected))
        if not benchmark.expected:
            self._show_unknown()
            return
        is_below = benchmark.verdict == BELOW_EXPECTED
        self.verdict_pill.set("warn" if is_below else "ok", verdict_label(benchmark))
        clear_layout(self._grid)
        for row, (result, expected) in enumerate(expected_results(benchmark)):
            self._add_range_row(row, result, expected)
        self._show_causes(benchmark if is_below else None)
        source = self._range_source
        self._source_label.setVisible(source is not None)
        self.source_button.setVisible(source is not None and source.url is not None)
        if source is not None:
            self._source_label.setText(range_source_text(source))
            self.source_button.setText(self.tr("Where the figures are from"))
            self.source_button.setToolTip(source.url or "")

    def _show_unknown(self) -> None:
        clear_layout(self._grid)
        self._show_causes(None)
        self.source_button.hide()
        self._source_label.show()
        self._source_label.setText(
            self.tr(
                "There are no figures to check this card against. A laptop's card gets another power limit from every "
                "maker, and of servers' cards we have none yet. Your own past shows whether it becomes slower."
            )
        )

    def _add_range_row(self, row: int, result: BenchResult, expected: tuple[float, float]) -> None:
        is_below = result.median < expected[0]
        low, high = (messages.readable_value(each, result.unit)[0] for each in expected)
        unit = messages.unit_label(messages.readable_value(expected[1], result.unit)[1])
        value_label = label("body", messages.median_text(result))
        template = self.tr("usual: {low} to {high} {unit}")
        if result.median > expected[1]:
            template = self.tr("above the usual range: {low} to {high} {unit}")
        range_label = label("small", template.format(low=low, high=high, unit=unit))
        for each in (value_label, range_label):
            each.setAlignment(Qt.AlignmentFlag.AlignRight)
        figures = QVBoxLayout()
        figures.setSpacing(0)
        figures.addWidget(value_label)
        figures.addWidget(range_label)
        state = "warn" if is_below else "ok"
        self._grid.addWidget(IconWidget(state, state, 16), row, 0, Qt.AlignmentFlag.AlignTop)
        name = messages.result_name(result)
        if result.device != "cuda:0":
            name = messages.with_device_label(result.device, name)
        self._grid.addWidget(label("body", name, "soft"), row, 1, Qt.AlignmentFlag.AlignTop)
        self._grid.addLayout(figures, row, 2)

    def _show_causes(self, benchmark: Benchmark | None) -> None:
        clear_layout(self._causes_layout)
        self.advice_label.setVisible(benchmark is not None)
        if benchmark is None:
            return
        self.advice_label.setText(self.tr("What to do"))
        texts = language.texts()
        sentences = [texts.translate(cause) for cause in benchmark.causes]
        if UNKNOWN_CAUSE in benchmark.causes:
            sentences += [
                texts.translate(f"bench.look.{each}")
                for each in ("power-plan", "slot", "memory-stick", "battery", "heat")
            ]
        for sentence in sentences:
            self._causes_layout.addWidget(_bullet_row(sentence))

    def _open_source(self) -> None:
        if self._range_source is not None and self._range_source.url is not None:
            QDesktopServices.openUrl(QUrl(self._range_source.url))


def range_source_text(source: RangeSource) -> str:
    """How the range came about, and of what day the makers' figures are."""
    return translate(
        "RightCard",
        "The range is {low} to {high} % of what the maker's figures promise, {low_copy} to {high_copy} % "
        "for copies within the card, {low_way} to {high_way} % for the way to it: our own rule of thumb. "
        "Figures as of {date}.",
    ).format(
        low=source.matmul_percent[0],
        high=source.matmul_percent[1],
        low_copy=source.copy_percent[0],
        high_copy=source.copy_percent[1],
        low_way=source.pcie_percent[0],
        high_way=source.pcie_percent[1],
        date=source.as_of,
    )


def verdict_label(benchmark: Benchmark) -> str:
    """The verdict in a pill's few words."""
    return language.texts().translate(f"{benchmark.verdict}.short")


def expected_results(benchmark: Benchmark) -> list[tuple[BenchResult, tuple[float, float]]]:
    """Each measurement with a known range: its best size, and the range."""
    best: dict[str, BenchResult] = {}
    for result in benchmark.results:
        if not result.extrapolated and (
            result_key(result) not in best or result.median > best[result_key(result)].median
        ):
            best[result_key(result)] = result
    return [(best[name], expected) for name, expected in (benchmark.expected or {}).items() if name in best]


def _bullet_row(sentence: str) -> QWidget:
    container = QWidget()
    row = QHBoxLayout(container)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    row.addWidget(IconWidget("right", "soft", 16), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(label("body", sentence), 1)
    return container


# Above this share of the median between the quartiles a figure is not steady (see the honesty rules of bench/).
MAX_STEADY_SPREAD = 0.10
WRONG_RESULT = "wrong"
TIME_LIMIT_NOTE = "bench.note.time"
EARLY_END_NOTES = frozenset(NOTE_PREFIX + how for how in HOW)
EXPECTED_OMISSIONS = frozenset(NOTE_PREFIX + why for why in HARMLESS_REASONS)


class ValidityNote(NamedTuple):
    """One line of “Was it a fair test?”: kind ok, warn or neutral; `below` is a list that is too long for a value."""

    kind: str
    text: str
    value: str
    detail: str = ""


def validity_notes(benchmark: Benchmark, stored: Sequence[Benchmark] = ()) -> list[ValidityNote]:
    """What speaks for and against the figures, as far as the benchmark and those of before say it."""
    lines = [*_figure_notes(benchmark)]
    if any(result.device != "cpu" for result in benchmark.results):
        lines += _gpu_notes(benchmark)
    threads = next((device.threads for device in benchmark.devices if device.id == "cpu"), None)
    if threads is not None:
        lines.append(ValidityNote("neutral", translate("Fairness", "CPU threads"), str(threads)))
    lines += [
        ValidityNote(
            "warn",
            language.texts().translate(note),
            "",
            translate("Fairness", "; ").join(_affected_items(benchmark, note)),
        )
        for note in benchmark.notes
    ]
    if benchmark.scope == "quick" and any(omission.why == TIME_LIMIT_NOTE for omission in benchmark.left_out):
        text = translate("Fairness", "The full test has up to 15 minutes for each device: more of it fits in.")
        lines.append(ValidityNote("neutral", text, ""))
    if missing := missing_workloads(benchmark, stored):
        text = translate("Fairness", "Measured before, not this time")
        lines.append(ValidityNote("neutral", text, "", translate("Fairness", "; ").join(missing)))
    if benchmark.seconds is not None:
        duration_text = format_duration(benchmark.seconds, language.texts().language)
        lines.append(ValidityNote("neutral", translate("Fairness", "Time"), duration_text))
    return lines


def max_spread(benchmark: Benchmark) -> float:
    """The widest middle half of all that was measured, as a share of its median."""
    measured = (r for r in benchmark.results if not r.extrapolated and r.median > 0)
    return max(((r.q3 - r.q1) / r.median for r in measured), default=0.0)


def _figure_notes(benchmark: Benchmark) -> Iterator[ValidityNote]:
    """Whether the results are right and the runs alike."""
    measured = [r for r in benchmark.results if not r.extrapolated]
    if not measured:
        return
    text = translate("Fairness", "Results checked")
    if wrong := sum(WRONG_RESULT in result.notes for result in measured):
        yield ValidityNote("warn", text, translate("Fairness", "{count} wrong").format(count=wrong))
    else:
        checked = sum(result.error is not None for result in measured)
        all_checked = checked == len(measured)
        template = translate("Fairness", "all right")
        if not all_checked:
            template = translate("Fairness", "{checked} of {count}, no time for the rest")
        elif EARLY_END_NOTES & set(benchmark.notes) or any(
            omission.why not in EXPECTED_OMISSIONS for omission in benchmark.left_out
        ):
            all_checked, template = False, translate("Fairness", "{checked} right, the rest was not measured")
        yield ValidityNote(
            "ok" if all_checked else "neutral", text, template.format(checked=checked, count=len(measured))
        )
    spread = max_spread(benchmark)
    spread_text = translate("Fairness", "at most {percent} %").format(percent=f"{100 * spread:.1f}")
    yield ValidityNote(
        "ok" if spread <= MAX_STEADY_SPREAD else "warn", translate("Fairness", "Spread between runs"), spread_text
    )


def _gpu_notes(benchmark: Benchmark) -> Iterator[ValidityNote]:
    """What the cards' driver told along the run."""
    gpus = bench_results.relevant_gpu_logs(benchmark)
    temperatures = [(gpu.temp_start, gpu.temp_max) for gpu in gpus]
    known_temperatures = [
        (start, maximum) for start, maximum in temperatures if start is not None and maximum is not None
    ]
    if known_temperatures:
        coolest, hottest = (
            min(start for start, _ in known_temperatures),
            max(maximum for _, maximum in known_temperatures),
        )
        value = translate("Fairness", "{first} → {last} °C").format(first=coolest, last=hottest)
        yield ValidityNote("neutral", translate("Fairness", "Temperature"), value)
    if gpus:
        throttled = any(ABNORMAL_THROTTLE_REASONS & set(gpu.throttle) for gpu in gpus)
        value = translate("Fairness", "yes") if throttled else translate("Fairness", "none")
        yield ValidityNote("warn" if throttled else "ok", translate("Fairness", "Slowed down by heat or power"), value)
    utilizations = [gpu.util_before for gpu in gpus if gpu.util_before is not None]
    if utilizations:
        value = translate("Fairness", "{percent} %").format(percent=max(utilizations))
        kind = "warn" if max(utilizations) > BUSY_GPU_PERCENT else "ok"
        yield ValidityNote(kind, translate("Fairness", "Other programs on the card"), value)


def _affected_items(benchmark: Benchmark, note: str) -> list[str]:
    """What bears this note or was left out for it, device by device; a product's sizes in one."""
    sizes: dict[str, list[tuple[int, ...]]] = {}
    results, left_out = bench_results.results_with_note(note, benchmark)
    items: list[BenchResult | SkippedWorkload] = [*left_out]
    if len(results) < len(benchmark.results):  # what is true of all of them needs no list
        items = [*results, *items]
    for item in items:
        name = messages.workload_label(item.id, item.dtype)
        label = messages.with_device_label(item.device, name) if len(benchmark.devices) > 1 else name
        sizes.setdefault(label, []).append(item.size)
    return _list_sizes(sizes)


def missing_workloads(benchmark: Benchmark, stored: Sequence[Benchmark]) -> list[str]:
    """What earlier runs measured and this one did not: a whole workload by its name, a product's sizes in one."""
    sizes: dict[str, list[tuple[int, ...]]] = {}
    for result in bench_results.missing_measurements(benchmark, stored):
        sizes.setdefault(messages.result_name(result), []).append(result.size)
    return _list_sizes(sizes)


def _list_sizes(sizes_by_name: dict[str, list[tuple[int, ...]]]) -> list[str]:
    """Names, those of products with their sizes."""
    separator = "、" if language.texts().language == "zh_CN" else ", "
    return [
        f"{name} · {separator.join(messages.size_text(size) for size in sorted(sizes))}"
        if len(sizes[0]) == 3 and len(set(sizes[0])) == 1
        else name
        for name, sizes in sizes_by_name.items()
    ]
