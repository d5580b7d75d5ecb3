"""The closed sets of values that the contract fixes, and names of devices. `--help` loads this, but no struct."""

from __future__ import annotations

from typing import Literal

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


def short_device_name(device: str) -> str:
    """ "CPU" or "GPU"; a GPU other than the first has its number: "GPU 1"."""
    name = device_name(device)
    return "GPU" if name == "GPU 0" else name


def device_label(device: str, name: str | None, *, several: bool) -> str:
    """A device by its `name`; of `several` cards its number first, as marks and tables call it: "GPU 1 (RTX 4060)"."""
    if name is None:
        return device_name(device)
    return f"{device_name(device)} ({name})" if several else name
