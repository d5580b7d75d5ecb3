"""A folder that was prepared elsewhere: every file of it is checked before the setup rests on it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFileDialog

from ...core.errors import AppError
from ...core.jobs import Later
from ...core.plan import Event, StepEvent
from ..components import Button, Hero, announce
from ..components.dialogs import folder_dialog
from ..wizard import words as said
from ..wizard.base import WizardPage
from ..wizard.progress import Progress
from ..wizard.road import Road
from ..wizard.step_block import StepBlock
from ..worker import JobRunner


class GivenPage(WizardPage):
    """`chosen` comes with each folder that is going to be checked, `whole` with one that is fit for this computer;
    `left` asks for the page that it was opened from.
    """

    chosen = Signal()
    left = Signal()
    whole = Signal(Path)

    def __init__(self, road: Road) -> None:
        self.folder: Path | None = None
        self.error: AppError | None = None
        self._progress: Progress | None = None
        super().__init__(road)
        self._runner = JobRunner(self)
        self._runner.news.connect(self._heard)
        self._runner.done.connect(lambda _: self._done())
        self._runner.failed.connect(self._failed)
        self._runner.cancelled.connect(self.draw_if_seen)

    def build(self) -> None:
        """The parts."""
        self.verdict, self.block = Hero("neutral"), StepBlock()
        self.page.column.addWidget(self.verdict)
        self.page.column.addWidget(self.block)
        self.page.column.addStretch(1)
        self.back = self.footer.add(Button())
        self.back.clicked.connect(self.left)
        self.footer.add(self.primary)

    @property
    def checking(self) -> bool:
        """Whether a folder is being read."""
        return self._runner.running

    def folder_dialog(self) -> QFileDialog:
        """The question for the folder."""
        dialog = folder_dialog(self.window(), self.tr("Which folder was prepared for this computer?"))
        dialog.fileSelected.connect(lambda folder: self.check(Path(folder)))
        return dialog

    def check(self, folder: Path) -> None:
        """Read every file of a folder, on a thread of its own."""
        if self._runner.running:
            return
        self.folder, self.error, self._progress = folder, None, Progress(None)
        self._runner.start(Later(partial(self.road.app.check_bundle, folder, here=True)))
        self.chosen.emit()
        self.draw_if_seen()

    def go_on(self) -> None:
        """Another folder."""
        self.folder_dialog().open()

    def hideEvent(self, event: QHideEvent) -> None:
        """Whoever leaves the page does not want its answer."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._runner.cancel()

    def draw(self) -> None:
        """How far it is, or what is wrong with it."""
        self.page.set_title(self.tr("Set up from an offline folder"), str(self.folder or ""))
        checking, error = self.checking, self.error
        step = self._progress.running if self._progress is not None and checking else None
        self.block.setVisible(step is not None)
        if step is not None:
            self.block.set_step(step, self.texts)
            self.block.controls.hide()
        if error is not None:
            self.verdict.set("error", self.tr("This folder cannot be used"), said.error(self.texts, error))
        elif checking:
            words = self.tr("Every file is read once. Nothing is changed, and no internet is used.")
            self.verdict.set("neutral", self.tr("Checking the folder"), words, icon="search")
        else:
            words = self.tr("Choose the folder that was prepared where there is internet.")
            self.verdict.set("neutral", self.tr("Nothing is chosen yet"), words, icon="folder")
        self.back.setText(self.tr("Cancel") if checking else self.tr("Back"))
        self.primary.setText(self.tr("Choose another folder…") if error is not None else self.tr("Choose the folder…"))
        self.primary.set_icon("folder")
        self.primary.setVisible(not checking)

    def focus_primary(self) -> None:
        """While it reads there is only Cancel."""
        if self.checking:
            self.back.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_primary()

    def _heard(self, news: Event) -> None:
        if self._progress is None:
            return
        self._progress.take(news)
        if isinstance(news, StepEvent) and news.state == "running":
            self.block.line.add(news.speed)
        self.draw_if_seen()

    def _done(self) -> None:
        # Whoever went elsewhere meanwhile has not asked for it.
        if self.folder is not None and self.isVisible():
            self.whole.emit(self.folder)

    def _failed(self, error: AppError) -> None:
        self.error = error
        self.draw_if_seen()
        if self.isVisible():
            self.focus_primary()
            announce(self.verdict, self.verdict.accessibleName())
