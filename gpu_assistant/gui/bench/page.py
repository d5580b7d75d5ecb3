"""Benchmark: how fast, and is that right?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from ...bench.parent import BenchProgress
from ...core.errors import AppError
from ...core.jobs import JobContext, Later
from ...core.results import Benchmark, BenchResult
from ..components import Banner, Button, Card, EmptyState, Page, ProgressBar, label
from ..language import Language
from ..main.facts import Installed, in_use
from ..worker import JobRunner
from . import scores
from .result import BenchResultView

if TYPE_CHECKING:
    from ...app import App

LOOKING, EMPTY, WORKING, RESULT = range(4)


class _ReadJob:
    """Reads the environment in use and the benchmarks that were kept."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> tuple[Installed | None, tuple[Benchmark, ...]]:
        context.check_cancelled()
        return in_use(self._app), self._app.benchmarks()


class BenchmarkPage(Page):
    """Empty, working, result. `measured` says that there is a new result, `setup_wanted` asks for the wizard."""

    setup_wanted = Signal()
    measured = Signal()

    def __init__(self, app: App, language: Language) -> None:
        self._app, self._language = app, language
        self._installed: Installed | None = None
        self._kept: tuple[Benchmark, ...] = ()
        self._own: tuple[Benchmark, ...] = ()
        self._read = False
        self._error: AppError | None = None
        self._at: BenchProgress | None = None
        self._stopping = False
        self._focus_wanted = False
        self._ready = False
        super().__init__(" ")
        self.again = Button(kind="primary", icon="play")
        self.add_action(self.again)
        self.trouble = Banner("error")
        self.trouble.hide()
        self.empty = EmptyState("bench", kind="primary")
        self.result = BenchResultView()
        self._views = QStackedWidget()
        for view in (QWidget(), self._in_card(self.empty), self._working(), self.result):
            self._views.addWidget(view)
        self.column.addWidget(self.trouble)
        self.column.addWidget(self._views, 1)
        self._reader, self._runner = JobRunner(self), JobRunner(self)
        self._reader.done.connect(self._known)
        self._reader.failed.connect(self._failed)
        self._runner.news.connect(self._heard)
        self._runner.done.connect(self._done)
        self._runner.failed.connect(self._failed)
        self._runner.finished.connect(self._ended)
        self.again.clicked.connect(self.measure)
        self.empty.button.clicked.connect(self._first)
        self.cancel.clicked.connect(self.stop)
        self._escape = QShortcut(QKeySequence("Esc"), self)
        self._escape.activated.connect(self.stop)
        self._ready = True
        self.retranslate()

    def _in_card(self, widget: QWidget) -> Card:
        card = Card()
        card.column.addWidget(widget, 1)
        return card

    def _working(self) -> QWidget:
        card = Card()
        self.what, self.count = label("heading"), label("small")
        self.bar = ProgressBar()
        self.cancel = Button(icon="cross")
        self._note = label("small")
        foot = QHBoxLayout()
        foot.addWidget(self._note, 1)
        foot.addWidget(self.cancel)
        for widget in (self.what, self.count, self.bar):
            card.column.addWidget(widget)
        card.column.addLayout(foot)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(card)
        column.addStretch(1)
        return holder

    # What is known

    @property
    def runner(self) -> JobRunner:
        """What measures; its news are `BenchProgress` and results."""
        return self._runner

    @property
    def measuring(self) -> bool:
        """Whether a benchmark runs."""
        return self._runner.running

    def look(self) -> None:
        """Read again which environment there is and what was measured."""
        if not self._reader.running:
            self._reader.start(_ReadJob(self._app))

    def showEvent(self, event: QShowEvent) -> None:
        """The first look starts by itself."""
        super().showEvent(event)
        if not self._read:
            self.look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Who went on to another page wants no focus here any more."""
        super().hideEvent(event)
        self._focus_wanted = False

    def take_focus(self) -> None:
        """Give the keyboard to what the page is for just now; as soon as that is known."""
        self._focus_wanted = not (self._read or self.measuring)
        for button in (self.cancel, self.again, self.empty.button):
            if button.isVisible() and button.isEnabled():
                button.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _known(self, known: tuple[Installed | None, tuple[Benchmark, ...]]) -> None:
        self._read = True
        self._installed, on_disk = known
        # A result that could not be saved is still a result.
        unsaved = tuple(each for each in self._own if each not in on_disk)
        self._kept = (*on_disk, *unsaved)
        self.retranslate()
        if self._focus_wanted:
            self.take_focus()

    # Measuring

    def _first(self) -> None:
        if self._installed is None:
            self.setup_wanted.emit()
        else:
            self.measure()

    def measure(self) -> None:
        """Start; the result comes by itself."""
        if self.measuring or self._installed is None or self._app.simulated:
            return
        self._error, self._at, self._stopping = None, None, False
        self._runner.start(Later(partial(self._app.bench, self._installed.folder)))
        self.retranslate()
        self.cancel.setFocus()

    def stop(self) -> None:
        """Ask it to stop."""
        if not self.measuring:
            return
        self._stopping = True
        self._runner.cancel()
        self.retranslate()

    def _heard(self, news: BenchProgress | BenchResult) -> None:
        if isinstance(news, BenchProgress):
            self._at = news
            self._show_progress()

    def _done(self, benchmark: Benchmark) -> None:
        self._own = (*self._own, benchmark)
        self._kept = (*self._kept, benchmark)
        self.measured.emit()

    def _failed(self, error: AppError) -> None:
        self._error = error

    def _ended(self) -> None:
        self._stopping = False
        # Not on a button: a key meant for "Cancel" that comes a moment late must not start it again.
        if self.isAncestorOf(QApplication.focusWidget() or self.cancel):
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.retranslate()

    # Words

    def retranslate(self) -> None:
        """All words of the page, and which of its states is shown."""
        if not self._ready:
            return
        last = self._kept[-1] if self._kept else None
        able = self._installed is not None and not self._app.simulated
        self._escape.setEnabled(self.measuring)
        self.again.setText(self.tr("Measure again"))
        self.again.setVisible(last is not None and not self.measuring)
        self.again.setEnabled(able)
        self.again.setToolTip("" if able else self._why_not())
        self.trouble.setVisible(self._error is not None and not self.measuring)
        if self._error is not None:
            self.trouble.set("error", self._language.texts().error(self._error))
        subtitle = self.tr("How fast, and is that right?")
        if self.measuring:
            self._show_progress()
            self._views.setCurrentIndex(WORKING)
        elif last is not None:
            subtitle = f"PyTorch {last.torch}"
            self.result.show_benchmark(last, self._kept)
            self._views.setCurrentIndex(RESULT)
        elif self._read:
            self._show_empty(able)
            self._views.setCurrentIndex(EMPTY)
        self.set_title(self.tr("Benchmark"), subtitle)

    def _why_not(self) -> str:
        if self._app.simulated:
            return self.tr("A simulated machine cannot be measured: nothing is executed for it.")
        return self.tr("There is no environment to measure yet. The setup makes one in a few minutes.")

    def _show_empty(self, able: bool) -> None:
        if able:
            self.empty.set(self.tr("About 1 minute. The fan may get loud."), self.tr("Measure"))
        elif self._app.simulated:
            self.empty.set(self._why_not(), self.tr("Measure"))
        else:
            self.empty.set(self._why_not(), self.tr("Set up PyTorch"))
        self.empty.button.setEnabled(not self._app.simulated)
        self.empty.button.setToolTip(self._why_not() if self._app.simulated else "")

    def _show_progress(self) -> None:
        self.cancel.setText(self.tr("Stopping…") if self._stopping else self.tr("Cancel"))
        self.cancel.setEnabled(not self._stopping)
        self._note.setText(self.tr("Other programs that work meanwhile make the figures lower."))
        now = self._at
        if now is None:
            self.what.setText(self.tr("Starting PyTorch…"))
            self.count.setText("")
            self.bar.set_fraction(None)
            return
        self.what.setText(f"{scores.workload(now.workload, now.dtype)} · {scores.device(now.device)}")
        self.count.setText(self.tr("{n} of {of} · {size}").format(n=now.n, of=now.of, size=scores.extent(now.size)))
        self.bar.set_fraction((now.n - 1) / max(now.of, 1))
