"""Programs on Linux: in a session of their own, ended by signals, and by the kernel when we die.

util-linux's `setpriv` sets the kernel's parent-death signal and then becomes the program; setting it ourselves
between fork and exec is not safe while other threads run. The signal reaches the program alone: if we are killed, its
descendants live on (an ordinary exit of ours ends the whole tree). Where there is no such `setpriv` (util-linux before
2.33, BusyBox) the program may outlive us as well.
"""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # noqa: S101 - the type checker reads this too

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ...core import filesystem
from ..processes import reap_in_background

if TYPE_CHECKING:
    import psutil

SETPRIV_PATHS = (Path("/usr/bin/setpriv"), Path("/bin/setpriv"))
TERMINATE_GRACE_S = 0.7  # from SIGTERM to SIGKILL: a cancel shall take less than a second


class LinuxChildProcess:
    """A program that leads a session, with all its descendants."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def terminate(self) -> None:
        """Send SIGTERM to everything, and SIGKILL to what has not ended after `TERMINATE_GRACE_S`."""
        descendants = self._descendants()
        self._send_signal(signal.SIGTERM, descendants)
        if not self._wait_until_exited(descendants, TERMINATE_GRACE_S):
            self._send_signal(signal.SIGKILL, [*descendants, *self._descendants()])
            self._wait_until_exited(descendants, TERMINATE_GRACE_S)

    def close(self) -> None:
        """Do nothing: there is no handle to close."""

    def _descendants(self) -> list[psutil.Process]:
        import psutil

        if self.process.poll() is not None:
            return []  # its pid may be another process's by now
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
    """The arguments before a command that make the kernel end it when we die; () where setpriv cannot."""
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


def start_to_end(
    argv: Sequence[str], environ: Mapping[str, str], cwd: Path | None, output: BinaryIO
) -> subprocess.Popen[bytes]:
    """Start a program that nothing of ours ends: in a session of its own, without a signal when we die."""
    return subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=dict(environ),
        cwd=cwd,
        start_new_session=True,
    )


def start_checked(program: Path, check: Callable[[BinaryIO], None]) -> None:
    """See `base.Processes.start_checked`: what runs is the open file, whatever its name leads to by then."""
    with filesystem.open_regular(program) as file:
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
    reap_in_background(process)


def start_detached(argv: Sequence[str], environ: Mapping[str, str], cwd: Path) -> None:
    """Start a program that outlives us; raises OSError."""
    process = subprocess.Popen(
        argv,
        env=dict(environ),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    reap_in_background(process)
