"""Job objects on Windows: nothing that a program starts gets out of its job or outlives us."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

if sys.platform != "win32":
    pytest.skip("Windows' job objects; test_processes has what all systems promise", allow_module_level=True)

from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = pytest.mark.windows
ROOT = Path(__file__).resolve().parents[3]

IN_JOB = """
import ctypes
from ctypes import wintypes
kernel = ctypes.WinDLL("kernel32")
kernel.GetCurrentProcess.restype = wintypes.HANDLE
kernel.IsProcessInJob.argtypes = (wintypes.HANDLE, wintypes.HANDLE, ctypes.POINTER(wintypes.BOOL))
answer = wintypes.BOOL()
assert kernel.IsProcessInJob(kernel.GetCurrentProcess(), None, ctypes.byref(answer))
print(bool(answer))
"""

# A program that starts another, out of the job if it may, and names both.
TREE = """
import os, subprocess, sys, time
inner = [sys.executable, "-c", "import time; time.sleep(600)"]
try:
    child = subprocess.Popen(inner, creationflags=subprocess.CREATE_BREAKAWAY_FROM_JOB)
except OSError:
    child = subprocess.Popen(inner)
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""


def gone(pids: list[int]) -> bool:
    end = time.monotonic() + 30
    while any(psutil.pid_exists(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_program_starts_inside_job() -> None:
    assert WindowsSystem().run([sys.executable, "-c", IN_JOB], timeout=60).stdout.strip() == "True"


def test_grandchildren_end_when_parent_is_killed() -> None:
    outer = (
        "import sys\n"
        "from gpu_assistant.system.windows.system import WindowsSystem\n"
        f"WindowsSystem().run([sys.executable, '-c', {TREE!r}], timeout=600,"
        " on_line=lambda line: print(line, flush=True))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE, text=True, env=environ) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(psutil.pid_exists(pid) for pid in pids)
        parent.kill()
    assert gone(pids)
