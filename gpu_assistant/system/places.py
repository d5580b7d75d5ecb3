"""The same on every system: programs on PATH, interpreters each once, proxies, words that are checked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
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
