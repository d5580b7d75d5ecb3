"""Other programs that matter: git, conda, Microsoft's C++ runtime."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from ..core.errors import AppError
from ..core.machine import Tools
from ..system.base import System

LIMIT_S = 3.0

_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")


def found(system: System, stop: threading.Event) -> Tools:
    """Versions of those that are here."""
    git = system.program("git")
    conda = system.program("conda")
    return Tools(
        git=_asked(system, git, stop) if git is not None else None,
        conda=conda_version(conda) or _asked(system, conda, stop) if conda is not None else None,
        vc_redist=system.visual_cpp(),
    )


def conda_version(program: Path) -> str | None:
    """From conda's own record beside the program; asking it takes most of a second."""
    names = sorted(path.name for path in (program.parent.parent / "conda-meta").glob("conda-[0-9]*.json"))
    return parse_version(names[-1]) if names else None


def parse_version(text: str) -> str | None:
    """The first thing in a text that looks like a version ("git version 2.39.5")."""
    match = _VERSION.search(text)
    return match[0] if match else None


def _asked(system: System, program: Path, stop: threading.Event) -> str | None:
    try:
        finished = system.run([program, "--version"], timeout=LIMIT_S, cancel=stop)
    except AppError:
        return None
    return parse_version(finished.out) if finished.code == 0 else None
