"""Monitor: what is the machine doing, and what holds it back?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QImage, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import GpuSample, Sample
from ...monitor.series import card
from .. import theme
from ..components import Page, Pill, Segments, label
from ..health.advised import ADVISED_LEVEL
from . import sentence
from .advice_fold import AdviceFold
from .clock import Clock
from .controls import Controls
from .exports import Exports, SavedNote
from .inside import Inside
from .marker import Marker
from .metrics import Metric
from .more import More
from .picked import MOST_LINES, Picked
from .picture import titled
from .plot_card import PlotCard
from .plots import Plots
from .sampling import Sampling
from .table import MonitorTable
from .tops import Tops

if TYPE_CHECKING:
    from ...app import App
    from ...core.health import Alarm, Health
    from ..components import MetricTile
    from .gpu_head import GpuHead

MOST_KEYS = 2  # of lines, above a plot beside another in a narrow window
READABLE = 300  # the sentence has at least this beside the controls, times the text scale


class MonitorPage(Page):
    """Tiles and plots over up to thirty days. GPUs appear, and go, by themselves.

    Once opened, samples are kept also while other pages are shown, so that the lines have no holes; drawn is
    only what is on the screen. `test_wanted(level)` asks for the health test, `silenced(Alarm, on)` for the silence of
    an alarm, which `silent(Alarm)` tells.
    """

    test_wanted = Signal(int)
    silenced = Signal(object, bool)

    def __init__(self, app: App, sampling: Sampling, silent: Callable[[Alarm], bool] = lambda _: False) -> None:
        self._app, self._sampling, self._silent = app, sampling, silent
        self.clock = Clock()
        self._picked = Picked()
        self._gpus: tuple[tuple[int, str | None, str], ...] | None = None
        self._ready = self._seen = False
        super().__init__(" ", wide=True)
        self.layout_ = Segments(["", ""])
        self.controls = Controls(self.clock, self.layout_)
        self.pill = Pill("ok")
        self.pill.hide()
        for widget in (self.pill, self.controls):
            self.add_action(widget)
        self.exports = Exports(self)
        self.said = SavedNote(self.exports)
        self.advice = AdviceFold()
        self._marker = Marker(app, sampling, self)
        self.tops, self.plots = Tops(MOST_LINES), Plots(self.clock, self._marker.limit)
        self.table = MonitorTable(self.clock)
        self.hint = label("caption")
        self.more = More()
        self.inside = Inside()
        self.table.hide()
        self.column.addWidget(self.said)
        self.column.addWidget(self.advice)
        self.column.addWidget(self.tops)
        self.column.addWidget(self.plots, 1)
        self.column.addWidget(self.table, 1)
        self._below = QWidget()
        below = QVBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.hint, 1)
        for button in (self.more, self.inside.button):
            self._foot.addWidget(button, 0, Qt.AlignmentFlag.AlignCenter)
        below.addLayout(self._foot)
        below.addWidget(self.inside)
        self.column.addWidget(self._below)
        self._wire()
        self._ready = True
        self.retranslate()

    def _wire(self) -> None:
        self.controls.listen(self)
        self.controls.twin.clicked.connect(self._show_twin)
        self.controls.shot.clicked.connect(lambda: self.exports.ask_picture(self.picture()))
        self.controls.export.clicked.connect(self._save_table)
        self.controls.test.clicked.connect(lambda: self.test_wanted.emit(1))
        self.advice.alarms.test_wanted.connect(lambda: self.test_wanted.emit(ADVISED_LEVEL))
        self.advice.alarms.silenced.connect(self._silence)
        self.more.clicked.connect(self._build)
        self.inside.turned.connect(self._want)
        self.layout_.chosen.connect(lambda _: self._build())
        self.tops.picked.connect(self.pick)
        self._marker.changed.connect(self.draw)
        self.plots.outdated.connect(self.draw)
        self.clock.moved.connect(self._moved)
        self.clock.paused_changed.connect(lambda _: self._draw_anew())
        self._sampling.sampled.connect(self._sampled)
        self.shape_.changed.connect(self._arrange)

    @property
    def picked(self) -> list[int]:
        """The GPUs whose lines are drawn."""
        return self._picked.gpus

    @property
    def cards(self) -> list[PlotCard]:
        """The plots in their cards."""
        return self.plots.cards

    @property
    def tiles(self) -> list[tuple[Metric, int, MetricTile]]:
        """The figures of one card, or of the machine."""
        return self.tops.tiles

    @property
    def heads(self) -> list[GpuHead]:
        """What stands above for each of several cards."""
        return self.tops.heads

    # What comes in

    def _sampled(self, sample: Sample) -> None:
        if not self.seen:
            return
        self.follow_gpus(sample.gpus)
        fresh = not self._picked.by_hand and self._picked.follow(sample.gpus, self._health())
        if self.more.note(sample.gpus) or fresh:
            self._build()
        self._show_now()
        if not self.clock.paused:
            self.draw()

    def _show_now(self) -> None:
        sample = self._sampling.history.latest
        if sample is None:
            return
        self.tops.show_now(sample, self._health())
        self.plots.show_now(self._sampling.history)
        self.inside.show_now(sample.gpus, self._health())
        self._say()

    def draw(self) -> None:
        """Draw the plots (or the table) that are on the screen."""
        if not self.seen:
            return
        if not self.table.isHidden():
            self.table.fill(self.cards, self._sampling.history)
            return
        events = self._marker.news(self.clock, self.picked)
        if events is not None:
            self.plots.mark(events)
        self.plots.draw(self._sampling.history)

    def _moved(self) -> None:
        self._marker.forget()
        self.draw()

    def look(self) -> None:
        """Something was installed, removed or measured: read what happened again."""
        self._marker.look()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came in meanwhile."""
        super().showEvent(event)
        self._seen = True
        self._sampling.hurry()
        self._want()
        if not event.spontaneous():
            self.look()
        self.follow_gpus(self._sampling.history.gpus())
        self._show_now()
        self.draw()

    def _want(self) -> None:
        """Figures go on while nobody looks; what is dear, and the programs, only while somebody does."""
        self._sampling.want("monitor", True, looking=self._seen, programs=self._seen and self.inside.open)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody points at anything any more."""
        super().hideEvent(event)
        self._seen = False  # also of a minimised window, which Qt goes on calling visible
        self._want()
        self.clock.point(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A larger window brings plots into sight."""
        super().resizeEvent(event)
        if self._ready:
            self._arrange()
            QTimer.singleShot(0, self, self.draw)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Plots that come into sight were not drawn while they were out of it."""
        super().scrollContentsBy(dx, dy)
        if self._ready:
            self.draw()

    # Which plots there are

    def follow_gpus(self, gpus: tuple[GpuSample, ...]) -> None:
        """Tiles and plots for these, unless they are there."""
        now = tuple((gpu.index, gpu.name, card(gpu)) for gpu in gpus)
        if now == self._gpus:
            return
        self._gpus = now
        self._picked.follow(gpus, self._health())
        self.more.forget()
        self.more.note(gpus)
        self.tops.build(gpus)
        self.layout_.setVisible(len(gpus) > 1)
        self._build()
        self.retranslate()

    def pick(self, gpu: int) -> None:
        """Show or hide the lines of a GPU."""
        self._picked.pick(gpu)
        self._build()

    def _build(self) -> None:
        gpus = self._sampling.history.gpus()
        self.plots.build(gpus, self.picked, beside=self.layout_.current() == 1, more=self.more.shown)
        self.tops.show_picked(self.picked)
        self.table.forget()
        self._marker.forget()
        self._arrange()
        self._show_now()
        # Once they have their places: what is not on the screen is not drawn.
        QTimer.singleShot(0, self, self.draw)

    def _arrange(self) -> None:
        """Two plots side by side, one where it is small, or narrow for the keys of many lines. Where the sentence would
        have no room beside them, the controls stand below the title.
        """
        room = self.maximumViewportSize().width() - 2 * self.shape_.margin
        pill = self.pill.sizeHint().width() + self.head.spacing()
        below = room - self.controls.longest - pill - self.head.spacing() < theme.px(READABLE)
        row = self.column if below else self.head
        if row.indexOf(self.controls) < 0:
            row.insertWidget(0 if below else -1, self.controls)
            self.controls.keep_one_row(not below)
        beside = 0 if below else theme.px(READABLE) + pill + self.head.spacing()
        self.controls.fit(room - beside)
        words = self.hint.fontMetrics().horizontalAdvance(self.hint.text())
        buttons = self.more.sizeHint().width() + self.inside.button.sizeHint().width() + 2 * self._foot.spacing()
        in_row = words + buttons < room
        self._foot.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignVCenter if in_row else Qt.AlignmentFlag.AlignHCenter)
        crowded = self.shape_.narrow and self.layout_.current() == 0 and len(self.picked) > MOST_KEYS
        self.plots.arrange(1 if self.shape_.small or crowded else 2)
        self.tops.arrange(room, low=self.shape_.low)

    def refresh(self) -> None:
        """Another text size needs other room."""
        super().refresh()
        if self._ready:
            self._arrange_soon()

    def _arrange_soon(self) -> None:
        """Once all parts have their words and sizes of now."""
        QTimer.singleShot(0, self, self._arrange)

    def retranslate(self) -> None:
        """All words of the page."""
        if not self._ready:
            return
        self.layout_.set_options((self.tr("Overlaid"), self.tr("Side by side")))
        self.layout_.setAccessibleName(self.tr("Several GPUs"))
        self.hint.setText(
            self.tr("Ctrl + mouse wheel zooms in time, dragging moves through it, a double-click leads back.")
        )
        self.tops.retranslate()
        self._draw_anew()
        self._arrange_soon()

    def _draw_anew(self) -> None:
        """Other words, or the clock goes on or stands still."""
        self.table.forget()
        self._marker.forget()
        self._show_now()
        self._say()
        self.draw()

    def _health(self) -> Health | None:
        return None if self._app.simulated else self._sampling.health

    def _say(self) -> None:
        """The sentence below the title, and the state in a pill."""
        latest = self._sampling.history.latest
        text = sentence.of(latest, self._health(), simulated=self._app.simulated)
        if self.clock.paused:
            shown = time.strftime("%H:%M:%S", time.localtime(self.clock.view()[1]))
            text = self.tr("{said} · graphs paused at {time}").format(said=text, time=shown)
        if (self.title.text(), self.subtitle.text()) != (self.tr("Monitor"), text):
            self.set_title(self.tr("Monitor"), text)
        pill = sentence.pill(self._health()) if latest is not None and latest.gpus else None
        self.advice.show_health(self._health(), self._silent)
        self.pill.setVisible(pill is not None)
        if pill is not None:
            self.pill.set(*pill)

    def _silence(self, alarm: Alarm, on: bool) -> None:
        self.silenced.emit(alarm, on)
        self.advice.show_health(self._health(), self._silent)

    def _show_twin(self) -> None:
        """The table has all the room below the controls: it scrolls, and not the page around it."""
        as_table = self.controls.twin.isChecked()
        for widget in (self.tops, self.plots, self._below):
            widget.setVisible(not as_table)
        self.table.setVisible(as_table)
        self.table.forget()
        self.draw()
        if as_table:
            self.table.setFocus()

    # Saving

    def picture(self) -> QImage:
        """The figures and plots, also those that are scrolled away."""
        self.plots.draw(self._sampling.history, all_of_them=True)
        first, last = (self.tops, self.plots) if self.table.isHidden() else (self.table, self.table)
        top = first.mapTo(self.content, QPoint(0, 0)).y()
        bottom = last.mapTo(self.content, QPoint(0, last.height())).y()
        area = QRect(0, top - 12, self.content.width(), bottom - top + 24)
        with self.tops.without_buttons():
            seen = self.content.grab(area).toImage()
        return titled(seen, self.tr("Monitor"), self.subtitle.text())

    def _save_table(self) -> None:
        store = self._sampling.history.store
        if store is not None:
            self.exports.ask_table(store, self.clock.span, self._sampling.history.gpus())
