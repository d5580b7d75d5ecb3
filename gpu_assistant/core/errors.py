"""Errors that reach a user. They carry a code and figures; a face says the sentence (`error.<code>`).

AppError            exit 1  the machine, the environment or the work
├── CannotSetUp   exit 1  no step of ours does this here
├── DiskTooSmall  exit 1  too little room, and which other disk has it
├── CallError       exit 2  the call itself (bad option, broken machine or plan file)
├── Cancelled       exit 3  stopped by the user, can be resumed
├── RebootNeeded    exit 4  done so far, restart, then --resume
├── RightsRefused   exit 5  administrator rights refused
└── NetworkError    exit 6  no network, or no source answered

Why the system refused something of a file, a program or a port: a text of ours where we have words for it.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .recommendation import Alternative
    from .types import Message, Value


# What a picked version is one of, by the part; a driver's is told as its maker tells it.
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
    """Something is wrong, and we know what to say about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, *, alternatives: tuple[Alternative, ...] = (), **data: Value) -> None:
        super().__init__(code, data)
        self.code = code
        self.data = data
        self.alternatives = alternatives

    @property
    def message(self) -> Message:
        """The text's key and its figures."""
        from .types import Message

        return Message(f"error.{self.code}", self.data)


class SetupNotSupported(AppError):
    """Nothing is broken, but no step of ours can do this; the sentence says why, and what to do by hand."""


class UsageError(AppError):
    """The call is wrong: nothing was tried."""

    exit_code = 2


class InsufficientDiskSpace(AppError):
    """Too little is free on the disk of `path`. `goes` is what lies there, "data" (the data folder and all below it) or
    "env" (the environment alone); `other` tells of a disk with room, as `disks.elsewhere` has it.
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

    @property
    def message(self) -> Message:
        """With the way to the other disk, if there is one."""
        from .types import Message

        return Message(f"error.{self.code}{'-' if self._contents else ''}{self._contents}", self.data)


class UnsatisfiableChoice(UsageError):
    """What the user picked for a part cannot work. `why` is the code of a text, `newest` what works instead (None:
    nothing of the kind is known to).
    """

    def __init__(self, *, part: str, choice: str, why: str, newest: str | None, **extra: Value) -> None:
        super().__init__("choice-impossible", part=part, choice=choice, why=why, newest=newest)
        self.data |= extra

    @property
    def message(self) -> Message:
        """By the names of the parts; nothing is named where nothing works."""
        from .types import Message

        part, choice, newest = (str(self.data[key] or "") for key in ("part", "choice", "newest"))
        labels: dict[str, Value] = {
            "choice": _with_product_name(part, choice),
            "newest": _with_product_name(part, newest) or None,
        }
        return Message(f"error.{self.code}{'' if newest else '-alone'}", self.data | labels)


def _with_product_name(part: str, version: str) -> str:
    """A picked version with the name of what it is one of: "PyTorch 9.9", "PyTorch cu999", "cuDNN 9.1"."""
    name = PRODUCT_NAMES.get(part)
    if name is None or not version or version.startswith("Python"):
        return version
    return f"{name} {version}"


class Cancelled(AppError):
    """The user said stop; what is done stays done."""

    exit_code = 3

    def __init__(self, code: str = "cancelled") -> None:
        super().__init__(code)


class RebootRequired(AppError):
    """Go on after a restart."""

    exit_code = 4


class ElevationDenied(AppError):
    """The user or the system said no to administrator rights."""

    exit_code = 5


class NetworkError(AppError):
    """No source answered."""

    exit_code = 6


# `@os.<word>` of resources/texts/os.json.
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
# winerror.h: sharing violation, lock violation; Python calls both a refusal.
WINDOWS_LOCK_ERRORS = (32, 33)


def os_error_text(error: OSError) -> str:
    """The code of a text ("@os.full"), or the system's own words where it means something rare."""
    if getattr(error, "winerror", None) in WINDOWS_LOCK_ERRORS:
        return "@os.in-use"
    key = OS_ERROR_KEYS.get(error.errno) if error.errno is not None else None
    return error.strerror or str(error) if key is None else f"@os.{key}"
