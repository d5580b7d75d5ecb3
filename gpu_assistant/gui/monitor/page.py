"""Monitor: what is the machine doing, and what holds it back?"""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QGridLayout, QStackedWidget, QWidget

from ...core.results import GpuSample, Sample
from .. import language
from ..components import Button, MetricTile, Page, Pill, Segments
from .clock import SPANS, Clock
from .gpu_head import GpuHead
from .metrics import OF_GPU, OF_MACHINE, TILES_OF_GPU, Metric
from .plot_card import PlotCard
from .sampling import Sampling
from .table import MonitorTable

# Lines of more cards than this cannot be told apart.
MOST_LINES = 4
# States that say no more than that there is no card.
QUIET_STATES = ("untried", "absent", "ready")


class MonitorPage(Page):
    """Tiles and plots over the last hour. GPUs appear, and go, by themselves.

    Once opened, samples are kept also while other pages are shown, so that the lines have no holes; drawn is
    only what is on the screen.
    """

    def __init__(self, sampling: Sampling, *, simulated: bool = False) -> None:
        self._sampling, self._simulated = sampling, simulated
        self.clock = Clock()
        self.cards: list[PlotCard] = []
        self.tiles: list[tuple[Metric, int, MetricTile]] = []
        self.heads: list[GpuHead] = []
        self._gpus: tuple[tuple[int, str | None], ...] | None = None
        self._ready = False
        super().__init__(" ", wide=True)
        self.range = Segments([""] * len(SPANS), current=SPANS.index(int(self.clock.span)))
        self.pause = Button(icon="pause")
        self.twin = Button(icon="table")
        self.twin.setCheckable(True)
        self.pill = Pill("ok")
        self.pill.hide()
        for widget in (self.pill, self.range, self.pause, self.twin):
            self.add_action(widget)
        self._tiles, self._plots = QGridLayout(), QGridLayout()
        self._tiles.setSpacing(12)
        self._plots.setSpacing(12)
        self._plots.setContentsMargins(0, 0, 0, 0)
        plots = QWidget()
        plots.setLayout(self._plots)
        self.table = MonitorTable(self.clock)
        self._views = QStackedWidget()
        self._views.addWidget(plots)
        self._views.addWidget(self.table)
        self.column.addLayout(self._tiles)
        self.column.addWidget(self._views, 1)
        self.range.chosen.connect(lambda index: self.clock.choose(SPANS[index]))
        self.pause.clicked.connect(lambda: self.clock.pause(not self.clock.paused))
        self.twin.clicked.connect(self._show_twin)
        self.clock.moved.connect(self.draw)
        self.clock.paused_changed.connect(lambda _: self.retranslate())
        sampling.sampled.connect(self._sampled)
        self.shape_.changed.connect(self._arrange)
        for key, act in (("T", self.twin.click), ("P", self.pause.click)):
            QShortcut(QKeySequence(key), self).activated.connect(act)
        self._ready = True
        self._follow_gpus(sampling.history.gpus())
        self.retranslate()
        sampling.hurry()
        sampling.want("monitor", True)

    # What comes in

    def _sampled(self, sample: Sample) -> None:
        if not self.isVisible():
            return
        self._follow_gpus(sample.gpus)
        self._show_now()
        if not self.clock.paused:
            self.draw()

    def _show_now(self) -> None:
        history = self._sampling.history
        sample = history.latest
        if sample is None:
            return
        by_index = {gpu.index: gpu for gpu in sample.gpus}
        for metric, gpu, tile in self.tiles:
            value, total = metric.read(sample if gpu < 0 else by_index.get(gpu))
            fraction = min(value / total, 1.0) if value is not None and total else None
            figure = None if value is None else metric.figure(value)
            tile.set_value(figure, metric.unit_of(total), fraction)
        for head in self.heads:
            head.show_sample(by_index.get(head.gpu))
        for card in self.cards:
            card.show_now(history)
        self._say()

    def draw(self) -> None:
        """Draw the plots (or the table) that are on the screen."""
        if not self.isVisible():
            return
        if self._views.currentWidget() is self.table:
            self.table.fill(self.cards, self._sampling.history)
            return
        for card in self.cards:
            if card.in_sight():
                card.draw(self._sampling.history)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came in meanwhile."""
        super().showEvent(event)
        self._sampling.want("monitor", True, looking=True)
        self._follow_gpus(self._sampling.history.gpus())
        self._show_now()
        self.draw()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody points at anything any more."""
        super().hideEvent(event)
        self._sampling.want("monitor", True)
        self.clock.point(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A larger window brings plots into sight."""
        super().resizeEvent(event)
        if self._ready:
            QTimer.singleShot(0, self, self.draw)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Plots that come into sight were not drawn while they were out of it."""
        super().scrollContentsBy(dx, dy)
        if self._ready:
            self.draw()

    # Which tiles and plots there are

    def _follow_gpus(self, gpus: tuple[GpuSample, ...]) -> None:
        now = tuple((gpu.index, gpu.name) for gpu in gpus)
        if now == self._gpus:
            return
        self._gpus = now
        for widget in (*self.cards, *self.heads, *(tile for _, _, tile in self.tiles)):
            widget.hide()
            widget.deleteLater()
        self.tiles, self.heads, self.cards = [], [], []
        indexes = tuple(gpu.index for gpu in gpus)
        if len(gpus) > 1:
            self.heads = [GpuHead(gpu, place) for place, gpu in enumerate(gpus)]
        elif gpus:
            self.tiles = [(metric, indexes[0], MetricTile(metric.icon, token=metric.colour)) for metric in TILES_OF_GPU]
        else:
            colours = ("s1", "s2")
            self.tiles = [
                (metric, -1, MetricTile(metric.icon, token=colour))
                for metric, colour in zip(OF_MACHINE, colours, strict=True)
            ]
        if gpus:
            self.cards = [PlotCard(m, indexes[:MOST_LINES], self.clock, alone=False) for m in OF_GPU]
        self.cards += [PlotCard(metric, (-1,), self.clock, alone=not gpus) for metric in OF_MACHINE]
        self.table.forget()
        self._arrange()
        self.retranslate()
        # Once they have their places: what is not on the screen is not drawn.
        QTimer.singleShot(0, self, self.draw)

    def _arrange(self) -> None:
        """Two plots side by side, one where it is small; tiles in one row as far as they fit."""
        columns = 1 if self.shape_.small else 2
        for row in range(self._plots.rowCount()):
            self._plots.setRowStretch(row, 0)
        for index, card in enumerate(self.cards):
            self._plots.addWidget(card, index // columns, index % columns)
            self._plots.setRowStretch(index // columns, 1)
        self._plots.setColumnStretch(1, 1 if columns == 2 else 0)
        self._plots.setColumnStretch(0, 1)
        tops: list[QWidget] = [*self.heads] or [tile for _, _, tile in self.tiles]
        across = 2 if self.heads else 3 if len(tops) > 3 and self.shape_.small else max(len(tops), 1)
        for index, widget in enumerate(tops):
            self._tiles.addWidget(widget, index // across, index % across)
        for column in range(6):
            self._tiles.setColumnStretch(column, 1 if column < across else 0)

    # Words

    def retranslate(self) -> None:
        """All words of the page."""
        if not self._ready:
            return
        self.range.set_options((self.tr("1 min"), self.tr("10 min"), self.tr("1 h"), self.tr("24 h"), self.tr("30 d")))
        self.range.setAccessibleName(self.tr("Range"))
        paused = self.clock.paused
        self.pause.setText(self.tr("Go on") if paused else self.tr("Pause"))
        self.pause.set_icon("play" if paused else "pause")
        self.twin.setAccessibleName(self.tr("Show the figures as a table"))
        self.twin.setToolTip(self.tr("Show the figures as a table (T)"))
        for metric, _, tile in self.tiles:
            tile.label.setText(metric.name())
        self.table.forget()
        self._show_now()
        self._say()
        self.draw()

    def _say(self) -> None:
        """The sentence below the title, and the state in a pill."""
        gpus = self._sampling.history.gpus()
        latest = self._sampling.history.latest
        state = latest.nvml if latest is not None else "untried"
        text = self.tr("No NVIDIA GPU. CPU and memory are shown.")
        if state not in QUIET_STATES:
            text = language.texts().say(f"monitor.nvml.{state}")
        elif len(gpus) > 1:
            text = self.tr("{count} GPUs, CPU and memory").format(count=len(gpus))
        elif gpus:
            text = gpus[0].name or self.tr("GPU, CPU and memory")
        if self._simulated:
            text = self.tr("Figures of the real computer you sit at, not of the simulated machine.")
        if (self.title.text(), self.subtitle.text()) != (self.tr("Monitor"), text):
            self.set_title(self.tr("Monitor"), text)
        reasons = {reason for gpu in gpus for reason in gpu.throttle or ()}
        well = all(gpu.state == "ready" for gpu in gpus)
        self.pill.setVisible(bool(gpus) and (well or bool(reasons)))
        if any("thermal" in reason for reason in reasons):
            self.pill.set("warn", self.tr("slowed by heat"))
        elif any("power" in reason for reason in reasons):
            self.pill.set("neutral", self.tr("held by the power limit"))
        elif gpus:
            self.pill.set("ok", self.tr("Well"))

    def _show_twin(self) -> None:
        as_table = self.twin.isChecked()
        self._views.setCurrentIndex(1 if as_table else 0)
        self.table.forget()
        self.draw()
        if as_table:
            self.table.setFocus()
