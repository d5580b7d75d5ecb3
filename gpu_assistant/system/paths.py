"""Folders and files, by the same rules on every system: interpreters and folders listed once, the operating system's
own folders, and which paths Windows cannot have.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from .base import FolderWriters

# With everything in them, by the Filesystem Hierarchy Standard, and folders of single systems.
SYSTEM_FOLDERS = "/bin /boot /dev /efi /etc /lib /lib32 /lib64 /libx32 /lost+found /nix /proc /sbin /sys /usr /System"
# Folders inside of those that hold other people's files.
USER_WRITABLE_FOLDERS = "/dev/shm /usr/local"  # noqa: S108 - the name of a place where others may write
# Shared by everybody: a folder inside of them may belong to a user, they themselves do not.
SHARED_FOLDERS = (
    "/Applications /Library /Users /Volumes /dev/shm /home /media /mnt /opt /root /run /run/media /run/user /srv /tmp "
    "/usr/local /usr/local/bin /usr/local/etc /usr/local/lib /usr/local/share /var /var/cache /var/lib /var/log "
    "/var/spool /var/tmp"
)
# The same of Windows, by the variables that name them.
WINDOWS_SYSTEM_VARIABLES = ("SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432")
WINDOWS_WRITABLE_VARIABLES = ("TEMP", "TMP")
WINDOWS_SHARED_VARIABLES = ("ProgramData", "PUBLIC", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP")

# What Windows cannot call a file: its devices, with any ending, and what it drops or takes for something else.
RESERVED_NAME = re.compile(
    r'(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*|\s*)|.*[. ]|.*[<>:"|?*].*', re.IGNORECASE
)

# MAX_PATH without its terminating zero; a setting of Windows lifts this limit.
MAX_PATH_LENGTH = 259
ERROR_CANT_ACCESS_FILE = 1920  # winerror.h
FILE_SYSTEM_KEY = r"SYSTEM\CurrentControlSet\Control\FileSystem"
# Set by OneDrive for each account; redirected Documents and Desktop lie below.
ONEDRIVE_VARIABLES = ("OneDrive", "OneDriveConsumer", "OneDriveCommercial")


def is_private(path: Path) -> bool:
    """Whether a file is this user's own, no link, and, on Linux, not writable by others. A missing one is not."""
    try:
        status = path.lstat()
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode):
        return False
    if sys.platform == "win32":  # the folder's permissions decide who may write
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH


def folder_writers(folder: Path) -> FolderWriters:
    """Who, beside root, may change a folder on Linux, or rename one above it; raises OSError."""
    import grp
    import pwd

    accounts: set[str] = set()
    for each in (folder, *folder.resolve().parents):
        status = each.stat()
        # In a sticky folder, as /tmp is, one renames only what is one's own.
        is_sticky = each != folder and bool(status.st_mode & stat.S_ISVTX)
        if status.st_mode & stat.S_IWOTH and not is_sticky:
            return FolderWriters((), everybody=True)
        accounts |= {user.pw_name for user in pwd.getpwall() if user.pw_uid == status.st_uid} or {str(status.st_uid)}
        if status.st_mode & stat.S_IWGRP and not is_sticky:
            members = {user.pw_name for user in pwd.getpwall() if user.pw_gid == status.st_gid}
            with suppress(KeyError):
                members |= {*grp.getgrgid(status.st_gid).gr_mem}
            accounts |= members or {str(status.st_gid)}
    return FolderWriters(tuple(sorted(accounts - {"root"})) or ("root",))


def unique_interpreters(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The existing interpreters, each once: an environment's by its folder, any other by its real file.

    Scripts are left out: they are shims of version managers, whose real interpreters are listed as well.
    """
    interpreters: dict[Path, Path] = {}
    for path in paths:
        try:
            if not path.is_file():
                continue
            prefix = path.parent.parent
            key = prefix.resolve() if (prefix / "pyvenv.cfg").is_file() else path.resolve()
            if key in interpreters:
                continue
            with path.open("rb") as file:
                if file.read(2) == b"#!":
                    continue
        except OSError as error:
            # Programs of Microsoft's Store are links that Windows follows when they are started, and nobody can read.
            if getattr(error, "winerror", None) != ERROR_CANT_ACCESS_FILE:
                continue
            key = path
        interpreters[key] = path
    return tuple(interpreters.values())


def unique_folders(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The existing folders, each real one once."""
    folders: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            folders.setdefault(path.resolve(), path)
    return tuple(folders.values())


def enclosing_system_folder(folder: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The operating system's own folder that a folder is or lies in, links resolved; None elsewhere."""
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
        system_roots, writable_roots, shared_roots = (
            [Path(path_text) for path_text in paths.split()]
            for paths in (SYSTEM_FOLDERS, USER_WRITABLE_FOLDERS, SHARED_FOLDERS)
        )
    if path in shared_roots:
        return path
    if any(root in path.parents for root in writable_roots):
        return None
    return next((root for root in system_roots if path == root or root in path.parents), None)


def reserved_path_part(folder: PurePath, *, windows: bool = sys.platform == "win32") -> str | None:
    """The part of a path that Windows cannot create, or creates under another name; None elsewhere."""
    parts = folder.parts[1:] if windows else ()
    return next((part for part in parts if RESERVED_NAME.fullmatch(part)), None)


def max_path_length() -> int | None:
    """How many characters a path may have; None where only the file system limits it."""
    if sys.platform == "win32":
        from .windows import registry

        return None if registry.number(registry.MACHINE, FILE_SYSTEM_KEY, "LongPathsEnabled") else MAX_PATH_LENGTH
    else:  # noqa: RET505 - the type checker follows one branch per system
        return None


def onedrive_root(folder: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The OneDrive folder that a folder lies in; None outside of any."""
    for name in ONEDRIVE_VARIABLES:
        if (root := environ.get(name)) and folder.is_relative_to(root):
            return Path(root)
    return None
