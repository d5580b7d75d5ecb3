"""Sources that lie, beside one that does not: their bytes are mended, and a lie about the size stops nobody."""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.fetch import part
from gpu_assistant.fetch.download import Download
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Digest, Wanted
from tests.fakes.fault_server import FaultServer, fault_server

DATA = os.urandom(24 << 20)
SHA256 = hashlib.sha256(DATA).hexdigest()
MIB = 1 << 20
FAR_TOO_MUCH = 10**15


@pytest.fixture
def patient(limits: Limits) -> Limits:
    """Enough patience for several connections."""
    return msgspec.structs.replace(limits, stall_seconds=5, tries=6, probe_seconds=0.5)


def flipped(*places: int) -> bytes:
    wrong = bytearray(DATA)
    for place in places:
        wrong[place] ^= 1
    return bytes(wrong)


def download(path: Path, limits: Limits, *urls: str, **more: object) -> Download:
    wanted = Wanted(url=urls[0], mirrors=urls[1:], path=path, **{"sha256": SHA256, **more})  # type: ignore[arg-type]
    return Download(wanted, Common(limits, threading.Event(), Pace()))


def come(path: Path, *pieces: tuple[int, int, str, bytes]) -> None:
    """A part in which all bytes are: from where to where, by which source, cut from what it serves."""
    found = bytearray(len(DATA))
    lines = []
    for start, end, url, data in pieces:
        found[start:end] = data[start:end]
        lines.append(part.Piece(start=start, end=end, crc=zlib.crc32(data[start:end]), url=url))
    part.part_path(path).write_bytes(found)
    head = part.Head(url=pieces[0][2], digest=Digest(hex=SHA256), total=len(DATA))
    part.State(path, part.Kept(head=head, versions={}, pieces=lines)).close()


@pytest.mark.parametrize("liar", [0, 1], ids=["the first lies", "the second lies"])
def test_a_wrong_byte_in_a_block_from_two_sources_is_found(
    server: FaultServer, tmp_path: Path, patient: Limits, liar: int
) -> None:
    path, wrong = tmp_path / "file.bin", flipped(10_000_000)
    bad, good = server.add("/bad", wrong), server.add("/good", DATA)
    # The good one gave least, the end of the very block that holds the wrong byte among it.
    come(path, (0, 11 * MIB, bad, wrong), (11 * MIB, 14 * MIB, good, DATA), (14 * MIB, 24 * MIB, bad, wrong))
    work = download(path, patient, *((bad, good) if liar == 0 else (good, bad)))
    work.run()
    assert path.read_bytes() == DATA
    # What the good one gave, and the liar's up to the wrong byte's block.
    assert work.fetched == 3 * MIB + 11 * MIB


