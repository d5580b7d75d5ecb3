"""The table of many GPUs above the plots: a row for each, with its line in the plots, its values and its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidgetItem,
)

from ...core.results import GpuSample, Health
from ...texts.format import format_memory, join_unit, short_name
from .. import theme
from ..widgets.base import draw_rounded_rect
from ..widgets.cards import PillKind
from ..widgets.icons import STATE_ICONS, draw_icon
from ..widgets.table import CELL_MARGIN, HEADER_PADDING, DataTable
from .alarms import alarm_tones, gpu_state, sort_by_alarms
from .metrics import GPU_METRICS
from .plot.cards import gpu_line
from .plot.renderer import SIGN_WIDTH, draw_line_sign

MAX_FOLDED_ROWS = 3
MAX_LINES = 4  # lines of more GPUs could not be told apart; so many have a header each
MIN_ROW_HEIGHT, ROW_PADDING = 32, 9  # pixels: of a comfortable target; that a row of large text is higher than it
DENSE_HEADER_PADDING = 8  # pixels that the header is higher than its text in a window with little room
ICON_SIZE, ICON_GAP = 16, 6
BAR_HEIGHT, MIN_BAR_WIDTH, MAX_BAR_WIDTH = 5, 24, 120
BAR_START, BAR_END = 12, 8  # pixels between the widest text of a column and its bars, and behind these
TRACK_OPACITY = 0.25  # of the part of a bar that is not filled, also on a tinted row
BOX_SIZE = 16  # pixels of the mark that tells whether a GPU has lines in the plots
DISPENSABLE_COLUMNS = (4, 2, 1)  # power, memory, load: the first is hidden first in a narrow window
CELL_ROLE = Qt.ItemDataRole.UserRole
ROW_TINTS = {"error": "error_soft", "warn": "warn_soft"}
STATE_TONES = {"neutral": "soft"}
KINDS_WITH_ICON = ("ok", "warn", "error")


class Cell(Struct, frozen=True, kw_only=True):
    """What a cell shows beside its text: a bar of this `fraction`, or the icon of a state; `row_kind` tints the row,
    `tone` is the colour of a value that an alarm is about.

    `long_text` has the total too: it is shown in place of the cell's text where all columns have room for theirs.
    """

    long_text: str = ""
    fraction: float | None = None
    state: PillKind | None = None
    row_kind: PillKind | None = None
    tone: str = "text"


class GpuTable(DataTable):
    """One row for each GPU, those with the most severe alarms first. `toggle_requested(gpu)` asks to show or hide its
    lines: a click or Space on the row.

    Only cells whose text or state has changed are written, and so painted.
    """

    toggle_requested = Signal(int)

    def __init__(self, gpus: tuple[GpuSample, ...]) -> None:
        self.gpus = tuple(gpu.index for gpu in gpus)
        self.shows_long_texts = False
        self.bar_width = 0  # pixels of the bar in each cell; 0 for none
        self._states: list[tuple[PillKind, str]] = [("neutral", "")] * len(gpus)
        self._descriptions: list[str] = []
        self._order = list(range(len(gpus)))
        self._is_folded = self._is_dense = False
        self.slots: dict[int, int] = {}
        self.replaced_gpu: int | None = None
        # The width in pixels of the widest text, and of the widest long one, that each column has had.
        self._widest: dict[int, float] = {}
        self._widest_long: dict[int, float] = {}
        self._ready = False
        super().__init__(frameless=True)
        self.setItemDelegate(_GpuDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setColumnCount(2 + len(GPU_METRICS))
        self.setRowCount(len(gpus))
        are_alike = len({gpu.name for gpu in gpus}) == 1
        for row, gpu in enumerate(gpus):
            name = None if are_alike or gpu.name is None else short_name(gpu.name)
            title = f"GPU {gpu.index}" if name is None else f"GPU {gpu.index} · {name}"
            parts = [gpu.name, format_memory(gpu.mem_total) if gpu.mem_total is not None else None]
            self._descriptions.append(" · ".join(part for part in parts if part))
            for column in range(self.columnCount()):
                item = QTableWidgetItem(title if column == 0 else "")
                item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip(self._descriptions[row])
                self.setItem(row, column, item)
        self.cellClicked.connect(lambda row, _: self.toggle_requested.emit(self.gpus[row]))
        self._ready = True
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        if self._ready:
            self.setHorizontalHeaderLabels(
                [
                    self.tr("Show (up to {count})").format(count=MAX_LINES),
                    *(metric.title_text() for metric in GPU_METRICS),
                    self.tr("State"),
                ]
            )
            self.setAccessibleName(self.tr("Graphics cards"))
            self._describe_boxes()
            self._widest.clear()
            self._widest_long.clear()
            self._fit_to_width()

    def set_dense(self, dense: bool) -> None:
        """Make the header lower, for a window with little room below."""
        if dense != self._is_dense:
            self._is_dense = dense
            self.set_header_padding(DENSE_HEADER_PADDING if dense else HEADER_PADDING)
            self._fit_to_width()

    def set_folded(self, folded: bool) -> None:
        """Show only the GPUs that need attention, up to MAX_FOLDED_ROWS; without one the table is hidden."""
        if folded != self._is_folded:
            self._is_folded = folded
            self._fit_to_width()

    def hidden_states(self) -> list[tuple[PillKind, str]]:
        """(kind, text) of the state of each GPU that is not shown, in the order of the rows."""
        return [self._states[row] for row in self._order if not self._is_row_shown(row)]

    def _is_row_shown(self, row: int) -> bool:
        if not self._is_folded:
            return True
        return self._states[row][0] in ROW_TINTS and self._order.index(row) < MAX_FOLDED_ROWS

    def _sort_rows(self, health: Health | None) -> None:
        """The GPUs that need attention come first, the others follow by their numbers."""
        order = [self.gpus.index(gpu) for gpu in sort_by_alarms(self.gpus, health)]
        if order != self._order:
            self._order = order
            header = self.verticalHeader()
            for place, row in enumerate(order):
                header.moveSection(header.visualIndex(row), place)

    def set_lines(self, slots: Mapping[int, int], replaced_gpu: int | None) -> None:
        """Mark the GPUs whose lines are in the plots, with their slots (see `gpu_line`). The boxes of others tell
        which GPU gives way to one more; None while there is room for it.
        """
        self.slots, self.replaced_gpu = dict(slots), replaced_gpu
        for row, gpu in enumerate(self.gpus):
            state = Qt.CheckState.Checked if gpu in slots else Qt.CheckState.Unchecked
            item = self.item(row, 0)
            if item is not None and item.data(Qt.ItemDataRole.CheckStateRole) != state:
                item.setCheckState(state)
        self._describe_boxes()

    def _describe_boxes(self) -> None:
        full = self.tr("{count} GPUs are already shown. Selecting this one hides GPU {gpu}.")
        for row, gpu in enumerate(self.gpus):
            item = self.item(row, 0)
            if item is None:
                continue
            is_beyond = self.replaced_gpu is not None and gpu not in self.slots
            hint = full.format(count=MAX_LINES, gpu=self.replaced_gpu) if is_beyond else ""
            item.setToolTip("\n".join(part for part in (self._descriptions[row], hint) if part))
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, hint)

    def show_sample(self, gpus: dict[int, GpuSample], health: Health | None) -> None:
        """Show the values of these GPUs, by index."""
        wider = False
        shown = [self._is_row_shown(row) for row in range(len(self.gpus))]
        for row, index in enumerate(self.gpus):
            gpu = gpus.get(index)
            kind, state_text = self._states[row] = gpu_state(index, gpu, health) or ("neutral", "")
            row_kind = kind if kind in ROW_TINTS else None
            name_item = self.item(row, 0)
            wider |= self._write(row, 0, name_item.text() if name_item else "", Cell(row_kind=row_kind))
            tones = alarm_tones(health, index)
            for column, metric in enumerate(GPU_METRICS, 1):
                value, total = metric.read(gpu)
                unit = metric.unit_text(total)
                long_text = "" if value is None else join_unit(metric.format_value(value), unit)
                cell = Cell(
                    fraction=metric.fraction(gpu),
                    row_kind=row_kind,
                    long_text=long_text,
                    tone=tones.get(metric.key, "text"),
                )
                wider |= self._write(row, column, metric.format_with_unit(value), cell)
            wider |= self._write(row, len(GPU_METRICS) + 1, state_text, Cell(state=kind, row_kind=row_kind))
        self._sort_rows(health)
        if wider or shown != [self._is_row_shown(row) for row in range(len(self.gpus))]:
            self._fit_to_width()

    def _write(self, row: int, column: int, text: str, cell: Cell) -> bool:
        """Write a cell if it differs; whether its column needs to be wider than ever before."""
        item = self.item(row, column)
        if item is None or (item.text() == text and item.data(CELL_ROLE) == cell):
            return False
        item.setData(CELL_ROLE, cell)
        item.setText(text)
        return self._widen(column, text, cell)

    def _widen(self, column: int, text: str, cell: Cell) -> bool:
        """Keep the widths of a cell's texts; whether one is wider than those before."""
        extra = 0
        if column == 0:
            extra = theme.px(BOX_SIZE) + SIGN_WIDTH + 2 * ICON_GAP
        elif column == self.columnCount() - 1:
            extra = theme.px(ICON_SIZE) + ICON_GAP
        grew = False
        for widest, shown in ((self._widest, text), (self._widest_long, cell.long_text or text)):
            needed = self.fontMetrics().horizontalAdvance(shown) + extra
            if needed > widest.get(column, 0):
                widest[column], grew = needed, True
        return grew

    def widest_text(self, column: int) -> float:
        """The width in pixels of the widest text that this column has had."""
        return (self._widest_long if self.shows_long_texts else self._widest).get(column, 0.0)

    def refresh(self) -> None:
        super().refresh()
        if self._ready:
            self._widest.clear()
            self._widest_long.clear()
            self._fit_to_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_to_width()

    def _fit_to_width(self) -> None:
        """Give each column what its texts need, the rest to those with bars; and the height of all rows.

        Where they do not fit, totals are left out, then columns: temperature and state stay.
        """
        if not self._ready:
            return
        header = self.horizontalHeader()
        row_height = max(self.fontMetrics().height() + ROW_PADDING, MIN_ROW_HEIGHT)
        self.verticalHeader().setMinimumSectionSize(row_height)
        self.verticalHeader().setDefaultSectionSize(row_height)
        for row in range(self.rowCount()):
            for column in range(self.columnCount()):
                item = self.item(row, column)
                if item is not None:
                    self._widen(column, item.text(), item.data(CELL_ROLE) or Cell())
        hidden: list[int] = []
        self.shows_long_texts = True
        widths = self._needed_widths()
        self.shows_long_texts = sum(widths) <= self.width()
        widths = self._needed_widths()
        for column in DISPENSABLE_COLUMNS:
            if sum(widths) - sum(widths[each] for each in hidden) > self.width():
                hidden.append(column)
        bars = [column for column in range(1, 1 + len(GPU_METRICS)) if column not in hidden]
        left = self.width() - sum(width for column, width in enumerate(widths) if column not in hidden)
        widths[-1], left = widths[-1] + min(left, 0), max(left, 0)  # a state that is still too long is elided
        # The same room beside the text of each, so that the bars are equally long.
        rooms = {column: widths[column] - round(self.widest_text(column)) for column in bars}
        room = equal_room(rooms.values(), left)
        for column in bars:
            widths[column] += max(room - rooms[column], 0)
        widths[-1] += max(self.width() - sum(widths[each] for each in range(len(widths)) if each not in hidden), 0)
        for column, width in enumerate(widths):
            self.setColumnHidden(column, column in hidden)
            self.setColumnWidth(column, width)
        shown = [row for row in range(self.rowCount()) if self._is_row_shown(row)]
        for row in range(self.rowCount()):
            self.setRowHidden(row, row not in shown)
            if row in shown:
                self.setRowHeight(row, row_height)  # one that was hidden has the height that it had before
        self.setVisible(bool(shown))
        bar_width = min(room - BAR_START - CELL_MARGIN - BAR_END, MAX_BAR_WIDTH)
        self.bar_width = bar_width if bar_width >= MIN_BAR_WIDTH else 0
        self.setFixedHeight(header.sizeHint().height() + row_height * len(shown))
        self.viewport().update()

    def _needed_widths(self) -> list[int]:
        header = self.horizontalHeader()
        return [
            max(header.sectionSizeHint(column), round(self.widest_text(column)) + 2 * CELL_MARGIN + 2)
            for column in range(self.columnCount())
        ]

    def minimumSizeHint(self) -> QSize:
        """No width of its own: columns give way (see `_fit_to_width`)."""
        return QSize(0, self.minimumHeight())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space and Enter toggle the lines of the current row."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentRow() >= 0:
            self.toggle_requested.emit(self.gpus[self.currentRow()])
            return
        super().keyPressEvent(event)


