"""What the cards of the history are called, kept beside it: one that is gone has a name, too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from ..core import json
from ..core.results import GpuSample
from .series import card

SCHEMA: Final = "gpu-assistant/history-cards/1"


class _Kept(Struct, frozen=True, kw_only=True):
    schema: Literal["gpu-assistant/history-cards/1"]
    cards: dict[str, str]


def card_name(gpu: GpuSample) -> str:
    """What a card is called in a heading: "GPU 0 NVIDIA GeForce RTX 4060"."""
    return f"GPU {gpu.index} {gpu.name}" if gpu.name else f"GPU {gpu.index}"


class KnownCards:
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
            self.names = json.decode(self._path.read_bytes(), _Kept).cards
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return

    def note(self, gpus: Iterable[GpuSample]) -> None:
        """Keep what is new. Raises AppError where it cannot be written."""
        now = {card(gpu): card_name(gpu) for gpu in gpus if gpu.name}
        if now.items() <= self.names.items():
            return
        self.names = self.names | now
        if self._path is not None:
            json.write_file(self._path, json.encode(_Kept(schema=SCHEMA, cards=self.names)))
