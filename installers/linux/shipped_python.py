"""The CPython that the Linux package is shipped with: given by its prefix, or the pinned standalone build."""

from __future__ import annotations

import sys
import tarfile
import threading
from dataclasses import dataclass
from pathlib import Path

from stage import BuildError, Python


@dataclass(frozen=True)
class Prefix:
    """A CPython and what a program is compiled and linked with."""

    python: Python
    headers: Path
    libraries: Path


def find(prefix: Path) -> Prefix:
    """The CPython below a prefix such as `sys.base_prefix`; raises BuildError."""
    shared = sorted(prefix.glob("lib/libpython3.[0-9]*.so.1.0"))
    if len(shared) != 1:
        raise BuildError(f"{prefix} holds no CPython with one shared library in lib/: take one built with it.")
    minor = shared[0].name.removeprefix("libpython").removesuffix(".so.1.0")
    library = prefix / "lib" / f"python{minor}"
    headers = prefix / "include" / f"python{minor}"
    if not (headers / "Python.h").is_file():
        raise BuildError(f"{headers}/Python.h is missing, which the launcher is compiled with: take a CPython with it.")
    licence = next((file for file in (library / "LICENSE.txt", prefix / "LICENSE") if file.is_file()), None)
    python = Python("linux", minor, prefix / "lib", library, library / "lib-dynload", licence)
    return Prefix(python, headers, prefix / "lib")


def pinned(scratch: Path) -> Path:
    """The catalogue's standalone build of the running minor version, fetched, checked and unpacked; its prefix.

    Raises BuildError.
    """
    from gpu_assistant.catalog.store import load_catalog
    from gpu_assistant.core.errors import AppError
    from gpu_assistant.core.files import RemoteFile
    from gpu_assistant.core.paths import resources_dir
    from gpu_assistant.fetch.downloader import Downloader
    from gpu_assistant.fetch.request import DownloadRequest

    asked = (f"{sys.version_info[0]}.{sys.version_info[1]}", "linux", "x86_64")
    builds = load_catalog(resources_dir() / "catalog").pythons.builds
    build = next((each for each in builds if (each.series, each.system, each.arch) == asked), None)
    if build is None:
        raise BuildError(f"The catalogue names no standalone Python {asked[0]} for Linux: build with another Python.")
    archive = scratch / "python.tar.gz"
    file = RemoteFile(urls=(build.url,), name=archive.name, sha256=build.sha256, bytes=build.bytes)
    wanted = DownloadRequest(file=file, path=archive)
    try:
        Downloader([wanted], cancel=threading.Event()).run()
    except AppError as error:
        raise BuildError(f"{build.url} cannot be fetched ({error}); name another CPython with --python.") from error
    with tarfile.open(archive) as opened:
        opened.extractall(scratch, filter="tar")
    return scratch / "python"
