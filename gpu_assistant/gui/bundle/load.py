"""The page that loads an offline folder: every file of it is verified before the setup uses it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFileDialog

from ...core.errors import AppError
from ...core.jobs import LazyJob
from ...core.plan import Event, StepEvent
from .. import messages
from ..widgets.base import announce
from ..widgets.buttons import Button
from ..widgets.cards import Hero
from ..widgets.dialogs import folder_dialog
from ..wizard.controller import WizardController
from ..wizard.page import WizardPage
from ..wizard.pages.install.progress import InstallProgress
from ..wizard.pages.install.progress_panel import CurrentStepPanel
from ..worker import JobRunner


class LoadBundlePage(WizardPage):
    """`folder_chosen` comes when a folder is going to be verified, `bundle_accepted` brings one that is fit for this
    computer; `leave_requested` asks for the page that this one was opened from.
    """

    folder_chosen = Signal()
    leave_requested = Signal()
    bundle_accepted = Signal(Path)

    def __init__(self, controller: WizardController) -> None:
        self.folder: Path | None = None
        self.error: AppError | None = None
        self._progress: InstallProgress | None = None
        super().__init__(controller)
        self._runner = JobRunner(self)
        self._runner.reported.connect(self._on_event)
        self._runner.done.connect(lambda _: self._on_checked())
        self._runner.failed.connect(self._on_failed)
        self._runner.cancelled.connect(self.draw_if_visible)

    def build(self) -> None:
        self.verdict_hero, self.step_panel = Hero("neutral"), CurrentStepPanel()
        self.page.column.addWidget(self.verdict_hero)
        self.page.column.addWidget(self.step_panel)
        self.page.column.addStretch(1)
        self.back_button = self.footer.add_button(Button())
        self.back_button.clicked.connect(self.leave_requested)
        self.footer.add_button(self.primary_button)

    @property
    def is_checking(self) -> bool:
        """Whether a folder is being verified."""
        return self._runner.running

    def create_folder_dialog(self) -> QFileDialog:
        """The dialog for the folder."""
        dialog = folder_dialog(self.window(), self.tr("Choose the offline folder for this computer"))
        dialog.fileSelected.connect(lambda folder: self.check_folder(Path(folder)))
        return dialog

    def check_folder(self, folder: Path) -> None:
        """Verify every file of a folder, in a thread."""
        if self._runner.running:
            return
        self.folder, self.error, self._progress = folder, None, InstallProgress(None)
        self._runner.start(LazyJob(partial(self.controller.app.bundles.check, folder, match_computer=True)))
        self.folder_chosen.emit()
        self.draw_if_visible()

    def run_primary_action(self) -> None:
        """Open the dialog for a folder."""
        self.create_folder_dialog().open()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leaving the page cancels the verification."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._runner.cancel()

    def draw(self) -> None:
        checking, error = self.is_checking, self.error
        title, line = self.tr("Install from an offline folder"), str(self.folder or "")
        if checking:
            title = self.tr("Checking the folder")
            line = self.tr("Every file is read once. Nothing is changed, and the internet is not used.")
        self.page.set_title(title, line)
        step = self._progress.running_step if self._progress is not None and checking else None
        self.step_panel.setVisible(step is not None)
        self.verdict_hero.setVisible(not checking)
        if step is not None:
            self.step_panel.set_step(step, self.texts)
            self.step_panel.download_controls.hide()
        if error is not None:
            self.verdict_hero.set(
                "error", self.tr("This folder cannot be used"), messages.error_text(self.texts, error)
            )
        elif not checking:
            detail = self.tr("Choose the folder that was prepared on a computer with internet.")
            self.verdict_hero.set("neutral", self.tr("Nothing chosen yet"), detail, icon="folder")
        self.back_button.setText(self.tr("Cancel") if checking else self.tr("Back"))
        self.primary_button.setText(
            self.tr("Choose another folder…") if error is not None else self.tr("Choose the folder…")
        )
        self.primary_button.set_icon("folder")
        self.primary_button.setVisible(not checking)

    def _on_event(self, event: Event) -> None:
        if self._progress is None:
            return
        self._progress.handle_event(event)
        if isinstance(event, StepEvent) and event.state == "running":
            self.step_panel.speed_line.add(event.speed)
        self.draw_if_visible()

    def _on_checked(self) -> None:
        # Not after the user left the page.
        if self.folder is not None and self.isVisible():
            self.bundle_accepted.emit(self.folder)

    def _on_failed(self, error: AppError) -> None:
        self.error = error
        self.draw_if_visible()
        if self.isVisible():
            self.focus_primary()
            announce(self.verdict_hero, self.verdict_hero.accessibleName())
