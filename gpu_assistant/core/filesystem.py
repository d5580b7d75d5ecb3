"""Renaming and deleting, with patience for files that another program has open; reading what may be no file.

Windows renames no folder below which a file is open, and neither renames nor deletes a file that was opened without
FILE_SHARE_DELETE. Virus scanners and the search indexer open each new file for a moment: what fails for that reason is
tried again for `PATIENCE_S` seconds. Everywhere else the first error is raised, as it is for every other reason.
Nor does Windows delete what has the read-only attribute (learn.microsoft.com/windows/win32/api/fileapi/
nf-fileapi-deletefilew), as files of some packages of conda's have: it is taken away first.

Nothing else in the program renames or deletes (`tests/test_layering.py`), but for lock files, which are open because
they are in use.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

# Of a file that is read as a whole: more than a list of all files of the largest environment.
MAX_READ_BYTES = 64_000_000
BLOCK_BYTES = 1 << 16
PATIENCE_S = 10.0
NOTICE_AFTER_S = 0.5  # most scanners are done before
PAUSE_S = 0.1
# winerror.h: ERROR_ACCESS_DENIED (of a folder below which a file is open), _SHARING_VIOLATION, _LOCK_VIOLATION
BUSY_WINERRORS = (5, 32, 33)
# Files appear and disappear in a folder while processes that a killed run had started are still ending.
CHANGING_ERRNOS = (errno.ENOENT, errno.ENOTEMPTY)

_busy_listener: ContextVar[Callable[[Path], None] | None] = ContextVar("busy_listener", default=None)


@contextmanager
def report_busy(listener: Callable[[Path], None]) -> Iterator[None]:
    """Have `listener` called, on this thread, with each path that is waited for."""
    token = _busy_listener.set(listener)
    try:
        yield
    finally:
        _busy_listener.reset(token)


def read_bytes(path: Path, max_bytes: int = MAX_READ_BYTES) -> bytes:
    """The content of a file that the program finds by itself, links followed. Whoever can put something else in its
    place cannot make the program wait for a pipe, or fill the memory: raises OSError for what is no regular file
    (EINVAL) and for one of more than `max_bytes` (EFBIG).
    """
    with open_regular(path) as file:
        data = read_up_to(file, max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def read_up_to(file: BinaryIO, max_bytes: int) -> bytes:
    """At most the first `max_bytes` of an open file or pipe, whatever it grows to meanwhile. Raises OSError.

    `file.read(max_bytes)` would reserve as much memory, and a system that checks the whole buffer before it reads a few
    bytes into it takes its time: 0.1 s for 64 MB in Wine.
    """
    blocks = [file.read(min(os.fstat(file.fileno()).st_size, max_bytes))]
    left = max_bytes - len(blocks[0])
    # A pipe tells no size, nor does a file of /proc.
    while left and (block := file.read(min(BLOCK_BYTES, left))):
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks)


def read_text(path: Path, *, errors: str = "strict") -> str:
    """The same as UTF-8; raises UnicodeDecodeError, too."""
    return read_bytes(path).decode("utf-8", errors)


def open_regular(path: str | Path) -> BinaryIO:
    """A regular file, for reading; opening waits for nobody. Raises OSError."""
    return os.fdopen(open_descriptor(path)[0], "rb")


def open_descriptor(path: str | Path) -> tuple[int, int]:
    """The same as a descriptor, with the file's size in bytes: what the file objects of Python cost is more than what
    a small file does.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
    return descriptor, status.st_size


def rename(source: Path, target: Path) -> None:
    """Like `Path.rename`, with retries (see the module)."""
    _retry(source, lambda: source.rename(target), _is_busy)


def replace(source: Path, target: Path) -> None:
    """`Path.replace`: a file takes the place of another one."""
    _retry(target, lambda: source.replace(target), _is_busy)


def unlink(path: Path, *, missing_ok: bool = False) -> None:
    """Like `Path.unlink`, with retries (see the module)."""
    _retry(path, lambda: _delete(path, lambda: path.unlink(missing_ok=missing_ok)), _is_busy)


def rmdir(path: Path) -> None:
    """Like `Path.rmdir`, with retries (see the module)."""
    _retry(path, lambda: _delete(path, path.rmdir), _is_busy)


def remove_if_empty(path: Path) -> None:
    """Remove a folder that is empty; one that is not, is in use or is gone stays as it is.

    Raises OSError where the disk itself fails (EIO).
    """
    try:
        rmdir(path)
    except OSError as error:
        if error.errno == errno.EIO:
            raise


def rmtree(path: Path, *, ignore_errors: bool = False) -> None:
    """`shutil.rmtree`; nothing where the folder is not there."""

    def remove() -> None:
        if not os.path.lexists(path):
            return
        if sys.version_info >= (3, 12):
            shutil.rmtree(path, onexc=_delete_again)
        else:
            shutil.rmtree(path, onerror=lambda function, name, info: _delete_again(function, name, info[1]))

    try:
        _retry(path, remove, _is_busy_or_changing)
    except OSError:
        if not ignore_errors:
            raise
        shutil.rmtree(path, ignore_errors=True)


def _delete(path: Path, operate: Callable[[], object]) -> None:
    try:
        operate()
    except PermissionError:
        if not _clear_read_only(path):
            raise
        operate()


def _delete_again(function: Callable[..., Any], name: str, error: BaseException) -> None:
    """What `shutil.rmtree` calls for an error: once more without the attribute, else the error is raised."""
    if not isinstance(error, PermissionError) or not _clear_read_only(Path(name)):
        raise error
    function(name)


def _clear_read_only(path: Path) -> bool:
    """Take away the attribute of Windows; False where there is none."""
    try:
        attributes = getattr(path.lstat(), "st_file_attributes", 0)
        if not attributes & stat.FILE_ATTRIBUTE_READONLY:
            return False
        path.chmod(stat.S_IWRITE)
    except OSError:
        return False
    return True


def _is_busy(error: OSError) -> bool:
    return getattr(error, "winerror", None) in BUSY_WINERRORS


def _is_busy_or_changing(error: OSError) -> bool:
    return _is_busy(error) or error.errno in CHANGING_ERRNOS


def _retry(path: Path, operate: Callable[[], object], is_temporary: Callable[[OSError], bool]) -> None:
    started_at, is_reported = time.monotonic(), False
    while True:
        try:
            operate()
        except OSError as error:
            waited_s = time.monotonic() - started_at
            if not is_temporary(error) or waited_s >= PATIENCE_S:
                raise
        else:
            return
        listener = _busy_listener.get()
        if listener is not None and not is_reported and waited_s >= NOTICE_AFTER_S:
            is_reported = True
            listener(path)
        time.sleep(PAUSE_S)


def replace_surrogates(text: str) -> str:
    """U+FFFD in place of what is no Unicode: bytes that are not UTF-8 on Linux, half a character on Windows."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
