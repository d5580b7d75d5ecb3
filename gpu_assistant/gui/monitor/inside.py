"""Who uses the cards, and the figures that are no graph: folded, below the plots."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableWidgetItem, QVBoxLayout, QWidget

from ...core.health import Health
from ...core.results import GpuSample
from ...texts.format import UNKNOWN, memory
from .. import language
from ..components import Button, Card, Live, Table, label
from . import axis

FIRST_TOLD = 2


class Inside(Live, QWidget):
    """Once its `button` was pressed, the programs on the cards and their details. The button is to be seen while there
    is a card; it stands where the page puts it.

    It only shows what samples bring: the sampler asks for programs rarely, and while this is `open`; `turned` says
    that it was opened or closed.
    """

    turned = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._gpus: tuple[GpuSample, ...] = ()
        self._reported: dict[int, tuple[int, float]] = {}
        self.open = False
        self._since = 0  # samples since it was opened: the first may have been on its way without programs
        self.button = Button(kind="ghost", icon="table")
        self.programs, self.details = _Listed(), _Listed()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.cards = (self.programs, self.details)
        for card in self.cards:
            card.hide()
            column.addWidget(card)
        self.button.clicked.connect(self._turn_over)
        self.button.hide()
        self.follow()

    def show_now(self, gpus: tuple[GpuSample, ...], health: Health | None) -> None:
        """The cards of now, and what is known of them from before."""
        self._gpus = gpus
        self._reported = health.reported if health is not None else {}
        self._since += 1
        self.button.setVisible(bool(gpus))
        self._show_cards()

    def retranslate(self) -> None:
        """All words."""
        self.button.setText(self.tr("Programs and details"))
        self.button.set_icon("table", "up" if self.open else "down")
        self.programs.set_title(self.tr("Programs on the card"))
        self.details.set_title(self.tr("Details of the card"))
        if self.open and self._gpus:
            self._fill()

    def _turn_over(self) -> None:
        self.open = not self.open
        self._since = 0
        self._show_cards()
        self.retranslate()
        self.turned.emit()

    def _show_cards(self) -> None:
        there = self.open and bool(self._gpus)
        for card in self.cards:
            card.setVisible(there)
        if there:
            self._fill()

    def _fill(self) -> None:
        several = len(self._gpus) > 1
        heads = [self.tr("Program"), self.tr("PID"), self.tr("Memory")]
        rows = []
        for gpu in self._gpus:
            for each in sorted(gpu.processes or (), key=lambda each: -(each.mem_used or 0)):
                used = UNKNOWN if each.mem_used is None else memory(each.mem_used)
                cells = [each.name or UNKNOWN, str(each.pid), used]
                rows.append([f"GPU {gpu.index}", *cells] if several else cells)
        told = any(gpu.processes is not None for gpu in self._gpus)
        asked = self.tr("The driver is being asked…") if self._since < FIRST_TOLD else ""
        none = asked or self.tr("The driver does not tell who uses it.")
        none = self.tr("No program uses it now.") if told else none
        self.programs.fill([self.tr("Card"), *heads] if several else heads, rows, none)
        figures = [(name, values) for name, values in self._figures() if any(values)]
        self.details.fill(
            [self.tr("Figure"), *(f"GPU {gpu.index}" if several else self.tr("Now") for gpu in self._gpus)],
            [[name, *(value or UNKNOWN for value in values)] for name, values in figures],
            self.tr("The card tells no more just now."),
        )

    def _figures(self) -> list[tuple[str, list[str | None]]]:
        """Each with what every card says of it; None where it does not tell."""
        gpus = self._gpus
        return [
            (self.tr("Memory clock"), [self._of(gpu.clock_mem, gpu.clock_mem_max, "MHz") for gpu in gpus]),
            (self.tr("Graphics clock"), [self._of(gpu.clock_sm, gpu.clock_sm_max, "MHz") for gpu in gpus]),
            (
                self.tr("Performance state (P0 is the fastest)"),
                [None if gpu.pstate is None else f"P{gpu.pstate}" for gpu in gpus],
            ),
            (self.tr("PCI Express generation"), [self._of(gpu.pcie_gen, gpu.pcie_gen_max) for gpu in gpus]),
            (self.tr("PCI Express lanes"), [self._of(gpu.pcie_width, gpu.pcie_width_max) for gpu in gpus]),
            (self.tr("Held back by"), [self._reasons(gpu) for gpu in gpus]),
            (self.tr("Fan turns"), [self._of(gpu.fan_rpm, None, self.tr("a minute")) for gpu in gpus]),
            (self.tr("Memory errors (ECC)"), [self._errors(gpu) for gpu in gpus]),
            (self.tr("Memory pages switched off"), [self._of(gpu.retired_pages) for gpu in gpus]),
            (self.tr("Memory rows replaced"), [self._of(gpu.remapped_rows) for gpu in gpus]),
            (
                self.tr("Last error of the driver (Xid)"),
                [self._xid(gpu) for gpu in gpus],
            ),
        ]

    def _of(self, value: int | None, most: int | None = None, unit: str = "") -> str | None:
        if value is None:
            return None
        said = (
            f"{value:,}" if most is None else self.tr("{value} of {most}").format(value=f"{value:,}", most=f"{most:,}")
        )
        return f"{said} {unit}".strip()

    def _xid(self, gpu: GpuSample) -> str | None:
        """The last one with its time; the driver itself tells only of those since its session began."""
        if gpu.index in self._reported:
            number, at = self._reported[gpu.index]
            return f"{number} · {axis.said(at, axis.DAY)}"
        return None if gpu.xid is None else str(gpu.xid or self.tr("none"))

    def _errors(self, gpu: GpuSample) -> str | None:
        if not gpu.ecc:
            return None if gpu.ecc is None else self.tr("not watched for")
        mended, not_mended = (UNKNOWN if n is None else n for n in (gpu.ecc_corrected, gpu.ecc_uncorrected))
        return self.tr("{mended} mended, {rest} not").format(mended=mended, rest=not_mended)

    def _reasons(self, gpu: GpuSample) -> str | None:
        if not gpu.throttle:
            return None if gpu.throttle is None else self.tr("nothing")
        return " · ".join(language.texts().say(f"monitor.throttle.{name}") for name in gpu.throttle)


class _Listed(Card):
    """A table as high as its rows: the page scrolls, not the table. Without rows a sentence stands there."""

    def __init__(self) -> None:
        self._ready = False
        super().__init__(padding=14)
        self.table, self.none = Table(wraps=True, bare=True), label("small")
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(self.table)
        self.column.addWidget(self.none)
        self._ready = True

    def fill(self, heads: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
        """Other figures; a reader's place in the table stays."""
        self.none.setText(none)
        self.none.setVisible(not rows)
        self.table.setVisible(bool(rows))
        self.table.setAccessibleName(self.title.text())
        self.table.setColumnCount(len(heads))
        self.table.setHorizontalHeaderLabels(heads)
        self.table.setRowCount(len(rows))
        changed = False
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = self.table.item(row, column)
                if item is None:
                    item = QTableWidgetItem()
                    item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                    self.table.setItem(row, column, item)
                if item.text() != text:
                    item.setText(text)
                    changed = True
        if changed:
            self._fit()

    def refresh(self) -> None:
        """Larger words need a higher table."""
        super().refresh()
        if self._ready:
            self.table.refresh()  # before its words are measured
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As wide as the card."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        margins = self.column.contentsMargins()
        room = self.width() - margins.left() - margins.right() - 2 * self.table.frameWidth()
        self.table.fit_columns(room)
        head = self.table.horizontalHeader()
        below = self.table.horizontalScrollBar().sizeHint().height() if head.length() > room else 0
        self.table.setFixedHeight(self.table.verticalHeader().length() + head.sizeHint().height() + below + 4)
