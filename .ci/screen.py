"""A screen of X for the tests that drive whole programs: windows by their titles, and waiting for what is seen."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any


class Failed(Exception):
    """What is not as it should be."""


def wait(holds: Callable[[], Any], what: str, seconds: float = 90) -> Any:  # noqa: ANN401 - what it gave
    """Until it holds; what it gave."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.1)
    raise Failed(f"after {seconds:.0f} s: {what}")


def xdotool(*words: str) -> str:
    """What it said."""
    return subprocess.run(["xdotool", *words], capture_output=True, text=True, check=False).stdout.strip()


def windows(title: str) -> list[str]:
    """The windows with such a title that are open."""
    return xdotool("search", "--onlyvisible", "--name", title).split()
