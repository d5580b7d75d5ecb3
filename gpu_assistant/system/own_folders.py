"""Which folders are the operating system's own, where nobody's environment belongs; asked before there is any plan."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath

# With all that is in them, by the Filesystem Hierarchy Standard, and those of single systems.
WHOLE = "/bin /boot /dev /efi /etc /lib /lib32 /lib64 /libx32 /lost+found /nix /proc /sbin /sys /usr /System"
# What stands in one of those and is for others all the same.
FREE = "/dev/shm /usr/local"  # noqa: S108 - the name of a place where others may write
# Shared by everybody: a folder inside of them may be somebody's own, they are not.
SHARED = (
    "/Applications /Library /Users /Volumes /dev/shm /home /media /mnt /opt /root /run /run/media /run/user /srv /tmp "
    "/usr/local /usr/local/bin /usr/local/etc /usr/local/lib /usr/local/share /var /var/cache /var/lib /var/log "
    "/var/spool /var/tmp"
)
# The same of Windows, by the variables that name them.
WINDOWS_WHOLE = ("SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432")
WINDOWS_FREE = ("TEMP", "TMP")
WINDOWS_SHARED = ("ProgramData", "PUBLIC", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP")

# No names on Windows, with whatever ending: its devices, and what it drops or takes for something else.
ODD = re.compile(r'(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*|\s*)|.*[. ]|.*[<>:"|?*].*', re.IGNORECASE)


def odd_name(folder: PurePath, *, windows: bool = sys.platform == "win32") -> str | None:
    """The part of a path that Windows makes no folder of, or another one than it says; None elsewhere."""
    parts = folder.parts[1:] if windows else ()
    return next((part for part in parts if ODD.fullmatch(part)), None)


def system_folder(folder: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The system's own folder that a folder is or lies in, links followed; None elsewhere."""
    for place in dict.fromkeys((folder, Path(os.path.realpath(folder)))):
        found = _own(place, environ)
        if found is not None:
            return found
    return None


def _own(place: Path, environ: Mapping[str, str]) -> Path | None:
    if sys.platform == "win32":
        whole, free, shared = (
            [Path(environ[name]) for name in names if environ.get(name)]
            for names in (WINDOWS_WHOLE, WINDOWS_FREE, WINDOWS_SHARED)
        )
    else:
        whole, free, shared = ([Path(word) for word in words.split()] for words in (WHOLE, FREE, SHARED))
    if place in shared:
        return place
    if any(other in place.parents for other in free):
        return None
    return next((other for other in whole if place == other or other in place.parents), None)
