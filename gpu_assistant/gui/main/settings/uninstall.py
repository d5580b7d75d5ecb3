"""The card that removes everything of GPU Assistant from this computer: previewed, agreed to, done with progress.

remove_button ── PurgePreviewJob ──> build_purge_dialog ── accepted ──> started ── PurgeJob ──> removed | error
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from ....core.errors import AppError
from ....core.jobs import JobContext
from ....core.plan import Event, PlanEvent, Step, StepEvent
from ...language import texts
from ...widgets.base import announce
from ...widgets.buttons import Button
from ...widgets.cards import Card
from ...widgets.dialogs import ConfirmDialog
from ...widgets.progress import ProgressBar
from ...widgets.text import label
from ...worker import JobRunner
from ..home.uninstall import RemovalPreview, UninstallDetails
from .cards import control_rows

if TYPE_CHECKING:
    from ....app import App


class PurgePreviewJob:
    """Reads what a removal would take away."""

    def __init__(self, app: App, *, keep_environments: bool) -> None:
        self._app, self._keep_environments = app, keep_environments

    def run(self, context: JobContext[Any]) -> tuple[Step, ...]:
        """The steps, in order. Raises AppError."""
        context.check_cancelled()
        return self._app.setup.purge(keep_environments=self._keep_environments).steps()


class RemovalCard(Card):
    """`started` comes before anything is removed: nothing may write into the data folder from then on. `removed` brings
    whether the environments were kept.
    """

    started = Signal()
    removed = Signal(bool)

    def __init__(self, app: App) -> None:
        self._app = app
        self._is_built = False
        self._keep_environments = False
        self._titles: dict[str, str] = {}
        self._ended = 0
        self._error: AppError | None = None
        self._is_incomplete = False
        self.all_button, self.data_button = Button(icon_name="trash"), Button(icon_name="trash")
        self.all_button.setObjectName("removeEverything")
        self.data_button.setObjectName("removeAllButEnvironments")
        super().__init__(" ")
        self._all_label, self._data_label = label("body"), label("body")
        self._program_label = label("small")
        self.progress_label, self.progress_bar = label("body"), ProgressBar()
        self.cancel_button = Button(icon_name="cross")
        self.error_label = label("body", "", "error")
        self.error_label.setObjectName("removalError")
        rows = ((self._data_label, self.data_button), (self._all_label, self.all_button))
        self.column.addLayout(control_rows(rows))
        self.column.addWidget(self._program_label)
        self.column.addWidget(self.progress_bar)
        self.column.addLayout(control_rows(((self.progress_label, self.cancel_button),)))
        self.column.addWidget(self.error_label)
        self.preview_runner, self.purge_runner = JobRunner(self), JobRunner(self)
        self.preview_runner.done.connect(self._confirm)
        self.purge_runner.reported.connect(self._on_event)
        self.purge_runner.done.connect(lambda _: self.removed.emit(self._keep_environments))
        self.purge_runner.failed.connect(self._on_stopped)
        self.purge_runner.cancelled.connect(self._on_stopped)
        for runner in (self.preview_runner, self.purge_runner):
            runner.failed.connect(self._on_failed)
            runner.started.connect(self.retranslate)
            runner.finished.connect(self.retranslate)
        self.all_button.clicked.connect(lambda: self.preview(keep_environments=False))
        self.data_button.clicked.connect(lambda: self.preview(keep_environments=True))
        self.cancel_button.clicked.connect(self.purge_runner.cancel)
        self._is_built = True
        self.retranslate()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        is_removing = self.purge_runner.running
        self.set_title(self.tr("Remove GPU Assistant"))
        self._data_label.setText(self.tr("Settings, downloads, results and logs; your environments stay"))
        self._all_label.setText(self.tr("All of that and every environment that GPU Assistant made"))
        self._program_label.setText(
            self.tr(
                "You see a list first and are asked to confirm. Then GPU Assistant closes; remove the program "
                "itself like any other program."
            )
        )
        self.data_button.setText(self.tr("Remove all but environments…"))
        self.all_button.setText(self.tr("Remove everything…"))
        self.cancel_button.setText(self.tr("Cancel"))
        for button in (self.data_button, self.all_button):
            is_mine = self._keep_environments == (button is self.data_button)
            button.set_busy(self.preview_runner.running and is_mine)
            button.setEnabled(not (is_removing or self.preview_runner.running or self._app.simulated))
        for part in (self.progress_bar, self.progress_label, self.cancel_button):
            part.setVisible(is_removing)
        self.error_label.setText(self._error_text())
        self.error_label.setVisible(bool(self.error_label.text()))

    def _error_text(self) -> str:
        """Why it could not be previewed, or did not come to its end."""
        sentences = [texts().error_text(self._error)] if self._error is not None else []
        if self._is_incomplete:
            sentences.append(
                self.tr("Not everything was removed. Close GPU Assistant, open it again and try once more.")
            )
        return "\n".join(sentences)

    def preview(self, *, keep_environments: bool) -> None:
        """Read what would be removed, and ask."""
        if not (self.preview_runner.running or self.purge_runner.running):
            self._keep_environments, self._error, self._is_incomplete = keep_environments, None, False
            self.preview_runner.start(PurgePreviewJob(self._app, keep_environments=keep_environments))

    def _confirm(self, steps: tuple[Step, ...]) -> None:
        dialog = self.create_dialog(steps)
        dialog.accepted.connect(self._remove)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def create_dialog(self, steps: tuple[Step, ...]) -> ConfirmDialog:
        """The question with what goes and what stays; keeping it is the default."""
        from ....install.jobs.removal_summary import summarize_removal

        summary = "\n".join(f"•\u00a0{texts().message_text(line)}" for line in summarize_removal(steps))
        question = self.tr("Remove all but environments?") if self._keep_environments else self.tr("Remove everything?")
        consequence = f"{self.tr('Only this is removed:')}\n{summary}"
        details = UninstallDetails(RemovalPreview(steps), texts())
        return ConfirmDialog(self, question, consequence, self.tr("Remove"), self.tr("Keep"), details=details)

    def _remove(self) -> None:
        if self.purge_runner.running:
            return
        self._ended = 0
        self.progress_bar.set_fraction(None)
        self.started.emit()
        self.purge_runner.start(self._app.setup.purge(keep_environments=self._keep_environments))

    def _on_event(self, event: Event) -> None:
        if isinstance(event, PlanEvent):
            self._titles = {step.id: texts().translate(f"step.{step.code}.title", step.data) for step in event.steps}
        elif isinstance(event, StepEvent):
            if event.state == "running":
                self.progress_label.setText(self._titles.get(event.id, ""))
            else:
                self._ended += 1
            self.progress_bar.set_fraction(min(self._ended / max(len(self._titles), 1), 1.0))

    def _on_stopped(self) -> None:
        self._is_incomplete = True

    def _on_failed(self, error: AppError) -> None:
        self._error = error
        self.retranslate()
        announce(self.error_label, self.error_label.text())
