"""File locks between processes: one install and one benchmark for each data folder, one user of each environment, one
download for each file.

The system releases a lock when its holder dies, however it dies; the file that is left locks nobody out.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..core import filesystem
from ..core.errors import AppError, storage_error
from ..core.json import write_file
from ..core.paths import DataDir

# A process that waits has to ask: the system wakes nobody when a lock is released.
LOCK_POLL_S = 0.1
MAX_PID_DIGITS = 10  # of 32 bits; the file may be damaged


@contextmanager
def file_lock(path: Path, busy_error: AppError, is_cancelled: Callable[[], bool] | None = None) -> Iterator[None]:
    """Hold the lock file at `path`, which is deleted with the lock. Raises OSError.

    Raises `busy_error` at once while another process or thread holds it; with `is_cancelled`, which is asked ten times
    a second, it waits until that returns True.
    """
    import filelock

    lock = filelock.FileLock(path, timeout=0 if is_cancelled is None else -1)
    try:
        lock.acquire(poll_interval=LOCK_POLL_S, cancel_check=is_cancelled)
    except filelock.Timeout as error:
        raise busy_error from error
    try:
        yield
    finally:
        # Linux: deleted before the release, else it might be another holder's file. Windows cannot delete an open file.
        # What the disk does not let go of is the next holder's: the work is done, and the lock must be released.
        if sys.platform != "win32":
            with suppress(OSError):
                path.unlink()
        lock.release()
        if sys.platform == "win32":
            with suppress(OSError):
                path.unlink()


@contextmanager
def data_folder_lock(data: DataDir, purpose: str = "install", error_code: str = "already-running") -> Iterator[None]:
    """Hold the data folder for a purpose; raises AppError(`error_code`, pid=…) while another process does."""
    lock_file, pid_file = data_folder_lock_files(data, purpose)
    data.claim(data.state)
    with ExitStack() as stack:
        try:
            stack.enter_context(file_lock(lock_file, AppError(error_code)))
        except AppError as error:
            raise AppError(error_code, pid=_read_pid(pid_file)) from error
        except OSError as error:
            raise storage_error(error, data.root) from error
        stack.callback(_remove, pid_file)
        write_file(pid_file, str(os.getpid()))
        yield


@contextmanager
def environment_lock(environment: Path) -> Iterator[None]:
    """Hold an environment while something changes it or measures in it, whatever the data folder.

    Raises AppError("environment-busy", path=…) while another program of this user does. The lock lies in the system's
    folder for temporary files: an environment's own would keep its parent folders from being removed.
    """
    name = hashlib.sha256(os.fsencode(os.path.normcase(os.path.realpath(environment)))).hexdigest()[:32]
    with ExitStack() as stack:
        try:
            folder = _user_lock_folder()
            stack.enter_context(file_lock(folder / f"{name}.lock", AppError("environment-busy", path=str(environment))))
        except OSError as error:  # a full disk, a folder of somebody else: the work itself does not need it
            logging.getLogger(__name__).warning("no lock of the environment: %s", error)
        yield


def lock_parent() -> Path:
    """The system's folder for temporary files, the same for all programs of a user: TMPDIR and TEMP may differ between
    a terminal and the desktop.
    """
    if sys.platform == "win32":
        from platformdirs import user_runtime_path

        return user_runtime_path()  # in the user's profile
    return Path("/tmp")  # noqa: S108 - Filesystem Hierarchy Standard 3.0, 3.18; what lies in it is checked


def _user_lock_folder() -> Path:
    """A folder that only this user can write to; raises OSError."""
    if sys.platform == "win32":
        folder = lock_parent() / "gpu-assistant"
        folder.mkdir(parents=True, exist_ok=True)
    else:
        folder = lock_parent() / f"gpu-assistant-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    return folder


def data_folder_lock_files(data: DataDir, purpose: str = "install") -> tuple[Path, Path]:
    """The lock file, and the one with the holder's process id: a locked file cannot be read on Windows."""
    return data.state / f"{purpose}.lock", data.state / f"{purpose}.pid"


def check_no_install_running(data: DataDir) -> None:
    """Raise AppError("already-running", pid=…) while another process holds the data folder."""
    # A process that was killed leaves its file, but no lock.
    if (data.state / "install.pid").is_file():
        with data_folder_lock(data):
            pass


def _read_pid(pid_file: Path) -> int | None:
    text = filesystem.read_bytes(pid_file) if pid_file.is_file() else b""
    return int(text) if text.isdigit() and len(text) <= MAX_PID_DIGITS else None


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
