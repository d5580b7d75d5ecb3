"""How this operating system does it: `base.py` says what, `linux/` and `windows/` say how."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import System


def current_system() -> System:
    """The operating system that we run on; its module is imported by the first call."""
    if sys.platform == "win32":
        from .windows.system import WindowsSystem

        return WindowsSystem()
    else:  # noqa: RET505 - the type checker follows one branch per system
        from .linux.system import LinuxSystem

        return LinuxSystem()


def start_at_login(arguments: Sequence[str]) -> int:
    """Start this program once more with these arguments and return at once; gives the exit code. Windows alone waits
    for the end of the command that it runs at login.
    """
    if sys.platform == "win32":
        from .windows.desktop import start_at_login as start

        return start(arguments)
    return 2
