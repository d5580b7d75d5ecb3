"""What the cards of the history are called, kept beside it: one that is gone has a name, too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from ..core import json
from ..core.results import GpuSample
from .series import gpu_key

SCHEMA: Final = "gpu-assistant/history-cards/1"


class _GpuNamesFile(Struct, frozen=True, kw_only=True):
    schema: Literal["gpu-assistant/history-cards/1"]
    cards: dict[str, str]


def gpu_label(gpu: GpuSample) -> str:
    """What a card is called in a heading: "GPU 0 NVIDIA GeForce RTX 4060"."""
    return f"GPU {gpu.index} {gpu.name}" if gpu.name else f"GPU {gpu.index}"


class GpuNames:
    """`names` tells what a card was called last, by what its series begin with ("GPU-…" -> "GPU 0 NVIDIA H100").
    `folder` None keeps nothing on disk.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / "cards.json" if folder is not None else None
        self.names: dict[str, str] = {}

    def load(self) -> None:
        """What was kept; nothing where that cannot be read: it comes again with the cards."""
        if self._path is None:
            return
        try:
            self.names = json.decode(self._path.read_bytes(), _GpuNamesFile).cards
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return

    def update(self, gpus: Iterable[GpuSample]) -> None:
        """Keep what is new. Raises AppError where it cannot be written."""
        current = {gpu_key(gpu): gpu_label(gpu) for gpu in gpus if gpu.name}
        if current.items() <= self.names.items():
            return
        self.names = self.names | current
        if self._path is not None:
            json.write_file(self._path, json.encode(_GpuNamesFile(schema=SCHEMA, cards=self.names)))
