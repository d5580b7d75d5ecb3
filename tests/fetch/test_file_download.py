"""One file: its final name only once it is right, a wrong hash fetched anew, one process at a time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled, NetworkError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch.downloader import Downloader, Totals
from gpu_assistant.fetch.request import DownloadRequest, Limits

from ..fakes.fault_server import Fault, FaultServer, fault_server
from .downloads import (
    LARGE,
    MIB,
    SMALL,
    BackgroundDownload,
    download,
    fetch,
    flipped,
    names,
    request,
    sha256_of,
    write_part,
)

HALF = len(LARGE) // 2


def test_a_file_arrives_complete(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "new" / "file.bin"
    done = fetch(path, limits, server.add("/file", SMALL))
    assert (done.reused, done.fetched, done.total) == (0, len(SMALL), len(SMALL))
    assert names(path.parent) == ["file.bin"]


def test_a_complete_file_is_not_fetched_again(server: FaultServer, path: Path, limits: Limits) -> None:
    path.write_bytes(SMALL)
    assert fetch(path, limits, server.add("/file", SMALL)).reused == len(SMALL)
    assert server.seen == []


def test_a_damaged_file_is_replaced(server: FaultServer, path: Path, limits: Limits) -> None:
    path.write_bytes(flipped(SMALL, len(SMALL) - 1))
    fetch(path, limits, server.add("/file", SMALL))


def test_a_file_of_the_users_is_not_replaced(server: FaultServer, path: Path, limits: Limits) -> None:
    path.write_bytes(b"mine")
    with pytest.raises(AppError) as caught:
        fetch(path, limits, server.add("/file", SMALL), replace=False)
    assert (caught.value.code, path.read_bytes(), server.seen) == ("download-exists", b"mine", [])


# A wrong hash


def test_a_wrong_hash_leaves_nothing(server: FaultServer, path: Path, limits: Limits) -> None:
    with pytest.raises(AppError) as caught:
        fetch(path, limits, server.add("/file", SMALL), sha256="0" * 64)
    assert (caught.value.code, caught.value.exit_code) == ("hash-mismatch", 1)
    assert names(path.parent) == []


@pytest.mark.parametrize("size", [len(SMALL), None])
def test_a_login_page_is_no_file(server: FaultServer, path: Path, limits: Limits, size: int | None) -> None:
    with pytest.raises(AppError) as caught:
        fetch(path, limits, server.add("/file", SMALL, faults=[Fault("garbage")]), size=size)
    assert caught.value.code == "hash-mismatch"
    assert names(path.parent) == []


def test_a_mirrors_wrong_pieces_come_from_the_official(server: FaultServer, path: Path, more_tries: Limits) -> None:
    wrong = flipped(LARGE, 20 * MIB)
    official, mirror = server.add("/file", LARGE), server.add("/mirror", wrong)
    write_part(path, LARGE, (0, 16 * MIB, official, LARGE), (16 * MIB, 24 * MIB, mirror, wrong), total=len(LARGE))
    done = fetch(path, more_tries, official, mirror, data=LARGE)
    assert (done.reused, done.fetched) == (16 * MIB, 8 * MIB)
    assert server.gets("/mirror") == []


def test_all_of_a_lying_mirror_comes_from_the_official(server: FaultServer, path: Path, more_tries: Limits) -> None:
    wrong = flipped(LARGE, *range(0, len(LARGE), MIB))
    official, mirror = server.add("/file", LARGE), server.add("/mirror", wrong)
    write_part(path, LARGE, (0, len(LARGE), mirror, wrong), total=len(LARGE))
    done = fetch(path, more_tries, official, mirror, data=LARGE)
    assert (done.reused, done.fetched) == (0, len(LARGE))


def test_a_lying_official_source_gives_way_to_a_mirror(server: FaultServer, path: Path, more_tries: Limits) -> None:
    bad, good = server.add("/file", flipped(LARGE, 7)), server.add("/mirror", LARGE)
    done = fetch(path, more_tries, bad, good, data=LARGE)
    # At first both, then the rest from the official source alone, then all of it from the mirror.
    assert done.fetched <= 3 * len(LARGE)


def test_a_lying_only_source_gives_way_to_the_reserve(server: FaultServer, path: Path, more_tries: Limits) -> None:
    bad, good = server.add("/file", flipped(LARGE, MIB)), server.add("/reserve", LARGE)
    done = fetch(path, more_tries, bad, data=LARGE, reserve=(good,), slow_bytes=1)
    assert done.fetched == 2 * len(LARGE)


def test_a_right_file_asks_no_reserve_after_a_lie(server: FaultServer, path: Path, more_tries: Limits) -> None:
    official, bad = server.add("/file", LARGE), server.add("/bad", flipped(LARGE, 7))
    write_part(path, LARGE, (0, len(LARGE), bad, flipped(LARGE, 7)), total=len(LARGE))
    fetch(path, more_tries, official, bad, data=LARGE, reserve=(server.add("/reserve", LARGE),), slow_bytes=1)
    assert server.gets("/reserve") == []


@pytest.mark.parametrize("mirrors_first", [False, True])
def test_a_fast_liar_does_not_defeat_a_slow_source(
    server: FaultServer, path: Path, more_tries: Limits, mirrors_first: bool
) -> None:
    with fault_server() as second:
        bad, good = server.add("/file", flipped(LARGE, 10_000_000)), second.add("/file", LARGE, rate=6e6)
        urls = (good, bad) if mirrors_first else (bad, good)
        fetch(path, more_tries, *urls, data=LARGE, mirrors_first=mirrors_first)


@pytest.mark.parametrize("liar", [0, 1], ids=["the first lies", "the second lies"])
def test_a_liar_as_fast_as_the_other(server: FaultServer, path: Path, more_tries: Limits, liar: int) -> None:
    with fault_server() as second:
        wrong = flipped(LARGE, 100, 9_000_000, 23_999_999)
        urls = [s.add("/file", wrong if n == liar else LARGE, rate=9e6) for n, s in enumerate((server, second))]
        assert fetch(path, more_tries, *urls, data=LARGE).fetched <= 3 * len(LARGE)


def test_without_the_official_the_next_source_is_trusted(server: FaultServer, path: Path, more_tries: Limits) -> None:
    bad, good = server.add("/bad", flipped(LARGE, 7)), server.add("/good", LARGE)
    fetch(path, more_tries, server.url + "/away", bad, good, data=LARGE)


def test_sources_that_agree_on_wrong_bytes(server: FaultServer, path: Path, more_tries: Limits) -> None:
    urls = [server.add(name, flipped(LARGE, 7)) for name in ("/file", "/mirror")]
    with pytest.raises(AppError) as caught:
        fetch(path, more_tries, *urls, data=LARGE)
    assert caught.value.code == "hash-mismatch"
    assert names(path.parent) == []
    assert server.sent <= 3 * len(LARGE) + MIB


def test_old_bytes_of_another_version_come_again(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL)
    write_part(path, SMALL, (0, 1000, url, b"x" * 1000), total=len(SMALL))
    done = fetch(path, limits, url)
    assert (done.reused, done.fetched) == (0, 2 * len(SMALL) - 1000)


@pytest.mark.parametrize("size", [len(SMALL) - 1000, len(SMALL) + 1000], ids=["shorter", "longer"])
def test_another_file_of_another_size_gives_way(server: FaultServer, path: Path, more_tries: Limits, size: int) -> None:
    bad = server.add("/bad", os.urandom(size))
    fetch(path, more_tries, bad, server.add("/good", SMALL))


@pytest.mark.parametrize("liar_has_ranges", [True, False])
@pytest.mark.parametrize("other_has_ranges", [True, False])
def test_a_source_without_ranges_can_give_all(
    server: FaultServer, path: Path, more_tries: Limits, liar_has_ranges: bool, other_has_ranges: bool
) -> None:
    wrong = flipped(LARGE, 7)
    bad = server.add("/bad", wrong, ranges=liar_has_ranges)
    good = server.add("/good", LARGE, ranges=other_has_ranges)
    write_part(path, LARGE, (0, len(LARGE), bad, wrong), total=len(LARGE))
    fetch(path, more_tries, bad, good, data=LARGE)


def test_a_broken_line_is_not_called_a_wrong_file(server: FaultServer, path: Path, more_tries: Limits) -> None:
    wrong = flipped(LARGE, len(LARGE) - 1)
    official, bad = server.add("/file", LARGE), server.add("/bad", wrong)
    server.files["/file"].faults = [Fault("drop", after=MIB)] + [Fault("reset")] * 99
    server.files["/bad"].faults = [Fault("reset")] * 99
    write_part(path, LARGE, (0, HALF, official, LARGE), (HALF, len(LARGE), bad, wrong), total=len(LARGE))
    quick = Limits(tries=2, backoff_seconds=0.01, stall_seconds=5, probe_seconds=0.2)
    with pytest.raises(NetworkError) as caught:
        fetch(path, quick, official, bad, data=LARGE)
    assert caught.value.code == "download-broke-off"
    server.files["/file"].faults = []
    assert fetch(path, more_tries, official, bad, data=LARGE).reused >= HALF


def test_a_broken_line_beside_a_liar_keeps_what_came(server: FaultServer, path: Path, more_tries: Limits) -> None:
    official, bad = server.add("/file", LARGE), server.add("/bad", flipped(LARGE, len(LARGE) - 1), rate=4e6)
    server.files["/file"].faults = [Fault("drop", after=2 * MIB)] + [Fault("reset")] * 99
    quick = Limits(tries=2, backoff_seconds=0.01, stall_seconds=5, probe_seconds=0.2)
    with pytest.raises(NetworkError) as caught:
        fetch(path, quick, official, bad, data=LARGE)
    assert caught.value.code == "download-broke-off"
    server.files["/file"].faults = []
    assert fetch(path, more_tries, official, bad, data=LARGE).reused >= 2 * MIB


def refetching(server: FaultServer, path: Path, limits: Limits, **served: object) -> BackgroundDownload:
    """A download that finds wrong bytes of a mirror on the disk, and fetches them from the official source."""
    wrong = flipped(LARGE, len(LARGE) - 1)
    official, bad = server.add("/file", LARGE, **served), server.add("/bad", wrong)
    write_part(path, LARGE, (0, len(LARGE), bad, wrong), total=len(LARGE))
    return BackgroundDownload(request(path, official, bad, data=LARGE), limits)


def test_the_speed_limit_holds_after_a_wrong_hash(server: FaultServer, path: Path, more_tries: Limits) -> None:
    work = refetching(server, path, more_tries)
    work.rate.limit = 12 * MIB
    started = time.monotonic()
    work.start()
    work.until(lambda: work.download.bottleneck() == "mending")
    work.join(30)
    # A chunk of each connection and a tenth of a second's bytes are free.
    assert time.monotonic() - started > 1
    assert (work.error, path.read_bytes() == LARGE) == (None, True)


def test_pause_holds_after_a_wrong_hash(server: FaultServer, path: Path, more_tries: Limits) -> None:
    work = refetching(server, path, more_tries, rate=1e6)
    work.start()
    work.until(lambda: work.download.fetched > 2 * MIB)
    work.rate.pause()
    work.until(lambda: server.files["/file"].now == 0)
    fetched = work.download.fetched
    work.join(0.2)
    assert work.download.fetched == fetched
    server.files["/file"].rate = None
    work.rate.resume()
    work.join(30)
    assert (work.error, path.read_bytes() == LARGE) == (None, True)


def test_cancel_ends_a_silent_read_after_a_wrong_hash(server: FaultServer, path: Path, more_tries: Limits) -> None:
    work = refetching(server, path, Limits(stall_seconds=60), faults=[Fault("stall", after=MIB)])
    work.start()
    assert server.stalled.wait(60)
    work.until(lambda: work.download.fetched >= 6 * MIB)
    stopped = time.monotonic()
    work.stopped.set()
    work.join(10)
    assert time.monotonic() - stopped < 1
    assert isinstance(work.error, Cancelled)
    server.let_go.set()
    done = fetch(path, more_tries, server.url + "/file", data=LARGE)
    assert done.reused >= 5 * MIB
    assert done.reused + done.fetched == len(LARGE)


@pytest.mark.parametrize("fault", [Fault("drop", after=100), Fault("status"), Fault("reset")], ids=lambda f: f.kind)
def test_a_flaky_official_source_still_mends(server: FaultServer, path: Path, more_tries: Limits, fault: Fault) -> None:
    work = refetching(server, path, more_tries, faults=[fault, fault, Fault("drop", after=MIB), fault, fault])
    work.start()
    work.join(30)
    assert (work.error, path.read_bytes() == LARGE) == (None, True)
    assert work.download.fetched <= len(LARGE) + 4 * MIB


# Two downloads of one file

PROGRAM = """
import sys, threading
from pathlib import Path
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch.downloader import Downloader
from gpu_assistant.fetch.request import DownloadRequest
url, path, sha256 = sys.argv[1], Path(sys.argv[2]), (sys.argv[3:] or [None])[0]
wanted = DownloadRequest(file=RemoteFile(urls=(url,), name=path.name, sha256=sha256), path=path)
try:
    Downloader([wanted], cancel=threading.Event()).run()
