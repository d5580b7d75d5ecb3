"""Programs on Linux: a session of their own, ended by signals, and ended by the kernel when we die.

The kernel's parent-death signal is set by util-linux's `setpriv`, which then becomes the program; doing it
ourselves between fork and exec is not safe while other threads run. It reaches the program itself; what the
program started outlives a killed us (an ordinary end of ours ends the whole tree). Without such a `setpriv`
(util-linux before 2.33, BusyBox) the program itself may outlive a killed us too.
"""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # noqa: S101 - the type checker reads this too

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import psutil


SETPRIV_PATHS = (Path("/usr/bin/setpriv"), Path("/bin/setpriv"))
TERMINATE_GRACE_S = 0.7  # time to end by itself before it is killed: a cancel shall work within a second


class LinuxChildProcess:
    """A program that leads a session, with all its descendants."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def terminate(self) -> None:
        """Ask everything to end, and kill what has not ended after `GRACE_S`."""
        descendants = self._descendants()
        self._send_signal(signal.SIGTERM, descendants)
        if not self._wait_until_exited(descendants, TERMINATE_GRACE_S):
            self._send_signal(signal.SIGKILL, [*descendants, *self._descendants()])
            self._wait_until_exited(descendants, TERMINATE_GRACE_S)

    def close(self) -> None:
        """Nothing is kept."""

    def _descendants(self) -> list[psutil.Process]:
        import psutil

        if self.process.poll() is not None:
            return []  # its number may belong to somebody else by now
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.Error:
            return []

    def _send_signal(self, signal_number: signal.Signals, descendants: list[psutil.Process]) -> None:
        import psutil

        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal_number)
        for process in descendants:
            with suppress(psutil.Error):
                process.send_signal(signal_number)

    def _wait_until_exited(self, descendants: list[psutil.Process], timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if self.process.poll() is not None and not any(_is_running(process) for process in descendants):
                return True
            time.sleep(0.01)  # the descendants are not ours to wait for
        return False


def _is_running(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def start_process(argv: Sequence[str], environ: Mapping[str, str], cwd: Path | None) -> LinuxChildProcess:
    """Start a program; raises OSError."""
    return LinuxChildProcess(
        subprocess.Popen(
            [*parent_death_prefix(), *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            cwd=cwd,
            start_new_session=True,
        )
    )


@lru_cache(maxsize=1)
def parent_death_prefix() -> tuple[str, ...]:
    """The words before a command that make the kernel end it when we die; none where that is not there."""
    for program in SETPRIV_PATHS:
        if not program.is_file():
            continue
        try:
            help_text = subprocess.run([program, "--help"], capture_output=True, timeout=5, check=False).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        if b"--pdeathsig" in help_text:
            return (str(program), "--pdeathsig", "KILL", "--")
    return ()


def start_checked(program: Path, check: Callable[[BinaryIO], None]) -> None:
    """See `base.System.start_checked`: what was opened is what runs, whatever its name leads to by then."""
    with program.open("rb") as file:
        check(file)
        descriptor = file.fileno()
        process = subprocess.Popen(
            [str(program)],
            executable=f"/proc/self/fd/{descriptor}",
            pass_fds=(descriptor,),
            cwd=program.anchor,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    # Somebody has to take note of its end, or it stays a zombie for as long as we run.
    threading.Thread(target=process.wait, name=f"waits for {program.name}", daemon=True).start()
