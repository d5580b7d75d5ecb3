"""Administrator rights on Linux: polkit's pkexec, which asks the user in the desktop's own window."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import RightsRefused
from . import linux_processes, processes

PKEXEC = Path("/usr/bin/pkexec")
REFUSED = (126, 127)  # pkexec(1): the user closed the question; not allowed, or nobody could ask


def run_as_admin(argv: Sequence[str | Path], *, cancel: threading.Event | None, pkexec: Path = PKEXEC) -> int:
    """See `base.System.run_as_admin`."""
    words = processes.checked(argv)
    if not pkexec.is_file():
        raise RightsRefused("rights-no-way", program=words[0])
    argv = [str(pkexec), "--disable-internal-agent", *words]
    # No time limit: a person may be thinking about the question.
    code = processes.run(
        linux_processes.start, argv, timeout=math.inf, environ=None, cwd=None, cancel=cancel, on_line=None
    ).code
    if code in REFUSED:
        raise RightsRefused("rights-refused", program=words[0])
    return code