except AppError as error:
    print(error.code)
"""


def process(url: str, path: Path, *sha256: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, url, str(path), *sha256]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate(timeout=120)


def test_a_second_thread_or_process_is_refused(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/one", SMALL, faults=[Fault("stall", after=500_000)])
    first = BackgroundDownload(request(path, url, data=None), Limits(stall_seconds=60))
    first.start()
    try:
        assert server.stalled.wait(60)
        other = server.add("/two", os.urandom(2_000_000), etag='"two"')
        with pytest.raises(AppError) as caught:
            download(request(path, other, data=None), limits).run()
        assert (caught.value.code, caught.value.exit_code) == ("download-elsewhere", 1)
        assert process(other, path).communicate(timeout=60)[0].strip() == "download-elsewhere"
        assert server.gets("/two") == []
    finally:
        server.let_go.set()
        first.join(30)
    assert path.read_bytes() == SMALL
    assert names(path.parent) == ["file.bin"]


def test_a_killed_process_leaves_no_lock(server: FaultServer, path: Path, limits: Limits) -> None:
    child = process(server.add("/one", SMALL, faults=[Fault("stall", after=500_000)]), path)
    assert server.stalled.wait(60)
    kill(child)
    fetch(path, limits, server.url + "/one", data=None)
    assert path.read_bytes() == SMALL
    assert names(path.parent) == ["file.bin"]


class PatientDownload(threading.Thread):
    """One that waits for another process; `waits` is set once it says so."""

    def __init__(self, url: str, path: Path) -> None:
        super().__init__()
        self.waits, self.cancel = threading.Event(), threading.Event()
        self.error: AppError | None = None
        self.last: Totals | None = None
        file = RemoteFile(urls=(url,), name=path.name, sha256=sha256_of(SMALL))
        wanted = DownloadRequest(file=file, path=path, patient=True)
        self.downloader = Downloader([wanted], cancel=self.cancel, progress=self.progress)

    def progress(self, totals: Totals) -> None:
        self.last = totals
        if totals.bottleneck == "elsewhere":
            self.waits.set()

    def run(self) -> None:
        try:
            self.downloader.run()
        except AppError as error:
            self.error = error


def test_a_patient_download_takes_the_others_file(server: FaultServer, path: Path) -> None:
    child = process(server.add("/one", SMALL, faults=[Fault("stall", after=500_000)]), path)
    assert server.stalled.wait(60)
    second = PatientDownload(server.add("/again", SMALL), path)
    second.start()
    assert second.waits.wait(60)
    server.let_go.set()
    assert child.communicate(timeout=60)[0] == ""
    second.join(30)
    assert second.error is None
    assert second.last is not None
    assert (second.last.fetched, second.last.reused, second.last.done) == (0, len(SMALL), len(SMALL))
    assert server.gets("/again") == []
    assert names(path.parent) == ["file.bin"]


def test_a_patient_download_resumes_a_killed_one(server: FaultServer, path: Path) -> None:
    url = server.add("/one", SMALL, faults=[Fault("stall", after=500_000)])
    child = process(url, path, hashlib.sha256(SMALL).hexdigest())
    assert server.stalled.wait(60)
    second = PatientDownload(url, path)
    second.start()
    assert second.waits.wait(60)
    kill(child)
    second.join(30)
    assert second.error is None
    assert second.last is not None
    assert second.last.fetched + second.last.reused == len(SMALL)
    assert path.read_bytes() == SMALL
    assert names(path.parent) == ["file.bin"]


def test_a_waiting_download_can_be_cancelled(server: FaultServer, path: Path) -> None:
    url = server.add("/one", SMALL, faults=[Fault("stall", after=500_000)])
    child = process(url, path)
    assert server.stalled.wait(60)
    second = PatientDownload(url, path)
    second.start()
    assert second.waits.wait(60)
    cancelled = time.monotonic()
    second.cancel.set()
    second.join(30)
    assert time.monotonic() - cancelled < 1
    assert isinstance(second.error, Cancelled)
    assert child.poll() is None
    kill(child)
