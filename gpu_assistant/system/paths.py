"""The same on every system: programs on PATH, interpreters each once, proxies, words that are checked.

Which folders are the operating system's own, where nobody's environment belongs; asked before there is any plan.

Where Windows draws lines around folders: how long a path may be, and what OneDrive keeps.

A file of its own, because both are asked before there is any plan.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from urllib.parse import urlsplit, urlunsplit

PROXY_VARIABLES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY")


def absolute_path_folders(environ: Mapping[str, str]) -> list[Path]:
    """The folders of PATH that are named in full, in order."""
    folders = (Path(entry) for entry in environ.get("PATH", "").split(os.pathsep) if entry)
    return [folder for folder in folders if folder.is_absolute()]


def find_on_path(file_names: Iterable[str], environ: Mapping[str, str]) -> Path | None:
    """The first program of one of these names on PATH."""
    names = tuple(file_names)
    for folder in absolute_path_folders(environ):
        for name in names:
            path = folder / name
            if path.is_file() and os.access(path, os.X_OK):
                return path
    return None


def unique_interpreters(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Interpreters that are there, each once: an environment by its folder, any other by its real file.

    Scripts are left out: they are shims of version managers, whose real interpreters are listed elsewhere.
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
        except OSError:
            continue
        interpreters[key] = path
    return tuple(interpreters.values())


def unique_folders(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Folders that are there, each real one once."""
    folders: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            folders.setdefault(path.resolve(), path)
    return tuple(folders.values())


def proxy_from_environment(environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for https, without user name and password."""
    for name in PROXY_VARIABLES:
        if value := environ.get(name):
            return strip_credentials(value)
    return None


def strip_credentials(address: str) -> str:
    """An address without the user name and password in it."""
    if "@" not in address:
        return address
    if "://" not in address:
        return address.rpartition("@")[2]
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def check_variable_name(name: str) -> str:
    """A variable's name that every system takes; raises ValueError."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"not a variable's name: {name!r}")
    return name


def check_variable_value(value: str) -> str:
    """A value of one line; raises ValueError."""
    if re.search(r"[\0\r\n]", value):
        raise ValueError("a variable's value is one line")
    return value


def check_command_line(argv: Sequence[str | Path]) -> list[str]:
    """The words of a command whose program is named by its full path; raises ValueError."""
    arguments = [str(argument) for argument in argv]
    if not arguments or not Path(arguments[0]).is_absolute():
        raise ValueError(f"a program is named by its full path, not as {arguments[:1]!r}")
    if any(re.search(r"[\0\r\n]", argument) for argument in arguments):
        raise ValueError("a command is one line")
    return arguments


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
RESERVED_NAME = re.compile(
    r'(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*|\s*)|.*[. ]|.*[<>:"|?*].*', re.IGNORECASE
)


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
        system_roots, writable_roots, shared_roots = (
            [Path(path_text) for path_text in paths.split()]
            for paths in (SYSTEM_FOLDERS, USER_WRITABLE_FOLDERS, SHARED_FOLDERS)
        )
    if path in shared_roots:
        return path
    if any(root in path.parents for root in writable_roots):
        return None
    return next((root for root in system_roots if path == root or root in path.parents), None)


# MAX_PATH with its closing zero, where the system was not told to allow more.
MAX_PATH_LENGTH = 259
FILE_SYSTEM_KEY = r"SYSTEM\CurrentControlSet\Control\FileSystem"
# As OneDrive itself writes them down for each account; redirected Documents and Desktop lie below.
ONEDRIVE_VARIABLES = ("OneDrive", "OneDriveConsumer", "OneDriveCommercial")


def max_path_length() -> int | None:
    """How many letters a path may have; None where only the file system limits it."""
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
