"""One of a kind at a time: one install and one benchmark for each data folder, one download for each file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..core.errors import AppError
from ..core.json import storage_error, write_file
from ..core.paths import DataDir

# The system wakes nobody when another process lets go of a lock.
LOCK_POLL_S = 0.1


@contextmanager
def data_folder_lock(data: DataDir, purpose: str = "install", error_code: str = "already-running") -> Iterator[None]:
    """Hold the data folder for `what`; raises AppError(`code`, pid=…) while another process does.

    The system lets go of it when we die, however we die.
    """
    import filelock

    path = data.state / f"{purpose}.lock"
    # Beside it, because a locked file cannot be read on Windows.
    pid_file = data.state / f"{purpose}.pid"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(path, timeout=0)
        lock.acquire()
    except filelock.Timeout as error:
        raise AppError(error_code, pid=_read_pid(pid_file.read_bytes() if pid_file.is_file() else b"")) from error
    except OSError as error:
        raise storage_error(error, data.root) from error
    try:
        write_file(pid_file, str(os.getpid()))
        yield
    finally:
        with suppress(OSError):
            pid_file.unlink()
        lock.release()


@contextmanager
def file_lock(path: Path, busy_error: AppError, is_cancelled: Callable[[], bool] | None = None) -> Iterator[None]:
    """Hold a lock of this name, which goes with it; raises `busy` while another process or thread does, and OSError.

    With `given_up`, which is asked ten times a second, the other one is waited for until that says so. The system lets
    go of it when we die; the file that is left then locks nobody out.
    """
    import filelock

    from . import current_system

    lock = filelock.FileLock(path, timeout=0 if is_cancelled is None else -1)
    try:
        lock.acquire(poll_interval=LOCK_POLL_S, cancel_check=is_cancelled)
    except filelock.Timeout as error:
        raise busy_error from error
    try:
        yield
    finally:
        # Linux: before it is free, else somebody may hold the name already. Windows: an open file keeps its name.
        on_windows = current_system().name == "windows"
        if not on_windows:
            path.unlink(missing_ok=True)
        lock.release()
        if on_windows:
            with suppress(OSError):
                path.unlink()


def check_no_install_running(data: DataDir) -> None:
    """Raise AppError("already-running", pid=…) while another process holds the data folder."""
    # Who was killed left the file; nobody holds the lock then.
    if (data.state / "install.pid").is_file():
        with data_folder_lock(data):
            pass


def _read_pid(text: bytes) -> int | None:
    return int(text) if text.isdigit() else None
