"""The unfinished file and its journal: what is resumed, and what needs no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, NetworkError
from gpu_assistant.fetch import partial_file
from gpu_assistant.fetch.downloader import Downloader, Totals
from gpu_assistant.fetch.partial_file import FileHeader, Piece, PieceJournal, PieceRecord, SourceVersion, local_path
from gpu_assistant.fetch.request import Limits

from ..fakes.fault_server import Fault, FaultServer
from .downloads import LARGE, SMALL, BackgroundDownload, fetch, flipped, names, request, sha256_of, write_part

URL = "https://a.example/file"
SYMBOLIC = pytest.mark.skipif(sys.platform == "win32", reason="Windows asks for rights, Wine makes none")


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
    [
        (None, False),
        (SourceVersion(url=URL), False),
        (SourceVersion(url=URL, last_modified="Mon"), False),
        (SourceVersion(url=URL, last_modified="Mon", is_date_strong=True), True),
        (SourceVersion(url=URL, etag='"one"'), True),
    ],
    ids=["none", "empty", "date", "strong-date", "tag"],
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


def test_only_bytes_that_the_disk_changed_come_again(server: FaultServer, path: Path, more_tries: Limits) -> None:
    url = server.add("/file", LARGE, rate=4_000_000)
    stop = threading.Event()

    def until_half(totals: Totals) -> None:
        if totals.done > len(LARGE) // 2:
            stop.set()

    with pytest.raises(AppError):
        Downloader([request(path, url, data=LARGE)], cancel=stop, progress=until_half, limits=more_tries).run()
    server.files["/file"].rate = None
    with partial_file.part_path(path).open("r+b") as file:
        byte = file.read(1)
        file.seek(0)
        file.write(bytes([byte[0] ^ 1]))
    done = fetch(path, more_tries, url, data=LARGE)
    assert done.reused > len(LARGE) // 4
    assert done.fetched + done.reused == len(LARGE)


def test_a_copy_on_this_computer_costs_nothing(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL)
    broken, right = tmp_path / "broken.bin", tmp_path / "right.bin"
    broken.write_bytes(SMALL[:-1])
    right.write_bytes(SMALL)
    done = fetch(tmp_path / "new" / "file.bin", limits, url, copies=(broken, right))
    assert (done.reused, done.fetched, server.seen) == (len(SMALL), 0, [])


# Unfinished files and journals that lie


def test_bytes_behind_the_end_of_the_file_do_not_stay(server: FaultServer, path: Path, limits: Limits) -> None:
    """A zip is read from its end: what lies behind the checked bytes would be believed first."""
    half = len(SMALL) // 2
    url = server.add("/file", SMALL)
    write_part(path, SMALL, (0, half, url, SMALL))
    with partial_file.part_path(path).open("ab") as file:
        file.write(bytes(len(SMALL)))
    assert fetch(path, limits, url).reused == half


@pytest.mark.parametrize("data", [SMALL, None], ids=["checksum", "no-checksum"])
@pytest.mark.parametrize("known", [True, False], ids=["known-size", "unknown-size"])
def test_pieces_beyond_the_size_are_not_resumed(
    server: FaultServer, path: Path, limits: Limits, data: bytes | None, known: bool
) -> None:
    url = server.add("/file", SMALL)
    longer = flipped(SMALL, 0) + b"more"
    # Its last quarter is missing in the middle, so that the server is asked.
    quarter = len(SMALL) // 4
    pieces = [(0, quarter, url, longer), (2 * quarter, len(longer), url, longer)]
    write_part(path, SMALL, *pieces)
    if data is None:
        record = partial_file.read_record(path)
        assert record is not None
        versions = {url: SourceVersion(url=url, etag='"one"')}
        PieceJournal(path, PieceRecord(header=FileHeader(url=url), versions=versions, pieces=record.pieces)).close()
    stopped = BackgroundDownload(request(path, url, data=data, size=len(SMALL) if known else None), limits)
    stopped.start()
    stopped.join(20)
    if stopped.is_alive():
        stopped.stopped.set()
        stopped.join()
        raise AssertionError("it never ends")
    assert stopped.error is None
    assert path.read_bytes() == SMALL


@pytest.mark.parametrize("total", [0, 1, len(SMALL) // 4, len(SMALL) * 2, 10**15])
def test_wrong_size_in_a_journal_costs_no_more_than_a_new_start(
    server: FaultServer, path: Path, limits: Limits, total: int
) -> None:
    url = server.add("/file", SMALL)
    write_part(path, SMALL, (0, len(SMALL) // 2, url, SMALL), total=total)
    fetch(path, limits, url)


@pytest.mark.parametrize(
    "version",
    [
        {"etag": '"\u0100"'},
        {"etag": '"a\r\nX-Own: yes"'},
        {"etag": 'W/"one"'},
        {"etag": ""},
        {"last_modified": "\u5e74", "is_date_strong": True},
        {"last_modified": "Mon\r\nX-Own: yes", "is_date_strong": True},
    ],
)
def test_no_text_of_a_journal_reaches_a_header_that_it_breaks(
    server: FaultServer, path: Path, limits: Limits, version: dict[str, object]
) -> None:
    url = server.add("/file", SMALL)
    write_part(path, SMALL, (0, len(SMALL) // 2, url, SMALL))
    line = {"type": "version", "url": url, **version}
    with partial_file.journal_path(path).open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    assert fetch(path, limits, url).reused == len(SMALL) // 2
    assert [seen.if_range for seen in server.gets("/file")] == [None]


@pytest.mark.parametrize("which", [partial_file.part_path, partial_file.journal_path])
@pytest.mark.parametrize("link", [os.link, pytest.param(os.symlink, marks=SYMBOLIC)], ids=["hard", "symbolic"])
def test_file_with_another_name_keeps_its_bytes(
    server: FaultServer,
    path: Path,
    limits: Limits,
    which: Callable[[Path], Path],
    link: Callable[[Path, Path], None],
) -> None:
    """A part whose name leads to a file of the user's, by a link of either kind, is not written to."""
    url = server.add("/file", SMALL)
    write_part(path, SMALL, (0, len(SMALL) // 2, url, SMALL))
    thesis = path.with_name("thesis")
    which(path).rename(thesis)
    before = thesis.read_bytes()
    link(thesis, which(path))
    fetch(path, limits, url)
    assert thesis.read_bytes() == before


def test_local_files_need_no_client_of_http() -> None:
    """What the idle window has loaded stays in its memory."""
    code = "import gpu_assistant.fetch.partial_file, sys; print({'ssl', 'http.client', 'email'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
