"""Is that right for this card? Figures beside the range of healthy cards, where it is from, what to do when below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...bench.expected import CAUSE, key
from ...core.results import Benchmark, BenchResult
from .. import language
from ..components import Button, Card, Icon, Pill, label
from . import scores
from .layouts import emptied

if TYPE_CHECKING:
    from ...catalog.load import Catalog

BELOW = "bench.verdict.below"
WELL = frozenset({"bench.verdict.as-expected", "bench.verdict.above"})
UNKNOWN_CAUSE = CAUSE + "unknown"
translate = QCoreApplication.translate


class RangeSource(Struct, frozen=True):
    """Where the ranges are from: shares in percent, the address of the figures, the day they were gathered."""

    products: tuple[int, int]
    copies: tuple[int, int]
    way: tuple[int, int]
    url: str | None
    as_of: str


def range_source(catalog: Catalog) -> RangeSource:
    """From the catalog; it is read from the disk, so not in the window's thread."""
    reference = catalog.reference
    products, copies, way = (
        (round(100 * low), round(100 * high))
        for low, high in (
            reference.healthy.matmul_share,
            reference.healthy.copy_share,
            reference.healthy.pcie_share,
        )
    )
    urls = [reference.sources[card.source].url for card in reference.cards[:1]]
    return RangeSource(products, copies, way, next((url for url in urls if url), None), reference.as_of)


class RightCard(Card):
    """Hidden where nobody knows what is right, or where there is no card."""

    def __init__(self) -> None:
        self._shown: Benchmark | None = None
        self._source: RangeSource | None = None
        self._ready = False
        super().__init__()
        head = QHBoxLayout()
        head.setSpacing(12)
        self._heading, self.pill = label("heading"), Pill()
        head.addWidget(self._heading, 1)
        head.addWidget(self.pill, 0, Qt.AlignmentFlag.AlignTop)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self.what_to_do = label("strong")
        self._causes = QVBoxLayout()
        self._causes.setSpacing(6)
        self._about = label("small")
        self.open_source = Button(kind="ghost", after="open", small=True)
        self.open_source.clicked.connect(self._open)
        self.column.addLayout(head)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.what_to_do)
        self.column.addLayout(self._causes)
        self.column.addWidget(self._about)
        self.column.addWidget(self.open_source)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark, source: RangeSource | None) -> None:
        """Another result."""
        self._shown, self._source = benchmark, source
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        if not self._ready:
            return
        benchmark = self._shown
        cards = benchmark is not None and any(result.device != "cpu" for result in benchmark.results)
        self.setVisible(cards)
        if benchmark is None or not cards:
            return
        self._heading.setText(self.tr("Is that right for this card?"))
        self.pill.setVisible(bool(benchmark.expected))
        if not benchmark.expected:
            self._nobody_knows()
            return
        below = benchmark.verdict == BELOW
        self.pill.set("warn" if below else "ok", verdict_words(benchmark))
        emptied(self._grid)
        for row, (result, usual) in enumerate(ranged(benchmark)):
            self._range_row(row, result, usual)
        self._show_causes(benchmark if below else None)
        source = self._source
        self._about.setVisible(source is not None)
        self.open_source.setVisible(source is not None and source.url is not None)
        if source is not None:
            self._about.setText(about_range(source))
            self.open_source.setText(self.tr("Where the figures are from"))
            self.open_source.setToolTip(source.url or "")

    def _nobody_knows(self) -> None:
        emptied(self._grid)
        self._show_causes(None)
        self.open_source.hide()
        self._about.show()
        self._about.setText(
            self.tr(
                "There are no figures to check this card against. A laptop's card gets another power limit from every "
                "maker, and of servers' cards we have none yet. Your own past shows whether it becomes slower."
            )
        )

    def _range_row(self, row: int, result: BenchResult, usual: tuple[float, float]) -> None:
        slow = result.median < usual[0]
        low, high = (scores.shown(each, result.unit)[0] for each in usual)
        unit = scores.unit_name(scores.shown(usual[1], result.unit)[1])
        value = label("body", scores.value(result))
        words = self.tr("usual: {low} to {high} {unit}")
        if result.median > usual[1]:
            words = self.tr("above the usual range: {low} to {high} {unit}")
        said = label("small", words.format(low=low, high=high, unit=unit))
        for each in (value, said):
            each.setAlignment(Qt.AlignmentFlag.AlignRight)
        figures = QVBoxLayout()
        figures.setSpacing(0)
        figures.addWidget(value)
        figures.addWidget(said)
        state = "warn" if slow else "ok"
        self._grid.addWidget(Icon(state, state, 16), row, 0, Qt.AlignmentFlag.AlignTop)
        name = scores.name(result)
        if result.device != "cuda:0":
            name = scores.on_device(result.device, name)
        self._grid.addWidget(label("body", name, "soft"), row, 1, Qt.AlignmentFlag.AlignTop)
        self._grid.addLayout(figures, row, 2)

    def _show_causes(self, benchmark: Benchmark | None) -> None:
        emptied(self._causes)
        self.what_to_do.setVisible(benchmark is not None)
        if benchmark is None:
            return
        self.what_to_do.setText(self.tr("What to do"))
        texts = language.texts()
        sentences = [texts.say(cause) for cause in benchmark.causes]
        if UNKNOWN_CAUSE in benchmark.causes:
            sentences += [
                texts.say(f"bench.look.{each}") for each in ("power-plan", "slot", "memory-stick", "battery", "heat")
            ]
        for sentence in sentences:
            self._causes.addWidget(_point(sentence))

    def _open(self) -> None:
        if self._source is not None and self._source.url is not None:
            QDesktopServices.openUrl(QUrl(self._source.url))


def about_range(source: RangeSource) -> str:
    """How the range came about, and of what day the makers' figures are."""
    return translate(
        "RightCard",
        "The range is {low} to {high} % of what the maker's figures promise, {low_copy} to {high_copy} % "
        "for copies within the card, {low_way} to {high_way} % for the way to it: our own rule of thumb. "
        "Figures as of {date}.",
    ).format(
        low=source.products[0],
        high=source.products[1],
        low_copy=source.copies[0],
        high_copy=source.copies[1],
        low_way=source.way[0],
        high_way=source.way[1],
        date=source.as_of,
    )


def verdict_words(benchmark: Benchmark) -> str:
    """The verdict in a pill's few words."""
    return language.texts().say(f"{benchmark.verdict}.short")


def ranged(benchmark: Benchmark) -> list[tuple[BenchResult, tuple[float, float]]]:
    """Each measurement with a known range: its best size, and the range."""
    best: dict[str, BenchResult] = {}
    for result in benchmark.results:
        if not result.extrapolated and (key(result) not in best or result.median > best[key(result)].median):
            best[key(result)] = result
    return [(best[name], usual) for name, usual in (benchmark.expected or {}).items() if name in best]


def _point(sentence: str) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    row.addWidget(Icon("right", "soft", 16), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(label("body", sentence), 1)
    return holder
