"""Enumerated values of command line and JSON, and names of devices. Imports no struct, since `--help` needs it."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "zh_CN"]
Goal = Literal["pytorch", "tensorflow", "cuda-dev", "all"]
Channel = Literal["studio", "game-ready"]
# Where a driver update is needed: the newest release with it, or one that works with the driver that is there.
WayName = Literal["newest", "works-now"]

# What an environment is made by: uv, as Python's own venv, or the user's conda.
EnvironmentKind = Literal["venv", "conda"]

# What can be added to a finished environment (`install/jobs/add_packages.py`).
Addition = Literal["jupyter", "kernel", "pictures"]

Value = str | int | float | bool | None
# When those who mirror a publisher's files are asked for them.
MirrorUse = Literal["when-slow", "first", "never"]
# How downloads reach the internet: by the system's settings, directly, or through the proxy that the user entered.
ProxyUse = Literal["system", "none", "manual"]


def device_name(device: str) -> str:
    """The label of a device whose name is unknown: "GPU 0" for "cuda:0", "CPU"."""
    kind, _, number = device.partition(":")
    return "CPU" if kind == "cpu" else f"GPU {number or '0'}"


def short_device_name(device: str) -> str:
    """ "CPU" or "GPU"; a GPU other than the first has its number: "GPU 1"."""
    name = device_name(device)
    return "GPU" if name == "GPU 0" else name


def device_label(device: str, name: str | None, *, several: bool) -> str:
    """The label of a device: its `name`, or with `several` GPUs its number, too: "GPU 1 (RTX 4060)"."""
    if name is None:
        return device_name(device)
    return f"{device_name(device)} ({name})" if several else name
