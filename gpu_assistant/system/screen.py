"""Whether there is a screen to open a window on. Asked before Qt is loaded: Qt itself would end the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def has_screen(environ: Mapping[str, str] = os.environ) -> bool:
    """True on Windows and macOS; elsewhere when a display server, or a Qt platform that needs none, is named."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
