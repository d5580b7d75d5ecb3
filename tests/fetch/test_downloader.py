"""Several files: in order, some local, stopped within a moment, and a full disk that is a real one."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.fetch.connection import RECORD
from gpu_assistant.fetch.downloader import Downloader, DownloadJob, Totals
from gpu_assistant.fetch.request import DownloadRequest, Limits

from ..fakes.fault_server import Fault, FaultServer
from .downloads import LARGE, request


def served(server: FaultServer, folder: Path, name: str, data: bytes, **more: Any) -> DownloadRequest:
    return request(folder / name, server.add(f"/{name}", data, **more), data=data)


def test_files_keep_their_order_and_add_up(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    files = [os.urandom(200_000 + n) for n in range(8)]
    totals: list[Totals] = []
    todo = [served(server, tmp_path, f"{n}.bin", data) for n, data in enumerate(files)]
    paths = Downloader(todo, cancel=threading.Event(), progress=totals.append, limits=limits).run()
    assert [path.read_bytes() for path in paths] == files
    size = sum(map(len, files))
    assert (totals[-1].done, totals[-1].total, totals[-1].fetched, totals[-1].reused) == (size, size, size, 0)
    assert all(a.done <= b.done for a, b in itertools.pairwise(totals))


def test_files_together_keep_to_a_servers_limit(server: FaultServer, tmp_path: Path, more_tries: Limits) -> None:
    url = server.add("/file", LARGE, rate=20_000_000)
    todo = [request(tmp_path / f"{n}.bin", url, data=LARGE) for n in range(3)]
    Downloader(todo, cancel=threading.Event(), limits=more_tries).run()
    assert server.files["/file"].highest <= 8


def test_a_local_file_is_used_in_place(tmp_path: Path, limits: Limits) -> None:
    local = tmp_path / "a folder" / "x.bin"
    local.parent.mkdir()
    local.write_bytes(b"local")
    todo = request(tmp_path / "cache" / "x.bin", local.as_uri(), data=b"local")
    assert Downloader([todo], cancel=threading.Event(), limits=limits).run() == (local,)
    assert not (tmp_path / "cache").exists()


LOCAL_FILE = """
import pathlib, sys, threading
from gpu_assistant.core.files import RemoteFile, hash_file
from gpu_assistant.fetch.downloader import Downloader
from gpu_assistant.fetch.request import DownloadRequest

