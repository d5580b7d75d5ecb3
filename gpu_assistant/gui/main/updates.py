"""What the window knows about a newer version, and the jobs that find, fetch and hand it over."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from ...core.errors import AppError
from ..worker import JobRunner
from .tasks import Task

if TYPE_CHECKING:
    from ...app import App
    from ...update.check import Ask, Look
    from ...update.files import Progress
    from ...update.known import Known
    from ...update.service import UpdateService
    from ...update.statement import Statement, UpdateFile

# The first look waits until the window has long been up; a window that stays open looks whether a day has passed.
FIRST_LOOK_MS = 4_000
LOOK_AGAIN_MS = 3_600_000

Stage = Literal["found", "fetching", "ready", "handing"]


class Updates(QObject):
    """`changed` comes with every news. `consent_wanted` asks the window whether it may close before the
    installer is started (the answer is `hand_over`), `leave_wanted` tells that it was.
    """

    changed = Signal()
    consent_wanted = Signal()
    leave_wanted = Signal()

    def __init__(self, app: App, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self.look: Look | None = None
        self._how: Ask = "never"
        self.stage: Stage = "found"
        self.progress: Progress | None = None
        self.path: Path | None = None
        self.error: AppError | None = None
        self._asking, self._fetching, self._handing, self._keeping = (JobRunner(self) for _ in range(4))
        self._asking.done.connect(self._looked)
        self._fetching.news.connect(self._came)
        self._fetching.done.connect(self._fetched)
        self._fetching.cancelled.connect(self._stay)
        self._handing.done.connect(self._handed)
        for runner in (self._asking, self._fetching, self._handing, self._keeping):
            runner.failed.connect(self._failed)
            runner.finished.connect(self.changed)
        # The service's code and catalog load on a thread of their own: they take longer than a frame.
        self._preparing = JobRunner(self)
        self._preparing.done.connect(self._prepared)
        self._timer = QTimer(self, interval=FIRST_LOOK_MS)
        self._timer.timeout.connect(self._on_time)
        self._timer.start()

    @cached_property
    def service(self) -> UpdateService:
        """What does the work; raises AppError where the catalog is broken."""
        return self._app.updates

    @property
    def possible(self) -> bool:
        """Whether this build can look for updates at all."""
        try:
            return self.service.possible
        except AppError as error:
            self.error = error
            return False

    @property
    def known(self) -> Known | None:
        """The last question and what came of it; None until that was read."""
        return self.look.known if self.look is not None else None

    @property
    def newer(self) -> Statement | None:
        """The newer version, if there is one."""
        return self.look.newer if self.look is not None else None

    @property
    def file(self) -> UpdateFile | None:
        """The newer version's file for this copy."""
        return self.service.file(self.newer) if self.newer is not None else None

    @property
    def wanted(self) -> bool:
        """Whether the newer version should be spoken of without being asked."""
        known, newer = self.known, self.newer
        if known is None or newer is None or not self._app.settings.look_for_updates:
            return False
        return known.declined != newer.version or self.stage != "found"

    @property
    def asking(self) -> bool:
        """Whether the source may be being asked just now, not only the disk."""
        return self._asking.running and self._how != "never"

    def look_up(self, ask: Ask) -> None:
        """Read what is known and, if so wanted, ask; nothing while the new version's file is worked on."""
        if self.possible and not self._asking.running and self.stage not in ("fetching", "handing"):
            self._how = ask
            self._start(self._asking, partial(self._asking.start, self.service.check(ask)))

    def not_now(self) -> None:
        """Speak of this version no more."""
        newer, known = self.newer, self.known
        if self.look is None or newer is None or known is None or self._keeping.running:
            return
        self.look = replace(self.look, known=replace(known, declined=newer.version))
        self.stage = "found"
        self._start(self._keeping, partial(self._keeping.start, Task(lambda: self.service.decline(newer.version))))

    def fetch(self) -> None:
        """Bring the file here."""
        file = self.file
        if file is not None and self.stage == "found":
            self.stage, self.progress = "fetching", None
            self._start(self._fetching, partial(self._fetching.start, self.service.download(file)))

    def cancel(self) -> None:
        """Stop fetching; what has come stays."""
        self._fetching.cancel()

    def go_on(self) -> None:
        """The file is here: ask for the window's consent where it has to close, else show the file."""
        if self.stage == "ready":
            if self.service.installs:
                self.consent_wanted.emit()
            else:
                self.hand_over()

    def hand_over(self) -> None:
        """Check the file once more and start or show it."""
        file = self.file
        if file is not None and self.stage == "ready":
            self.stage = "handing"
            self._start(self._handing, partial(self._handing.start, self.service.hand_over(file)))

    def _start(self, runner: JobRunner, start: partial[None]) -> None:
        self.error = None
        if not runner.running:
            start()
        self.changed.emit()

    def _on_time(self) -> None:
        self._timer.setInterval(LOOK_AGAIN_MS)
        if not self._preparing.running:
            self._preparing.start(Task(lambda: self.possible))

    def _prepared(self) -> None:
        self.look_up("when-due" if self._app.settings.look_for_updates else "never")

    def _looked(self, look: Look) -> None:
        if self.newer is not None and look.newer != self.newer:
            self.stage, self.path = "found", None
        self.look = look

    def _came(self, progress: Progress) -> None:
        self.progress = progress
        self.changed.emit()

    def _fetched(self, path: Path) -> None:
        self.stage, self.path = "ready", path

    def _handed(self, leave: bool) -> None:
        self.stage = "ready"
        if leave:
            self.leave_wanted.emit()

    def _stay(self) -> None:
        self.stage = "found"

    def _failed(self, error: AppError) -> None:
        self.error = error
        if self.stage == "fetching" or error.code == "update-changed":
            self.stage, self.path = "found", None
        elif self.stage == "handing":
            self.stage = "ready"
