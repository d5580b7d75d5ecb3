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

import msvcrt

from gpu_assistant.core.errors import AppError
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


def test_no_program_is_started_suspended_and_put_into_its_job_later() -> None:
    source = (ROOT / "gpu_assistant/system/windows/processes.py").read_text(encoding="utf-8")
    for name in ("CREATE_SUSPENDED", "AssignProcessToJobObject", "ResumeProcess", "ResumeThread"):
        assert name not in source


def test_output_and_exit_code_of_a_program() -> None:
    code = "import sys; print('out', sys.stdin.read(), flush=True); print('err', file=sys.stderr); sys.exit(7)"
    finished = WindowsSystem().run([sys.executable, "-c", code], timeout=60)
    assert (finished.returncode, finished.stdout.split(), finished.stderr.split()) == (7, ["out"], ["err"])


def test_arguments_environment_and_folder_reach_a_program_as_given(tmp_path: Path) -> None:
    folder = tmp_path / "我的 文件夹"
    folder.mkdir()
    code = (
        "import os, sys; sys.stdout.reconfigure(encoding='utf-8'); print(sys.argv[1:], os.environ['名'], os.getcwd())"
    )
    arguments = ['a "b" c', "d\\", "", "张三"]
    finished = WindowsSystem().run(
        [sys.executable, "-c", code, *arguments], timeout=60, environ={"名": "值"}, cwd=folder
    )
    assert finished.stdout.strip() == f"{arguments} 值 {folder}"


def test_what_is_no_program_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "no.exe"
    file.write_bytes(b"no program")
    with pytest.raises(AppError) as raised:
        WindowsSystem().run([file], timeout=60)
    assert raised.value.code == "program-missing"


def test_no_handle_but_the_streams_is_inherited(tmp_path: Path) -> None:
    with (tmp_path / "ours.txt").open("w") as own_file:
        handle = msvcrt.get_osfhandle(own_file.fileno())
        os.set_handle_inheritable(handle, True)
        code = f"import os; os.get_handle_inheritable({handle})"
        finished = WindowsSystem().run([sys.executable, "-c", code], timeout=60)
    assert finished.returncode == 1, "the program has a handle that is not its business"


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
