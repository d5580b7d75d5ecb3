"""Several connections and several sources: who is asked, who is left, and how a liar's bytes are found."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, NetworkError
from gpu_assistant.fetch.download import Download
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.many import Fetch, Totals
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Wanted
from tests.fakes.fault_server import Fault, FaultServer, fault_server

DATA = os.urandom(24_000_000)
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def many(limits: Limits) -> Limits:
    """Enough patience for several connections, and spans small enough to have several."""
    return msgspec.structs.replace(limits, stall_seconds=5, tries=6, probe_seconds=0.5)


def get(path: Path, limits: Limits, *urls: str, sha256: str | None = SHA256) -> Download:
    wanted = Wanted(url=urls[0], mirrors=urls[1:], path=path, sha256=sha256)
    download = Download(wanted, Common(limits, threading.Event(), Pace()))
    download.run()
    assert path.read_bytes() == DATA
    return download


def flipped(*places: int) -> bytes:
    wrong = bytearray(DATA)
    for place in places:
        wrong[place] ^= 1
    return bytes(wrong)


def test_parts_come_over_several_connections(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    url = server.add("/file", DATA, rate=4_000_000)
    download = get(tmp_path / "file.bin", many, url)
    assert 4 <= server.files["/file"].highest <= 8
    assert download.fetched == len(DATA)


def test_all_files_together_keep_to_the_limit_of_a_server(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    todo = [
        Wanted(url=server.add("/file", DATA, rate=20_000_000), path=tmp_path / f"{n}.bin", sha256=SHA256)
        for n in range(3)
    ]
    Fetch(todo, cancel=threading.Event(), limits=many).run()
    assert server.files["/file"].highest <= 8


@pytest.mark.parametrize("busy", [429, 403, 503])
def test_a_server_that_wants_fewer_connections_gets_fewer(
    server: FaultServer, tmp_path: Path, many: Limits, busy: int
) -> None:
    url = server.add("/file", DATA, rate=20_000_000, most=1, busy=busy)
    get(tmp_path / "file.bin", many, url)


def test_a_slow_source_is_left_for_a_fast_one(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    slow = server.add("/slow", DATA, rate=200_000)
    fast = server.add("/fast", DATA, rate=20_000_000)
    began = time.monotonic()
    get(tmp_path / "file.bin", many, slow, fast)
    # The slow one alone would take 15 seconds over all its connections.
    assert time.monotonic() - began < 10
    assert len(server.gets("/fast")) > len(server.gets("/slow"))


def test_a_source_that_never_answers_is_not_waited_for(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    silent = server.add("/silent", DATA, faults=[Fault("stall")] * 30)
    patient = msgspec.structs.replace(many, stall_seconds=60, connect_seconds=60, probe_seconds=5)
    began = time.monotonic()
    get(tmp_path / "file.bin", patient, silent, server.add("/mirror", DATA))
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("status", [403, 404])
def test_a_mirror_helps_out(server: FaultServer, tmp_path: Path, many: Limits, status: int) -> None:
    url = server.add("/file", DATA, faults=[Fault("status", status=status)] * 50)
    get(tmp_path / "file.bin", many, url, server.add("/mirror", DATA))


def test_the_official_source_says_why_none_gave_the_file(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    with pytest.raises(NetworkError) as caught:
        get(tmp_path / "file.bin", many, server.url + "/not/here", server.url + "/nor/here")
    assert caught.value.data["status"] == 404


def test_a_mirror_with_another_size_is_not_used(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    get(tmp_path / "file.bin", many, server.add("/file", DATA), server.add("/mirror", DATA + b"more"))


def test_without_a_checksum_sources_are_not_mixed(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    url = server.add("/file", DATA)
    get(tmp_path / "file.bin", many, url, server.add("/mirror", flipped(0)), sha256=None)
    assert server.gets("/mirror") == []


def test_without_a_checksum_the_next_source_begins_anew(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    other = flipped(5, 20_000_000)
    faults = [Fault("drop", after=2_000_000)] + [Fault("status", status=410)] * 50
    url = server.add("/file", other, faults=faults)
    get(tmp_path / "file.bin", many, url, server.add("/mirror", DATA), sha256=None)


@pytest.mark.parametrize("liar", [0, 1], ids=["the first lies", "the second lies"])
def test_the_wrong_bytes_of_a_source_are_found(server: FaultServer, tmp_path: Path, many: Limits, liar: int) -> None:
    with fault_server() as second:
        wrong = flipped(100, 9_000_000, 23_999_999)
        urls = [s.add("/file", wrong if n == liar else DATA, rate=9e6) for n, s in enumerate((server, second))]
        download = get(tmp_path / "file.bin", many, *urls)
    assert download.fetched <= 2 * len(DATA)


def test_two_sources_with_a_fault_each_make_one_right_file(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    first = server.add("/file", flipped(1_000_000, 17_000_000), rate=9e6)
    second = server.add("/mirror", flipped(9_000_000), rate=9e6)
    download = get(tmp_path / "file.bin", many, first, second)
    assert download.fetched <= 2 * len(DATA)


def test_sources_that_agree_on_wrong_bytes_give_nothing(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    urls = [server.add(path, flipped(7)) for path in ("/file", "/mirror")]
    with pytest.raises(AppError) as caught:
        get(tmp_path / "file.bin", many, *urls)
    assert caught.value.code == "hash-mismatch"
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_the_disk_changed_are_fetched_again_alone(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    path = tmp_path / "file.bin"
    url = server.add("/file", DATA, faults=[])
    stop = threading.Event()

    def until_half(totals: Totals) -> None:
        if totals.done > len(DATA) // 2:
            stop.set()

    server.files["/file"].rate = 4_000_000
    with pytest.raises(AppError):
        Fetch([Wanted(url=url, path=path, sha256=SHA256)], cancel=stop, progress=until_half, limits=many).run()
    server.files["/file"].rate = None
    with (tmp_path / "file.bin.part").open("r+b") as file:
        byte = file.read(1)
        file.seek(0)
        file.write(bytes([byte[0] ^ 1]))
    download = get(path, many, url)
    assert download.reused > len(DATA) // 4
    assert download.fetched + download.reused == len(DATA)


def test_a_copy_on_this_computer_costs_nothing(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    url = server.add("/file", DATA)
    broken, right = tmp_path / "broken.bin", tmp_path / "right.bin"
    broken.write_bytes(DATA[:-1])
    right.write_bytes(DATA)
    wanted = Wanted(url=url, path=tmp_path / "new" / "file.bin", sha256=SHA256, copies=(broken, right))
    download = Download(wanted, Common(limits, threading.Event(), Pace()))
    assert download.run().read_bytes() == DATA
    assert (download.reused, download.fetched, server.seen) == (len(DATA), 0, [])


def test_pause_resume_and_a_speed_limit(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    # Before anything is held back, each of eight connections has a portion, and a tenth of a second's bytes are free.
    pace = Pace(most=4_000_000)
    free = many.connections * pace.portion(2**20) + 4_000_000 // 10
    paused: list[float] = []

    def progress(totals: Totals) -> None:
        if totals.done > 6_000_000 and not paused:
            pace.pause()
            paused.append(time.monotonic())
        elif paused and len(paused) == 1 and time.monotonic() - paused[0] > 0.5:
            paused.append(totals.done)
            pace.most = None
            pace.resume()

    began = time.monotonic()
    wanted = Wanted(url=server.add("/file", DATA), path=tmp_path / "file.bin", sha256=SHA256)
    Fetch([wanted], cancel=threading.Event(), progress=progress, limits=many, pace=pace).run()
    assert paused[0] - began > (6_000_000 - free) / 4_000_000
    assert paused[1] < len(DATA)
    assert (tmp_path / "file.bin").read_bytes() == DATA


def reserved(
    path: Path, limits: Limits, url: str, *mirrors: str, pace: Pace | None = None, slow_bytes: int = 2_000_000
) -> None:
    wanted = Wanted(url=url, reserve=mirrors, slow_bytes=slow_bytes, path=path, sha256=SHA256)
    Download(wanted, Common(limits, threading.Event(), pace or Pace())).run()
    assert path.read_bytes() == DATA


def test_a_reserve_is_not_asked_while_the_official_source_is_fast(
    server: FaultServer, tmp_path: Path, many: Limits
) -> None:
    # Slow enough for several looks at it, and still fast, on a computer with much else to do, too.
    url, mirror = server.add("/file", DATA, rate=1_000_000), server.add("/mirror", DATA)
    reserved(tmp_path / "file.bin", many, url, mirror, slow_bytes=250_000)
    assert server.gets("/mirror") == []


def test_a_reserve_helps_out_where_the_official_source_is_slow(
    server: FaultServer, tmp_path: Path, many: Limits
) -> None:
    url, mirror = server.add("/file", DATA, rate=100_000), server.add("/mirror", DATA, rate=20_000_000)
    began = time.monotonic()
    reserved(tmp_path / "file.bin", many, url, mirror)
    # The official one alone would take 30 seconds over all its connections.
    assert time.monotonic() - began < 15
    assert server.gets("/file")
    assert server.gets("/mirror")


@pytest.mark.parametrize("fault", [Fault("status", status=403), Fault("drop"), Fault("stall")], ids=lambda f: f.kind)
def test_a_reserve_helps_out_where_the_official_source_gives_nothing(
    server: FaultServer, tmp_path: Path, many: Limits, fault: Fault
) -> None:
    url = server.add("/file", DATA, faults=[fault] * 60)
    reserved(tmp_path / "file.bin", many, url, server.add("/mirror", DATA))


def test_a_pace_that_the_user_chose_calls_no_reserve(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    pace = Pace(most=len(DATA) // 4)
    limits = msgspec.structs.replace(many, probe_seconds=0.2)
    wanted = Wanted(
        url=server.add("/file", DATA),
        reserve=(server.add("/mirror", DATA),),
        slow_bytes=1e9,
        path=tmp_path / "file.bin",
        sha256=SHA256,
    )
    Download(wanted, Common(limits, threading.Event(), pace)).run()
    assert server.gets("/mirror") == []


def test_chosen_mirrors_are_asked_first(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    small = DATA[:100_000]
    wanted = Wanted(
        url=server.add("/file", small),
        mirrors=(server.add("/mirror", small),),
        mirrors_first=True,
        path=tmp_path / "file.bin",
        sha256=hashlib.sha256(small).hexdigest(),
    )
    patient = msgspec.structs.replace(many, probe_seconds=60)  # on a busy machine the first answer takes its time
    Download(wanted, Common(patient, threading.Event(), Pace())).run()
    assert server.gets("/mirror")
    assert server.gets("/file") == []


def test_a_chosen_mirror_that_lies_is_found_out(server: FaultServer, tmp_path: Path, many: Limits) -> None:
    wanted = Wanted(
        url=server.add("/file", DATA),
        mirrors=(server.add("/mirror", flipped(12, 20_000_000)),),
        mirrors_first=True,
        path=tmp_path / "file.bin",
        sha256=SHA256,
    )
    Download(wanted, Common(many, threading.Event(), Pace())).run()
    assert (tmp_path / "file.bin").read_bytes() == DATA
