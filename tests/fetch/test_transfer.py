"""The connections of one file together: how many, what they resume, when the disk is too small."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, Cancelled, NetworkError
from gpu_assistant.fetch.request import Digest, Limits
from gpu_assistant.fetch.segments import SegmentMap
from gpu_assistant.fetch.transfer import HashWorker

from ..fakes.fault_server import Fault, FaultServer
from .downloads import LARGE, SMALL, BackgroundDownload, fetch, names, request, write_part

FAR_TOO_MUCH = 10**15


def test_segments_come_over_several_connections(server: FaultServer, path: Path, more_tries: Limits) -> None:
    done = fetch(path, more_tries, server.add("/file", LARGE, rate=4_000_000), data=LARGE)
    assert 4 <= server.files["/file"].highest <= 8
    assert done.fetched == len(LARGE)


@pytest.mark.parametrize("data", [SMALL, None], ids=["checksum", "no-checksum"])
def test_drops_are_resumed_where_they_happened(
    server: FaultServer, path: Path, limits: Limits, data: bytes | None
) -> None:
    faults = [Fault("drop", after=n) for n in (400_000, 300_000, 0, 200_000)] + [Fault("stall", after=100_000)]
    limits = msgspec.structs.replace(limits, stall_seconds=2)
    done = fetch(path, limits, server.add("/file", SMALL, faults=faults), data=data)
    assert path.read_bytes() == SMALL
    assert (done.fetched, server.sent) == (len(SMALL), len(SMALL))
    assert [seen.range for seen in server.gets("/file")][1:3] == ["bytes=400000-", "bytes=700000-"]
    assert {seen.if_range for seen in server.gets("/file")[1:]} == {'"one"'}


def test_two_versions_are_never_mixed(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL, faults=[Fault("drop", after=500_000), Fault("other-version")])
    fetch(path, limits, url, data=None)
    assert path.read_bytes() == SMALL
    again = server.gets("/file")[-1]
    assert (again.range or "").startswith("bytes=0-")
    assert again.if_range is None


def test_a_range_beyond_the_end_starts_over(server: FaultServer, path: Path, limits: Limits) -> None:
    longer = SMALL + b"more"
    write_part(path, SMALL, (0, len(longer), "", longer))
    fetch(path, limits, server.add("/file", SMALL))


def test_nobody_listening(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL)
    server.close()
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url)
    assert (caught.value.code, caught.value.data["have_bytes"]) == ("host-refused", 0)


def test_a_stalled_read_ends_on_stop(server: FaultServer, path: Path) -> None:
    url = server.add("/file", SMALL, faults=[Fault("stall", after=300_000)])
    work = BackgroundDownload(request(path, url), Limits(stall_seconds=60))
    work.start()
    assert server.stalled.wait(60)
    work.until(lambda: work.download.received > 0)
    work.stopped.set()
    work.join(5)
    assert not work.is_alive()
    assert isinstance(work.error, Cancelled)
    assert names(path.parent) == ["file.bin.part", "file.bin.part.json"]


def test_a_disk_too_small_is_seen_before(server: FaultServer, path: Path, limits: Limits) -> None:
    huge = msgspec.structs.replace(limits, reserve_bytes=2**60)
    with pytest.raises(AppError) as caught:
        fetch(path, huge, server.add("/file", SMALL))
    assert caught.value.code == "disk-too-small"
    assert caught.value.data["needed_bytes"] == len(SMALL)
    assert not path.exists()


@pytest.mark.parametrize("ranges", [True, False])
def test_a_source_with_too_large_a_size_is_left(
    server: FaultServer, path: Path, more_tries: Limits, ranges: bool
) -> None:
    bad = server.add("/bad", SMALL, ranges=ranges, more=FAR_TOO_MUCH)
    fetch(path, more_tries, bad, server.add("/good", SMALL))


def test_too_large_a_size_without_a_checksum(server: FaultServer, path: Path, more_tries: Limits) -> None:
    bad = server.add("/bad", SMALL, ranges=False, more=FAR_TOO_MUCH)
    fetch(path, more_tries, bad, server.add("/good", SMALL), data=None)
    assert path.read_bytes() == SMALL


def test_too_large_a_size_everywhere_is_the_disks(server: FaultServer, path: Path, more_tries: Limits) -> None:
    urls = [server.add(name, SMALL, ranges=False, more=FAR_TOO_MUCH) for name in ("/one", "/two")]
    with pytest.raises(AppError) as caught:
        # No answer is late: a late one is asked for over another connection, too.
        fetch(path, msgspec.structs.replace(more_tries, probe_seconds=60, stall_seconds=60), *urls)
    assert caught.value.code == "disk-too-small"
    assert caught.value.data["needed_bytes"] == FAR_TOO_MUCH + len(SMALL)
    assert [len(server.gets(name)) for name in ("/one", "/two")] == [1, 1]
    assert list(path.parent.iterdir()) == []


def test_a_true_size_is_reported_without_the_official(server: FaultServer, path: Path, more_tries: Limits) -> None:
    small = msgspec.structs.replace(more_tries, reserve_bytes=2**60)
    with pytest.raises(AppError) as caught:
        fetch(path, small, server.url + "/away", server.add("/mirror", SMALL))
    assert caught.value.code == "disk-too-small"


@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize("ranges", [True, False])
def test_a_source_with_an_empty_file_is_left(
    server: FaultServer, path: Path, more_tries: Limits, ranges: bool, length: bool
) -> None:
    fetch(path, more_tries, server.add("/bad", b"", ranges=ranges, length=length), server.add("/good", SMALL))


def test_an_empty_file_from_the_only_source(server: FaultServer, path: Path, more_tries: Limits) -> None:
    with pytest.raises(AppError) as caught:
        fetch(path, more_tries, server.add("/bad", b"", ranges=False))
    assert caught.value.code == "hash-mismatch"
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("expected", [SMALL, b"else"], ids=["right", "wrong"])
def test_the_hash_worker_follows_the_bytes(tmp_path: Path, expected: bytes) -> None:
    part = tmp_path / "file.part"
    part.write_bytes(SMALL)
    segments = SegmentMap([(0, len(SMALL))], len(SMALL), 1)
    worker = HashWorker(part, Digest(hex=hashlib.sha256(expected).hexdigest()), segments)
    worker.start()
    assert worker.ok() == (expected is SMALL)


def test_a_closed_map_ends_the_hash_worker(tmp_path: Path) -> None:
    part = tmp_path / "file.part"
    part.write_bytes(SMALL)
    segments = SegmentMap([(0, 1000)], len(SMALL), 1)
    worker = HashWorker(part, Digest(hex=""), segments)
    worker.start()
    threading.Timer(0.1, segments.close).start()
    worker.join()
    assert not worker.running
