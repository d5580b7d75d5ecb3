"""Several files: in order, some local, stopped within a moment, and a full disk that is a real one."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.fetch.lane import RECORD
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.many import Fetch, Totals
from gpu_assistant.fetch.wanted import Wanted
from tests.fakes.fault_server import Fault, FaultServer


def wanted(server: FaultServer, folder: Path, name: str, data: bytes, **more: object) -> Wanted:
    url = server.add(f"/{name}", data, **more)
    return Wanted(url=url, path=folder / name, sha256=hashlib.sha256(data).hexdigest())


def test_many_files_keep_their_order_and_add_up(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    files = [os.urandom(200_000 + n) for n in range(8)]
    totals: list[Totals] = []
    todo = [wanted(server, tmp_path, f"{n}.bin", data) for n, data in enumerate(files)]
    paths = Fetch(todo, cancel=threading.Event(), progress=totals.append, limits=limits).run()
    assert [path.read_bytes() for path in paths] == files
    size = sum(map(len, files))
    assert (totals[-1].done, totals[-1].total, totals[-1].fetched, totals[-1].reused) == (size, size, size, 0)
    assert all(a.done <= b.done for a, b in itertools.pairwise(totals))


def test_a_local_file_is_used_where_it_lies(tmp_path: Path, limits: Limits) -> None:
    here = tmp_path / "a folder" / "x.bin"
    here.parent.mkdir()
    here.write_bytes(b"local")
    right = hashlib.sha256(b"local").hexdigest()
    todo = Wanted(url=here.as_uri(), path=tmp_path / "cache" / "x.bin", sha256=right)
    assert Fetch([todo], cancel=threading.Event(), limits=limits).run() == (here,)
    assert not (tmp_path / "cache").exists()


def test_the_total_is_known_from_the_first_figures_on(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    here = tmp_path / "here.bin"
    here.write_bytes(b"local" * 1000)
    totals: list[Totals] = []
    local = Wanted(
        url=here.as_uri(), path=tmp_path / "c" / "here.bin", sha256=hashlib.sha256(b"local" * 1000).hexdigest()
    )
    todo = [wanted(server, tmp_path, "far.bin", os.urandom(3000)), local]
    Fetch(todo, cancel=threading.Event(), progress=totals.append, limits=limits).run()
    assert {found.total for found in totals if found.done} == {8000}


def test_a_changed_local_file_is_refused_and_stays(tmp_path: Path, limits: Limits) -> None:
    here = tmp_path / "x.bin"
    here.write_bytes(b"changed")
    todo = Wanted(url=here.as_uri(), path=tmp_path / "c" / "x.bin", sha256="1" * 64)
    with pytest.raises(AppError) as caught:
        Fetch([todo], cancel=threading.Event(), limits=limits).run()
    assert caught.value.code == "local-file-broken"
    assert here.read_bytes() == b"changed"


def test_cancel_ends_a_stalled_download_at_once(server: FaultServer, tmp_path: Path) -> None:
    data = os.urandom(500_000)
    todo = [wanted(server, tmp_path, "x.bin", data, faults=[Fault("stall", after=300_000)])]
    cancel = threading.Event()
    began = [0.0]

    def stop(totals: Totals) -> None:
        if totals.done == 300_000 and not cancel.is_set():
            began[0] = time.monotonic()
            cancel.set()

    with pytest.raises(Cancelled):
        Fetch(todo, cancel=cancel, progress=stop, limits=Limits(stall_seconds=60)).run()
    assert time.monotonic() - began[0] < 1.0
    assert not (tmp_path / "x.bin").exists()
    server.let_go.set()
    totals: list[Totals] = []
    Fetch(todo, cancel=threading.Event(), progress=totals.append).run()
    assert (tmp_path / "x.bin").read_bytes() == data
    assert totals[-1].reused == 300_000


def test_one_bad_file_stops_the_rest_and_what_came_is_kept(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    good = wanted(server, tmp_path, "good.bin", os.urandom(10_000))
    slow = wanted(server, tmp_path, "slow.bin", os.urandom(4_000_000), rate=1_000_000)
    bad = Wanted(url=server.add("/bad.bin", b"bad"), path=tmp_path / "bad.bin", sha256="0" * 64)
    with pytest.raises(AppError) as caught:
        Fetch([good, slow, bad], cancel=threading.Event(), limits=limits).run()
    assert caught.value.code == "hash-mismatch"
    assert not (tmp_path / "bad.bin").exists()
    assert not (tmp_path / "slow.bin").exists()


CHILD = """
import sys, threading
from pathlib import Path
from gpu_assistant.fetch.download import Wanted
from gpu_assistant.fetch.many import Fetch
url, path, sha256 = sys.argv[1:]
Fetch([Wanted(url=url, path=Path(path), sha256=sha256)], cancel=threading.Event()).run()
"""


def test_a_killed_download_goes_on_where_it_was(server: FaultServer, tmp_path: Path) -> None:
    data = os.urandom(6_000_000)
    path = tmp_path / "x.bin"
    sha256 = hashlib.sha256(data).hexdigest()
    url = server.add("/x.bin", data, faults=[Fault("stall", after=4_000_000)])
    child = subprocess.Popen([sys.executable, "-c", CHILD, url, str(path), sha256])
    try:
        assert server.stalled.wait(30)
        # What the server has sent may still be on its way to the disk.
        deadline = time.monotonic() + 10
        while (tmp_path / "x.bin.part").stat().st_size < 4_000_000 and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        child.kill()
        child.wait()
    assert not path.exists()
    server.let_go.set()
    totals: list[Totals] = []
    todo = [Wanted(url=url, path=path, sha256=sha256)]
    Fetch(todo, cancel=threading.Event(), progress=totals.append).run()
    assert path.read_bytes() == data
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
    data = os.urandom(6_000_000)
    todo = wanted(server, small_disk, "x.bin", data)
    # As if another program took the space after we had looked: the look is told to ask for less than nothing.
    careless = Limits(reserve_bytes=-(10**9))
    with pytest.raises(AppError) as caught:
        Fetch([todo], cancel=threading.Event(), limits=careless).run()
    assert (caught.value.code, caught.value.exit_code) == ("disk-full", 1)
    assert not (small_disk / "x.bin").exists()


@pytest.mark.linux
def test_a_disk_that_is_too_small_from_the_start(server: FaultServer, small_disk: Path, limits: Limits) -> None:
    todo = wanted(server, small_disk, "x.bin", os.urandom(6_000_000))
    with pytest.raises(AppError) as caught:
        Fetch([todo], cancel=threading.Event(), limits=limits).run()
    assert caught.value.code == "disk-too-small"
    assert server.sent == 0 or not (small_disk / "x.bin").exists()
