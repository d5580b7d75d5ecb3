"""How this operating system does it: one protocol, one file per system."""

from __future__ import annotations

import sys
from functools import lru_cache

from .base import System


@lru_cache(maxsize=1)
def current() -> System:
    """The system we run on; anything that is not Windows is treated the way Linux is."""
    if sys.platform == "win32":
        from .windows import Windows

        return Windows()
    from .linux import Linux

    return Linux()
