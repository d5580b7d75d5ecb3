"""Two downloads into one file: the second is told so, be it a thread or another process, and nothing is mixed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.fetch.download import Download, Wanted
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from tests.fakes.fault_server import Fault, FaultServer

ONE, TWO = os.urandom(2_000_000), os.urandom(2_000_000)
PROGRAM = """
import sys, threading
from pathlib import Path
from gpu_assistant.core.errors import AppError
from gpu_assistant.fetch.download import Download, Wanted
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
try:
    Download(Wanted(url=sys.argv[1], path=Path(sys.argv[2])), Common(Limits(), threading.Event(), Pace())).run()
except AppError as error:
    print(error.code)
"""


def download(url: str, path: Path) -> Download:
    return Download(Wanted(url=url, path=path), Common(Limits(stall_seconds=60), threading.Event(), Pace()))


def process(url: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", PROGRAM, url, str(path)], stdout=subprocess.PIPE, text=True)


def test_a_second_thread_and_a_second_process_are_told(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    first = download(server.add("/one", ONE, faults=[Fault("stall", after=500_000)]), path)
    thread = threading.Thread(target=first.run)
    thread.start()
    try:
        assert server.stalled.wait(10)
        other = server.add("/two", TWO, etag='"two"')
        with pytest.raises(AppError) as caught:
            download(other, path).run()
        assert (caught.value.code, caught.value.exit_code) == ("download-elsewhere", 1)
        assert process(other, path).communicate(timeout=60)[0].strip() == "download-elsewhere"
        assert server.gets("/two") == []
    finally:
        server.let_go.set()
        thread.join(30)
    assert path.read_bytes() == ONE
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.bin"]


def test_who_was_killed_locks_nobody_out(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    child = process(server.add("/one", ONE, faults=[Fault("stall", after=500_000)]), path)
    assert server.stalled.wait(30)
    child.kill()
    child.communicate(timeout=30)
    download(server.url + "/one", path).run()
    assert path.read_bytes() == ONE
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.bin"]
