"""Benchmark: how fast, and is that right?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...bench.lines import BenchProgress, Loading
from ...core.errors import AppError
from ...core.jobs import JobContext, Later
from ...core.results import Benchmark, BenchResult
from ..components import Banner, Button, Card, EmptyState, Page, Segments, label
from ..language import Language
from ..main.facts import Installed, in_use
from ..worker import JobRunner
from . import before, scores
from .actions import Actions
from .fit_view import FitView
from .layouts import Views
from .result import BenchResultView
from .right_card import RangeSource, range_source
from .sharing import Sharing
from .working import Working

if TYPE_CHECKING:
    from ...app import App

LOOKING, EMPTY, WORKING, RESULT, MEMORY = range(5)
SPEED_TAB, MEMORY_TAB = range(2)
GONE = "environment-missing"
LATE_MS = 800  # so long a key that was meant for "Cancel" may be late


class _Known(Struct, frozen=True):
    """What the disk has: the environment in use, the benchmarks that were kept and how many more were not understood,
    where ranges are from.
    """

    installed: Installed | None
    kept: tuple[Benchmark, ...]
    left_out: int
    source: RangeSource


class _ReadJob:
    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> _Known:
        context.check_cancelled()
        return _Known(in_use(self._app), *self._app.benchmarks(), range_source(self._app.catalog))


class BenchmarkPage(Page):
    """Empty, working, result; and what fits in memory. `measured` says that there is a new result, `setup_wanted` asks
    for the wizard."""

    setup_wanted = Signal()
    measured = Signal()

    def __init__(self, app: App, language: Language) -> None:
        self._app, self._language = app, language
        self._installed: Installed | None = None
        self._source: RangeSource | None = None
        self._kept: tuple[Benchmark, ...] = ()
        self._own: tuple[Benchmark, ...] = ()
        self._left_out = 0
        self._read = self._focus_wanted = self._ready = self._stopped = self._had_one = False
        self._error: AppError | None = None
        self._saved: Path | None = None
        super().__init__(" ")
        self.actions_ = Actions(self)
        self.picture, self.report = self.actions_.picture, self.actions_.report
        self.full, self.again = self.actions_.full, self.actions_.again
        self.tabs = Segments(("", ""))
        self.trouble = Banner("error")
        self.gone = Banner("warn")
        for banner in (self.trouble, self.gone):
            banner.hide()
        self.empty, self.first_full = EmptyState("bench", kind="primary"), Button(kind="ghost", icon="clock")
        self.empty.add(self.first_full)
        self.running, self.result, self.memory = Working(scores.running), BenchResultView(), FitView(app)
        self.cancel = self.running.cancel
        self._views = Views()
        for view in (QWidget(), self._in_card(self.empty), self._at_top(self.running), self.result, self.memory):
            self._views.add(view)
        self.column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self.gone)
        self.column.addWidget(self.trouble)
        self.column.addWidget(self._views, 1)
        self.left_out = label("small")
        self.column.addWidget(self.left_out)
        self._reader, self._runner = JobRunner(self), JobRunner(self)
        self._sharing = Sharing(self)
        self._late = QTimer(self, interval=LATE_MS, singleShot=True)
        self._connect()
        self._ready = True
        self.retranslate()

    def _connect(self) -> None:
        self._late.timeout.connect(self._go_on)
        self._reader.done.connect(self._known)
        self._reader.failed.connect(self._failed)
        self._runner.news.connect(self._heard)
        self._runner.done.connect(self._done)
        self._runner.failed.connect(self._failed)
        self._runner.cancelled.connect(lambda: self._tell(stopped=True))
        self._runner.finished.connect(self._ended)
        self._sharing.saved.connect(lambda path: self._tell(saved=path))
        self._sharing.failed.connect(self._failed)
        self.again.clicked.connect(partial(self.measure, full=False))
        for button in (self.full, self.first_full):
            button.clicked.connect(self.ask_full)
        self.picture.clicked.connect(lambda: self._sharing.ask_picture(self._kept[-1], self._kept))
        self.report.clicked.connect(lambda: self._sharing.ask_report(self._kept[-1], self._kept, self._source))
        self.empty.button.clicked.connect(self._first)
        self.gone.button.clicked.connect(self.setup_wanted)
        self.running.stop_wanted.connect(self.stop)
        self.tabs.chosen.connect(lambda _: self._turned())
        self.memory.busy_changed.connect(lambda _: self._turned())
        self.memory.environment_missed.connect(self.look)

    def _turned(self) -> None:
        """Another tab, or a step of the other one: where something was saved has been read."""
        self._saved = None
        self.retranslate()

    def _in_card(self, widget: QWidget) -> Card:
        card = Card()
        card.column.addWidget(widget, 1)
        return card

    def _at_top(self, widget: QWidget) -> QWidget:
        """In a card that is no higher than what stands in it."""
        view, card = QWidget(), Card()
        card.column.addWidget(widget)
        column = QVBoxLayout(view)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(card)
        column.addStretch(1)
        return view

    # What is known

    @property
    def runner(self) -> JobRunner:
        """What measures; its news are `BenchProgress` and results."""
        return self._runner

    @property
    def measuring(self) -> bool:
        """Whether a benchmark runs."""
        return self._runner.running

    @property
    def able(self) -> bool:
        """Whether there is something to measure."""
        return self._installed is not None and not self._app.simulated

    def look(self) -> None:
        """Read again which environment there is and what was measured."""
        if not self._reader.running:
            self._reader.start(_ReadJob(self._app))

    def showEvent(self, event: QShowEvent) -> None:
        """Looks each time: another program may have measured meanwhile."""
        super().showEvent(event)
        self.look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Who went on to another page wants no focus here any more, and has read where something was saved."""
        super().hideEvent(event)
        self._focus_wanted, self._saved = False, None
        self._show_news()

    def take_focus(self) -> None:
        """Give the keyboard to what the page is for just now; as soon as that is known."""
        self._focus_wanted = not (self._read or self.measuring)
        for button in (self.cancel, self.again, self.empty.button, self.memory.start):
            if button.isVisible() and button.isEnabled():
                button.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _known(self, known: _Known) -> None:
        self._read = True
        self._had_one = self._had_one or known.installed is not None or bool(known.kept)
        self._installed, self._source, self._left_out = known.installed, known.source, known.left_out
        # A result that could not be saved is still a result.
        unsaved = tuple(each for each in self._own if each not in known.kept)
        self._kept = (*known.kept, *unsaved)
        self.memory.set_environment(self._installed if self.able else None)
        if self._installed is None and self._error is not None and self._error.code == GONE:
            self._error = None  # said with its way out
        if not self.able:
            self.tabs.set_current(SPEED_TAB)
        self.retranslate()
        if self._focus_wanted:
            self.take_focus()

    # Measuring

    def _first(self) -> None:
        if self._installed is None:
            self.setup_wanted.emit()
        else:
            self.measure()

    def ask_full(self) -> None:
        """Say how long the full one takes; start it for who wants it all the same."""
        if self._installed is not None:
            dialog = before.full_dialog(self, self._installed)
            dialog.accepted.connect(lambda: self.measure(full=True))
            dialog.open()

    def measure(self, *, full: bool = False) -> None:
        """Start; the result comes by itself."""
        if self.measuring or self.memory.busy or self._installed is None or self._app.simulated:
            return
        self._error, self._saved, self._stopped = None, None, False
        self.tabs.set_current(SPEED_TAB)
        self._runner.start(Later(partial(self._app.bench, self._installed.folder, full=full)))
        self.running.begin(partial(before.meanwhile, self._installed, full=full))
        self.retranslate()
        self.running.take_over()

    def stop(self) -> None:
        """Ask it to stop."""
        if self.measuring:
            self._runner.cancel()
            self.running.set_stopping()

    def _heard(self, news: Loading | BenchProgress | BenchResult) -> None:
        if not isinstance(news, BenchResult):
            self.running.show_progress(news)

    def _done(self, benchmark: Benchmark) -> None:
        self._own = (*self._own, benchmark)
        self._kept = (*self._kept, benchmark)
        self.measured.emit()

    def _failed(self, error: AppError) -> None:
        self._tell(error=error)
        if error.code == GONE:
            self.look()

    def _tell(self, *, error: AppError | None = None, saved: Path | None = None, stopped: bool = False) -> None:
        """One piece of news, at the top of the page."""
        self._error, self._saved, self._stopped = error, saved, stopped
        self._ended()

    def _ended(self) -> None:
        working = self.running.held
        self.retranslate()
        if working:
            # Not on a button yet: a key meant for "Cancel" that comes a moment late must not start it again.
            self.tabs.buttons[SPEED_TAB].setFocus(Qt.FocusReason.OtherFocusReason)
            self._late.start()
        self.verticalScrollBar().setValue(0)

    def _go_on(self) -> None:
        """The keyboard to what one does next, where nobody took it meanwhile."""
        if self.tabs.buttons[SPEED_TAB].hasFocus():
            self.take_focus()

    # Words

    def retranslate(self) -> None:
        """All words of the page, and which of its states is shown."""
        if not self._ready:
            return
        last = self._kept[-1] if self._kept else None
        memory = self.tabs.current() == MEMORY_TAB
        shown = last is not None and not self.measuring and not memory
        self.tabs.set_options((self.tr("Speed"), self.tr("What fits in memory")))
        self.tabs.setAccessibleName(self.tr("What to look at"))
        self.tabs.setVisible(self.able and not self.measuring)
        self.actions_.setVisible(shown)
        self.left_out.setText(self._language.texts().say("bench.kept-left-out", {"results": self._left_out}))
        self.left_out.setVisible(self._left_out > 0 and not self.measuring and not memory)
        able, installed = self.able and not self.memory.busy, self._installed
        quick, thorough = (before.how_long(installed, full=full) if installed else "" for full in (False, True))
        self.actions_.set_words(able, quick, thorough, self._why_not())
        self._show_news()
        self._show_gone(shown=shown)
        subtitle = self.tr("How fast, and is that right?")
        if self.measuring:
            self._views.show_view(WORKING)
        elif memory:
            subtitle = self.tr("What a training step needs, and the largest batch that fits")
            self._views.show_view(MEMORY)
        elif last is not None:
            subtitle = before.about(last)
            self.result.show_benchmark(last, self._kept, self._source)
            self._views.show_view(RESULT)
        elif self._read:
            self._show_empty()
            self._views.show_view(EMPTY)
        self.set_title(self.tr("Benchmark"), subtitle)

    def _show_news(self) -> None:
        """What went wrong, where the picture lies now, or that it was stopped. What fits in memory has its own news."""
        news = self.tabs.current() == SPEED_TAB and bool(self._error or self._saved or self._stopped)
        self.trouble.setVisible(news and not self.measuring)
        if self._error is not None:
            self.trouble.set("error", self._language.texts().error(self._error))
        elif self._saved is not None:
            self.trouble.set("ok", self.tr("Saved: {path}").format(path=self._saved))
        elif self._stopped:
            self.trouble.set("warn", self.tr("Stopped. Nothing of this run was kept."))

    def _show_gone(self, *, shown: bool) -> None:
        """That there is nothing to measure any more, above what was measured before; else the empty page says it."""
        self.gone.setVisible(shown and self._read and self._installed is None and not self._app.simulated)
        self.gone.set("warn", self._why_not())
        self.gone.button.setText(self.tr("Set up PyTorch"))
        self.gone.button.show()

    def _why_not(self) -> str:
        if self._app.simulated:
            return self.tr("A simulated machine cannot be measured: nothing is executed for it.")
        if self.memory.busy:
            return self.tr("The computer is working out what fits in memory.")
        if self._had_one:
            return self.tr(
                "The environment is gone: it was removed or moved. The setup makes a new one in a few minutes."
            )
        return self.tr("There is no environment to measure yet. The setup makes one in a few minutes.")

    def _show_empty(self) -> None:
        able, why_not = self.able, self._why_not()
        if able and self._installed is not None:
            what = self.tr(
                "Measures matrix products, copies, the training of ResNet-50 and BERT-base, and a small language model."
            )
            self.empty.set(f"{what}\n{before.how_long(self._installed)}", self.tr("Measure"))
            self.first_full.setText(before.full_words(self._installed))
        else:
            self.empty.set(why_not, self.tr("Measure") if self._app.simulated else self.tr("Set up PyTorch"))
        self.first_full.setVisible(able)
        self.empty.button.setEnabled(not self._app.simulated)
        self.empty.button.setToolTip(why_not if self._app.simulated else "")
