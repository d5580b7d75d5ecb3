"""The view of a running measurement: what is measured, how far it is, for how long it has run and will at most run;
Cancel; what is done.

Benchmark and memory estimate share it; it starts nothing itself:

    page.JobRunner.reported ──► RunningView.show_progress ──► describe(report) ──► title, count, progress bar
    Cancel, Escape ──► stop_requested ──► page: JobRunner.cancel, then RunningView.set_stopping
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from ...bench.child_protocol import TorchLoading
from ...core.results import BenchResult
from ...core.types import short_device_name
from ...reports import messages
from ...texts.benchmark import dimensions_text
from ...texts.format import format_duration
from .. import language
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.cards import Card
from ..widgets.icons import IconWidget
from ..widgets.progress import ProgressBar
from ..widgets.text import label

CLOCK_INTERVAL_MS = 1000
SCROLL_MARGIN = 12  # pixels left above what is scrolled to


class CountedReport(Protocol):
    """A report on item `index` (from 1) of `total`."""

    @property
    def index(self) -> int: ...

    @property
    def total(self) -> int: ...


ReportT = TypeVar("ReportT", bound=CountedReport)


class ActivityText(NamedTuple):
    """The title of what is measured, a detail for the line with the count ("" for none), and how many seconds all of it
    takes at most from the first report on (None: unknown).
    """

    title: str
    detail: str = ""
    limit_s: float | None = None


class RunningView(Themed, QWidget, Generic[ReportT]):
    """Shows one run after `start`; `show_progress` takes each report, which `describe` puts into words.

    `stop_requested` is emitted by Cancel and, while the view is visible, by Escape. `monotonic` gives the time in
    seconds; the elapsed time is updated once a second while the view is visible.
    """

    stop_requested = Signal()

    def __init__(
        self,
        describe: Callable[[ReportT], ActivityText],
        *,
        level: str = "heading",
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._describe = describe
        self.monotonic = monotonic
        self._report: ReportT | None = None
        self._loading: TorchLoading | None = None
        self._make_note: Callable[[], str] = str
        self._stopping = self._ready = False
        self._started = self._first_reported = 0.0
        super().__init__()
        self.title_label, self.count_label, self.note_label = label(level), label("small"), label("small")
        self.progress_bar, self.cancel_button = ProgressBar(), Button(icon_name="cross")
        footer = QHBoxLayout()
        footer.addWidget(self.note_label, 1)
        footer.addWidget(self.cancel_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self.title_label, self.count_label, self.progress_bar):
            column.addWidget(widget)
        column.addLayout(footer)
        self._clock_timer = QTimer(self, interval=CLOCK_INTERVAL_MS)
        self._clock_timer.setObjectName("clockTimer")
        self._clock_timer.timeout.connect(self._update_count)
        self._escape_shortcut = QShortcut(QKeySequence("Esc"), self, context=Qt.ShortcutContext.WindowShortcut)
        self._escape_shortcut.activated.connect(self.stop_requested)
        self.cancel_button.clicked.connect(self.stop_requested)
        self._ready = True
        self.apply_theme()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock_timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock_timer.stop()

    @property
    def report(self) -> ReportT | None:
        """The latest report; None before the first one."""
        return self._report

    @property
    def has_focus_within(self) -> bool:
        """Whether this view or a child has the focus."""
        focused = QApplication.focusWidget()
        return focused is not None and (focused is self or self.isAncestorOf(focused))

    def start(self, note: Callable[[], str]) -> None:
        """Begin a new run; `note` gives the text below the progress bar in the current language."""
        self._report, self._loading = None, None
        self._stopping, self._started = False, self.monotonic()
        self._make_note = note
        self.retranslate()

    def take_focus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Focus the view, not Cancel, which Enter would press, and scroll the page to its top.

        When the focused button is hidden, Qt scrolls to the next focusable widget, which may be far below.
        """
        self.setFocus(reason)
        scroll_to_top(self)

    def show_progress(self, report: ReportT | TorchLoading) -> None:
        if isinstance(report, TorchLoading):
            self._loading = report
        else:
            if self._report is None:
                self._first_reported = self.monotonic()
            self._report = report
        self.retranslate()

    def set_stopping(self) -> None:
        """Show that the run is being cancelled."""
        if self.cancel_button.hasFocus():  # it is disabled below, and Qt would focus whatever comes next
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._stopping = True
        self.retranslate()

    def retranslate(self) -> None:
        if not self._ready:
            return
        self.cancel_button.setText(self.tr("Stopping…") if self._stopping else self.tr("Cancel"))
        self.cancel_button.setEnabled(not self._stopping)
        self.note_label.setText(self._make_note())
        if self._report is None:
            self.title_label.setText(self.tr("PyTorch is loading…"))
            self.progress_bar.set_fraction(None)
        else:
            self.title_label.setText(self._describe(self._report).title)
            self.progress_bar.set_fraction((self._report.index - 1) / max(self._report.total, 1))
        self._update_count()

    def _update_count(self) -> None:
        language_code = language.texts().language
        elapsed = format_duration(max(self.monotonic() - self._started, 1.0), language_code)
        parts = [self.tr("running for {time}").format(time=elapsed)]
        if self._report is None and self._loading is not None and self._loading.limit_s is not None:
            limit = format_duration(self._loading.limit_s, language_code)
            parts = [self.tr("the first time takes up to {time}").format(time=limit), *parts]
        elif self._report is not None:
            activity = self._describe(self._report)
            counter = self.tr("{n} of {of}").format(n=self._report.index, of=self._report.total)
            parts = [counter, activity.detail, *parts, self._remaining_text(activity.limit_s)]
        self.count_label.setText(" · ".join(part for part in parts if part))

    def _remaining_text(self, limit_s: float | None) -> str:
        """The longest time that it can still take; "" where that is unknown or over."""
        left_s = limit_s - (self.monotonic() - self._first_reported) if limit_s is not None else 0.0
        if left_s < 1:
            return ""
        return self.tr("at most {time} left").format(time=format_duration(left_s, language.texts().language))


