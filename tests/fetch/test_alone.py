"""Two downloads into one file: the second is told so, or waits, be it a thread or another process; nothing is mixed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.fetch.download import Download
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.many import Fetch, Totals
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Wanted
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
wanted = Wanted(url=sys.argv[1], path=Path(sys.argv[2]), sha256=(sys.argv[3:] or [None])[0])
try:
    Download(wanted, Common(Limits(), threading.Event(), Pace())).run()
except AppError as error:
    print(error.code)
"""


def download(url: str, path: Path) -> Download:
    return Download(Wanted(url=url, path=path), Common(Limits(stall_seconds=60), threading.Event(), Pace()))


def process(url: str, path: Path, *sha256: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROGRAM, url, str(path), *sha256]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


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


class Second(threading.Thread):
    """A patient download of one file; `waits` is set when it says that another one fetches it."""

    def __init__(self, url: str, path: Path) -> None:
        super().__init__()
        sha256 = hashlib.sha256(ONE).hexdigest()
        self.waits, self.cancel = threading.Event(), threading.Event()
        self.error: AppError | None = None
        self.last: Totals | None = None
        wanted = Wanted(url=url, path=path, sha256=sha256, patient=True)
        self._fetch = Fetch([wanted], cancel=self.cancel, progress=self._told)

    def _told(self, totals: Totals) -> None:
        self.last = totals
        if totals.bottleneck == "elsewhere":
            self.waits.set()

    def run(self) -> None:
        try:
            self._fetch.run()
        except AppError as error:
            self.error = error


def test_a_patient_one_waits_and_takes_the_file(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    child = process(server.add("/one", ONE, faults=[Fault("stall", after=500_000)]), path)
    assert server.stalled.wait(30)
    second = Second(server.add("/again", ONE), path)
    second.start()
    assert second.waits.wait(10)
    server.let_go.set()
    assert child.communicate(timeout=60)[0] == ""
    second.join(30)
    assert second.error is None
    assert second.last is not None
    assert (second.last.fetched, second.last.reused, second.last.done) == (0, len(ONE), len(ONE))
    assert server.gets("/again") == []
    assert path.read_bytes() == ONE
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.bin"]


def end_of(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate(timeout=30)


def test_a_patient_one_goes_on_where_the_other_was_killed(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    url = server.add("/one", ONE, faults=[Fault("stall", after=500_000)])
    child = process(url, path, hashlib.sha256(ONE).hexdigest())
    assert server.stalled.wait(30)
    second = Second(url, path)
    second.start()
    assert second.waits.wait(10)
    end_of(child)
    second.join(30)
    assert second.error is None
    assert second.last is not None
    assert second.last.fetched + second.last.reused == len(ONE)
    assert path.read_bytes() == ONE
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.bin"]


def test_who_waits_can_stop_within_a_second(server: FaultServer, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    url = server.add("/one", ONE, faults=[Fault("stall", after=500_000)])
    child = process(url, path)
    assert server.stalled.wait(30)
    second = Second(url, path)
    second.start()
    assert second.waits.wait(10)
    asked = time.monotonic()
    second.cancel.set()
    second.join(30)
    assert time.monotonic() - asked < 1
    assert isinstance(second.error, Cancelled)
    assert child.poll() is None
    end_of(child)