def test_a_liar_that_gave_most_of_it_and_lies_everywhere_takes_no_good_bytes_along(
    server: FaultServer, tmp_path: Path, patient: Limits
) -> None:
    path, wrong = tmp_path / "file.bin", flipped(*range(0, len(DATA), MIB // 2))
    bad, good = server.add("/bad", wrong), server.add("/good", DATA)
    sources = {False: (good, DATA), True: (bad, wrong)}
    come(path, *((at, at + MIB, *sources[at % (8 * MIB) > 0]) for at in range(0, len(DATA), MIB)))
    work = download(path, patient, bad, good)
    work.run()
    assert path.read_bytes() == DATA
    # Each byte once from the other source, and the good one's three once more.
    assert work.fetched == 27 * MIB


def test_a_third_source_mends_what_two_agree_on(server: FaultServer, tmp_path: Path, patient: Limits) -> None:
    path, wrong = tmp_path / "file.bin", flipped(7)
    bad, too, good = server.add("/bad", wrong), server.add("/too", wrong), server.add("/good", DATA)
    come(path, (0, 12 * MIB, bad, wrong), (12 * MIB, 24 * MIB, too, wrong))
    work = download(path, patient, bad, too, good)
    work.run()
    assert path.read_bytes() == DATA
    assert work.fetched == 2 * len(DATA)


@pytest.mark.parametrize("mirrors_first", [False, True])
def test_a_fast_liar_does_not_defeat_a_slow_source(
    server: FaultServer, tmp_path: Path, patient: Limits, mirrors_first: bool
) -> None:
    path = tmp_path / "file.bin"
    with fault_server() as second:
        bad, good = server.add("/file", flipped(10_000_000)), second.add("/file", DATA, rate=2e6)
        urls = (good, bad) if mirrors_first else (bad, good)
        work = download(path, patient, *urls, mirrors_first=mirrors_first)
        work.run()
    assert path.read_bytes() == DATA
    assert work.fetched < 2 * len(DATA)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_source_that_announces_more_than_the_disk_holds_is_left(
    server: FaultServer, tmp_path: Path, patient: Limits, ranges: bool
) -> None:
    path = tmp_path / "file.bin"
    bad = server.add("/bad", DATA, ranges=ranges, more=FAR_TOO_MUCH)
    download(path, patient, bad, server.add("/good", DATA)).run()
    assert path.read_bytes() == DATA


def test_without_a_checksum_too(server: FaultServer, tmp_path: Path, patient: Limits) -> None:
    path = tmp_path / "file.bin"
    bad = server.add("/bad", DATA, ranges=False, more=FAR_TOO_MUCH)
    download(path, patient, bad, server.add("/good", DATA), sha256=None).run()
    assert path.read_bytes() == DATA


def test_the_disk_is_blamed_where_all_sources_say_so(server: FaultServer, tmp_path: Path, patient: Limits) -> None:
    urls = [server.add(name, DATA, ranges=False, more=FAR_TOO_MUCH) for name in ("/one", "/two")]
    with pytest.raises(AppError) as caught:
        download(tmp_path / "file.bin", patient, *urls).run()
    assert caught.value.code == "disk-too-small"
    assert caught.value.data["needed_bytes"] == FAR_TOO_MUCH + len(DATA)
    assert [len(server.gets(name)) for name in ("/one", "/two")] == [1, 1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize("ranges", [True, False])
def test_a_source_that_gives_an_empty_file_is_left(
    server: FaultServer, tmp_path: Path, patient: Limits, ranges: bool, length: bool
) -> None:
    path = tmp_path / "file.bin"
    bad = server.add("/bad", b"", ranges=ranges, length=length)
    download(path, patient, bad, server.add("/good", DATA)).run()
    assert path.read_bytes() == DATA


def test_an_empty_file_from_the_only_source_is_not_the_wanted_one(
    server: FaultServer, tmp_path: Path, patient: Limits
) -> None:
    with pytest.raises(AppError) as caught:
        download(tmp_path / "file.bin", patient, server.add("/bad", b"", ranges=False)).run()
    assert caught.value.code == "hash-mismatch"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [len(DATA) - MIB, len(DATA) + MIB], ids=["shorter", "longer"])
def test_another_file_of_another_size_gives_way(
    server: FaultServer, tmp_path: Path, patient: Limits, size: int
) -> None:
    path = tmp_path / "file.bin"
    bad = server.add("/bad", os.urandom(size))
    download(path, patient, bad, server.add("/good", DATA)).run()
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("liar_has_ranges", [True, False])
@pytest.mark.parametrize("other_has_ranges", [True, False])
def test_whoever_gives_no_parts_can_still_give_all(
    server: FaultServer, tmp_path: Path, patient: Limits, liar_has_ranges: bool, other_has_ranges: bool
) -> None:
    path, wrong = tmp_path / "file.bin", flipped(7)
    bad = server.add("/bad", wrong, ranges=liar_has_ranges)
    good = server.add("/good", DATA, ranges=other_has_ranges)
    come(path, (0, len(DATA), bad, wrong))
    download(path, patient, bad, good).run()
    assert path.read_bytes() == DATA


def test_a_true_size_is_told_though_the_official_source_is_away(
    server: FaultServer, tmp_path: Path, patient: Limits
) -> None:
    small = msgspec.structs.replace(patient, reserve_bytes=2**60)
    with pytest.raises(AppError) as caught:
        download(tmp_path / "file.bin", small, server.url + "/away", server.add("/mirror", DATA)).run()
    assert caught.value.code == "disk-too-small"
