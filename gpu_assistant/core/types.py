"""The closed sets of words that the contract fixes, apart from the structs so that `--help` need not load those.

A sentence without its words: a code and its figures. Faces turn it into English or Chinese.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Language = Literal["en", "zh_CN"]
Goal = Literal["pytorch", "tensorflow", "cuda-dev", "all"]
Channel = Literal["studio", "game-ready"]

# What an environment is made by: uv, as Python's own venv, or the user's conda.
EnvironmentKind = Literal["venv", "conda"]

Value = str | int | float | bool | None
# When those who mirror a publisher's files are asked for them.
MirrorUse = Literal["when-slow", "first", "never"]


def device_name(device: str) -> str:
    """ "cuda:0" as people call it where nobody knows the card: "GPU 0"; "CPU"."""
    kind, _, number = device.partition(":")
    return "CPU" if kind == "cpu" else f"GPU {number or '0'}"


def device_label(device: str, name: str | None, *, several: bool) -> str:
    """A device by its `name`; of `several` cards its number first, as marks and tables call it: "GPU 1 (RTX 4060)"."""
    if name is None:
        return device_name(device)
    return f"{device_name(device)} ({name})" if several else name


class Message(Struct, frozen=True):
    """`code` is a key of `resources/texts/*.json`; `data` fills the text's {places}."""

    code: str
    data: dict[str, Value] = {}