class FinishedResultsCard(Card):
    """The results of a run so far, each in the moment in which it is there; hidden before the first."""

    def __init__(self) -> None:
        self.results: list[BenchResult] = []
        self._rows: list[QWidget] = []
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 2)
        self._grid.setColumnStretch(2, 1)
        self.column.addLayout(self._grid)
        self.hide()

    def clear(self) -> None:
        """Remove all results, before a new run."""
        for widget in self._rows:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.results, self._rows = [], []
        self.hide()

    def add(self, result: BenchResult) -> None:
        """Add a finished workload below the others."""
        self.results.append(result)
        self._add_row(result)
        self.show()

    def retranslate(self) -> None:
        results = self.results
        if results:
            self.clear()
            for result in results:
                self.add(result)
        self.set_title(self.tr("Measured so far"))

    def _add_row(self, result: BenchResult) -> None:
        row = len(self.results)
        size = dimensions_text(result.size) if result.id == "matmul" else ""
        name = label("body", " · ".join(part for part in (messages.result_name(result), size) if part))
        device = label("small", short_device_name(result.device))
        value = label("strong", messages.median_text(result))
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        widgets = (IconWidget("check", "ok", 16), name, device, value)
        for column, widget in enumerate(widgets):
            self._grid.addWidget(widget, row, column)
        self._rows += widgets


def scroll_to_top(widget: QWidget) -> None:
    """Scroll the page that contains the widget to its top."""
    page = _page_of(widget)
    if page is not None:
        page.verticalScrollBar().setValue(0)


def scroll_to(widget: QWidget) -> None:
    """Scroll the page that contains the widget until that is at the top of what is seen."""
    page = _page_of(widget)
    if page is not None:
        bar = page.verticalScrollBar()
        bar.setValue(bar.value() + widget.mapTo(page.viewport(), QPoint()).y() - SCROLL_MARGIN)


def _page_of(widget: QWidget) -> QScrollArea | None:
    page = widget.parentWidget()
    while page is not None and not isinstance(page, QScrollArea):
        page = page.parentWidget()
    return page
