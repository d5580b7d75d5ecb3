"""Everything about new versions for one copy of the program: what the faces hold."""

from __future__ import annotations

import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from .. import __version__
from ..catalog.records import Updates
from ..core.paths import DataDir
from . import known
from .check import Ask, CheckJob
from .files import DownloadJob, HandOverJob
from .installed import Way, installed_as
from .statement import Statement, UpdateFile

if TYPE_CHECKING:
    from ..fetch.limits import Limits
    from ..fetch.pace import Pace
    from ..system.base import System


class UpdateService:
    """Makes the jobs; nothing here waits for disk or network by itself but `decline`."""

    def __init__(
        self,
        source: Updates,
        data: DataDir,
        system: System,
        *,
        simulated: bool = False,
        ours: str = __version__,
        kind: Way | None = None,
        limits: Limits | None = None,
        pace: Callable[[], Pace] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._source, self._system, self._simulated = source, system, simulated
        self._state = data.state / "updates.json"
        self.folder = data.updates
        self.ours = ours
        self.kind: Way = kind or installed_as()
        self._limits = limits
        self._pace = pace
        self._clock = clock
        self._guard = threading.Lock()

    @property
    def possible(self) -> bool:
        """Whether this build knows whom to ask and whom to believe; a simulated machine asks nobody."""
        return self._source.address is not None and bool(self._source.keys) and not self._simulated

    @property
    def installs(self) -> bool:
        """Whether a new version's file is an installer that is started from here."""
        return self.kind == "windows-installer" and self._system.name == "windows"

    def check(self, ask: Ask) -> CheckJob:
        """Look what is known; only where `possible`."""
        return CheckJob(
            self._source, self._state, self.folder, self.ours, ask=ask, guard=self._guard, clock=self._clock
        )

    def file(self, newer: Statement) -> UpdateFile | None:
        """The file that updates this copy; None if there is none for the way it was installed."""
        return None if self.kind == "source" else newer.file(self.kind)

    def download(self, file: UpdateFile) -> DownloadJob:
        """Bring a file here."""
        return DownloadJob(file, self.folder, self._limits, self._pace() if self._pace is not None else None)

    def hand_over(self, file: UpdateFile) -> HandOverJob:
        """Start the installer that was fetched, or show where the file lies."""
        return HandOverJob(file, self.folder, self.kind, self._system)

    def command(self, path: Path) -> str | None:
        """What a person types to install the file; None where it is not done by a command."""
        if self.kind == "deb":
            return shlex.join(["sudo", "apt", "install", str(path)])
        if self.kind == "wheel":
            words = [sys.executable, "-m", "pip", "install", str(path)]
            return subprocess.list2cmdline(words) if self._system.name == "windows" else shlex.join(words)
        return None

    def decline(self, version: str) -> None:
        """Remember that the user does not want to hear of this version; raises AppError."""
        with self._guard:
            known.save(self._state, replace(known.load(self._state), declined=version))