path = pathlib.Path(sys.argv[1])
file = RemoteFile(urls=(path.as_uri(),), name=path.name, sha256=hash_file(path))
assert Downloader([DownloadRequest(file=file, path=path)], cancel=threading.Event()).run() == (path,)
assert sys.modules.keys().isdisjoint({"requests", "urllib3"})
"""


def test_a_local_file_needs_no_http(tmp_path: Path) -> None:
    local = tmp_path / "x.bin"
    local.write_bytes(b"local")
    subprocess.run([sys.executable, "-c", LOCAL_FILE, str(local)], check=True, timeout=120)


def test_the_total_is_known_from_the_first_figures(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    local = tmp_path / "local.bin"
    local.write_bytes(b"local" * 1000)
    totals: list[Totals] = []
    todo = [
        served(server, tmp_path, "far.bin", os.urandom(3000)),
        request(tmp_path / "c" / "local.bin", local.as_uri(), data=b"local" * 1000),
    ]
    Downloader(todo, cancel=threading.Event(), progress=totals.append, limits=limits).run()
    assert {each.total for each in totals if each.done} == {8000}


def test_a_changed_local_file_is_refused_and_stays(tmp_path: Path, limits: Limits) -> None:
    local = tmp_path / "x.bin"
    local.write_bytes(b"changed")
    todo = request(tmp_path / "c" / "x.bin", local.as_uri(), data=b"before")
    with pytest.raises(AppError) as caught:
        Downloader([todo], cancel=threading.Event(), limits=limits).run()
    assert caught.value.code == "local-file-broken"
    assert local.read_bytes() == b"changed"


def test_cancel_ends_a_stalled_download_at_once(server: FaultServer, tmp_path: Path) -> None:
    data = os.urandom(500_000)
    todo = [served(server, tmp_path, "x.bin", data, faults=[Fault("stall", after=300_000)])]
    cancel = threading.Event()
    cancelled = [0.0]

    def stop(totals: Totals) -> None:
        if totals.done == 300_000 and not cancel.is_set():
            cancelled[0] = time.monotonic()
            cancel.set()

    with pytest.raises(Cancelled):
        Downloader(todo, cancel=cancel, progress=stop, limits=Limits(stall_seconds=60)).run()
    assert time.monotonic() - cancelled[0] < 1.0
    assert not (tmp_path / "x.bin").exists()
    server.let_go.set()
    totals: list[Totals] = []
    Downloader(todo, cancel=threading.Event(), progress=totals.append).run()
    assert (tmp_path / "x.bin").read_bytes() == data
    assert totals[-1].reused == 300_000


def test_one_bad_file_stops_the_rest(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    good = served(server, tmp_path, "good.bin", os.urandom(10_000))
    slow = served(server, tmp_path, "slow.bin", os.urandom(4_000_000), rate=1_000_000)
    bad = request(tmp_path / "bad.bin", server.add("/bad.bin", b"bad"), data=b"good")
    with pytest.raises(AppError) as caught:
        Downloader([good, slow, bad], cancel=threading.Event(), limits=limits).run()
    assert caught.value.code == "hash-mismatch"
    assert not (tmp_path / "bad.bin").exists()
    assert not (tmp_path / "slow.bin").exists()


def test_a_job_reports_at_most_ten_times_a_second(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    events: list[Any] = []
    data = os.urandom(1_000_000)
    started = time.monotonic()
    context: JobContext[Any] = JobContext(report=events.append)
    last = DownloadJob(served(server, tmp_path, "x.bin", data, rate=1_000_000), limits).run(context)
    seconds = time.monotonic() - started
    assert last is not None
    assert last.done == len(data)
    assert (events[-2].state, events[-2].bytes_fetched, events[-1].state) == ("done", len(data), "done")
    assert 5 <= len(events) <= 10 * seconds + 6


CHILD = """
import sys, threading
from pathlib import Path
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch.downloader import Downloader
from gpu_assistant.fetch.request import DownloadRequest
url, path, sha256 = sys.argv[1:]
file = RemoteFile(urls=(url,), name="x.bin", sha256=sha256)
Downloader([DownloadRequest(file=file, path=Path(path))], cancel=threading.Event()).run()
"""


def test_a_killed_download_resumes(server: FaultServer, tmp_path: Path) -> None:
    data = os.urandom(6_000_000)
    todo = served(server, tmp_path, "x.bin", data, faults=[Fault("stall", after=4_000_000)])
    command = [todo.file.url, str(todo.path), str(todo.file.sha256)]
    child = subprocess.Popen([sys.executable, "-c", CHILD, *command])
    try:
        assert server.stalled.wait(60)
        # What the server has sent may still be on its way to the disk.
        deadline = time.monotonic() + 10
        while (tmp_path / "x.bin.part").stat().st_size < 4_000_000 and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        child.kill()
        child.wait()
    assert not todo.path.exists()
    server.let_go.set()
    totals: list[Totals] = []
    Downloader([todo], cancel=threading.Event(), progress=totals.append).run()
    assert todo.path.read_bytes() == data
    assert totals[-1].reused + totals[-1].fetched == len(data)
    assert totals[-1].reused >= 4_000_000 - RECORD


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 4 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root on Linux")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this root may not mount (a container?)")
    yield folder
    subprocess.run(["/bin/umount", str(folder)], check=True)


@pytest.mark.linux
def test_a_disk_that_fills_up_on_the_way(server: FaultServer, small_disk: Path) -> None:
    todo = served(server, small_disk, "x.bin", os.urandom(6_000_000))
    # As if another program took the space after we had looked: the look is told to ask for less than nothing.
    careless = Limits(reserve_bytes=-(10**9))
    with pytest.raises(AppError) as caught:
        Downloader([todo], cancel=threading.Event(), limits=careless).run()
    assert (caught.value.code, caught.value.exit_code) == ("disk-full", 1)
    assert not todo.path.exists()


@pytest.mark.linux
def test_a_disk_too_small_from_the_start(server: FaultServer, small_disk: Path, limits: Limits) -> None:
    todo = served(server, small_disk, "x.bin", os.urandom(6_000_000))
    with pytest.raises(AppError) as caught:
        Downloader([todo], cancel=threading.Event(), limits=limits).run()
    assert caught.value.code == "disk-too-small"
    assert server.sent == 0 or not todo.path.exists()
