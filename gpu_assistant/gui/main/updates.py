"""What the window knows about a newer version, and the jobs that find, fetch and hand it over."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from ...core.errors import AppError
from ..worker import JobRunner
from .tasks import FunctionJob

if TYPE_CHECKING:
    from ...app import App
    from ...update.check import CheckPolicy, UpdateStatus
    from ...update.files import UpdateDownloadProgress
    from ...update.known import UpdateState
    from ...update.service import UpdateService
    from ...update.statement import ReleaseStatement, UpdateFile

# The first look waits until the window has long been up; a window that stays open looks whether a day has passed.
FIRST_CHECK_DELAY_MS = 4_000
CHECK_INTERVAL_MS = 3_600_000

UpdateStage = Literal["found", "fetching", "ready", "handing"]


class UpdateController(QObject):
    """`changed` comes with every news. `consent_wanted` asks the window whether it may close before the
    installer is started (the answer is `hand_over`), `leave_wanted` tells that it was.
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
        self._check_runner, self._download_runner, self._handover_runner, self._decline_runner = (JobRunner(self) for _ in range(4))
        self._check_runner.done.connect(self._on_checked)
        self._download_runner.reported.connect(self._on_download_progress)
        self._download_runner.done.connect(self._on_downloaded)
        self._download_runner.cancelled.connect(self._on_download_cancelled)
        self._handover_runner.done.connect(self._on_handed_over)
        for runner in (self._check_runner, self._download_runner, self._handover_runner, self._decline_runner):
            runner.failed.connect(self._on_failed)
            runner.finished.connect(self.changed)
        # The service's code and catalog load on a thread of their own: they take longer than a frame.
        self._service_runner = JobRunner(self)
        self._service_runner.done.connect(self._on_service_loaded)
        self._timer = QTimer(self, interval=FIRST_CHECK_DELAY_MS)
        self._timer.timeout.connect(self._on_timer)
        self._timer.start()

    @cached_property
    def service(self) -> UpdateService:
        """What does the work; raises AppError where the catalog is broken."""
        return self._app.updates

    @property
    def is_supported(self) -> bool:
        """Whether this build can look for updates at all."""
        try:
            return self.service.is_available
        except AppError as error:
            self.error = error
            return False

    @property
    def last_check(self) -> UpdateState | None:
        """The last question and what came of it; None until that was read."""
        return self.check_result.state if self.check_result is not None else None

    @property
    def newer_version(self) -> ReleaseStatement | None:
        """The newer version, if there is one."""
        return self.check_result.newer_release if self.check_result is not None else None

    @property
    def update_file(self) -> UpdateFile | None:
        """The newer version's file for this copy."""
        return self.service.file(self.newer_version) if self.newer_version is not None else None

    @property
    def should_offer(self) -> bool:
        """Whether the newer version should be spoken of without being asked."""
        last_check, newer_version = self.last_check, self.newer_version
        if last_check is None or newer_version is None or not self._app.settings.look_for_updates:
            return False
        return last_check.declined != newer_version.version or self.stage != "found"

    @property
    def is_checking(self) -> bool:
        """Whether the source may be being asked just now, not only the disk."""
        return self._check_runner.running and self._check_mode != "never"

    def check(self, mode: CheckPolicy) -> None:
        """Read what is known and, if so wanted, ask; nothing while the new version's file is worked on."""
        if self.is_supported and not self._check_runner.running and self.stage not in ("fetching", "handing"):
            self._check_mode = mode
            self._start_job(self._check_runner, partial(self._check_runner.start, self.service.check(mode)))

    def decline(self) -> None:
        """Speak of this version no more."""
        newer_version, last_check = self.newer_version, self.last_check
        if self.check_result is None or newer_version is None or last_check is None or self._decline_runner.running:
            return
        self.check_result = replace(self.check_result, state=replace(last_check, declined=newer_version.version))
        self.stage = "found"
        self._start_job(self._decline_runner, partial(self._decline_runner.start, FunctionJob(lambda: self.service.skip_version(newer_version.version))))

    def download(self) -> None:
        """Bring the file here."""
        update_file = self.update_file
        if update_file is not None and self.stage == "found":
            self.stage, self.progress = "fetching", None
            self._start_job(self._download_runner, partial(self._download_runner.start, self.service.download(update_file)))

    def cancel_download(self) -> None:
        """Stop fetching; what has come stays."""
        self._download_runner.cancel()

    def install(self) -> None:
        """The file is here: ask for the window's consent where it has to close, else show the file."""
        if self.stage == "ready":
            if self.service.has_installer:
                self.close_consent_requested.emit()
            else:
                self.start_handover()

    def start_handover(self) -> None:
        """Check the file once more and start or show it."""
        update_file = self.update_file
        if update_file is not None and self.stage == "ready":
            self.stage = "handing"
            self._start_job(self._handover_runner, partial(self._handover_runner.start, self.service.install_or_show(update_file)))

    def _start_job(self, runner: JobRunner, start: partial[None]) -> None:
        self.error = None
        if not runner.running:
            start()
        self.changed.emit()

    def _on_timer(self) -> None:
        self._timer.setInterval(CHECK_INTERVAL_MS)
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
