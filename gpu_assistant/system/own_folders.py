"""Which folders are the operating system's own, where nobody's environment belongs; asked before there is any plan."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath

# With all that is in them, by the Filesystem Hierarchy Standard, and those of single systems.
SYSTEM_FOLDERS = "/bin /boot /dev /efi /etc /lib /lib32 /lib64 /libx32 /lost+found /nix /proc /sbin /sys /usr /System"
# What stands in one of those and is for others all the same.
USER_WRITABLE_FOLDERS = "/dev/shm /usr/local"  # noqa: S108 - the name of a place where others may write
# Shared by everybody: a folder inside of them may be somebody's own, they are not.
SHARED_FOLDERS = (
    "/Applications /Library /Users /Volumes /dev/shm /home /media /mnt /opt /root /run /run/media /run/user /srv /tmp "
    "/usr/local /usr/local/bin /usr/local/etc /usr/local/lib /usr/local/share /var /var/cache /var/lib /var/log "
    "/var/spool /var/tmp"
)
# The same of Windows, by the variables that name them.
WINDOWS_SYSTEM_VARIABLES = ("SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432")
WINDOWS_WRITABLE_VARIABLES = ("TEMP", "TMP")
WINDOWS_SHARED_VARIABLES = ("ProgramData", "PUBLIC", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP")

# No names on Windows, with whatever ending: its devices, and what it drops or takes for something else.
RESERVED_NAME = re.compile(r'(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*|\s*)|.*[. ]|.*[<>:"|?*].*', re.IGNORECASE)


def reserved_path_part(folder: PurePath, *, windows: bool = sys.platform == "win32") -> str | None:
    """The part of a path that Windows makes no folder of, or another one than it says; None elsewhere."""
    parts = folder.parts[1:] if windows else ()
    return next((part for part in parts if RESERVED_NAME.fullmatch(part)), None)


def enclosing_system_folder(folder: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The system's own folder that a folder is or lies in, links followed; None elsewhere."""
    for candidate in dict.fromkeys((folder, Path(os.path.realpath(folder)))):
        match = _match_system_folder(candidate, environ)
        if match is not None:
            return match
    return None


def _match_system_folder(path: Path, environ: Mapping[str, str]) -> Path | None:
    if sys.platform == "win32":
        system_roots, writable_roots, shared_roots = (
            [Path(environ[name]) for name in names if environ.get(name)]
            for names in (WINDOWS_SYSTEM_VARIABLES, WINDOWS_WRITABLE_VARIABLES, WINDOWS_SHARED_VARIABLES)
        )
    else:
        system_roots, writable_roots, shared_roots = ([Path(path_text) for path_text in paths.split()] for paths in (SYSTEM_FOLDERS, USER_WRITABLE_FOLDERS, SHARED_FOLDERS))
    if path in shared_roots:
        return path
    if any(root in path.parents for root in writable_roots):
        return None
    return next((root for root in system_roots if path == root or root in path.parents), None)
