"""The summary above the plots: status line and pill, tiles of one GPU or of the machine, a header for each of several,
a table of many.

Texts are in the translation context of the page, which shows the first two.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from ...core.results import GpuSample, Health, Sample
from ...health.rules import temperature_margin
from ...texts.format import format_memory, short_name, uncapitalize
from .. import language
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.cards import Card, MetricTile, MetricValue, Pill, PillKind
from ..widgets.icons import STATE_ICONS, IconWidget
from ..widgets.table import CELL_MARGIN
from ..widgets.text import SEPARATOR, TextLabel, label
from .alarms import MAX_NAMED_ALARMS, alarm_names, alarm_tones, gpu_state
from .gpu_table import MAX_LINES, GpuTable
from .metrics import GPU_METRICS, GPU_TILE_METRICS, MACHINE_METRICS, Metric
from .plot.cards import gpu_line
from .plot.legend import LineLegendRow

MAX_COLUMNS = 6
TABLE_MARGIN = 6  # pixels around the table of GPUs, whose cells have a margin of their own
# Driver states that say no more than that there is no NVIDIA GPU.
STATES_WITHOUT_MESSAGE = ("untried", "absent", "ready")


def status_text(
    sample: Sample | None,
    health: Health | None,
    *,
    simulated: bool,
    shows_alarms: bool = True,
    shows_margin: bool = True,
) -> str:
    """The line below the page's title: the GPUs and the most severe alarm, or the problem of the driver; of GPUs that
    are well also how far they are from slowing down, unless `shows_margin` is off.

    Without `shows_alarms` the GPUs alone: the alarms are told below the line.
    """
    translate, texts = QCoreApplication.translate, language.texts()
    if simulated:
        return translate("MonitorPage", "Readings from the real computer in front of you, not from the simulated one.")
    gpus = sample.gpus if sample is not None else ()
    state = sample.nvml if sample is not None else "untried"
    if state not in STATES_WITHOUT_MESSAGE:
        message = texts.translate(f"monitor.nvml.{state}")
        lost_gpus = [gpu.index for gpu in gpus if gpu.state == "lost"]
        names_gpus = state == "lost" and lost_gpus and len(gpus) > 1
        return texts.title_of_gpus(lost_gpus, message) if names_gpus else message
    if not gpus:
        return translate("MonitorPage", "No NVIDIA GPU. CPU and memory are shown.")
    names = {gpu.name for gpu in gpus}
    name = next(iter(names)) if len(names) == 1 else None
    if len(gpus) > 1:
        count = len(gpus)
        # Up to MAX_LINES of them have headers with their names.
        subject = translate("MonitorPage", "{count} GPUs").format(count=count)
        if name and count > MAX_LINES:
            subject = translate("MonitorPage", "{count} {name} GPUs").format(count=count, name=short_name(name))
    else:
        subject = short_name(name) if name else translate("MonitorPage", "GPU, CPU and memory")
    if not shows_alarms:
        total = gpus[0].mem_total if len(gpus) == 1 else None
        return subject if total is None else f"{subject} · {format_memory(total)}"
    if health is None or not health.alarms:
        is_well = shows_margin and health is not None and health.state == "well"
        margin = temperature_margin(gpus) if is_well else None
        return subject if margin is None else f"{subject} · {_margin_text(margin, several=len(gpus) > 1)}"
    parts = [subject]
    # What is no problem takes fewer words; what all GPUs have needs no numbers.
    first = health.alarms[0]
    is_shared = {alarm.gpu for alarm in health.alarms if alarm.id == first.id} >= {gpu.index for gpu in gpus}
    is_calm = first.level == "info" and is_shared
    parts.append(texts.calm_alarm_state(first) if is_calm else texts.most_severe_alarm_title(health))
    # The title names all GPUs with its alarm.
    others = [alarm for alarm in health.alarms if alarm.level != "info" and alarm.id != first.id]
    parts += alarm_names(others, names_gpus=len(gpus) > 1, most=MAX_NAMED_ALARMS - 1)
    if shows_margin and health.state == "well" and (margin := temperature_margin(gpus)) is not None:
        parts.append(_margin_text(margin, several=len(gpus) > 1))
    return SEPARATOR.join(parts)


def _margin_text(degrees: int, *, several: bool) -> str:
    translate = QCoreApplication.translate
    text = translate("MonitorPage", "{degrees} °C below slowdown")
    if several:
        text = translate("MonitorPage", "Hottest: {degrees} °C below slowdown")
    return text.format(degrees=degrees)


def status_pill(health: Health | None) -> tuple[PillKind, str] | None:
    """(kind, text) of the GPUs' state; None while it is unknown. An alarm of one GPU is named, of several counted."""
    translate, texts = QCoreApplication.translate, language.texts()
    alarms = [alarm for alarm in health.alarms if alarm.level != "info"] if health is not None else []
    if health is not None and health.state in ("warn", "error") and alarms:
        kind: PillKind = "error" if health.state == "error" else "warn"
        if len({alarm.gpu for alarm in alarms}) > 1:
            return kind, translate("MonitorPage", "{count} alarms").format(count=len(alarms))
        if texts.has_text(f"health.{alarms[0].id}.short"):
            return kind, texts.alarm_state(alarms[0])
    pills: dict[str, tuple[PillKind, str]] = {
        "well": ("ok", translate("MonitorPage", "Normal")),
        "watching": ("neutral", translate("MonitorPage", "Watching")),
        "untold": ("neutral", translate("MonitorPage", "Unknown")),
        "warn": ("warn", translate("MonitorPage", "Attention")),
        "error": ("error", translate("MonitorPage", "Problem")),
        "asleep": ("neutral", texts.translate("monitor.gpu.asleep")),
        "slow": ("neutral", texts.translate("monitor.gpu.silent")),
    }
    return pills.get(health.state) if health is not None else None


