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
from ..catalog.records.updates import UpdateCatalog
from ..core.paths import DataDir
from . import check as update_check
from .check import CheckPolicy, UpdateCheckJob
from .files import InstallationKind, UpdateDownloadJob, UpdateLaunchJob, installation_kind
from .signed_statement import ReleaseStatement, UpdateFile

if TYPE_CHECKING:
    from ..fetch.rate import RateLimiter
    from ..fetch.request import Limits
    from ..system.base import System


class UpdateService:
    """Makes the jobs; nothing here waits for disk or network by itself but `decline`."""

    def __init__(
        self,
        source: UpdateCatalog,
        data: DataDir,
        system: System,
        *,
        simulated: bool = False,
        current_version: str = __version__,
        kind: InstallationKind | None = None,
        limits: Limits | None = None,
        rate_limiter: Callable[[], RateLimiter] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._source, self._system, self._simulated = source, system, simulated
        self._state_path = data.state / "updates.json"
        self.folder = data.updates
        self.current_version = current_version
        self.installation_kind: InstallationKind = kind or installation_kind()
        self._limits = limits
        self._rate_limiter = rate_limiter
        self._clock = clock
        self._state_lock = threading.Lock()

    @property
    def is_available(self) -> bool:
        """Whether this build knows whom to ask and whom to believe; a simulated machine asks nobody."""
        return self._source.address is not None and self._source.root is not None and not self._simulated

    @property
    def has_installer(self) -> bool:
        """Whether a new version's file is an installer that is started from here."""
        return self.installation_kind == "windows-installer" and self._system.name == "windows"

    def check(self, policy: CheckPolicy) -> UpdateCheckJob:
        """Look what is known; only where `is_available`."""
        return UpdateCheckJob(
            self._source,
            self._state_path,
            self.folder,
            self.current_version,
            policy=policy,
            state_lock=self._state_lock,
            clock=self._clock,
        )

    def file(self, release: ReleaseStatement) -> UpdateFile | None:
        """The file that updates this copy; None if there is none for the way it was installed."""
        return None if self.installation_kind == "source" else release.file(self.installation_kind)

    def download(self, file: UpdateFile) -> UpdateDownloadJob:
        """Bring a file here."""
        return UpdateDownloadJob(
            file, self.folder, self._limits, self._rate_limiter() if self._rate_limiter is not None else None
        )

    def install_or_show(self, file: UpdateFile) -> UpdateLaunchJob:
        """Start the installer that was fetched, or show where the file lies."""
        return UpdateLaunchJob(file, self.folder, self.installation_kind, self._system)

    def install_command(self, path: Path) -> str | None:
        """What a person types to install the file; None where it is not done by a command."""
        if self.installation_kind == "deb":
            return shlex.join(["sudo", "apt", "install", str(path)])
        if self.installation_kind == "wheel":
            arguments = [sys.executable, "-m", "pip", "install", str(path)]
            return subprocess.list2cmdline(arguments) if self._system.name == "windows" else shlex.join(arguments)
        return None

    def skip_version(self, version: str) -> None:
        """Remember that the user does not want to hear of this version; raises AppError."""
        with self._state_lock:
            update_check.save_state(
                self._state_path, replace(update_check.load_state(self._state_path), declined=version)
            )
