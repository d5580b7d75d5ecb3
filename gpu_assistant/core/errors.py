"""Errors that reach the user: a code, the values for its text, and the exit code of the command line.

AppError                    exit 1  the machine, the environment or the work
├── SetupNotSupported       exit 1  no step of this program can do it here
├── InsufficientDiskSpace   exit 1  too little room, and which other disk has enough
├── UsageError              exit 2  the call itself: a bad option, a broken machine or plan file
│   └── UnsatisfiableChoice exit 2  a version picked by hand that cannot work
├── Cancelled               exit 3  stopped by the user; can be resumed
├── RebootRequired          exit 4  done so far; restart, then `--resume`
├── ElevationDenied         exit 5  administrator rights refused
└── NetworkError            exit 6  no network, or no source answered

The text is `error.<code>` in `resources/texts/`; `cli/` and `gui/` translate it. An OSError that a file or folder
raised becomes an AppError by `storage_errors`, or a text by `os_error_text`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .message import Message
    from .recommendation import Alternative
    from .types import Value

# The product whose version a choice of this part names; a driver goes by its vendor.
PRODUCT_NAMES = {
    "pytorch": "PyTorch",
    "variant": "PyTorch",
    "python": "PyTorch",
    "tensorflow": "TensorFlow",
    "cuda_toolkit": "CUDA Toolkit",
    "toolkit_way": "CUDA Toolkit",
    "cudnn": "cuDNN",
    "driver": "NVIDIA",
}


class AppError(Exception):
    """A failure with a text of its own: `code` names it, `data` fills its placeholders."""

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, *, alternatives: tuple[Alternative, ...] = (), **data: Value) -> None:
        super().__init__(code, data)
        self.code = code
        self.data = data
        self.alternatives = alternatives

    @property
    def message(self) -> Message:
        """The key of the text and its values."""
        from .message import Message

        return Message(f"error.{self.code}", self.data)


class SetupNotSupported(AppError):
    """Nothing is broken, but no step of this program can do it; the text says why, and what to do by hand."""


class UsageError(AppError):
    """The call is wrong: nothing was tried."""

    exit_code = 2


class InsufficientDiskSpace(AppError):
    """Too few bytes are free on the disk of `path`. `contents` is what is stored there: "data" (the data folder with
    everything in it) or "env" (the environment alone). `other_disk` describes a disk with enough room
    (`machine.larger_disk_data`).
    """

    def __init__(
        self,
        *,
        path: str,
        needed_bytes: int,
        free_bytes: int,
        contents: str = "",
        other_disk: dict[str, Value] | None = None,
    ) -> None:
        super().__init__("disk-too-small", path=path, needed_bytes=needed_bytes, free_bytes=free_bytes)
        self.data |= other_disk or {}
        self._contents = contents if other_disk else ""
        self.missing_bytes = max(needed_bytes - free_bytes, 0)

    @property
    def message(self) -> Message:
        """The text that also says how to use the other disk, if there is one."""
        from .message import Message

        return Message(f"error.{self.code}{'-' if self._contents else ''}{self._contents}", self.data)


class UnsatisfiableChoice(UsageError):
    """A version picked by hand that cannot work. `why` is the code of a text, `newest` the version that works instead
    (None: none is known to work).
    """

    def __init__(self, *, part: str, choice: str, why: str, newest: str | None, **extra: Value) -> None:
        super().__init__("choice-impossible", part=part, choice=choice, why=why, newest=newest)
        self.data |= extra

    @property
    def message(self) -> Message:
        """The text with the product's name before each version."""
        from .message import Message

        part, choice, newest = (str(self.data[key] or "") for key in ("part", "choice", "newest"))
        labels: dict[str, Value] = {
            "choice": _with_product_name(part, choice),
            "newest": _with_product_name(part, newest) or None,
        }
        # A toolkit that is installed at all can be installed from its archives.
        ending = "-toolkit-way" if part == "toolkit_way" else "" if newest else "-alone"
        return Message(f"error.{self.code}{ending}", self.data | labels)


def _with_product_name(part: str, version: str) -> str:
    """The version after its product: "PyTorch 9.9", "PyTorch cu999", "cuDNN 9.1"."""
    name = PRODUCT_NAMES.get(part)
    if name is None or not version or version.startswith("Python"):
        return version
    return f"{name} {version}"


class Cancelled(AppError):
    """The user stopped the work; what is done stays done."""

    exit_code = 3

    def __init__(self, code: str = "cancelled") -> None:
        super().__init__(code)


