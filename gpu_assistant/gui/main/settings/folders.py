"""The folders card: where data, downloads and new environments are; each is opened, new environments go to another one,
the downloads are moved.

move_button ── folder_dialog ──> move ── MoveDownloadsJob ──> progress, Cancel ──> moved | failed
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ....core.errors import AppError
from ....core.paths import licenses_dir
from ....texts.format import format_size
from ...language import texts
from ...saving import SettingsSaver
from ...widgets.base import announce
from ...widgets.buttons import Button
from ...widgets.cards import Card
from ...widgets.dialogs import folder_dialog
from ...widgets.progress import ProgressBar
from ...widgets.text import label
from ...worker import FunctionJob, JobRunner

if TYPE_CHECKING:
    from ....app import App
    from ....install.jobs.move_downloads import MoveProgress, MoveResult


class FolderRow(QWidget):
    """What lies in a folder, above its path; buttons at the right."""

    def __init__(self, *buttons: Button) -> None:
        super().__init__()
        self.name_label, self.path_label = label("body"), label("mono", "", "soft")
        grid, row = QGridLayout(self), QHBoxLayout()
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(0, 1)
        row.setSpacing(4)
        grid.addWidget(self.name_label, 0, 0)
        grid.addWidget(self.path_label, 1, 0)
        for button in buttons:
            row.addWidget(button)
        grid.addLayout(row, 0, 1, 2, 1, Qt.AlignmentFlag.AlignVCenter)

    def set(self, name: str, path: Path) -> None:
        self.name_label.setText(name)
        self.path_label.setText(str(path))
        self.setAccessibleName(f"{name}: {path}")


class DownloadsFolder(QWidget):
    """Where the downloads are, and moving them with progress; `failed` brings the AppError."""

    started = Signal()
    failed = Signal(object)

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app
        self._progress: MoveProgress | None = None
        self._outcome: Callable[[], str] | None = None
        self.open_button, self.move_button = Button(kind="ghost"), Button(kind="ghost", flush="right")
        self.move_back_button, self.cancel_button = Button(kind="ghost", flush="right"), Button(icon_name="cross")
        self.move_button.setObjectName("moveDownloads")
        self.cancel_button.setObjectName("cancelMove")
        self.row = FolderRow(self.open_button, self.move_button, self.move_back_button)
        self.progress_bar, self._progress_label = ProgressBar(), label("small")
        self.progress_row = QWidget()
        grid = QGridLayout(self.progress_row)
        grid.setContentsMargins(0, 8, 0, 8)
        grid.setVerticalSpacing(4)
        grid.setHorizontalSpacing(16)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self.progress_bar, 0, 0)
        grid.addWidget(self._progress_label, 1, 0)
        grid.addWidget(self.cancel_button, 0, 1, 2, 1, Qt.AlignmentFlag.AlignVCenter)
        self.note_label = label("small")
        self.note_label.setObjectName("downloadsNote")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.row, self.progress_row, self.note_label):
            column.addWidget(part)
        self.runner, self._finish_runner = JobRunner(self), JobRunner(self)
        self.runner.reported.connect(self._show_progress)
        self.runner.done.connect(self._on_moved)
        self.runner.failed.connect(self.failed)
        self.runner.cancelled.connect(self._on_cancelled)
        self.runner.finished.connect(self.retranslate)
        self._finish_runner.done.connect(self._on_move_finished)
        self.move_button.clicked.connect(lambda: self.create_dialog().open())
        self.move_back_button.clicked.connect(lambda: self.move_to(None))
        self.cancel_button.clicked.connect(self._cancel)
        self.retranslate()
        finish = app.setup.finish_move()
        if finish is not None:
            self._finish_runner.start(finish)

    def retranslate(self) -> None:
        """Say all of it in the present language, by the present state; the card calls it."""
        self.row.set(self.tr("Downloaded files"), self._app.data.files)
        texts_of_buttons = (
            (self.open_button, self.tr("Open")),
            (self.move_button, self.tr("Move…")),
            (self.move_back_button, self.tr("Move back")),
        )
        is_moving = self.runner.running
        for button, text in texts_of_buttons:
            button.setText(text)
            button.setAccessibleName(f"{text}: {self.row.name_label.text()}")
            button.setEnabled(not (is_moving or self._app.simulated))
        self.cancel_button.setText(self.tr("Cancel"))
        self.move_back_button.setVisible(self._app.data.downloads != self._app.data.cache)
        self.progress_row.setVisible(is_moving)
        self.note_label.setText(self._note())
        self.note_label.setVisible(not is_moving)
        self._show_progress(self._progress)

    def _note(self) -> str:
        """How the last move ended, why the downloads are not where they were moved to, or what moving them does."""
        if self._outcome is not None:
            return self._outcome()
        missing = self._app.missing_downloads
        if missing is not None:
            return self.tr(
                "The downloads were moved to {folder}, which cannot be found now. Until that disk is back, new "
                "downloads go here."
            ).format(folder=missing)
        return self.tr(
            "Move the downloads to make room on this disk. Environments do not need them; they are kept so "
            "that the next setup does not have to download them again."
        )

    def _show_progress(self, progress: MoveProgress | None) -> None:
        self._progress = progress
        has_total = progress is not None and progress.total > 0
        self.progress_bar.set_fraction(progress.done / progress.total if progress is not None and has_total else None)
        is_removing = progress is not None and progress.state == "removing"
        if is_removing:
            text = self.tr("Removing the old files…")
        elif progress is not None and has_total:
            template = self.tr("Copied and checked: {done} of {total}")
            # Each byte counts twice: once copied, once compared.
            text = template.format(done=format_size(progress.done // 2), total=format_size(progress.total // 2))
        else:
            text = self.tr("Copying and checking the downloads…")
        self._progress_label.setText(text)
        self.cancel_button.setEnabled(not is_removing)

    def create_dialog(self) -> QFileDialog:
        """The dialog for the folder of the downloads."""
        dialog = folder_dialog(self, self.tr("Where should the downloads go?"))
        dialog.fileSelected.connect(lambda folder: self.move_to(Path(folder)))
        return dialog

    def move_to(self, folder: Path | None) -> None:
        """Move the downloads there, None: back into the data folder."""
        if self.runner.running or self._finish_runner.running:
            return
        self._outcome, self._progress = None, None
        self.started.emit()
        self.runner.start(self._app.setup.move_downloads(folder))
        self.retranslate()
        self.cancel_button.setFocus()

    def _cancel(self) -> None:
        self.runner.cancel()
        self.cancel_button.setEnabled(False)

    def _on_cancelled(self) -> None:
        self._outcome = lambda: self.tr("Stopped. The downloads are where they were.")

    def _on_moved(self, result: MoveResult) -> None:
        self._app.missing_downloads = None
        if result.leftover is not None:
            self._outcome = lambda: self.tr(
                "Moved. A program is still using files in {folder}; they are removed with the next setup."
            ).format(folder=result.leftover)
        else:
            self._outcome = lambda: self.tr("Moved. Nothing is left in the old folder.")
        self.retranslate()
        announce(self.note_label, self.note_label.text())
        self.move_button.setFocus()

    def _on_move_finished(self, folder: Path) -> None:
        self._outcome = lambda: self.tr(
            "Moving the downloads was interrupted last time. Nothing is lost: all of them are in {folder}."
        ).format(folder=folder)
        self.retranslate()


class FoldersCard(Card):
    """Opening a folder that is not there yet opens the nearest one above it."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self._app, self._saver = app, saver
        self._is_built = False
        self._message: Callable[[], str] | None = None
        self._new_folder: Path | None = None
        self.open_data_button, self.open_licenses_button = (Button(kind="ghost", flush="right") for _ in range(2))
        self.open_environments_button = Button(kind="ghost")
        self.change_button, self.reset_button = (Button(kind="ghost", flush="right") for _ in range(2))
        self.change_button.setObjectName("changeEnvironmentsFolder")
        super().__init__(" ")
        self.data_row = FolderRow(self.open_data_button)
        self.downloads = DownloadsFolder(app)
        self.environments_row = FolderRow(self.open_environments_button, self.change_button, self.reset_button)
        self.licenses_row = FolderRow(self.open_licenses_button)
        self._stay_label, self.message_label = label("small"), label("body", "", "error")
        self.message_label.setObjectName("foldersMessage")
        for part in (
            self.environments_row,
            self._stay_label,
            self.data_row,
            self.downloads,
            self.licenses_row,
            self.message_label,
        ):
            self.column.addWidget(part)
        self._licenses = licenses_dir()
        self.licenses_row.setVisible(self._licenses is not None)
        self._runner = JobRunner(self)
        self._runner.done.connect(self._on_done)
        self._runner.failed.connect(self._on_failed)
        self.open_data_button.clicked.connect(lambda: self._open(app.data.root))
        self.downloads.open_button.clicked.connect(lambda: self._open(app.data.files))
        self.downloads.started.connect(lambda: self._set_message(None))
        self.downloads.failed.connect(self._on_failed)
        self.open_environments_button.clicked.connect(lambda: self._open(app.setup.environments_folder))
        self.open_licenses_button.clicked.connect(lambda: self._open(self._licenses or app.data.root))
        self.change_button.clicked.connect(lambda: self.create_folder_dialog().open())
        self.reset_button.clicked.connect(self._reset)
        self._is_built = True
        self.retranslate()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self.set_title(self.tr("Folders"))
        rows = (
            (self.environments_row, self.tr("New environments"), self._app.setup.environments_folder),
            (self.data_row, self.tr("Settings, results and logs"), self._app.data.root),
            (self.licenses_row, self.tr("Licences of everything GPU Assistant contains"), self._licenses),
        )
        for row, name, path in rows:
            if path is not None:
                row.set(name, path)
        opens = (
            self.open_environments_button,
            self.open_data_button,
            self.open_licenses_button,
        )
        for button, (_row, name, _path) in zip(opens, rows, strict=True):
            button.setText(self.tr("Open"))
            button.setAccessibleName(f"{button.text()}: {name}")
            button.setEnabled(not self._app.simulated)
        self.downloads.retranslate()
        self.change_button.setText(self.tr("Change…"))
        self.reset_button.setText(self.tr("Reset"))
        self.reset_button.setVisible(self._app.settings.environments_folder is not None)
        self.change_button.setEnabled(not self._app.simulated)
        self._stay_label.setText(
            self.tr(
                "Existing environments stay where they are and keep working: their programs contain the folder's "
                "path, so moving one would break it. To move one, create a new one here and remove the old one."
            )
        )
        self._show_message()

    def _set_message(self, message: Callable[[], str] | None) -> None:
        self._message = message
        self._show_message()

    def _show_message(self) -> None:
        self.message_label.setText(self._message() if self._message is not None else "")
        self.message_label.setVisible(bool(self.message_label.text()))

    def _open(self, folder: Path) -> None:
        if self._runner.running:
            return
        self._message, self._new_folder = None, None
        self._runner.start(FunctionJob(lambda: self._app.system.open_folder(_existing(folder))))

    def create_folder_dialog(self) -> QFileDialog:
        """The dialog for the folder of new environments."""
        dialog = folder_dialog(self, self.tr("Where should new environments go?"))
        dialog.fileSelected.connect(lambda folder: self.use_folder(Path(folder)))
        return dialog

    def use_folder(self, folder: Path) -> None:
        """Put new environments there, if they can be made there."""
        if self._runner.running:
            return
        self._message, self._new_folder = None, folder
        self._runner.start(FunctionJob(lambda: self._app.setup.check_environments_folder(folder)))

    def _reset(self) -> None:
        self._message = None
        self._saver.save(environments_folder=None)
        self.retranslate()
        self.change_button.setFocus()

    def _on_done(self, _: object) -> None:
        folder, self._new_folder = self._new_folder, None
        if folder is not None:
            self._saver.save(environments_folder=str(folder))
        self.retranslate()

    def _on_failed(self, error: AppError) -> None:
        self._set_message(lambda: texts().error_text(error))


def _existing(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)
