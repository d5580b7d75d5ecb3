"""Sizes of files by their last bytes, without fetching them."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.fetch.http import HttpSession
from gpu_assistant.fetch.remote_size import probe
from gpu_assistant.fetch.request import RemoteSize
from tests.fakes.fault_server import Fault, FaultServer


def zipped(entries: int = 3, each: int = 40_000) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for number in range(entries):
            archive.writestr(f"torch/{'lib' * 30}{number}.txt", bytes(each))
    return file.getvalue()


def size_of(server: FaultServer, name: str, body: bytes, **more: Any) -> RemoteSize:
    with HttpSession() as session:
        return probe(server.add(f"/files/{name}", body, **more), name, session)


def test_a_wheels_directory_tells_its_unpacked_size(server: FaultServer) -> None:
    small, long = zipped(), zipped(entries=1500, each=400)
    assert size_of(server, "a.whl", small) == RemoteSize(bytes=len(small), unpacked=3 * 40_000)
    assert len(server.gets("/files/a.whl")) == 1
    # Its directory is longer than the tail that is requested first: one range more, and never the file itself.
    sent = server.sent
    assert size_of(server, "b.whl", long) == RemoteSize(bytes=len(long), unpacked=1500 * 400)
    assert len(server.gets("/files/b.whl")) == 2
    assert server.sent - sent < len(long) / 2


def test_a_gzips_last_bytes_tell_its_unpacked_size(server: FaultServer) -> None:
    body = gzip.compress(bytes(300_000))
    assert size_of(server, "python.tar.gz", body) == RemoteSize(bytes=len(body), unpacked=300_000)


def test_a_program_has_no_unpacked_size(server: FaultServer) -> None:
    assert size_of(server, "driver.exe", bytes(200_000)) == RemoteSize(bytes=200_000)


@pytest.mark.parametrize(
    ("fault", "known"),
    [
        (Fault("status", status=404), None),
        (Fault("page"), None),
        (Fault("reset"), None),
        (Fault("ignore-range"), 200_000),
        (Fault("wrong-range"), 201_000),
        (Fault("drop", after=10), 200_000),
        (Fault("packed"), 200_000),
    ],
    ids=lambda each: each.kind if isinstance(each, Fault) else None,
)
def test_sizes_that_a_server_does_not_say_are_unknown(server: FaultServer, fault: Fault, known: int | None) -> None:
    assert size_of(server, "a.whl", bytes(200_000), faults=[fault]) == RemoteSize(bytes=known)


def test_a_local_wheel_is_read_in_place(tmp_path: Path) -> None:
    path = tmp_path / "a.whl"
    path.write_bytes(zipped())
    with HttpSession() as session:
        assert probe(path.as_uri(), path.name, session) == RemoteSize(bytes=path.stat().st_size, unpacked=3 * 40_000)
        assert probe((tmp_path / "b.whl").as_uri(), "b.whl", session) == RemoteSize()