# A RebootRequired of these codes comes before the user has installed the driver that is left to him.
DRIVER_AWAITED_CODES = ("driver-awaited", "driver-awaited-by-hand")


class RebootRequired(AppError):
    """The rest is done after a restart."""

    exit_code = 4


class ElevationDenied(AppError):
    """The user or the system refused administrator rights."""

    exit_code = 5


class NetworkError(AppError):
    """No source responded."""

    exit_code = 6


# errno to the key of a text: `@os.<key>` in resources/texts/os.json.
OS_ERROR_KEYS = {
    errno.ENOENT: "missing",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.EROFS: "read-only",
    errno.ENOSPC: "full",
    errno.EDQUOT: "quota",
    errno.EFBIG: "too-big",
    errno.ENAMETOOLONG: "long-name",
    errno.EISDIR: "folder",
    errno.ENOTDIR: "no-folder",
    errno.EEXIST: "there",
    errno.ENOTEMPTY: "not-empty",
    errno.EBUSY: "in-use",
    errno.ETXTBSY: "in-use",
    errno.EIO: "faulty",
    errno.ENODEV: "gone",
    errno.ENXIO: "gone",
    errno.ELOOP: "loop",
    errno.EMFILE: "many-files",
    errno.ENFILE: "many-files",
    errno.ENOMEM: "memory",
    errno.ENOEXEC: "no-program",
    errno.EADDRINUSE: "port-in-use",
}
# winerror.h
ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_FILENAME_EXCED_RANGE = 32, 33, 206
ERROR_VIRUS_INFECTED, ERROR_VIRUS_DELETED = 225, 226
# Software restriction or AppLocker; Smart App Control, or another policy of the organisation.
ERROR_ACCESS_DISABLED_BY_POLICY, ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION = 1260, 4551
# Python maps these to EACCES and EINVAL.
WINERROR_KEYS = {
    ERROR_SHARING_VIOLATION: "in-use",
    ERROR_LOCK_VIOLATION: "in-use",
    ERROR_VIRUS_INFECTED: "virus",
    ERROR_VIRUS_DELETED: "virus",
    ERROR_ACCESS_DISABLED_BY_POLICY: "blocked",
    ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION: "blocked",
}
MAX_NAME_LENGTH = 255  # characters of one file or folder name on Windows' file systems


def os_error_text(error: OSError) -> str:
    """The code of a text ("@os.full"); for an errno without one, the system's own message."""
    key = WINERROR_KEYS.get(getattr(error, "winerror", None) or 0)
    if key is None and error.errno is not None:
        key = OS_ERROR_KEYS.get(error.errno)
    return error.strerror or str(error) if key is None else f"@os.{key}"


def is_name_too_long(error: OSError, path: Path) -> bool:
    """Whether a path failed because it, or one name in it, is longer than the file system allows."""
    winerror: int | None = getattr(error, "winerror", None)
    # Windows has an error for a path that is too long, but reports a name that is too long as invalid or missing.
    not_found = winerror is not None or error.errno == errno.ENOENT
    # The path that failed may be a temporary file beside `path`, whose name is longer.
    failed_path = Path(error.filename) if isinstance(error.filename, str) else path
    too_long_name = not_found and any(len(name) > MAX_NAME_LENGTH for name in (*path.parts, *failed_path.parts))
    return error.errno == errno.ENAMETOOLONG or winerror == ERROR_FILENAME_EXCED_RANGE or too_long_name


def storage_error(error: OSError, path: Path) -> AppError:
    """What the user is told when `path` could not be read, written, moved or removed.

    UsageError("name-too-long"), else AppError "disk-full", "disk-read-only", "folder-unwritable", or "storage" with the
    text of any other errno.
    """
    folder = str(path)
    if is_name_too_long(error, path):
        return UsageError("name-too-long", path=folder)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return AppError("disk-full", path=folder)
    if error.errno == errno.EROFS:
        return AppError("disk-read-only", path=folder)
    if error.errno in (errno.EACCES, errno.EPERM):
        return AppError("folder-unwritable", path=folder)
    return AppError("storage", path=folder, detail=os_error_text(error))


@contextmanager
def storage_errors(path: Path, *, permission_code: str | None = None) -> Iterator[None]:
    """Raise `storage_error(error, path)` for every OSError of the block.

    A PermissionError becomes AppError(permission_code, path=…) where that is given: on Windows it means that a program
    has the file open ("environment-in-use").
    """
    try:
        yield
    except PermissionError as error:
        if permission_code is None:
            raise storage_error(error, path) from error
        raise AppError(permission_code, path=str(path)) from error
    except OSError as error:
        raise storage_error(error, path) from error
