"""Every figure of a benchmark in a table, and what was left out and why; folded until somebody wants it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableWidgetItem

from ...bench import summary
from ...core.results import Benchmark
from ...texts.format import counted
from .. import language
from ..components import Button, Card, Table
from . import scores

WORDS = ("bert-base", "bert-base-parallel", "decode")  # whose sizes count words
COPIES = "copy-"
translate = QCoreApplication.translate


class Every(Card):
    """`toggle` opens it."""

    def __init__(self) -> None:
        self._shown: Benchmark | None = None
        self._ready = self._narrow = False
        self._wide_needs = 0
        super().__init__(padding=12)
        self.toggle = Button(kind="ghost", icon="table", after="down")
        self.toggle.clicked.connect(self._fold)
        self.table = Table(wraps=True)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.setVisible(False)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(self.toggle)
        self.column.addWidget(self.table)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark) -> None:
        """Another result."""
        self._shown = benchmark
        self.retranslate()

    def refresh(self) -> None:
        """Larger words need a higher table."""
        super().refresh()
        if self._ready:
            self.table.refresh()  # before its words are measured
            self.retranslate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As wide as the card."""
        super().resizeEvent(event)
        self._fit()

    def retranslate(self) -> None:
        """Heads and rows."""
        if not self._ready:
            return
        opened = not self.table.isHidden()
        self.toggle.setText(self.tr("Hide all figures") if opened else self.tr("All figures"))
        self.toggle.set_icon("table", "up" if opened else "down")
        if not opened or self._shown is None:
            return
        self.table.setAccessibleName(self.tr("All figures"))
        self._fill(narrow=False)
        self._fit()

    def _fill(self, *, narrow: bool) -> None:
        """In six columns, or in three where these do not fit beside each other."""
        assert self._shown is not None  # noqa: S101 - it is opened by who looks at a result
        self._narrow = narrow
        heads = [
            self.tr("What"),
            self.tr("Where"),
            self.tr("Size"),
            self.tr("Median"),
            self.tr("Middle half"),
            self.tr("Runs"),
        ]
        rows = rows_of(self._shown)
        if narrow:
            heads = [heads[0], heads[3], heads[4]]
            rows = [_folded(row) for row in rows]
        median = 1 if narrow else 3  # a reason stands in all columns from there on
        self.table.clearSpans()
        self.table.clearContents()
        self.table.setColumnCount(len(heads))
        self.table.setHorizontalHeaderLabels(heads)
        self.table.setRowCount(len(rows))
        for row in range(len(self._shown.results), len(rows)):
            self.table.setSpan(row, median, 1, len(heads) - median)
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                told = column < min(2, median) or (len(cells) < len(heads) and column == median)
                side = Qt.AlignmentFlag.AlignLeft if told else Qt.AlignmentFlag.AlignRight
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip(text)
                self.table.setItem(row, column, item)
        if not narrow:
            self._wide_needs = self.table.needs()

    def _fit(self) -> None:
        """As high as its rows: the page scrolls, not the table."""
        if self.table.isHidden():
            return
        margins = self.column.contentsMargins()
        room = self.width() - margins.left() - margins.right() - 2 * self.table.frameWidth()
        narrow = room < self._wide_needs
        if narrow != self._narrow:
            self._fill(narrow=narrow)
        self.table.fit_columns(room)
        bar = self.table.horizontalScrollBar()
        below = bar.sizeHint().height() if self.table.horizontalHeader().length() > self.table.width() else 0
        rows = self.table.verticalHeader().length()
        self.table.setFixedHeight(rows + self.table.horizontalHeader().sizeHint().height() + below + 4)

    def _fold(self) -> None:
        self.table.setVisible(self.table.isHidden())
        self.retranslate()


def _size(name: str, sides: tuple[int, ...], batch: int | None = None) -> str:
    """What is copied has bytes, everything else has sides; and how many at a time."""
    if name.startswith(COPIES):
        return scores.mebibytes(sides[0]) if sides else ""
    counts = translate("Every", "{count} words").format(count=sum(sides))
    said = counts if name in WORDS else scores.extent(sides)
    if batch is None:
        return said
    return translate("Every", "{size}, batch {batch}").format(size=said, batch=batch)


def _folded(row: tuple[str, ...]) -> tuple[str, ...]:
    """One of `rows_of` in as few columns as can be: where and at which size below what it was, the runs last."""
    what, where, size, told, *rest = row
    first = "\n".join((what, where, size))
    if not rest:
        return first, told
    half, runs = rest
    last = counted(translate("Every", "{runs} runs"), runs=int(runs)) if runs.isdigit() else runs
    return first, told, f"{half}\n{last}"


def rows_of(benchmark: Benchmark) -> list[tuple[str, ...]]:
    """Every measurement in words: what, where, size, median, middle half, runs; then what was left out, which has its
    reason in place of the last three.
    """
    found: list[tuple[str, ...]] = []
    for result in benchmark.results:
        low, high = (scores.amount(each, result.unit) for each in (result.q1, result.q3))
        unit = scores.unit_name(scores.shown(result.q3, result.unit)[1])
        low = low.removesuffix(f" {unit}")  # once is enough, where it is the same
        guessed = result.extrapolated
        found.append(
            (
                scores.name(result),
                scores.device_name(result),
                _size(result.id, result.size, result.batch),
                ("≈ " if guessed else "") + scores.marked(result),
                f"{low} … {high}",
                translate("Every", "worked out") if guessed else str(result.runs),
            )
        )
    texts = language.texts()
    for left in benchmark.left_out:
        what = scores.workload(left.id, left.dtype)
        why = scores.why(left.why)
        if (figures := summary.wanted(left)) is not None:
            why = texts.say(*figures)  # of this one alone; why is said for all beside "Was it a fair test?"
            why = why[:1].upper() + why[1:]
        found.append((what, scores.device_label(left.device), _size(left.id, left.size), why))
    return found
