"""The unfinished file and its journal: what is resumed, and what needs no network."""

from __future__ import annotations

import json
import os
import threading
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, NetworkError
from gpu_assistant.fetch import partial_file
from gpu_assistant.fetch.downloader import Downloader, Totals
from gpu_assistant.fetch.partial_file import FileHeader, Piece, PieceJournal, PieceRecord, SourceVersion, local_path
from gpu_assistant.fetch.request import Limits

from ..fakes.fault_server import Fault, FaultServer
from .downloads import LARGE, SMALL, fetch, names, request, sha256_of, write_part

URL = "https://a.example/file"


def test_only_file_addresses_are_local() -> None:
    assert local_path("https://a.example/x") is None
    assert local_path("file://server/share/x") is None
    path = local_path("file:///a%20b/c.whl")
    assert path is not None
    assert (path.name, path.parent.name) == ("c.whl", "a b")


def test_a_journal_is_read_as_it_was_written(path: Path) -> None:
    record = PieceRecord(header=FileHeader(url=URL), versions={}, pieces=[])
    journal = PieceJournal(path, record)
    journal.set_total(5)
    journal.set_version(SourceVersion(url=URL, etag='"one"'))
    journal.add_piece(Piece(start=0, end=5, crc=zlib.crc32(b"bytes"), url=URL))
    journal.close()
    again = partial_file.read_record(path)
    assert again == record
    assert again is not None
    assert (again.header.total, again.versions[URL].etag, again.pieces[0].size) == (5, '"one"', 5)


def test_damaged_lines_of_a_journal_do_not_count(path: Path) -> None:
    PieceJournal(path, PieceRecord(header=FileHeader(url=URL), versions={}, pieces=[])).close()
    piece = b'{"type":"bytes","start":0,"end":5,"crc":1,"url":"x"}'
    with partial_file.journal_path(path).open("ab") as file:
        file.write(b"\x00\x00\x00\n" + piece + b"\n" + piece[:20])
    record = partial_file.read_record(path)
    assert record is not None
    assert [piece.end for piece in record.pieces] == [5]


def test_pieces_with_a_wrong_crc_are_left_out(path: Path) -> None:
    partial_file.part_path(path).write_bytes(b"0123456789")
    right = Piece(start=0, end=4, crc=zlib.crc32(b"0123"), url=URL)
    wrong = Piece(start=4, end=8, crc=1, url=URL)
    beyond = Piece(start=8, end=20, crc=zlib.crc32(b"89"), url=URL)
    intact = partial_file.intact_pieces(path, [beyond, wrong, right], threading.Event())
    assert intact == [right]


@pytest.mark.parametrize(
    ("version", "resumed"),
    [(None, False), (SourceVersion(url=URL), False), (SourceVersion(url=URL, last_modified="Mon"), True)],
    ids=["none", "empty", "date"],
)
def test_without_a_checksum_a_version_is_needed(path: Path, version: SourceVersion | None, resumed: bool) -> None:
    versions = {URL: version} if version is not None else {}
    record = PieceRecord(header=FileHeader(url=URL), versions=versions, pieces=[])
    assert partial_file.can_resume(record, request(path, URL, data=None)) == resumed


def test_a_part_without_a_journal_is_not_resumed(server: FaultServer, path: Path, limits: Limits) -> None:
    partial_file.part_path(path).write_bytes(SMALL[:1000])
    assert fetch(path, limits, server.add("/file", SMALL)).reused == 0


def test_a_part_resumes_from_another_address(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL, faults=[Fault("drop", after=900_000)] + [Fault("reset")] * 20)
    with pytest.raises(NetworkError):
        fetch(path, limits, url)
    assert names(path.parent) == ["file.bin.part", "file.bin.part.json"]
    done = fetch(path, limits, server.add("/mirror", SMALL, etag=None))
    assert (done.reused, done.fetched) == (900_000, len(SMALL) - 900_000)
    assert names(path.parent) == ["file.bin"]


def test_a_complete_part_needs_no_network(server: FaultServer, path: Path, limits: Limits) -> None:
    write_part(path, SMALL, (0, len(SMALL), "", SMALL), total=len(SMALL))
    fetch(path, limits, server.add("/file", SMALL))
    assert server.seen == []


@pytest.mark.parametrize("number", [2**62, 2**63, 2**64, 10**30, -1, -(2**63)])
@pytest.mark.parametrize("line", ["bytes", "file"])
def test_impossible_numbers_of_a_journal_do_not_count(
    server: FaultServer, path: Path, limits: Limits, number: int, line: str
) -> None:
    write_part(path, SMALL, (0, 1000, "", SMALL))
    journal = partial_file.journal_path(path)
    if line == "bytes":
        lines = [f'{{"type":"bytes","start":{number},"end":{number + 1},"crc":1,"url":"x"}}']
        lines.append(f'{{"type":"bytes","start":2000,"end":{number},"crc":1,"url":"x"}}')
    else:
        digest = json.dumps({"hex": sha256_of(SMALL)})
        lines = [f'{{"type":"file","url":"","total":{number},"digest":{digest}}}']
    with journal.open("a", encoding="utf-8") as file:
        file.writelines(f"{each}\n" for each in lines)
    fetch(path, limits, server.add("/file", SMALL))
    assert path.read_bytes() == SMALL


@pytest.mark.skipif(os.name == "nt", reason="pipes and links that anybody may make")
@pytest.mark.parametrize("kind", ["pipe", "device", "loop"])
@pytest.mark.parametrize("name", ["part", "journal"])
def test_what_is_no_file_is_not_read(server: FaultServer, path: Path, limits: Limits, kind: str, name: str) -> None:
    write_part(path, SMALL, (0, 1000, "", SMALL))
    place = {"part": partial_file.part_path(path), "journal": partial_file.journal_path(path)}[name]
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero" if kind == "device" else place.name)
    with suppress(AppError):
        fetch(path, limits, server.add("/file", SMALL))
        assert path.read_bytes() == SMALL
    assert not path.exists() or path.read_bytes() == SMALL


def test_only_bytes_that_the_disk_changed_come_again(server: FaultServer, path: Path, long_timeouts: Limits) -> None:
    url = server.add("/file", LARGE, rate=4_000_000)
    stop = threading.Event()

    def until_half(totals: Totals) -> None:
        if totals.done > len(LARGE) // 2:
            stop.set()

    with pytest.raises(AppError):
        Downloader([request(path, url, data=LARGE)], cancel=stop, progress=until_half, limits=long_timeouts).run()
    server.files["/file"].rate = None
    with partial_file.part_path(path).open("r+b") as file:
        byte = file.read(1)
        file.seek(0)
        file.write(bytes([byte[0] ^ 1]))
    done = fetch(path, long_timeouts, url, data=LARGE)
    assert done.reused > len(LARGE) // 4
    assert done.fetched + done.reused == len(LARGE)


def test_a_copy_on_this_computer_costs_nothing(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL)
    broken, right = tmp_path / "broken.bin", tmp_path / "right.bin"
    broken.write_bytes(SMALL[:-1])
    right.write_bytes(SMALL)
    done = fetch(tmp_path / "new" / "file.bin", limits, url, copies=(broken, right))
    assert (done.reused, done.fetched, server.seen) == (len(SMALL), 0, [])