def equal_room(rooms: Iterable[int], spare: int) -> int:
    """What the narrowest of these rooms have once `spare` pixels more make them equally wide."""
    total, equal = spare, 0
    for count, room in enumerate(sorted(rooms), 1):
        if count > 1 and room >= equal:
            break
        total += room
        equal = total // count
    return equal


class _GpuDelegate(QStyledItemDelegate):
    """Paints cells with their bar, line or state."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        table = self.parent()
        if not isinstance(table, GpuTable):
            return
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        cell: Cell = index.data(CELL_ROLE) or Cell()
        background = ROW_TINTS.get(cell.row_kind or "", "card")
        painter.save()
        painter.fillRect(rect, theme.color(background))
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(theme.color("focus"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        left = rect.left() + CELL_MARGIN
        tone = cell.tone
        if index.column() == 0:
            left = self._draw_line(painter, rect, left, table, index)
        elif cell.state is not None:
            tone = STATE_TONES.get(cell.state, cell.state)
            if cell.state in KINDS_WITH_ICON:
                icon_rect = QRectF(left, rect.top(), theme.px(ICON_SIZE), rect.height())
                draw_icon(painter, STATE_ICONS[cell.state], tone, ICON_SIZE, icon_rect)
            left += theme.px(ICON_SIZE) + ICON_GAP
        painter.setPen(theme.color(tone))
        painter.setFont(table.font())
        text_rect = QRect(left, rect.top(), rect.right() - CELL_MARGIN - left, rect.height())
        text = cell.long_text if table.shows_long_texts and cell.long_text else str(index.data())
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, text_rect.width())
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), text)
        if cell.fraction is not None:
            # Its colour is not the metric's: colours are those of the GPUs' lines here.
            bar_tone = "soft" if cell.tone == "text" else cell.tone
            start = left + round(table.widest_text(index.column())) + BAR_START
            self._draw_bar(painter, QPointF(start, rect.center().y() + 1), table.bar_width, cell.fraction, bar_tone)
        painter.restore()

    def _draw_line(
        self,
        painter: QPainter,
        rect: QRect,
        left: int,
        table: GpuTable,
        index: QModelIndex | QPersistentModelIndex,
    ) -> int:
        """A box, ticked where the plots have the GPU's line, and the line itself; returns where the text begins."""
        size, middle = theme.px(BOX_SIZE), rect.center().y() + 1
        box = QRectF(left + 0.5, middle - size / 2 - 0.5, size, size)
        shown = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked.value
        # One that has no room beside the others is greyed: it takes the place of one of them.
        fill = "accent" if shown else "pressed" if table.replaced_gpu is not None else None
        draw_rounded_rect(painter, box, 3, theme.color(fill) if fill else None, theme.color("control"))
        if shown:
            draw_icon(painter, "check", "on_accent", BOX_SIZE - 2, box)
            gpu = table.gpus[index.row()]
            line = gpu_line(table.slots.get(gpu, 0), gpu, fill=False)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            draw_line_sign(painter, line, left + size + ICON_GAP, middle)
        return left + size + SIGN_WIDTH + 2 * ICON_GAP

    @staticmethod
    def _draw_bar(painter: QPainter, start: QPointF, width: int, fraction: float, tone: str) -> None:
        """A bar from the middle of its left end; none where a column has too little room for its."""
        if not width:
            return
        rect = QRectF(start.x(), start.y() - BAR_HEIGHT / 2, width, BAR_HEIGHT)
        draw_rounded_rect(painter, rect, BAR_HEIGHT / 2, theme.color("soft", TRACK_OPACITY))
        rect.setWidth(max(width * fraction, BAR_HEIGHT))
        draw_rounded_rect(painter, rect, BAR_HEIGHT / 2, theme.color(tone))
