"""What an unpacked archive brought, file by file with hashes: by it a later run knows what is whole."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..core import json
from ..core.errors import Cancelled
from ..core.plan import Now
from ..fetch.wanted import Wanted

BLOCK = 1 << 20
LINK = "-> "


class Source(Struct, frozen=True, kw_only=True):
    """The index that was read; `pinned` tells that the catalog knew its sha256 beforehand."""

    url: str
    sha256: str
    pinned: bool


class Archive(Struct, frozen=True, kw_only=True):
    """One archive, by what it is a part of."""

    part: str
    version: str
    url: str
    sha256: str
    bytes: int | None

    def wanted(self, folder: Path) -> Wanted:
        """The file as the downloader takes it, below a folder of files."""
        name = self.url.rpartition("/")[2]
        return Wanted(url=self.url, path=folder / self.sha256[:16] / name, sha256=self.sha256, bytes=self.bytes)


class Part(Struct, frozen=True, kw_only=True):
    """One archive and its files, by path below the folder: a sha256, or "-> " and a link's target."""

    archive: Archive
    files: dict[str, str]


class Receipt(Struct, frozen=True, kw_only=True):
    """All that was put into a folder: from which index (None: the archive stands in the catalog), and own links."""

    schema: Literal["gpu-assistant/receipt/1"]
    version: str
    platform: str
    index: Source | None
    parts: tuple[Part, ...]
    links: dict[str, str] = {}

    @property
    def files(self) -> dict[str, str]:
        """Every file and link."""
        own = {name: LINK + target for name, target in self.links.items()}
        return {name: digest for part in self.parts for name, digest in part.files.items()} | own


def read(path: Path) -> Receipt | None:
    """A receipt; None where there is no whole one."""
    return _read(path, Receipt)


def read_part(path: Path) -> Part | None:
    """One part's own note; None where there is no whole one."""
    return _read(path, Part)


def _read(path: Path, kind: type[json.T]) -> json.T | None:
    try:
        return json.decode(path.read_bytes(), kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def now(folder: Path, name: str, version: str, platform: str) -> Now | None:
    """What a plan tells of a folder with a receipt, by its files' names alone; None where there is no such one."""
    there = read(folder / name)
    if there is None or (there.version, there.platform) != (version, platform):
        return None
    missing = any(not os.path.lexists(folder / file) for file in there.files)
    return Now(code="now.repair" if missing else "now.here", data={"path": str(folder)})


def whole(
    folder: Path, files: Mapping[str, str], cancel: threading.Event, progress: Callable[[int], None] = lambda _: None
) -> bool:
    """Whether every file lies there with its hash; raises Cancelled."""
    done = 0
    for name, digest in files.items():
        path = folder.joinpath(*name.split("/"))
        try:
            if digest.startswith(LINK):
                if path.readlink() != Path(digest.removeprefix(LINK)):
                    return False
                continue
            if path.is_symlink():
                return False
            now = hashlib.sha256()
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    if cancel.is_set():
                        raise Cancelled
                    now.update(block)
                    done += len(block)
                    progress(done)
        except OSError:
            return False
        if now.hexdigest() != digest:
            return False
    return True
