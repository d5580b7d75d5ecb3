"""One file, every fault: what comes out is the right file or one plain error, never half a file."""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled, NetworkError
from gpu_assistant.fetch import part
from gpu_assistant.fetch.download import Download
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Digest, Wanted
from tests.fakes.fault_server import Fault, FaultServer

DATA = os.urandom(1_500_000)
SHA256 = hashlib.sha256(DATA).hexdigest()


def common(limits: Limits) -> Common:
    return Common(limits, threading.Event(), Pace())


def get(url: str, path: Path, limits: Limits, *, sha256: str | None = SHA256, size: int | None = None) -> Download:
    download = Download(Wanted(url=url, path=path, sha256=sha256, bytes=size), common(limits))
    assert download.run() == path
    return download


def keep(path: Path, data: bytes, *, total: int | None = None, true: bool = True) -> None:
    """A part with its state, as an earlier run leaves it; with `true` False the disk gives back other bytes."""
    part.part_path(path).write_bytes(data)
    head = part.Head(url="", digest=Digest(hex=SHA256), total=total)
    piece = part.Piece(start=0, end=len(data), crc=zlib.crc32(data) if true else 0, url="")
    part.State(path, part.Kept(head=head, versions={}, pieces=[piece])).close()


def leftovers(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_arrives_whole(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "new" / "file.bin"
    download = get(server.add("/file", DATA), path, limits)
    assert path.read_bytes() == DATA
    assert (download.reused, download.fetched, download.total) == (0, len(DATA), len(DATA))
    assert leftovers(path.parent) == ["file.bin"]


def test_a_whole_file_is_not_fetched_again(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(DATA)
    download = get(server.add("/file", DATA), path, limits)
    assert download.reused == len(DATA)
    assert server.seen == []


def test_a_damaged_file_is_replaced(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(DATA[:-1] + bytes([DATA[-1] ^ 1]))
    get(server.add("/file", DATA), path, limits)
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("sha256", [SHA256, None], ids=["hash-known", "hash-unknown"])
def test_drops_are_taken_up_where_they_happened(
    server: FaultServer, tmp_path: Path, limits: Limits, sha256: str | None
) -> None:
    path = tmp_path / "file.bin"
    faults = [Fault("drop", after=n) for n in (400_000, 300_000, 0, 200_000)] + [Fault("stall", after=100_000)]
    url = server.add("/file", DATA, faults=faults)
    download = get(url, path, limits, sha256=sha256)
    assert path.read_bytes() == DATA
    assert download.fetched == len(DATA)
    assert server.sent == len(DATA)
    assert [seen.range for seen in server.gets("/file")][1:3] == ["bytes=400000-", "bytes=700000-"]
    assert {seen.if_range for seen in server.gets("/file")[1:]} == {'"one"'}


def test_a_server_that_ignores_ranges_starts_over(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    url = server.add("/file", DATA, faults=[Fault("drop", after=500_000), Fault("ignore-range")])
    download = get(url, path, limits)
    assert path.read_bytes() == DATA
    assert (download.reused, download.have) == (0, len(DATA))


def test_a_server_that_always_drops_at_the_same_place_without_ranges_is_given_up(
    server: FaultServer, tmp_path: Path, limits: Limits
) -> None:
    url = server.add("/file", DATA, ranges=False, faults=[Fault("drop", after=500_000)] * 50)
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits)
    # What came is of no use to the next start, which would end there as well.
    assert caught.value.code == "source-ends-early"
    assert len(server.gets("/file")) <= limits.tries + 1


def test_two_versions_are_never_mixed(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    url = server.add("/file", DATA, faults=[Fault("drop", after=500_000), Fault("other-version")])
    get(url, path, limits, sha256=None)
    assert path.read_bytes() == DATA
    again = server.gets("/file")[-1]
    assert (again.range or "").startswith("bytes=0-")
    assert again.if_range is None


def test_a_part_of_another_version_is_fetched_anew(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    keep(path, b"x" * 1000, total=len(DATA))
    download = get(server.add("/file", DATA), path, limits)
    assert path.read_bytes() == DATA
    assert download.fetched == len(DATA)


def test_a_part_without_its_state_is_not_trusted(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    part.part_path(path).write_bytes(DATA[:1000])
    download = get(server.add("/file", DATA), path, limits)
    assert (path.read_bytes(), download.reused) == (DATA, 0)


def test_a_part_is_taken_up_by_the_next_run_also_from_another_address(
    server: FaultServer, tmp_path: Path, limits: Limits
) -> None:
    path = tmp_path / "file.bin"
    url = server.add("/file", DATA, ranges=True, faults=[Fault("drop", after=900_000)] + [Fault("reset")] * 20)
    with pytest.raises(NetworkError):
        get(url, path, limits)
    assert leftovers(tmp_path) == ["file.bin.part", "file.bin.part.json"]
    download = get(server.add("/mirror", DATA, etag=None), path, limits)
    assert (download.reused, download.fetched) == (900_000, len(DATA) - 900_000)
    assert path.read_bytes() == DATA
    assert leftovers(tmp_path) == ["file.bin"]


def test_a_complete_part_needs_no_network(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    keep(path, DATA, total=len(DATA))
    get(server.add("/file", DATA), path, limits)
    assert path.read_bytes() == DATA
    assert server.seen == []


def test_a_wrong_hash_leaves_nothing(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    with pytest.raises(AppError) as caught:
        get(server.add("/file", DATA), tmp_path / "file.bin", limits, sha256="0" * 64)
    assert (caught.value.code, caught.value.exit_code) == ("hash-mismatch", 1)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("size", [len(DATA), None])
def test_a_login_page_is_no_file(server: FaultServer, tmp_path: Path, limits: Limits, size: int | None) -> None:
    url = server.add("/file", DATA, faults=[Fault("garbage")])
    with pytest.raises(AppError) as caught:
        get(url, tmp_path / "file.bin", limits, size=size)
    assert caught.value.code == "hash-mismatch"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: FaultServer, tmp_path: Path, limits: Limits, status: int) -> None:
    url = server.add("/file", DATA, faults=[Fault("status", status=status, headers={"Retry-After": "0"})] * 2)
    get(url, tmp_path / "file.bin", limits)
    assert len(server.gets("/file")) == 3


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_is_final(server: FaultServer, tmp_path: Path, limits: Limits, status: int) -> None:
    url = server.add("/file", DATA, faults=[Fault("status", status=status)])
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits)
    assert caught.value.code == "source-refused"
    assert (caught.value.data["status"], caught.value.exit_code) == (status, 6)
    assert len(server.gets("/file")) == 1


def test_a_range_beyond_the_end_starts_over(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    keep(path, DATA + b"more")
    get(server.add("/file", DATA), path, limits)
    assert path.read_bytes() == DATA


def test_nobody_listening(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    url = server.add("/file", DATA)
    server.close()
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits)
    assert (caught.value.code, caught.value.data["have_bytes"]) == ("host-refused", 0)


def test_a_stalled_read_ends_on_stop(server: FaultServer, tmp_path: Path) -> None:
    url = server.add("/file", DATA, faults=[Fault("stall", after=300_000)])
    shared = common(Limits(stall_seconds=60))
    download = Download(Wanted(url=url, path=tmp_path / "file.bin", sha256=SHA256), shared)
    caught: list[BaseException] = []

    def run() -> None:
        try:
            download.run()
        except Cancelled as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert server.stalled.wait(10)
    while not download.have and thread.is_alive():
        thread.join(0.01)  # of what is sent something has come
    shared.stopped.set()
    thread.join(5)
    assert not thread.is_alive()
    assert len(caught) == 1
    assert leftovers(tmp_path) == ["file.bin.part", "file.bin.part.json"]


def test_a_disk_that_is_too_small_is_seen_before(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    import msgspec

    huge = msgspec.structs.replace(limits, reserve_bytes=2**60)
    with pytest.raises(AppError) as caught:
        get(server.add("/file", DATA), tmp_path / "file.bin", huge)
    assert caught.value.code == "disk-too-small"
    assert caught.value.data["needed_bytes"] == len(DATA)
    assert "file.bin" not in leftovers(tmp_path)