class SummaryTiles(QWidget):
    """Tiles, or headers for several GPUs, or a table for more than MAX_LINES of them.

    `toggle_requested(gpu)` of the table asks to show or hide the lines of a GPU. `tiles` are (metric, GPU index or -1,
    tile).
    """

    toggle_requested = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.tiles: list[tuple[Metric, int, MetricTile]] = []
        self.headers: list[GpuHeader] = []
        self.table: GpuTable | None = None
        self.others_row: OtherGpusRow | None = None
        self._table_card: Card | None = None
        self._laid_out = (0, 0)
        self._available_width = self._min_tile_width = 0
        self._low_window = False
        self._sample: Sample | None = None
        self._health: Health | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)

    def rebuild(self, gpus: tuple[GpuSample, ...], slots: Mapping[int, int]) -> None:
        """Make tiles, headers or a table for these GPUs, whose lines have these slots; `update_layout` places them."""
        for widget in self._widgets():
            widget.hide()
            self._grid.removeWidget(widget)
            widget.deleteLater()
        self.tiles, self.headers, self.table, self._table_card, self._laid_out = [], [], None, None, (0, 0)
        self.others_row = None
        if len(gpus) > MAX_LINES:
            self._table_card, self.table = Card(), GpuTable(gpus)
            self._table_card.column.setContentsMargins(TABLE_MARGIN, TABLE_MARGIN, TABLE_MARGIN, TABLE_MARGIN)
            self._table_card.column.setSpacing(2)
            self._table_card.column.addWidget(self.table)
            self.table.toggle_requested.connect(self.toggle_requested)
            self.others_row = OtherGpusRow(self.table)
            self._table_card.column.addWidget(self.others_row)
        elif len(gpus) > 1:
            self.headers = [GpuHeader(gpu, slots[gpu.index]) for gpu in gpus]
        elif gpus:
            tiles = ((metric, gpus[0].index, metric.colour) for metric in GPU_TILE_METRICS)
            self.tiles = [(metric, gpu, MetricTile(metric.icon, token=colour)) for metric, gpu, colour in tiles]
        else:
            pairs = zip(MACHINE_METRICS, ("s1", "s2"), strict=True)
            self.tiles = [(metric, -1, MetricTile(metric.icon, token=colour)) for metric, colour in pairs]

    def update_layout(
        self,
        available: int,
        *,
        low_window: bool = False,
        fold_table: bool = False,
        dense_table: bool = False,
        brief_headers: bool = False,
    ) -> None:
        """As many columns as fit into `available` pixels. With `fold_table` the table shows only the GPUs that need
        attention, unless the user unfolds it, and with `dense_table` its rows are low; with `brief_headers` the values
        of several GPUs are shown without their names.

        In a low window the tiles are compact and only their first row is shown, so that a whole plot is visible below;
        the plots have the other values too.
        """
        if self.table is not None and self.others_row is not None:
            self.table.set_dense(dense_table)
            self.others_row.set_foldable(fold_table)
        self._available_width, self._low_window = available, low_window
        for _, _, tile in self.tiles:
            tile.set_compact(low_window)
        for header in self.headers:
            header.set_brief(brief=brief_headers)
        self._show_tiles()
        self._min_tile_width = self._widest_minimum()
        self._place_tiles()

    def _widest_minimum(self) -> int:
        return max((widget.minimumSizeHint().width() for widget in self._widgets()), default=0)

    def _place_tiles(self) -> None:
        widgets = self._widgets()
        max_columns = 2 if self.headers else MAX_COLUMNS
        gap = self._grid.horizontalSpacing()
        candidates = (count for count in (6, 4, 3, 2) if count <= min(max_columns, len(widgets)))
        columns = next(
            (count for count in candidates if count * (self._min_tile_width + gap) - gap <= self._available_width), 1
        )
        if self._low_window and self.tiles:
            widgets = widgets[:columns]
        columns = math.ceil(len(widgets) / math.ceil(len(widgets) / columns)) if widgets else 1  # rows of equal length
        if (columns, len(widgets)) == self._laid_out:
            return
        self._laid_out = (columns, len(widgets))
        for index, widget in enumerate(widgets):
            self._grid.addWidget(widget, index // columns, index % columns)
        for widget in self._widgets():
            widget.setVisible(widget in widgets)
        for column in range(MAX_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def retranslate(self) -> None:
        """Update the names on the tiles; headers do so themselves."""
        for metric, _, tile in self.tiles:
            tile.set_label(metric.title_text())

    def set_lines(self, slots: Mapping[int, int], replaced_gpu: int | None, *, side_by_side: bool) -> None:
        """Take the slots of the lines that are drawn, and the GPU that gives way to one more; with a plot for each GPU
        the headers show solid lines, too.
        """
        if self.table is not None:
            self.table.set_lines(slots, replaced_gpu)
        for header in self.headers:
            header.show_line(is_alone=side_by_side)

    def show_sample(self, sample: Sample, health: Health | None) -> None:
        self._sample, self._health = sample, health
        by_index = {gpu.index: gpu for gpu in sample.gpus}
        self._show_tiles()
        for header in self.headers:
            header.show_sample(by_index.get(header.gpu), health)
        if self.table is not None and self.others_row is not None:
            self.table.show_sample(by_index, health)
            self.others_row.refresh_text()
        min_width = self._widest_minimum()
        # Only ever wider: the layout does not jump back when values get shorter again.
        if min_width > self._min_tile_width:
            self._min_tile_width = min_width
            self._place_tiles()

    def _show_tiles(self) -> None:
        sample = self._sample
        if sample is None:
            return
        by_index = {gpu.index: gpu for gpu in sample.gpus}
        for metric, gpu, tile in self.tiles:
            source = sample if gpu < 0 else by_index.get(gpu)
            value, total = metric.read(source)
            value_text = None if value is None else metric.format_value(value)
            # A compact tile has no room for the total, which its bar shows.
            unit = metric.unit if self._low_window else metric.unit_text(total)
            tile.set_value(value_text, unit, metric.fraction(source))
            tile.value_widget.set_largest("" if total is None else metric.format_value(total))
            tile.value_widget.set_tone(alarm_tones(self._health, gpu).get(metric.key, "text"))

    def _widgets(self) -> list[QWidget]:
        if self._table_card is not None:
            return [self._table_card]
        return [*self.headers] or [tile for _, _, tile in self.tiles]


class OtherGpusRow(Themed, QWidget):
    """The line below the table of many GPUs in a short window: how those are that it does not show, and a button that
    shows all of them in the table.
    """

    def __init__(self, table: GpuTable) -> None:
        super().__init__()
        self._table = table
        self._is_foldable, self._is_expanded = False, False
        self.icon_widget, self.text_label = IconWidget("ok", "ok", 16), label("body")
        self.button = Button(kind="ghost", small=True, flush="right")
        self.button.clicked.connect(self._toggle)
        row = QHBoxLayout(self)
        row.setContentsMargins(CELL_MARGIN, 0, CELL_MARGIN, 0)
        row.setSpacing(8)
        row.addWidget(self.icon_widget)
        row.addWidget(self.text_label, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)
        self.hide()
        self.apply_theme()

    def set_foldable(self, foldable: bool) -> None:
        """Fold the table, unless the user unfolded it; or show all of it."""
        if foldable != self._is_foldable:
            self._is_foldable = foldable
            self._update()

    def refresh_text(self) -> None:
        """Take the states of the GPUs that the table does not show."""
        if not self._is_foldable:
            return
        hidden = self._table.hidden_states()
        kinds = {kind for kind, _ in hidden}
        kind = next((each for each in ("error", "warn") if each in kinds), "ok" if kinds == {"ok"} else "neutral")
        self.icon_widget.set(STATE_ICONS[kind], "soft" if kind == "neutral" else kind)
        states = self._states_text(hidden)
        for widget in (self.icon_widget, self.text_label):
            widget.setVisible(bool(states))
        if states != self.text_label.text():
            self.text_label.setText(states)

    def _states_text(self, hidden: list[tuple[PillKind, str]]) -> str:
        """What the hidden GPUs' states are, in the order of the table; "" without any."""
        counts = Counter(uncapitalize(state) for _, state in hidden if state)
        if not counts:
            return ""
        states = [*counts]
        if len(counts) > 1:
            states = [self.tr("{count} {state}").format(count=number, state=state) for state, number in counts.items()]
        is_all = len(hidden) == len(self._table.gpus)
        template = self.tr("All {count}: {state}") if is_all else self.tr("{count} others: {state}")
        return template.format(count=len(hidden), state=self.tr(", ").join(states))

    def retranslate(self) -> None:
        text = self.tr("Show fewer") if self._is_expanded else self.tr("Show all {count}")
        self.button.setText(text.format(count=len(self._table.gpus)))
        self.button.set_icon(trailing_icon="up" if self._is_expanded else "down")
        self.refresh_text()

    def _toggle(self) -> None:
        self._is_expanded = not self._is_expanded
        self._update()

    def _update(self) -> None:
        is_folded = self._is_foldable and not self._is_expanded
        self._table.set_folded(is_folded)
        self.setVisible(self._is_foldable)
        self.retranslate()


class GpuHeader(Card):
    """One of several GPUs: the sign of its line, name, state and four values; `slot` gives colour and dash."""

    def __init__(self, gpu: GpuSample, slot: int) -> None:
        self.gpu = gpu.index
        self._value_widgets: list[tuple[TextLabel, MetricValue]] = []
        super().__init__(padding=16)
        header = QHBoxLayout()
        header.setSpacing(10)
        self._lines = tuple(
            LineLegendRow(gpu_line(slot, gpu.index, fill=fill), is_heading=True) for fill in (False, True)
        )
        for line in self._lines:
            header.addWidget(line)
        parts = [
            short_name(gpu.name) if gpu.name else None,
            format_memory(gpu.mem_total) if gpu.mem_total is not None else None,
        ]
        description = " · ".join(part for part in parts if part)
        header.addWidget(label("small", description), 1)
        self.state_pill = Pill("ok")
        header.addWidget(self.state_pill)
        self.column.addLayout(header)
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        for column in range(len(GPU_METRICS)):
            name, figure = label("caption"), MetricValue()
            grid.addWidget(name, 0, column)
            grid.addWidget(figure, 1, column)
            self._value_widgets.append((name, figure))
        self.column.addLayout(grid)
        self.show_line(is_alone=False)
        self.retranslate()

    def set_brief(self, *, brief: bool) -> None:
        """Show the values smaller and without their names, in one row."""
        for name, figure in self._value_widgets:
            name.setVisible(not brief)
            figure.set_kind("heading" if brief else "figure")

    def show_line(self, *, is_alone: bool) -> None:
        """Show the line as it is with others in a plot, or alone."""
        for line, shown in zip(self._lines, (not is_alone, is_alone), strict=True):
            line.setVisible(shown)

    def retranslate(self) -> None:
        for (name, figure), metric in zip(self._value_widgets, GPU_METRICS, strict=False):
            name.setText(metric.title_text())
            for widget in (name, figure):
                widget.setToolTip(metric.title_text())

    def show_sample(self, gpu: GpuSample | None, health: Health | None) -> None:
        for (_, figure), metric in zip(self._value_widgets, GPU_METRICS, strict=True):
            value, _total = metric.read(gpu)
            figure.set(None if value is None else metric.format_value(value), metric.unit)
            figure.set_tone(alarm_tones(health, self.gpu).get(metric.key, "text"))
        self._update_state(gpu, health)

    def _update_state(self, gpu: GpuSample | None, health: Health | None) -> None:
        state = gpu_state(self.gpu, gpu, health)
        if state is not None:
            self.state_pill.set(*state)
        self.state_pill.setVisible(state is not None)
