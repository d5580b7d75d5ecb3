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
from ..core.plan import CurrentState
from ..fetch.wanted import Wanted

HASH_BLOCK_BYTES = 1 << 20
LINK_PREFIX = "-> "


class IndexSource(Struct, frozen=True, kw_only=True):
    """The index that was read; `pinned` tells that the catalog knew its sha256 beforehand."""

    url: str
    sha256: str
    pinned: bool


class ArchiveRecord(Struct, frozen=True, kw_only=True):
    """One archive, by what it is a part of."""

    part: str
    version: str
    url: str
    sha256: str
    bytes: int | None

    def download_request(self, folder: Path) -> Wanted:
        """The file as the downloader takes it, below a folder of files."""
        name = self.url.rpartition("/")[2]
        return Wanted(url=self.url, path=folder / self.sha256[:16] / name, sha256=self.sha256, bytes=self.bytes)


class ReceiptPart(Struct, frozen=True, kw_only=True):
    """One archive and its files, by path below the folder: a sha256, or "-> " and a link's target."""

    archive: ArchiveRecord
    files: dict[str, str]


class Receipt(Struct, frozen=True, kw_only=True):
    """All that was put into a folder: from which index (None: the archive stands in the catalog), and own links."""

    schema: Literal["gpu-assistant/receipt/1"]
    version: str
    platform: str
    index: IndexSource | None
    parts: tuple[ReceiptPart, ...]
    links: dict[str, str] = {}

    @property
    def files(self) -> dict[str, str]:
        """Every file and link."""
        link_files = {name: LINK_PREFIX + target for name, target in self.links.items()}
        return {name: content_hash for part in self.parts for name, content_hash in part.files.items()} | link_files


def read_receipt(path: Path) -> Receipt | None:
    """A receipt; None where there is no whole one."""
    return _read_struct(path, Receipt)


def read_receipt_part(path: Path) -> ReceiptPart | None:
    """One part's own note; None where there is no whole one."""
    return _read_struct(path, ReceiptPart)


def _read_struct(path: Path, struct_type: type[json.T]) -> json.T | None:
    try:
        return json.decode(path.read_bytes(), struct_type)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def receipt_state(folder: Path, name: str, version: str, platform: str) -> CurrentState | None:
    """What a plan tells of a folder with a receipt, by its files' names alone; None where there is no such one."""
    receipt = read_receipt(folder / name)
    if receipt is None or (receipt.version, receipt.platform) != (version, platform):
        return None
    is_incomplete = any(not os.path.lexists(folder / file) for file in receipt.files)
    return CurrentState(code="now.repair" if is_incomplete else "now.here", data={"path": str(folder)})


def files_match(
    folder: Path, files: Mapping[str, str], cancel: threading.Event, progress: Callable[[int], None] = lambda _: None
) -> bool:
    """Whether every file lies there with its hash; raises Cancelled."""
    done_bytes = 0
    for name, expected in files.items():
        path = folder.joinpath(*name.split("/"))
        try:
            if expected.startswith(LINK_PREFIX):
                if path.readlink() != Path(expected.removeprefix(LINK_PREFIX)):
                    return False
                continue
            if path.is_symlink():
                return False
            hasher = hashlib.sha256()
            with path.open("rb") as file:
                while block := file.read(HASH_BLOCK_BYTES):
                    if cancel.is_set():
                        raise Cancelled
                    hasher.update(block)
                    done_bytes += len(block)
                    progress(done_bytes)
        except OSError:
            return False
        if hasher.hexdigest() != expected:
            return False
    return True
