"""Answers that are not what was asked for: each is seen for what it is, and nothing wrong gets a name."""

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
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Digest, Wanted
from tests.fakes.fault_server import Fault, FaultServer, Kind

DATA = os.urandom(1_500_000)
SHA256 = hashlib.sha256(DATA).hexdigest()


def get(url: str, path: Path, limits: Limits, **more: object) -> Download:
    wanted = Wanted(url=url, path=path, **{"sha256": SHA256, **more})  # type: ignore[arg-type]
    download = Download(wanted, Common(limits, threading.Event(), Pace()))
    download.run()
    return download


@pytest.mark.parametrize("kind", ["wrong-range", "shifted-range"])
def test_a_server_that_lies_about_its_ranges_is_used_without_them(
    server: FaultServer, tmp_path: Path, limits: Limits, kind: Kind
) -> None:
    path = tmp_path / "file.bin"
    url = server.add("/file", DATA, faults=[Fault("drop", after=500_000), Fault(kind)])
    get(url, path, limits, bytes=len(DATA) if kind == "wrong-range" else None)
    assert path.read_bytes() == DATA
    assert server.gets("/file")[-1].if_range is None


def test_a_page_is_named_as_such(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    with pytest.raises(NetworkError) as caught:
        get(server.add("/file", DATA, faults=[Fault("page")]), tmp_path / "file.bin", limits)
    assert (caught.value.code, caught.value.exit_code) == ("page-instead", 6)
    assert not (tmp_path / "file.bin").exists()


def test_what_came_before_a_page_is_kept(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    url = server.add("/file", DATA, faults=[Fault("drop", after=900_000), Fault("page")])
    with pytest.raises(NetworkError):
        get(url, path, limits)
    assert get(url, path, limits).reused == 900_000
    assert path.read_bytes() == DATA


def test_packed_bytes_are_not_taken(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    with pytest.raises(NetworkError) as caught:
        get(server.add("/file", DATA, faults=[Fault("packed")] * 9), tmp_path / "file.bin", limits)
    assert caught.value.code == "source-packed"


def test_more_bytes_than_announced_are_not_taken_in(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    get(server.add("/file", DATA, faults=[Fault("long")]), path, limits)
    assert path.read_bytes() == DATA


def test_a_file_that_is_longer_than_it_may_be(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    # Asked for in one piece, as a small file of known size is.
    url = server.add("/file", DATA + b"more" * 100_000, ranges=False, length=False)
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits, bytes=len(DATA))
    assert caught.value.code == "source-too-long"


def test_a_file_of_unknown_length(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "file.bin"
    download = get(server.add("/file", DATA, ranges=False, length=False), path, limits)
    assert (path.read_bytes(), download.total) == (DATA, len(DATA))


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_without_bytes(server: FaultServer, tmp_path: Path, limits: Limits, ranges: bool) -> None:
    path = tmp_path / "file.bin"
    get(server.add("/file", b"", ranges=ranges), path, limits, sha256=hashlib.sha256(b"").hexdigest())
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("to", "code", "asked"),
    [("", "redirect-circle", 1), ("?again", "redirect-circle", 2), ("file:///etc/hosts", "redirect-stray", 1)],
)
def test_redirects_that_lead_to_no_file(
    server: FaultServer, tmp_path: Path, limits: Limits, to: str, code: str, asked: int
) -> None:
    url = server.url + "/file"
    for path in ("/file", "/file?again"):
        location = to if to.startswith("file:") else url + to
        server.add(path, DATA, faults=[Fault("redirect", location=location)] * 60)
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits)
    assert (caught.value.code, caught.value.data["name"]) == (code, "file.bin")
    assert len(server.seen) == asked


@pytest.mark.parametrize("kind", ["md5", "sha1", "sha512"])
def test_other_checksums(server: FaultServer, tmp_path: Path, limits: Limits, kind: str) -> None:
    path = tmp_path / "file.bin"
    right = Digest(kind=kind, hex=hashlib.new(kind, DATA).hexdigest())  # type: ignore[arg-type]
    get(server.add("/file", DATA), path, limits, sha256=None, digest=right)
    assert path.read_bytes() == DATA
    wrong = Digest(kind=kind, hex=hashlib.new(kind, b"else").hexdigest())  # type: ignore[arg-type]
    with pytest.raises(AppError) as caught:
        get(server.add("/file", DATA), tmp_path / "other.bin", limits, sha256=None, digest=wrong)
    assert caught.value.code == "hash-mismatch"


def test_a_file_with_the_right_hash_is_whole_whatever_was_announced(
    server: FaultServer, tmp_path: Path, limits: Limits
) -> None:
    path = tmp_path / "file.bin"
    get(server.add("/file", DATA, more=1000), path, limits)
    assert path.read_bytes() == DATA
    assert server.sent <= 2 * len(DATA)


def test_without_a_hash_a_file_shorter_than_announced_is_refused_soon(
    server: FaultServer, tmp_path: Path, limits: Limits
) -> None:
    patient = msgspec.structs.replace(limits, tries=20)
    with pytest.raises(NetworkError) as caught:
        get(server.add("/file", DATA, more=1000), tmp_path / "file.bin", patient, sha256=None)
    assert (caught.value.code, caught.value.data["lacking_bytes"]) == ("source-ends-early", 1000)
    assert len(server.gets("/file")) <= 4


@pytest.mark.parametrize("sha256", [SHA256, None], ids=["hash-known", "hash-unknown"])
def test_a_server_that_refuses_ranges_is_asked_without(
    server: FaultServer, tmp_path: Path, limits: Limits, sha256: str | None
) -> None:
    path = tmp_path / "file.bin"
    get(server.add("/file", DATA, refuses=416), path, limits, sha256=sha256)
    assert path.read_bytes() == DATA
    assert [seen.range is None for seen in server.gets("/file")] == [False, True]


def test_what_is_refused_without_a_range_too_is_said_to_be(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    url = server.add("/file", DATA, faults=[Fault("status", status=416)] * 9)
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits)
    assert (caught.value.code, caught.value.data["status"]) == ("source-refused", 416)
    assert len(server.gets("/file")) == 2


@pytest.mark.parametrize(
    ("status", "headers", "code"),
    [
        (500, {}, "source-trouble"),
        (503, {"Retry-After": "0"}, "source-trouble"),
        (429, {}, "source-busy"),
        (429, {"Retry-After": "86400"}, "source-asks-to-wait"),
    ],
)
def test_what_a_server_says_is_told_and_not_called_a_broken_line(
    server: FaultServer, tmp_path: Path, limits: Limits, status: int, headers: dict[str, str], code: str
) -> None:
    url = server.add("/file", DATA, faults=[Fault("status", status=status, headers=headers)] * 9)
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits)
    assert (caught.value.code, caught.value.data["status"]) == (code, status)
    if code == "source-asks-to-wait":
        assert len(server.gets("/file")) == 1
        until = time.mktime(time.strptime(str(caught.value.data["until"]), "%Y-%m-%d %H:%M"))
        assert 0 <= time.time() + 86400 - until < 120


def test_a_later_silence_is_not_what_the_server_said_before(
    server: FaultServer, tmp_path: Path, limits: Limits
) -> None:
    faults = [Fault("status", status=500, headers={"Retry-After": "0"}), Fault("drop", after=900_000)]
    url = server.add("/file", DATA, faults=faults + [Fault("reset")] * 9)
    with pytest.raises(NetworkError) as caught:
        get(url, tmp_path / "file.bin", limits)
    assert caught.value.code == "download-broke-off"


def test_a_file_that_changed_midway_is_said_to_have(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    other = bytes([DATA[0] ^ 1]) + DATA[1:]
    url = server.add("/file", other, faults=[Fault("drop", after=500_000), Fault("other-version")])
    with pytest.raises(AppError) as caught:
        get(url, tmp_path / "file.bin", limits)
    assert caught.value.code == "source-changed"
    assert list(tmp_path.iterdir()) == []
