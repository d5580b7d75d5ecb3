"""Administrator rights on Linux: polkit's pkexec, which asks the user in the desktop's own window."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import ElevationDenied
from . import linux_processes, processes

PKEXEC = Path("/usr/bin/pkexec")
REFUSED_RETURNCODES = (126, 127)  # pkexec(1): the user closed the question; not allowed, or nobody could ask


def run_as_admin(argv: Sequence[str | Path], *, cancel: threading.Event | None, pkexec: Path = PKEXEC) -> int:
    """See `base.System.run_as_admin`."""
    command = processes.check_command(argv)
    if not pkexec.is_file():
        raise ElevationDenied("rights-no-way", program=command[0])
    argv = [str(pkexec), "--disable-internal-agent", *command]
    # No time limit: a person may be thinking about the question.
    returncode = processes.run_process(
        linux_processes.start_process, argv, timeout=math.inf, environ=None, cwd=None, cancel=cancel, on_line=None
    ).returncode
    if returncode in REFUSED_RETURNCODES:
        raise ElevationDenied("rights-refused", program=command[0])
    return returncode
