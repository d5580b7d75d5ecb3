"""The file of a new version: downloaded into a folder, verified again, then started or shown there.

Also how this copy was installed (`installation_kind`), which decides which file updates it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import msgspec
from msgspec import Struct

from ..core import filesystem, json
from ..core.errors import AppError, Cancelled, NetworkError, os_error_text
from ..core.files import hash_file
from ..core.jobs import JobContext
from ..core.ownership import MARKER_NAME, claim_folder, is_owned
from .signed_statement import UpdateFile, UpdateFileKind

if TYPE_CHECKING:
    from ..fetch.rate import RateLimiter
    from ..fetch.request import Limits
    from ..system.base import System


# A checkout has no file that updates it.
InstallationKind = UpdateFileKind | Literal["source"]

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]
# …/gpu_assistant/ inside the folder app/ of what was installed.
MARKER_PATH = PACKAGE_FOLDER.parents[1] / "installed.json"


class InstallationMarker(Struct, frozen=True, kw_only=True):
    """`kind` names the file that updates it."""

    kind: UpdateFileKind


def installation_kind(marker: Path = MARKER_PATH, package: Path = PACKAGE_FOLDER) -> InstallationKind:
    """The way this copy was installed; without a readable note it is a wheel in somebody's Python, or a checkout."""
    try:
        return json.decode(marker.read_bytes(), InstallationMarker).kind
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        # Wheels carry the data inside the package; beside it they lie where the source does.
        return "wheel" if (package / "resources").is_dir() else "source"


class UpdateDownloadProgress(Struct, frozen=True, kw_only=True):
    """Bytes of the file; `speed` in bytes per second, None while unknown."""

    id: str
    done: int
    total: int
    speed: float | None


def remove_old_files(folder: Path, keep_name: str | None = None) -> None:
    """Remove what other versions left (best effort: an installer that still runs stays until next time).

    Also before an installer is started: Windows programs load libraries that lie beside them.
    """
    kept_names = (
        {keep_name, f"{keep_name}.part", f"{keep_name}.part.json", f"{keep_name}.part.lock"} if keep_name else set()
    )
    if not is_owned(folder):
        return
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name not in {*kept_names, MARKER_NAME}:
                with suppress(OSError):
                    filesystem.unlink(path)


class UpdateDownloadJob:
    """Brings a version's file into the folder and ends with its path; reports UpdateDownloadProgress.

    What has come stays when it is stopped, and the next one goes on from there. Raises AppError, NetworkError,
    Cancelled.
    """

    def __init__(
        self, file: UpdateFile, folder: Path, limits: Limits | None = None, rate_limiter: RateLimiter | None = None
    ) -> None:
        self._file, self._folder, self._limits, self._rate_limiter = file, folder, limits, rate_limiter

    def run(self, context: JobContext[Any]) -> Path:
        """Download and verify the file; returns its path. Raises AppError and Cancelled."""
        from ..fetch.downloader import Downloader, Totals
        from ..fetch.request import DownloadRequest

        def report_progress(totals: Totals) -> None:
            context.report(
                UpdateDownloadProgress(id=self._file.name, done=totals.done, total=self._file.bytes, speed=totals.speed)
            )

        claim_folder(self._folder.parent)
        claim_folder(self._folder)
        if not is_owned(self._folder):
            raise AppError("folder-not-ours", path=str(self._folder))
        remove_old_files(self._folder, self._file.name)
        request = DownloadRequest(file=self._file.remote, path=self._folder / self._file.name)
        try:
            downloader = Downloader(
                [request], cancel=context.cancel, progress=report_progress, limits=self._limits, rate=self._rate_limiter
            )
            (path,) = downloader.run()
        except AppError as error:
            raise self._as_update_error(error) from error
        return path

    def _as_update_error(self, error: AppError) -> AppError:
        """What is said of downloads advises another source; a new version has only the one that the publisher named."""
        if error.code in ("hash-mismatch", "source-changed"):
            return AppError("update-mismatch", name=self._file.name, host=error.data["host"])
        if error.code in ("source-refused", "insecure-redirect", "redirect-stray", "redirect-circle"):
            return NetworkError("update-refused", name=self._file.name, host=error.data["host"])
        return error


class UpdateLaunchJob:
    """Checks the file as it lies, then starts the installer or shows the file's folder.

    Ends with True if the installer runs and the window should close. Raises AppError("update-changed") where the
    file is not the one that was fetched, AppError("update-start") where the system does not start it.
    """

    def __init__(self, file: UpdateFile, folder: Path, installation_kind: InstallationKind, system: System) -> None:
        self._file, self._path, self._installation_kind, self._system = (
            file,
            folder / file.name,
            installation_kind,
            system,
        )

    def run(self, context: JobContext[Any]) -> bool:
        """Verify the file again, then start the installer or open its folder."""

        def verify_file(opened: BinaryIO) -> None:
            self._verify_hash(opened, context)

        if not is_owned(self._path.parent):
            raise self._changed_error()
        remove_old_files(self._path.parent, self._path.name)
        try:
            if self._installation_kind == "windows-installer" and self._system.name == "windows":
                self._system.start_checked(self._path, verify_file)
                return True
            with filesystem.open_regular(self._path) as file:
                verify_file(file)
        except (AppError, Cancelled):
            raise
        except FileNotFoundError as error:
            raise self._changed_error() from error
        except OSError as error:
            raise AppError("update-start", path=str(self._path), detail=os_error_text(error)) from error
        self._system.open_folder(self._path.parent)
        return False

    def _verify_hash(self, file: BinaryIO, context: JobContext[Any]) -> None:
        # A giant in its place is not read to its end.
        if os.fstat(file.fileno()).st_size != self._file.bytes:
            raise self._changed_error()
        if hash_file(file, context.cancel) != self._file.sha256:
            raise self._changed_error()

    def _changed_error(self) -> AppError:
        return AppError("update-changed", path=str(self._path))
