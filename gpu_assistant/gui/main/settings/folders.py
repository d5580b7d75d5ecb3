"""The folders card: where the data and new environments lie; each is opened, that for new environments is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QWidget

from ....core.errors import AppError
from ....core.paths import licenses_dir
from ...language import texts
from ...saving import SettingsSaver
from ...widgets.buttons import Button
from ...widgets.cards import Card
from ...widgets.dialogs import folder_dialog
from ...widgets.text import label
from ...worker import FunctionJob, JobRunner

if TYPE_CHECKING:
    from ....app import App


class FolderRow(QWidget):
    """What lies in a folder, above its path; buttons at the right."""

    def __init__(self, *buttons: Button) -> None:
        super().__init__()
        self.name_label, self.path_label = label("body"), label("small")
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


class FoldersCard(Card):
    """Opening a folder that is not there yet opens the nearest one above it."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self._app, self._saver = app, saver
        self._is_built = False
        self._message: Callable[[], str] | None = None
        self._new_folder: Path | None = None
        self.open_data_button, self.open_environments_button = Button(kind="ghost"), Button(kind="ghost")
        self.open_downloads_button, self.open_licenses_button = Button(kind="ghost"), Button(kind="ghost")
        self.change_button, self.reset_button = Button(kind="ghost"), Button(kind="ghost")
        self.change_button.setObjectName("changeEnvironmentsFolder")
        super().__init__(" ")
        self.data_row = FolderRow(self.open_data_button)
        self.downloads_row = FolderRow(self.open_downloads_button)
        self.environments_row = FolderRow(self.open_environments_button, self.change_button, self.reset_button)
        self.licenses_row = FolderRow(self.open_licenses_button)
        self._stay_label, self.message_label = label("small"), label("body", "", "error")
        self.message_label.setObjectName("foldersMessage")
        for part in (
            self.environments_row,
            self._stay_label,
            self.data_row,
            self.downloads_row,
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
        self.open_downloads_button.clicked.connect(lambda: self._open(app.data.files))
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
            (self.downloads_row, self.tr("Downloaded files"), self._app.data.files),
            (self.licenses_row, self.tr("Licences of everything GPU Assistant contains"), self._licenses),
        )
        for row, name, path in rows:
            if path is not None:
                row.set(name, path)
        opens = (
            self.open_environments_button,
            self.open_data_button,
            self.open_downloads_button,
            self.open_licenses_button,
        )
        for button, (_row, name, _path) in zip(opens, rows, strict=True):
            button.setText(self.tr("Open"))
            button.setAccessibleName(f"{button.text()}: {name}")
            button.setEnabled(not self._app.simulated)
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
        self._message = lambda: texts().error_text(error)
        self._show_message()


def _existing(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)
