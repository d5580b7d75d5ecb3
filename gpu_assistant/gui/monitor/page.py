"""The monitor page: what the machine is doing, and what slows it down.

What flows here, with the modules:

    sampling.SamplingService ──► sampled ──► gpu_summary (tiles, status), tables.GpuDetails, alarms.AlarmAdvicePanel
                             └─► history_model.SampleHistory ──► plot.cards.Plots, or tables.PlotDataTable
    toolbar.MonitorToolbar ──► plot.time_axis.TimeAxis ──► draw
    plot.annotations.AnnotationSource (alarms of the past, installs, benchmarks) ──► plot.cards.Plots
    export.MonitorExporter ──► a picture of the page, or the history as CSV

Samples are requested as long as the page exists, so that the lines have no gaps; expensive fields only while it is
visible. Only what is visible is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QImage, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import Alarm, GpuSample, Health, Sample
from ...monitor.series import gpu_key
from .. import theme
from ..event_loop import IncrementalQueue, activate_layouts, prerender_steps
from ..saving import FileOpener
from ..widgets.buttons import SegmentedControl
from ..widgets.cards import Pill
from ..widgets.page import SUBTITLE_GAP, Page
from ..widgets.text import label
from . import gpu_summary
from .alarms import ADVISED_TEST_LEVEL, ALARM_METRICS, AlarmAdvicePanel, alarmed_gpus, sort_by_alarms
from .export import ExportBanner, MonitorExporter, add_title
from .gpu_summary import SummaryTiles
from .gpu_table import MAX_LINES
from .metrics import Metric
from .plot.annotations import AnnotationSource
from .plot.cards import MIN_PLOT_HEIGHT, PlotCard, Plots
from .plot.overlay import MAX_LANES
from .plot.time_axis import TimeAxis
from .sampling import SamplingService
from .tables import GpuDetails, PlotDataTable
from .toolbar import MonitorToolbar, SecondaryPlotsButton

if TYPE_CHECKING:
    from ...app import App
    from ..widgets.cards import MetricTile
    from .gpu_summary import GpuHeader
    from .gpu_table import GpuTable
    from .history_model import SampleHistory


MIN_STATUS_WIDTH = 300  # pixels at 100 % text that the status line needs beside the toolbar
MIN_CARD_WIDTH = 350  # pixels at 100 % text of a plot beside another one
SHORT_HEIGHT = 700  # pixels at 100 % text of a page below which plots are lower
TALL_HEIGHT = 900  # pixels at 100 % text of a page that has room for a long table, and for the advice above it
SHORT_PLOT_HEIGHT = 108  # pixels of a plot at 100 % text in a short window
GAP, LOW_GAP = 12, 8  # pixels between the parts of the page, and in a low window
HOTTER_C = 5  # °C by which a GPU must be hotter than one whose line is drawn to take its place


class MonitorPage(Page):
    """Values, plots over up to thirty days, alarms and details; follows GPUs that are added or removed.

    `health_test_requested(level)` asks for the health test; `alarm_muted(Alarm, muted)` to mute an alarm, whose state
    `is_muted` gives.
    """

    health_test_requested = Signal(int)
    alarm_muted = Signal(object, bool)

    def __init__(
        self, app: App, sampling: SamplingService, is_muted: Callable[[Alarm], bool] = lambda _: False
    ) -> None:
        self._app, self._sampling, self._is_muted = app, sampling, is_muted
        self.time_axis = TimeAxis()
        self._selection = GpuSelection()
        self._gpus: tuple[tuple[int, str | None, str], ...] | None = None
        self._ready = self._visible = False
        self._fill_timer = QTimer(singleShot=True, interval=0)
        self._alarm_metric = ""  # of the last alarm that was more than information
        super().__init__(" ", wide=True)
        self.layout_control = SegmentedControl(["", ""])
        self.toolbar = MonitorToolbar(self.time_axis, self.layout_control)
        self.status_pill = Pill("ok")
        self.status_pill.hide()
        self.advice_panel = AlarmAdvicePanel()
        for widget in (self.advice_panel.toggle_button, self.status_pill, self.toolbar):
            self.add_action(widget)
        self.exporter = MonitorExporter(self)
        self.export_banner = ExportBanner(self.exporter, FileOpener(app, self))
        self.annotations = AnnotationSource(app, sampling, self)
        self.summary_tiles, self.plots = SummaryTiles(), Plots(self.time_axis, self.annotations.limit)
        self.table = PlotDataTable(self.time_axis)
        self.hint_label = label("caption")
        self.secondary_plots_button = SecondaryPlotsButton()
        self.gpu_details = GpuDetails()
        self.table.hide()
        self.column.addWidget(self.export_banner)
        self.column.addWidget(self.advice_panel)
        self.column.addWidget(self.summary_tiles)
        self.column.addWidget(self.plots, 1)
        self.column.addWidget(self.table, 1)
        self._details_container = QWidget()
        details_layout = QVBoxLayout(self._details_container)
        details_layout.setContentsMargins(0, 0, 0, 0)
        self._details_row = QHBoxLayout()
        self._details_row.addWidget(self.hint_label, 1)
        for button in (self.secondary_plots_button, self.gpu_details.toggle_button):
            self._details_row.addWidget(button, 0, Qt.AlignmentFlag.AlignCenter)
        details_layout.addLayout(self._details_row)
        details_layout.addWidget(self.gpu_details)
        self.column.addWidget(self._details_container)
        self._connect_signals()
        self._ready = True
        self.retranslate()

    def _connect_signals(self) -> None:
        self.toolbar.add_shortcuts(self)
        self._fill_timer.timeout.connect(self.fill_height)
        self.toolbar.table_button.clicked.connect(self._toggle_table)
        self.toolbar.picture_action.triggered.connect(lambda: self.exporter.ask_picture(self.render_image()))
        self.toolbar.csv_action.triggered.connect(self._export_csv)
        self.advice_panel.alarms_card.health_test_requested.connect(
            lambda: self.health_test_requested.emit(ADVISED_TEST_LEVEL)
        )
        self.advice_panel.alarms_card.programs_requested.connect(self.show_programs)
        self.advice_panel.alarms_card.alarm_muted.connect(self._on_mute_toggled)
        self.advice_panel.toggled.connect(self._update_layout_later)
        self.advice_panel.toggled.connect(self._update_status)
        self.secondary_plots_button.clicked.connect(self._rebuild_plots)
        self.gpu_details.toggled.connect(self._request_samples)
        self.layout_control.chosen.connect(lambda _: self._rebuild_plots())
        self.summary_tiles.toggle_requested.connect(self.toggle_gpu)
        self.annotations.changed.connect(self.draw)
        self.plots.outdated.connect(self.draw)
        self.plots.moved.connect(self._fill_timer.start)
        self.time_axis.moved.connect(self._on_axis_moved)
        self.time_axis.paused_changed.connect(self._on_pause_toggled)
        self._sampling.sampled.connect(self._on_sampled)
        self.breakpoints.changed.connect(self._update_layout)

    @property
    def selected_gpus(self) -> list[int]:
        """Indexes of the GPUs whose lines are drawn."""
        return self._selection.gpus

    @property
    def plot_cards(self) -> list[PlotCard]:
        """The plots in reading order."""
        return self.plots.cards

    @property
    def tiles(self) -> list[tuple[Metric, int, MetricTile]]:
        """(metric, GPU index or -1, tile); empty with several GPUs."""
        return self.summary_tiles.tiles

    @property
    def gpu_headers(self) -> list[GpuHeader]:
        """One for each of several GPUs; empty with more than MAX_LINES."""
        return self.summary_tiles.headers

    @property
    def gpu_table(self) -> GpuTable | None:
        """The table of more than MAX_LINES GPUs."""
        return self.summary_tiles.table

    # Samples

    def _on_sampled(self, sample: Sample) -> None:
        if not self.is_shown:
            return
        self.set_gpus(sample.gpus)
        # What somebody looks at in a past or zoomed range is not exchanged.
        follows_alarms = self.time_axis.live and self.time_axis.as_chosen
        selection_changed = (
            follows_alarms and not self._selection.is_manual and self._selection.update(sample.gpus, self._health())
        )
        metric_changed = self._update_alarm_metric()
        if self.secondary_plots_button.update_reported(sample.gpus) or selection_changed:
            self._rebuild_plots()
        elif follows_alarms and self.plots.reorder(self._drawn_gpus()):
            self.table.invalidate()
            self._update_layout()
        elif metric_changed:
            self._update_layout()
        self._update_values()
        if not self.time_axis.paused:
            self.draw()

    def _update_values(self) -> None:
        sample = self._sampling.history.latest
        if sample is not None:
            self.summary_tiles.show_sample(sample, self._health())
            self.plots.show_latest(self._sampling.history, alarmed_gpus(self._health()))
            self.gpu_details.show_sample(sample.gpus, self._health())
        self._update_status()

    def _update_alarm_metric(self) -> bool:
        """Whether the most severe alarm is about another metric now, whose plot goes first; one that ended stays."""
        health = self._health()
        alarms = [alarm for alarm in health.alarms if alarm.level != "info"] if health is not None else []
        metric = ALARM_METRICS.get(alarms[0].id, "") if alarms else ""
        changed = bool(metric) and metric != self._alarm_metric
        self._alarm_metric = metric or self._alarm_metric
        return changed

    def draw(self) -> None:
        """Draw the visible plots, or the table."""
        if not self.is_shown:
            return
        if not self.table.isHidden():
            self.table.update_rows(self.plot_cards, self._sampling.history)
            return
        events = self.annotations.events_if_due(self.time_axis, self.selected_gpus)
        if events is not None:
            self.plots.show_events(events)
        self.plots.draw(self._sampling.history)

    def _on_axis_moved(self) -> None:
        self.annotations.invalidate()
        self.draw()

    def reload(self) -> None:
        """Read installs and benchmarks again, for the annotations."""
        self.annotations.load()

    def showEvent(self, event: QShowEvent) -> None:
        """Show what was sampled while the page was hidden."""
        super().showEvent(event)
        self._visible = True
        self._sampling.load_now()
        self._request_samples()
        if not event.spontaneous():
            self.reload()
        self.set_gpus(self._sampling.history.gpus())
        if self._update_alarm_metric():
            self._update_layout()
        self._update_values()
        self.draw()

    def _request_samples(self) -> None:
        self._sampling.request_samples(
            "monitor", True, detailed=self._visible, processes=self._visible and self.gpu_details.is_open
        )

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._visible = False  # also in a minimised window, where isVisible stays true
        self._request_samples()
        self.time_axis.point(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out, then draw plots that have become visible."""
        super().resizeEvent(event)
        if self._ready:
            self._update_layout()
            QTimer.singleShot(0, self, self.draw)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Draw plots that have become visible."""
        super().scrollContentsBy(dx, dy)
        if self._ready:
            self.draw()

    # Layout

    def set_gpus(self, gpus: tuple[GpuSample, ...]) -> None:
        """Make tiles and plots for these GPUs, unless they are shown already."""
        gpu_keys = tuple((gpu.index, gpu.name, gpu_key(gpu)) for gpu in gpus)
        if gpu_keys == self._gpus:
            return
        self._gpus = gpu_keys
        self._selection.update(gpus, self._health())
        self.secondary_plots_button.reset()
        self.secondary_plots_button.update_reported(gpus)
        self.summary_tiles.rebuild(gpus, self._selection.slots)
        self.layout_control.setVisible(len(gpus) > 1)
        self._rebuild_plots()
        self.retranslate()

    def show_programs(self) -> None:
        """Open the programs on the GPUs and scroll to them."""
        if self.toolbar.table_button.isChecked():
            self.toolbar.table_button.click()
        self.gpu_details.open()
        QTimer.singleShot(0, self, partial(self.scroll_to, self.gpu_details.processes_card))

    def toggle_gpu(self, gpu: int) -> None:
        """Show or hide the lines of a GPU."""
        self._selection.toggle(gpu)
        self._rebuild_plots()

    def _drawn_gpus(self) -> list[int]:
        """The GPUs whose lines are drawn, in the order of the headers or of the table above."""
        selected = sorted(self._selection.gpus)
        return sort_by_alarms(selected, self._health()) if self.gpu_table is not None else selected

    def _rebuild_plots(self) -> None:
        gpus = self._sampling.history.gpus()
        self.plots.build(
            gpus,
            {gpu: self._selection.slots[gpu] for gpu in self._drawn_gpus()},
            side_by_side=self.layout_control.current() == 1,
            extra_metrics=self.secondary_plots_button.shown_metrics,
        )
        self.summary_tiles.set_lines(
            self._selection.slots, self._selection.replaced_gpu, side_by_side=self.layout_control.current() == 1
        )
        self.table.invalidate()
        self.annotations.invalidate()
        self._update_layout()
        self._update_values()

    def _update_layout(self) -> None:
        available = self.maximumViewportSize().width() - 2 * self.breakpoints.margin
        self._place_toolbar(available)
        self._place_details_row(available)
        self._update_subtitle()
        self._place_subtitle()
        low, short = self.breakpoints.is_low, self.maximumViewportSize().height() < theme.px(SHORT_HEIGHT)
        columns = 2 if available >= 2 * theme.px(MIN_CARD_WIDTH) else 1
        has_table = self.gpu_table is not None
        # In a short window with several GPUs the panel would push every graph out of view; their own pills say what is
        # wrong.
        self.advice_panel.set_opening(allowed=not (short and len(self._gpus or ()) > 1))
        # With a plot for each GPU there are so many rows that more of them count.
        is_tall = self.maximumViewportSize().height() >= theme.px(TALL_HEIGHT)
        is_tight = self.advice_panel.is_open and not is_tall
        self.advice_panel.alarms_card.set_short(short=short, first_short=has_table and is_tight)
        self.column.setSpacing(LOW_GAP if low or (has_table and is_tight) else GAP)
        is_side_by_side = len(self._gpus or ()) > 1 and self.layout_control.current() == 1
        is_dense = short or (has_table and is_tight) or is_side_by_side
        # Where the plots need scrolling, the one that shows the problem is seen first.
        scrolls = self.breakpoints.is_small or has_table
        self.plots.arrange(
            columns,
            plot_height=SHORT_PLOT_HEIGHT if is_dense else MIN_PLOT_HEIGHT,
            # Labels would take the height of the curves: the key above the plots names the events, too.
            max_lanes=0 if low else 1 if short or (has_table and is_tight) else MAX_LANES,
            first_metric=self._alarm_metric if scrolls or self.advice_panel.is_open else "",
        )
        one_row = low or (short and self.advice_panel.is_open)
        self.summary_tiles.update_layout(
            available,
            low_window=one_row,
            fold_table=short or is_tight,
            dense_table=not is_tall,
            brief_headers=short and (is_side_by_side or len(self._gpus or ()) > 2),
        )
        self._fill_timer.start()

    def fill_height(self) -> None:
        """Once all above the plots has its height, let these fill the rest of the window by whole rows; then draw."""
        if self.plots.isHidden():
            self.draw()  # the table in their place
            return
        top = self.plots.mapTo(self.content, QPoint(0, 0)).y()
        self.plots.fill(self.maximumViewportSize().height() - top)

    def _place_toolbar(self, available: int) -> None:
        """Put the toolbar beside the title, or below it where the status line would have less than its minimum."""
        spacing = self.header.spacing()
        # Where large text leaves no room for title, button and pill in one line, the button has two.
        beside_button = self.title_label.minimumSizeHint().width() + self.status_pill.sizeHint().width() + 2 * spacing
        self.advice_panel.toggle_button.set_max_width(available - beside_button)
        beside = (self.status_pill, self.advice_panel.toggle_button)
        pill_width = sum(widget.sizeHint().width() + spacing for widget in beside)
        status_width = theme.px(MIN_STATUS_WIDTH)
        is_below = available - self.toolbar.min_one_row_width - pill_width - spacing < status_width
        row = self.column if is_below else self.header
        if row.indexOf(self.toolbar) < 0:
            row.insertWidget(0 if is_below else -1, self.toolbar)
            self.toolbar.set_one_row(not is_below)
        self.toolbar.fit_to_width(available - (0 if is_below else status_width + pill_width + spacing))

    def _place_subtitle(self) -> None:
        """Put the status line behind the title where the window has little height, the toolbar is in a row of its own,
        and all of the line has room.
        """
        least_height = theme.px(SHORT_HEIGHT if self.gpu_table is None else TALL_HEIGHT)
        is_cramped = self.maximumViewportSize().height() < least_height
        parts = (self.title_label, self.status_pill, self.advice_panel.toggle_button)
        text_width = self.subtitle_label.fontMetrics().horizontalAdvance(self.subtitle_label.text())
        gaps = SUBTITLE_GAP + 2 * self.header.spacing()
        needed = text_width + sum(part.sizeHint().width() for part in parts) + gaps
        is_alone = self.header.indexOf(self.toolbar) < 0
        self.set_subtitle_beside(beside=is_cramped and is_alone and needed <= self.available_width())

    def _place_details_row(self, available: int) -> None:
        """Put the buttons beside the hint where they fit, else below it."""
        hint_width = self.hint_label.fontMetrics().horizontalAdvance(self.hint_label.text())
        buttons = (self.secondary_plots_button, self.gpu_details.toggle_button)
        buttons_width = sum(button.sizeHint().width() + self._details_row.spacing() for button in buttons)
        one_row = hint_width + buttons_width < available
        self._details_row.setDirection(
            QBoxLayout.Direction.LeftToRight if one_row else QBoxLayout.Direction.TopToBottom
        )
        self.hint_label.setAlignment(Qt.AlignmentFlag.AlignVCenter if one_row else Qt.AlignmentFlag.AlignHCenter)

    def refresh(self) -> None:
        """Lay out again for another text size."""
        super().refresh()
        if self._ready:
            self._update_layout_later()

    def _update_layout_later(self) -> None:
        """Lay out once all widgets have their new texts and sizes."""
        QTimer.singleShot(0, self, self._update_layout)

    @property
    def help_topic(self) -> str:
        return "monitor"

    def retranslate(self) -> None:
        if not self._ready:
            return
        self.layout_control.set_options((self.tr("Together"), self.tr("Side by side")))
        self.layout_control.setAccessibleName(self.tr("Several GPUs"))
        self.hint_label.setText(
            self.tr(
                "Ctrl + mouse wheel zooms in and out, dragging moves through time, and a double-click returns to now."
            )
        )
        self.summary_tiles.retranslate()
        self._invalidate()
        self._update_layout_later()  # and draw, once

    def _invalidate(self) -> None:
        """Show the values again, and with the next drawing all else, for another language or what was paused."""
        self.table.invalidate()
        self.annotations.invalidate()
        self._update_values()

    def _on_pause_toggled(self) -> None:
        self._invalidate()
        self.draw()

    def _health(self) -> Health | None:
        return None if self._app.simulated else self._sampling.health

    def _update_status(self) -> None:
        """Update status line, pill and alarms."""
        latest = self._sampling.history.latest
        self.advice_panel.show_health(self._health(), self._is_muted)
        self._update_subtitle()
        pill_state = gpu_summary.status_pill(self._health()) if latest is not None and latest.gpus else None
        self.status_pill.setVisible(pill_state is not None)
        if pill_state is not None:
            self.status_pill.set(*pill_state)
        self._place_subtitle()

    def _update_subtitle(self) -> None:
        """Say how the GPUs are; how far they are from slowing down only where all of that has room."""
        compose = partial(
            gpu_summary.status_text,
            self._sampling.history.latest,
            self._health(),
            simulated=self._app.simulated,
            shows_alarms=not (self.advice_panel.is_open and self.advice_panel.needs_action),
        )
        text = compose()
        if self.subtitle_label.fontMetrics().horizontalAdvance(text) > self._status_room():
            text = compose(shows_margin=False)
        if (self.title_label.text(), self.subtitle_label.text()) != (self.tr("Monitor"), text):
            self.set_title(self.tr("Monitor"), text)

    def _status_room(self) -> int:
        """The width in pixels that the status line has below the title."""
        beside = [self.status_pill, self.advice_panel.toggle_button]
        if self.header.indexOf(self.toolbar) >= 0:
            beside.append(self.toolbar)
        taken = (each.sizeHint().width() + self.header.spacing() for each in beside if not each.isHidden())
        return self.available_width() - sum(taken)

    def _on_mute_toggled(self, alarm: Alarm, muted: bool) -> None:
        self.alarm_muted.emit(alarm, muted)
        self.advice_panel.show_health(self._health(), self._is_muted)

    def _toggle_table(self) -> None:
        """Show the table in place of everything below the toolbar; it scrolls by itself."""
        as_table = self.toolbar.table_button.isChecked()
        for widget in (self.summary_tiles, self.plots, self._details_container):
            widget.setVisible(not as_table)
        self.table.setVisible(as_table)
        self.table.invalidate()
        self.draw()
        if as_table:
            self.table.setFocus()

    # Export

    def render_image(self) -> QImage:
        """A picture of summary and plots (or table), also of those that are scrolled away."""
        self.plots.draw(self._sampling.history, include_hidden=True)
        first, last = (self.summary_tiles, self.plots) if self.table.isHidden() else (self.table, self.table)
        top = first.mapTo(self.content, QPoint(0, 0)).y()
        bottom = last.mapTo(self.content, QPoint(0, last.height())).y()
        area = QRect(0, top - 12, self.content.width(), bottom - top + 24)
        image = self.content.grab(area).toImage()
        return add_title(image, self.tr("Monitor"), self.subtitle_label.text())

    def _export_csv(self) -> None:
        store = self._sampling.history.store
        if store is not None:
            self.exporter.ask_table(store, self.time_axis.span, self._sampling.history.gpus())


class GpuSelection:
    """`gpus` are the indexes of those that are drawn: ascending, or in the order in which the user added them.

    `slots` gives each of them its colour and dash, below MAX_LINES, which it keeps for as long as it is drawn.
    """

    def __init__(self) -> None:
        self.gpus: list[int] = []
        self.slots: dict[int, int] = {}
        self.is_manual = False

    def update(self, gpus: Sequence[GpuSample], health: Health | None) -> bool:
        """Select among the current GPUs: the user's selection, else at most MAX_LINES of them, those with the most
        severe alarms first, then the hottest, lost and removed ones last. True if the selection changed.
        """
        selected = self._select(gpus, health)
        changed, self.gpus = selected != self.gpus, selected
        self._assign_slots()
        return changed

    @property
    def replaced_gpu(self) -> int | None:
        """The one that is hidden for another one; None while there is room for both."""
        return self.gpus[0] if len(self.gpus) >= MAX_LINES else None

    def toggle(self, gpu: int) -> None:
        """Show or hide the lines of a GPU, in place of another one if there are too many; the last one stays."""
        self.is_manual = True
        if gpu not in self.gpus:
            self.gpus = [*(each for each in self.gpus if each != self.replaced_gpu), gpu]
        elif len(self.gpus) > 1:
            self.gpus = [each for each in self.gpus if each != gpu]
        self._assign_slots()

    def _assign_slots(self) -> None:
        kept = {gpu: slot for gpu, slot in self.slots.items() if gpu in self.gpus}
        free = (slot for slot in range(MAX_LINES) if slot not in kept.values())
        self.slots = {gpu: kept[gpu] if gpu in kept else next(free) for gpu in sorted(self.gpus)}

    def _select(self, gpus: Sequence[GpuSample], health: Health | None) -> list[int]:
        present = [gpu.index for gpu in gpus]
        if len(present) <= MAX_LINES:
            return present
        selected = [gpu for gpu in self.gpus if gpu in present]
        if self.is_manual and selected:
            return selected
        missing = {gpu.index for gpu in gpus if gpu.state in ("lost", "gone")}
        # One that is drawn gives way only to one that is clearly hotter, so that the lines do not change all the time.
        heat = {gpu.index: (gpu.temp or 0) + (HOTTER_C if gpu.index in self.gpus else 0) for gpu in gpus}
        hottest_first = sorted(present, key=lambda gpu: -heat[gpu])
        ranked = sorted(sort_by_alarms(hottest_first, health), key=missing.__contains__)
        return sorted(ranked[:MAX_LINES])


def preload_steps(page: MonitorPage, history: SampleHistory, steps: IncrementalQueue) -> None:
    """Add steps that build, lay out and draw the page before it is first shown, each short enough for a running window.

    Must be called from within a step of the queue.
    """

    def prerender() -> None:
        steps.insert_next([*prerender_steps(page.content), draw_plots])

    def draw_plots() -> None:
        steps.insert_next([partial(card.draw, history) for card in page.plot_cards])

    steps.insert_next(
        [
            partial(page.set_gpus, history.gpus()),
            partial(activate_layouts, page, page.content),
            page.fill_height,
            partial(activate_layouts, page, page.content),
            prerender,
        ]
    )
