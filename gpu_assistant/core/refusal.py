"""Why the system refused something of a file, a program or a port: a text of ours where we have words for it."""

from __future__ import annotations

import errno

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
