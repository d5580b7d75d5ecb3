"""Updates of the program: checked, downloaded and handed over in jobs, and the panel that offers one.

    check ──> newer version ──> download ──> stage "ready" ──> install
    install ── an installer must close the window ──> close_consent_requested ──> start_handover ──> quit_requested
            └─ else ──> start_handover: its folder is shown

The service (`update/service.py`) does the work; its module and catalog are loaded in a thread, too.
"""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace
from PySide6.QtCore import QDate, QLocale, QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.errors import AppError
from ...texts import format as figures
from .. import theme
from ..language import texts
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.console import CommandBox
from ..widgets.progress import ProgressBar
from ..widgets.text import label
from ..worker import FunctionJob, JobRunner

if TYPE_CHECKING:
    from ...app import App
    from ...update.check import CheckPolicy, UpdateState, UpdateStatus
    from ...update.files import UpdateDownloadProgress
    from ...update.service import UpdateService
    from ...update.signed_statement import ReleaseStatement, UpdateFile


# The first check waits until the window is idle; later ones ask whether a day has passed.
FIRST_CHECK_DELAY_MS = 4_000
CHECK_INTERVAL_MS = 3_600_000

UpdateStage = Literal["found", "fetching", "ready", "handing"]


class UpdateController(QObject):
    """`changed` follows every event.

    `close_consent_requested` asks the window whether it may close before the installer starts; it answers with
    `start_handover`. `quit_requested` says that the installer was started.
    """

    changed = Signal()
    close_consent_requested = Signal()
    quit_requested = Signal()

    def __init__(self, app: App, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self.check_result: UpdateStatus | None = None
        self._check_mode: CheckPolicy = "never"
        self.stage: UpdateStage = "found"
        self.progress: UpdateDownloadProgress | None = None
        self.file_path: Path | None = None
        self.error: AppError | None = None
        self._check_runner, self._download_runner, self._handover_runner, self._decline_runner = (
            JobRunner(self) for _ in range(4)
        )
        self._check_runner.done.connect(self._on_checked)
        self._download_runner.reported.connect(self._on_download_progress)
        self._download_runner.done.connect(self._on_downloaded)
        self._download_runner.cancelled.connect(self._on_download_cancelled)
        self._handover_runner.done.connect(self._on_handed_over)
        for runner in (self._check_runner, self._download_runner, self._handover_runner, self._decline_runner):
            runner.failed.connect(self._on_failed)
            runner.finished.connect(self.changed)
        self._service_runner = JobRunner(self)
        self._service_runner.done.connect(self._on_service_loaded)
        self.check_timer = QTimer(self, interval=FIRST_CHECK_DELAY_MS)
        self.check_timer.timeout.connect(self._on_timer)
        self.check_timer.start()

    @cached_property
    def service(self) -> UpdateService:
        """Raises AppError where the catalog is damaged."""
        return self._app.updates

    @property
    def is_supported(self) -> bool:
        """Whether this build can check for updates."""
        try:
            return self.service.is_available
        except AppError as error:
            self.error = error
            return False

    @property
    def last_check(self) -> UpdateState | None:
        """The last check and its outcome; None until it was read."""
        return self.check_result.state if self.check_result is not None else None

    @property
    def newer_version(self) -> ReleaseStatement | None:
        return self.check_result.newer_release if self.check_result is not None else None

    @property
    def update_file(self) -> UpdateFile | None:
        """The newer version's file for this installation."""
        return self.service.file(self.newer_version) if self.newer_version is not None else None

    @property
    def should_offer(self) -> bool:
        """Whether to offer the newer version unasked."""
        last_check, newer_version = self.last_check, self.newer_version
        if last_check is None or newer_version is None or not self._app.settings.look_for_updates:
            return False
        return last_check.declined != newer_version.version or self.stage != "found"

    @property
    def is_checking(self) -> bool:
        """Whether the publisher may be asked just now, not only the disk."""
        return self._check_runner.running and self._check_mode != "never"

    def check(self, mode: CheckPolicy) -> None:
        """Read the last check and, by `mode`, ask the publisher; ignored while a file is downloaded or handed over."""
        if self.is_supported and not self._check_runner.running and self.stage not in ("fetching", "handing"):
            self._check_mode = mode
            self._start_job(self._check_runner, partial(self._check_runner.start, self.service.check(mode)))

    def decline(self) -> None:
        """Offer this version no more."""
        newer_version, last_check = self.newer_version, self.last_check
        if self.check_result is None or newer_version is None or last_check is None or self._decline_runner.running:
            return
        self.check_result = replace(self.check_result, state=replace(last_check, declined=newer_version.version))
        self.stage = "found"
        self._start_job(
            self._decline_runner,
            partial(self._decline_runner.start, FunctionJob(lambda: self.service.skip_version(newer_version.version))),
        )

    def download(self) -> None:
        update_file = self.update_file
        if update_file is not None and self.stage == "found":
            self.stage, self.progress = "fetching", None
            self._start_job(
                self._download_runner, partial(self._download_runner.start, self.service.download(update_file))
            )

    def cancel_download(self) -> None:
        """Cancel; what was downloaded is kept."""
        self._download_runner.cancel()

    def install(self) -> None:
        """Ask whether the window may close where it must, else show the file."""
        if self.stage == "ready":
            if self.service.has_installer:
                self.close_consent_requested.emit()
            else:
                self.start_handover()

    def start_handover(self) -> None:
        """Verify the file again, and start or show it."""
        update_file = self.update_file
        if update_file is not None and self.stage == "ready":
            self.stage = "handing"
            self._start_job(
                self._handover_runner, partial(self._handover_runner.start, self.service.install_or_show(update_file))
            )

    def _start_job(self, runner: JobRunner, start: partial[None]) -> None:
        self.error = None
        if not runner.running:
            start()
        self.changed.emit()

    def _on_timer(self) -> None:
        self.check_timer.setInterval(CHECK_INTERVAL_MS)
        if not self._service_runner.running:
            self._service_runner.start(FunctionJob(lambda: self.is_supported))

    def _on_service_loaded(self) -> None:
        self.check("when-due" if self._app.settings.look_for_updates else "never")

    def _on_checked(self, result: UpdateStatus) -> None:
        if self.newer_version is not None and result.newer_release != self.newer_version:
            self.stage, self.file_path = "found", None
        self.check_result = result

    def _on_download_progress(self, progress: UpdateDownloadProgress) -> None:
        self.progress = progress
        self.changed.emit()

    def _on_downloaded(self, path: Path) -> None:
        self.stage, self.file_path = "ready", path

    def _on_handed_over(self, must_quit: bool) -> None:
        self.stage = "ready"
        if must_quit:
            self.quit_requested.emit()

    def _on_download_cancelled(self) -> None:
        self.stage = "found"

    def _on_failed(self, error: AppError) -> None:
        self.error = error
        if self.stage == "fetching" or error.code == "update-changed":
            self.stage, self.file_path = "found", None
        elif self.stage == "handing":
            self.stage = "ready"


class UpdatePanel(Themed, QWidget):
    """Offers the newer version of an UpdateController; empty without one."""

    def __init__(self, updates: UpdateController) -> None:
        super().__init__()
        self._updates = updates
        self.headline_label, self.detail_label = label("strong"), label("small")
        self.error_label = label("small", tone="error")
        self.instructions = label("body", "", "soft")
        self.command_box = CommandBox()
        self.progress_bar, self.progress_label = ProgressBar(), label("small")
        self.install_button, self.notes_button, self.later_button = (
            Button(icon_name="download"),
            Button(kind="ghost", trailing_icon="open"),
            Button(kind="ghost"),
        )
        self.cancel_button = Button()
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        offer_layout = QVBoxLayout()
        offer_layout.setSpacing(2)
        offer_layout.addWidget(self.headline_label)
        offer_layout.addWidget(self.detail_label)
        self._head = QHBoxLayout()
        self._head.setSpacing(12)
        self._head.addLayout(offer_layout, 1)
        parts = (
            self.error_label,
            self.progress_bar,
            self.progress_label,
            self.instructions,
            self.command_box,
        )
        self._buttons = QWidget()
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._buttons)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        for button in (self.install_button, self.cancel_button, self.notes_button, self.later_button):
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._row.addStretch(1)
        self._head.addWidget(self._buttons)
        column.addLayout(self._head)
        for part in parts:
            column.addWidget(part)
        self.install_button.clicked.connect(self._on_install_clicked)
        self.cancel_button.clicked.connect(updates.cancel_download)
        self.later_button.clicked.connect(updates.decline)
        self.notes_button.clicked.connect(self._open_release_notes)
        updates.changed.connect(self.retranslate)
        self.apply_theme()

    def retranslate(self) -> None:
        updates, newer_version = self._updates, self._updates.newer_version
        if newer_version is None:
            return
        stage, update_file = updates.stage, updates.update_file
        translations = texts()
        downloaded = stage in ("ready", "handing")
        self.headline_label.setText(self._headline_template().format(version=newer_version.version))
        day = QDate(newer_version.released.year, newer_version.released.month, newer_version.released.day)
        date_text = QLocale(translations.language).toString(day, self.tr("d MMMM yyyy"))
        details = [self.tr("Released {date}").format(date=date_text)]
        source = updates.service.installation_kind == "source"
        if update_file is not None:
            details.append(figures.format_size(update_file.bytes))
        elif not source:
            details.append(self.tr("no file for this kind of installation"))
        details.append(self.tr("you have {version}").format(version=updates.service.current_version))
        self.detail_label.setText(" · ".join(details))
        self.detail_label.setVisible(stage == "found")
        self._set_label(self.error_label, translations.error_text(updates.error) if updates.error is not None else "")
        self._set_label(
            self.instructions,
            translations.translate(f"update.how.{updates.service.installation_kind}") if downloaded or source else "",
        )
        command = (
            updates.service.install_command(updates.file_path) if downloaded and updates.file_path is not None else None
        )
        self.command_box.setVisible(command is not None)
        self.command_box.set_text(command or "")
        self._show_progress()
        installs = updates.service.has_installer
        if downloaded:
            self.install_button.setText(self.tr("Install now") if installs else self.tr("Open folder"))
            self.install_button.set_icon(None if installs else "folder")
        else:
            self.install_button.setText(self.tr("Update") if installs else self.tr("Download"))
            self.install_button.set_icon("download")
        self.install_button.setVisible(update_file is not None and stage != "fetching")
        self.install_button.set_busy(stage == "handing")
        self.cancel_button.setText(self.tr("Cancel"))
        self.cancel_button.setVisible(stage == "fetching")
        self.notes_button.setText(self.tr("Release notes"))
        self.notes_button.setVisible(newer_version.notes_url is not None)
        self.later_button.setText(self.tr("Not now"))
        self.later_button.setVisible(updates.should_offer and stage in ("found", "ready"))
        self.setAccessibleName(self.headline_label.text())
        self._arrange()

    def _headline_template(self) -> str:
        if self._updates.stage == "fetching":
            return self.tr("Downloading GPU Assistant {version}")
        if self._updates.stage in ("ready", "handing"):
            return self.tr("GPU Assistant {version} is ready to install")
        return self.tr("GPU Assistant {version} is available")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _show_progress(self) -> None:
        downloading, progress = self._updates.stage == "fetching", self._updates.progress
        self.progress_bar.setVisible(downloading)
        self.progress_bar.set_fraction(progress.done / progress.total if progress is not None else None)
        text = ""
        if downloading and progress is not None:
            text = self.tr("{done} of {total}").format(
                done=figures.format_size(progress.done), total=figures.format_size(progress.total)
            )
            if progress.speed is not None:
                text += f" · {figures.format_speed(progress.speed)}"
        self._set_label(self.progress_label, text)

    def _set_label(self, widget: QWidget, text: str) -> None:
        widget.setText(text)  # type: ignore[attr-defined]
        widget.setVisible(bool(text))

    def _arrange(self) -> None:
        visible_buttons = [
            candidate
            for candidate in (self.install_button, self.cancel_button, self.notes_button, self.later_button)
            if candidate.isVisibleTo(self)
        ]
        needed_width = sum(button.sizeHint().width() + self._row.spacing() for button in visible_buttons)
        in_row = needed_width <= max(self.width(), theme.px(240))
        shown_labels = [each for each in (self.headline_label, self.detail_label) if each.isVisibleTo(self)]
        texts_width = max((each.sizeHint().width() for each in shown_labels), default=0)
        beside = needed_width + texts_width + self._head.spacing() <= self.width()
        direction = QBoxLayout.Direction
        self._row.setDirection(direction.LeftToRight if in_row else direction.TopToBottom)
        # Below the headline the buttons follow what is said about them.
        holder = self._head if beside else self._column
        if holder.indexOf(self._buttons) < 0:
            holder.addWidget(self._buttons)

    def _on_install_clicked(self) -> None:
        if self._updates.stage == "ready":
            self._updates.install()
        else:
            self._updates.download()

    def _open_release_notes(self) -> None:
        newer_version = self._updates.newer_version
        if newer_version is not None and newer_version.notes_url is not None:
            QDesktopServices.openUrl(QUrl(newer_version.notes_url))
