"""The JSON lines of the program that runs a script; see `child/__init__.py`."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Literal

from msgspec import Struct

CHILD_PROGRAM = Path(__file__).parent / "child" / "__main__.py"
MAX_PICTURES, MAX_SIDE = 64, 256  # of one message; a side in pixels


class ExampleStart(Struct, frozen=True, kw_only=True):
    """PyTorch has loaded, and the script begins: on `device` ("cpu", "cuda:0") with the name of the GPU."""

    torch: str
    device: str
    name: str | None = None


class ShownPicture(Struct, frozen=True, kw_only=True):
    """A picture of `width` × `height` pixels, row by row, with one byte (grey) or three (red, green, blue) for each.

    `caption` is what the network says of it, `correct` whether that is right (None: nothing to compare with).
    """

    width: int
    height: int
    channels: int
    pixels: bytes
    caption: str = ""
    correct: bool | None = None


class ExampleProgress(Struct, frozen=True, kw_only=True):
    """What a script shows after `step` of `steps`: the `loss`, the share of right answers (`score`, 0 to 1), the
    `rate` in tokens per second, its memory in bytes, a `text`, pictures with the network's answers.
    """

    step: int
    steps: int
    loss: float | None = None
    score: float | None = None
    rate: float | None = None
    memory_bytes: int | None = None
    parameters: int | None = None
    text: str = ""
    skipped: int = 0
    pictures: tuple[ShownPicture, ...] = ()


class _Shown(Struct, frozen=True):
    """`ExampleProgress` as it is sent."""

    step: int
    steps: int
    loss: float | None = None
    score: float | None = None
    rate: float | None = None
    memory_bytes: int | None = None
    parameters: int | None = None
    text: str = ""
    skipped: int = 0
    channels: int = 1
    height: int = 0
    width: int = 0
    pictures: tuple[str, ...] = ()
    captions: tuple[str | int, ...] = ()
    correct: tuple[bool, ...] = ()

    def progress(self) -> ExampleProgress:
        return ExampleProgress(
            step=max(self.step, 0),
            steps=max(self.steps, 1),
            loss=self.loss,
            score=self.score,
            rate=self.rate,
            memory_bytes=self.memory_bytes,
            parameters=self.parameters,
            text=self.text,
            skipped=self.skipped,
            pictures=tuple(self._pictures()),
        )

    def _pictures(self) -> list[ShownPicture]:
        """Those whose bytes are as many as their size says."""
        size = self.width * self.height * self.channels
        if not (0 < self.width <= MAX_SIDE and 0 < self.height <= MAX_SIDE and self.channels in (1, 3)):
            return []
        pictures = []
        for index, text in enumerate(self.pictures[:MAX_PICTURES]):
            try:
                pixels = base64.b64decode(text, validate=True)
            except (binascii.Error, ValueError):
                continue
            if len(pixels) == size:
                pictures.append(
                    ShownPicture(
                        width=self.width,
                        height=self.height,
                        channels=self.channels,
                        pixels=pixels,
                        caption=str(self.captions[index]) if index < len(self.captions) else "",
                        correct=self.correct[index] if index < len(self.correct) else None,
                    )
                )
        return pictures


class ExampleMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the program."""

    start: ExampleStart | None = None
    shown: _Shown | None = None
    broken: str | None = None
    lacks: str | None = None
    error: str | None = None
    memory: Literal["gpu", "computer"] | None = None  # what the error says was too small
    end: bool = False
