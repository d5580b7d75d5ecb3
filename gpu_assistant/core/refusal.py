"""Why the system refused something of a file, a program or a port: a text of ours where we have words for it."""

from __future__ import annotations

import errno

# `@os.<word>` of resources/texts/os.json.
WORDS = {
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
HELD = (32, 33)


def why(error: OSError) -> str:
    """The code of a text ("@os.full"), or the system's own words where it means something rare."""
    if getattr(error, "winerror", None) in HELD:
        return "@os.in-use"
    word = WORDS.get(error.errno) if error.errno is not None else None
    return error.strerror or str(error) if word is None else f"@os.{word}"
