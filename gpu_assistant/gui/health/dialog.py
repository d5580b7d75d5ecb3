"""The health test: how thorough, how long that takes, what it does now, what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from ...core.errors import AppError
from ...core.results import Check, Checks, GpuSample
from ...health.listening import HealthProgress
from .. import language, theme
from ..components import Banner, Button, ConfirmDialog, ProgressBar, Segments, announce, label
from ..worker import JobRunner
from . import words
from .choices import Choices
from .job import CardTestJob, Ground, GroundJob
from .result import ResultView

if TYPE_CHECKING:
    from ...app import App

SIZE = 680, 600  # what the list of checks wants, at 100 % text
LOADED = 3  # the level that loads the cards


class Opening(Struct, frozen=True, kw_only=True):
    """What the dialog opens with: the level that is chosen first, and the index of the card (None: all of them) among
    those to choose from. `busy`: something else computes on the card just now, so that a test would be wrong.
    """

    level: int = 1
    card: int | None = None
    cards: tuple[GpuSample, ...] = ()
    busy: bool = False


class HealthDialog(QDialog):
    """A test that runs is stopped, and waited for, before it closes."""

    def __init__(self, app: App, parent: QWidget, opening: Opening) -> None:
        super().__init__(parent)
        translate = QCoreApplication.translate
        self._app, self._busy = app, opening.busy
        self._ground: Ground | None = None
        self._leaving = False
        self._tested = opening.level
        self.setWindowTitle(translate("Health", "Health test"))
        self.levels = Segments(words.levels(), opening.level - 1, name=translate("Health", "How thorough"))
        self.choices = Choices(opening.cards, opening.card, self)
        self.about, self.now = label("body"), label("body")
        self.bar = ProgressBar()
        self.news, self.cpu_only = Banner("warn"), Banner("warn")
        self.found = ResultView(self.about)
        self.start = Button(translate("Health", "Start the test"), "primary", "play")
        self.copy = Button(translate("Health", "Copy the result"), "ghost", "copy")
        self.cancel = Button(translate("Health", "Cancel"), icon="cross")
        self.close_ = Button(translate("Health", "Close"))
        self.reader, self.runner = JobRunner(self), JobRunner(self)
        self._lay_out()
        self._wire()
        self._show()
        self.reader.start(GroundJob(app))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(12)
        column.addWidget(label("title", QCoreApplication.translate("Health", "Is the card sound?")))
        column.addWidget(self.levels, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self.choices, self.cpu_only, self.news, self.now, self.bar):
            column.addWidget(widget)
        column.addWidget(self.found, 1)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.copy)
        row.addStretch(1)
        for button in (self.start, self.cancel, self.close_):
            row.addWidget(button)
        column.addLayout(row)
        room = self.screen().availableGeometry()
        self.resize(min(theme.px(SIZE[0]), room.width() - 80), min(theme.px(SIZE[1]), room.height() - 80))

    def _wire(self) -> None:
        self.levels.chosen.connect(lambda _: self._show())
        self.choices.changed.connect(self._show)
        self.start.clicked.connect(self.test)
        self.copy.clicked.connect(self._copy)
        self.cancel.clicked.connect(self.stop)
        self.close_.clicked.connect(self.reject)
        self.reader.done.connect(self._known)
        self.reader.failed.connect(self._failed)
        self.reader.finished.connect(self._maybe_leave)
        self.runner.news.connect(self._heard)
        self.runner.done.connect(self._done)
        self.runner.failed.connect(self._failed)
        self.runner.cancelled.connect(self._cancelled)
        self.runner.finished.connect(self._ended)

    @classmethod
    def show_for(cls, app: App, parent: QWidget, opening: Opening) -> HealthDialog:
        """Show it above `parent` and let it go when closed."""
        dialog = cls(app, parent, opening)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    @property
    def level(self) -> int:
        """The level that is chosen."""
        return self.levels.current() + 1

    # The test

    def test(self) -> None:
        """Start; what it finds comes by itself."""
        if self._why_not() or self._ground is None or self.runner.running:
            return
        self.found.clear()
        self._tell(None)
        self.now.setText(QCoreApplication.translate("Health", "Starting…"))
        self.bar.set_fraction(None)
        self._tested = self.level
        chosen = self.choices
        self.runner.start(
            CardTestJob(
                self._app,
                self._ground.environment,
                self.level,
                device=chosen.device,
                load_seconds=chosen.load_seconds,
            )
        )
        self._show()
        self.cancel.setFocus()

    def stop(self) -> None:
        """Ask it to stop."""
        if self.runner.running:
            self.runner.cancel()
            self.now.setText(QCoreApplication.translate("Health", "Stopping…"))
            self.cancel.setEnabled(False)

    def reject(self) -> None:
        """Esc and Close: a test that runs is stopped first; one that took minutes is not lost by a slip."""
        if self._leaving or (self.runner.running and self._tested > 1 and not self._may_stop()):
            return
        self._leaving = True
        self.reader.cancel()
        self.stop()
        self._maybe_leave()

    def _may_stop(self) -> bool:
        translate = QCoreApplication.translate
        return ConfirmDialog.ask(
            self,
            translate("Health", "Stop the test?"),
            translate("Health", "It ends without a verdict, and what it found so far is not kept."),
            go=translate("Health", "Stop"),
            stay=translate("Health", "Go on"),
            until=self.runner.finished,
        )

    def _maybe_leave(self) -> None:
        if self._leaving and not (self.reader.running or self.runner.running):
            super().reject()

    def _known(self, ground: Ground) -> None:
        self._ground = ground
        self._show()
        self.start.setFocus()

    def _heard(self, news: HealthProgress | Check) -> None:
        if isinstance(news, Check):
            self.found.add(news)
        elif self.cancel.isEnabled():
            self.now.setText(words.progress(news))
            self.bar.set_fraction(news.done)

    def _done(self, checks: Checks) -> None:
        self.found.end(checks)
        announce(self.found.verdict, self.found.verdict.label.text())

    def _copy(self) -> None:
        """For a mail or a forum."""
        QGuiApplication.clipboard().setText(self.found.as_text())
        said = QCoreApplication.translate("Health", "Copied")
        self.copy.setText(said)
        announce(self.copy, said)

    def _failed(self, error: AppError) -> None:
        self._tell(language.texts().error(error))

    def _cancelled(self) -> None:
        translate = QCoreApplication.translate
        self._tell(
            translate("Health", "Stopped. What was tested until then stands below, without a verdict.")
            if self.found.rows
            else translate("Health", "Stopped. Nothing was tested yet.")
        )

    def _ended(self) -> None:
        self._show()
        self.close_.setFocus()
        self._maybe_leave()

    # What is shown

    def _why_not(self) -> str:
        """Why nothing can be tested just now; empty where it can."""
        translate, ground = QCoreApplication.translate, self._ground
        if self._app.simulated:
            return translate("Health", "A simulated machine cannot be tested: nothing is executed for it.")
        if self._busy:
            return translate("Health", "The benchmark is running on the card. Test it when the benchmark is done.")
        if ground is not None and ground.environment is None and self.level > 1:
            return translate(
                "Health", "This level computes with PyTorch, which is not set up yet. Level 1 works without it."
            )
        return ""

    def _tell(self, text: str | None) -> None:
        self.news.setVisible(text is not None)
        if text is not None:
            self.news.set("warn", text)

    def _show(self) -> None:
        """What fits the state of now."""
        running, why, ground = self.runner.running, self._why_not(), self._ground
        self.levels.setEnabled(not running)
        self.choices.setEnabled(not running)
        self.choices.show_for(loaded=self.level == LOADED)
        said = words.of_level(self.level, ground, self.choices.load_seconds) if ground is not None else ""
        self.about.setText(why or said)
        self.cpu_only.setVisible(not running and not why and ground is not None and ground.cpu_only and self.level > 1)
        self.cpu_only.set(
            "warn",
            QCoreApplication.translate(
                "Health",
                "The PyTorch that is set up cannot use the card: this level would load and test the processor only. "
                "To test the card, set PyTorch up again with CUDA.",
            ),
        )
        self.now.setVisible(running)
        self.bar.setVisible(running)
        self.copy.setText(QCoreApplication.translate("Health", "Copy the result"))
        self.copy.setVisible(bool(self.found.rows) and not running)
        self.start.setVisible(not running)
        self.start.setEnabled(self._ground is not None and not why)
        self.cancel.setVisible(running)
        self.cancel.setEnabled(True)
        if not running and not self.news.label.text():
            self.news.hide()
