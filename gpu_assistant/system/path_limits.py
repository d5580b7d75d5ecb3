"""Where Windows draws lines around folders: how long a path may be, and what OneDrive keeps.

A file of its own, because both are asked before there is any plan.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

# MAX_PATH with its closing zero, where the system was not told to allow more.
MAX_PATH_LENGTH = 259
FILE_SYSTEM_KEY = r"SYSTEM\CurrentControlSet\Control\FileSystem"
# As OneDrive itself writes them down for each account; redirected Documents and Desktop lie below.
ONEDRIVE_VARIABLES = ("OneDrive", "OneDriveConsumer", "OneDriveCommercial")


def max_path_length() -> int | None:
    """How many letters a path may have; None where only the file system limits it."""
    if sys.platform == "win32":
        from . import windows_registry as registry

        return None if registry.number(registry.MACHINE, FILE_SYSTEM_KEY, "LongPathsEnabled") else MAX_PATH_LENGTH
    else:  # noqa: RET505 - the type checker follows one branch per system
        return None


def onedrive_root(folder: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The OneDrive folder that a folder lies in; None outside of any."""
    for name in ONEDRIVE_VARIABLES:
        if (root := environ.get(name)) and folder.is_relative_to(root):
            return Path(root)
    return None
