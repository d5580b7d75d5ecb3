"""Do the packages of an environment agree with each other? Asked of uv, which reads them without running them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.results import Check

if TYPE_CHECKING:
    from ..system.base import ProcessResult, System

TIME_LIMIT_S = 60.0


def check_packages(system: System, interpreter: Path, context: JobContext[Any]) -> Check:
    """The check "packages": every installed package finds what it requires."""
    from uv import find_uv_bin

    try:
        argv = (find_uv_bin(), "pip", "check", "--no-config", "--no-cache", "--offline", "--python", str(interpreter))
        # The user's own settings for uv are about other folders.
        uv_variables = dict.fromkeys(name for name in os.environ if name.upper().startswith("UV_"))
        process_result = system.run(argv, timeout=TIME_LIMIT_S, environ=uv_variables, cancel=context.cancel)
    except Cancelled:
        raise
    except (AppError, FileNotFoundError) as error:
        timed_out = isinstance(error, AppError) and error.code == "program-timeout"
        return Check(id="packages", state="skip", data={"reason": f"@verify.reason.{'timeout' if timed_out else 'no-uv'}"})
    return _check_from_output(process_result, context)


def _check_from_output(process_result: ProcessResult, context: JobContext[Any]) -> Check:
    if process_result.returncode == 0:
        return Check(id="packages", state="pass")
    lines = [line.strip() for line in process_result.stderr.splitlines() if line.strip()]
    for line in lines:
        context.log(line)
    if not any(re.match(r"Found \d+ incompatibilit", line) for line in lines):
        # uv could not look: the interpreter does not run, which the next check says better.
        return Check(id="packages", state="skip", data={"reason": "@verify.reason.not-started"})
    conflicts = [line for line in lines if line.startswith("The package")]
    first = conflicts[0] if conflicts else lines[-1]
    return Check(id="packages", state="fail", value=len(conflicts), data={"count": len(conflicts), "reason": first})
