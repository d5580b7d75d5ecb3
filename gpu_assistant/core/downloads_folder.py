"""Where the downloads are: in the data folder's cache, or in a folder that the user moved them to.

The record in the state folder is replaced as a whole: the folder that it names is the one in use. While downloads are
moved (`install/jobs/move_downloads.py`) it also names the other folder, in which copies may be left.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from . import filesystem, json
from .ownership import belongs_to
from .paths import DataDir

RECORD_NAME = "downloads.json"


class DownloadsRecord(Struct, frozen=True, kw_only=True):
    """`folder` None: the cache in the data folder. `leftover`: the folder in which a move has copies that nothing
    uses.
    """

    schema: Literal["gpu-assistant/downloads/1"] = "gpu-assistant/downloads/1"
    folder: str | None = None
    leftover: str | None = None


def read_record(data: DataDir) -> DownloadsRecord:
    """The record; that of the cache where there is none, or it is damaged."""
    try:
        return json.decode(filesystem.read_bytes(data.state / RECORD_NAME), DownloadsRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return DownloadsRecord()


def write_record(data: DataDir, record: DownloadsRecord) -> None:
    """Replace the record, flushed to the disk. Raises AppError."""
    json.write_file(data.claim(data.state) / RECORD_NAME, json.encode(record))


def place_downloads(data: DataDir) -> Path | None:
    """Have the data folder use what the record names. Returns the folder that cannot be used: its disk is missing, or
    it does not bear this data folder's marker; the cache serves until it is back.
    """
    chosen = read_record(data).folder
    if chosen is None or not Path(chosen).is_absolute():
        return None
    if not belongs_to(Path(chosen), data.root):
        return Path(chosen)
    data.use_downloads(Path(chosen))
    return None
