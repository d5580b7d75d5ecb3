"""Why there was no connection: each reason by its own name, with its own way out, from a real one."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import NetworkError
from gpu_assistant.fetch.download import Download
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Wanted
from gpu_assistant.system.probes import is_network_available
from tests.fakes.fault_server import Fault, FaultServer

NOBODY = "http://nobody.invalid/file"
PROGRAM = """
import sys, threading
from pathlib import Path
from gpu_assistant.core.errors import NetworkError
from gpu_assistant.fetch.download import Download, Wanted
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
for url in sys.argv[2:]:
    try:
        limits = Limits(tries=1, connect_seconds=2)
        Download(Wanted(url=url, path=Path(sys.argv[1])), Common(limits, threading.Event(), Pace())).run()
    except NetworkError as error:
        print(error.code)
"""


@pytest.fixture
def closed() -> str:
    """An address of this computer at which nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address whose queue is full, so that the system answers no further call."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as server:
        waiting = [socket.socket() for _ in range(8)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        for each in waiting:
            each.close()


def code(url: str, folder: Path, limits: Limits) -> str:
    wanted = Wanted(url=url, path=folder / "file.bin")
    with pytest.raises(NetworkError) as caught:
        Download(wanted, Common(limits, threading.Event(), Pace())).run()
    assert caught.value.exit_code == 6
    assert caught.value.data["name"] == "file.bin"
    assert list(folder.iterdir()) == []
    return caught.value.code


def test_a_closed_door(closed: str, tmp_path: Path, limits: Limits) -> None:
    assert code(closed + "/file", tmp_path, limits) == "host-refused"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems answer for a full queue")
def test_no_answer(silent: str, tmp_path: Path, limits: Limits) -> None:
    soon = msgspec.structs.replace(limits, connect_seconds=0.3)
    assert code(silent + "/file", tmp_path, soon) == ("host-silent" if is_network_available() else "network-none")


def test_a_name_without_an_address(tmp_path: Path, limits: Limits) -> None:
    assert code(NOBODY, tmp_path, limits) == ("host-unknown" if is_network_available() else "network-none")


def test_a_proxy_that_is_not_there(
    closed: str, tmp_path: Path, limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", closed)
    assert code(NOBODY, tmp_path, limits) == "network-proxy"


def test_what_had_begun_says_so_too(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    url = server.add("/file", bytes(1_000_000), faults=[Fault("drop", after=400_000)])
    server.files["/file"].faults += [Fault("reset")] * 9
    wanted = Wanted(url=url, path=tmp_path / "file.bin")
    with pytest.raises(NetworkError) as caught:
        Download(wanted, Common(limits, threading.Event(), Pace())).run()
    # There was a connection each time.
    assert (caught.value.code, caught.value.data["have_bytes"]) == ("download-broke-off", 400_000)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="nothing here takes the network away")
def test_no_network_at_all(tmp_path: Path) -> None:
    words = ["unshare", "--map-root-user", "--net", sys.executable, "-c", PROGRAM, str(tmp_path / "x")]
    words += [NOBODY, "http://192.0.2.1/file"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if "unshare" in ran.stderr:
        pytest.skip("may not take the network away")
    assert ran.stdout.split() == ["network-none"] * 2
