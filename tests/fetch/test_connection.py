"""Responses that are not what was asked for: each is recognised, and nothing wrong gets the final name."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, NetworkError
from gpu_assistant.fetch.request import Digest, Limits

from ..fakes.fault_server import Fault, FaultServer, Kind
from .downloads import LARGE, SMALL, fetch, flipped


@pytest.mark.parametrize("kind", ["wrong-range", "shifted-range"])
def test_wrong_ranges_are_not_used(server: FaultServer, path: Path, limits: Limits, kind: Kind) -> None:
    url = server.add("/file", SMALL, faults=[Fault("drop", after=500_000), Fault(kind)])
    fetch(path, limits, url, size=len(SMALL) if kind == "wrong-range" else None)
    assert server.gets("/file")[-1].if_range is None


def test_a_page_has_its_own_error(server: FaultServer, path: Path, limits: Limits) -> None:
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, server.add("/file", SMALL, faults=[Fault("page")]))
    assert (caught.value.code, caught.value.exit_code) == ("page-instead", 6)
    assert not path.exists()


def test_bytes_before_a_page_stay(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL, faults=[Fault("drop", after=900_000), Fault("page")])
    with pytest.raises(NetworkError):
        fetch(path, limits, url)
    assert fetch(path, limits, url).reused == 900_000


def test_compressed_bytes_are_refused(server: FaultServer, path: Path, limits: Limits) -> None:
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, server.add("/file", SMALL, faults=[Fault("packed")] * 9))
    assert caught.value.code == "source-packed"


def test_more_bytes_than_announced_are_cut_off(server: FaultServer, path: Path, limits: Limits) -> None:
    fetch(path, limits, server.add("/file", SMALL, faults=[Fault("long")]))


def test_a_longer_file_than_expected_is_refused(server: FaultServer, path: Path, limits: Limits) -> None:
    # Requested as a whole, as a small file of known size is.
    url = server.add("/file", SMALL + b"more" * 100_000, ranges=False, length=False)
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url, size=len(SMALL))
    assert caught.value.code == "source-too-long"


def test_a_file_of_unknown_length(server: FaultServer, path: Path, limits: Limits) -> None:
    assert fetch(path, limits, server.add("/file", SMALL, ranges=False, length=False)).total == len(SMALL)


@pytest.mark.parametrize("ranges", [True, False])
def test_an_empty_file(server: FaultServer, path: Path, limits: Limits, ranges: bool) -> None:
    fetch(path, limits, server.add("/file", b"", ranges=ranges), data=b"")


@pytest.mark.parametrize(
    ("to", "code", "requests"),
    [("", "redirect-circle", 1), ("?again", "redirect-circle", 2), ("file:///etc/hosts", "redirect-stray", 1)],
)
def test_redirects_to_no_file(
    server: FaultServer, path: Path, limits: Limits, to: str, code: str, requests: int
) -> None:
    url = server.url + "/file"
    for each in ("/file", "/file?again"):
        location = to if to.startswith("file:") else url + to
        server.add(each, SMALL, faults=[Fault("redirect", location=location)] * 60)
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url)
    assert (caught.value.code, caught.value.data["name"]) == (code, "file.bin")
    assert len(server.seen) == requests


@pytest.mark.parametrize("kind", ["md5", "sha1", "sha512"])
def test_other_checksums(server: FaultServer, path: Path, limits: Limits, kind: str) -> None:
    url = server.add("/file", SMALL)
    right = Digest(kind=kind, hex=hashlib.new(kind, SMALL).hexdigest())  # type: ignore[arg-type]
    fetch(path, limits, url, data=None, digest=right)
    assert path.read_bytes() == SMALL
    wrong = Digest(kind=kind, hex=hashlib.new(kind, b"else").hexdigest())  # type: ignore[arg-type]
    with pytest.raises(AppError) as caught:
        fetch(path.with_name("other.bin"), limits, url, data=None, digest=wrong)
    assert caught.value.code == "hash-mismatch"


def test_the_checksum_ends_a_file_announced_longer(server: FaultServer, path: Path, limits: Limits) -> None:
    fetch(path, limits, server.add("/file", SMALL, more=1000))
    assert server.sent <= 2 * len(SMALL)


def test_without_a_checksum_a_shorter_file_is_refused(server: FaultServer, path: Path, limits: Limits) -> None:
    many_tries = msgspec.structs.replace(limits, tries=20)
    with pytest.raises(NetworkError) as caught:
        fetch(path, many_tries, server.add("/file", SMALL, more=1000), data=None)
    assert (caught.value.code, caught.value.data["lacking_bytes"]) == ("source-ends-early", 1000)
    assert len(server.gets("/file")) <= 4


@pytest.mark.parametrize("data", [SMALL, None], ids=["checksum", "no-checksum"])
def test_refused_ranges_are_left_out(server: FaultServer, path: Path, limits: Limits, data: bytes | None) -> None:
    fetch(path, limits, server.add("/file", SMALL, refuses=416), data=data)
    assert path.read_bytes() == SMALL
    assert [seen.range is None for seen in server.gets("/file")] == [False, True]


def test_a_whole_file_refused_with_416(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL, faults=[Fault("status", status=416)] * 9)
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url)
    assert (caught.value.code, caught.value.data["status"]) == ("source-refused", 416)
    assert len(server.gets("/file")) == 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: FaultServer, path: Path, limits: Limits, status: int) -> None:
    url = server.add("/file", SMALL, faults=[Fault("status", status=status, headers={"Retry-After": "0"})] * 2)
    fetch(path, limits, url)
    assert len(server.gets("/file")) == 3


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_is_final(server: FaultServer, path: Path, limits: Limits, status: int) -> None:
    url = server.add("/file", SMALL, faults=[Fault("status", status=status)])
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url)
    assert caught.value.code == "source-refused"
    assert (caught.value.data["status"], caught.value.exit_code) == (status, 6)
    assert len(server.gets("/file")) == 1


@pytest.mark.parametrize(
    ("status", "headers", "code"),
    [
        (500, {}, "source-trouble"),
        (503, {"Retry-After": "0"}, "source-trouble"),
        (429, {}, "source-busy"),
        (429, {"Retry-After": "86400"}, "source-asks-to-wait"),
    ],
)
def test_a_servers_status_is_reported(
    server: FaultServer, path: Path, limits: Limits, status: int, headers: dict[str, str], code: str
) -> None:
    url = server.add("/file", SMALL, faults=[Fault("status", status=status, headers=headers)] * 9)
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url)
    assert (caught.value.code, caught.value.data["status"]) == (code, status)
    if code == "source-asks-to-wait":
        assert len(server.gets("/file")) == 1
        until = time.mktime(time.strptime(str(caught.value.data["until"]), "%Y-%m-%d %H:%M"))
        assert 0 <= time.time() + 86400 - until < 120


def test_a_later_silence_is_not_an_earlier_status(server: FaultServer, path: Path, limits: Limits) -> None:
    faults = [Fault("status", status=500, headers={"Retry-After": "0"}), Fault("drop", after=900_000)]
    url = server.add("/file", SMALL, faults=faults + [Fault("reset")] * 9)
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url)
    assert caught.value.code == "download-broke-off"


def test_a_file_that_changed_midway_says_so(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", flipped(SMALL, 0), faults=[Fault("drop", after=500_000), Fault("other-version")])
    with pytest.raises(AppError) as caught:
        fetch(path, limits, url)
    assert caught.value.code == "source-changed"
    assert list(path.parent.iterdir()) == []


def test_one_ignored_range_costs_nothing(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", LARGE, faults=[Fault("drop", after=len(LARGE) // 2), Fault("ignore-range")])
    assert fetch(path, limits, url, data=LARGE).fetched == len(LARGE)


def test_a_server_that_ignores_ranges_starts_over(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL, faults=[Fault("drop", after=500_000), Fault("ignore-range")])
    done = fetch(path, limits, url)
    assert (done.reused, done.received) == (0, len(SMALL))


def test_a_server_without_ranges_that_drops_is_left(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", SMALL, ranges=False, faults=[Fault("drop", after=500_000)] * 50)
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url)
    # What came is of no use to the next start, which would end there as well.
    assert caught.value.code == "source-ends-early"
    assert len(server.gets("/file")) <= limits.tries + 1
