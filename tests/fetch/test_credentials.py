"""What a server learns of the user's passwords: nothing that does not stand in the address itself."""

from __future__ import annotations

import base64
import threading
from pathlib import Path

import pytest
import requests

from gpu_assistant.fetch.download import Download
from gpu_assistant.fetch.limits import Limits
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.round import Common
from gpu_assistant.fetch.wanted import Wanted
from gpu_assistant.update.fetch import fetch_bytes
from tests.fakes.fault_server import Fault, FaultServer

NETRC = "machine 127.0.0.1 login me password secret\ndefault login me password secret\n"


@pytest.fixture(autouse=True)
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    """A file that requests finds and reads by itself, as curl's users have one."""
    file = tmp_path / "netrc"
    file.write_text(NETRC)
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    url = server.add("/plain", b"x")
    assert requests.get(url, timeout=5).request.headers["Authorization"].startswith("Basic "), "requests alone sends it"
    server.seen.clear()


def fetch(url: str, path: Path, limits: Limits) -> None:
    Download(Wanted(url=url, path=path), Common(limits, threading.Event(), Pace())).run()


def test_a_download_sends_none(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    fetch(server.add("/file", b"data"), tmp_path / "file", limits)
    assert [seen.authorization for seen in server.gets("/file")] == [None]


def test_a_redirect_adds_none(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    to = server.add("/file", b"data")
    fetch(server.add("/from", b"", faults=[Fault("redirect", location=to)]), tmp_path / "file", limits)
    assert [(seen.path, seen.authorization) for seen in server.seen] == [("/from", None), ("/file", None)]


def test_the_question_for_updates_sends_none(server: FaultServer) -> None:
    assert fetch_bytes(server.add("/newest", b"{}"), max_bytes=100, timeout=5, cancel=threading.Event()) == b"{}"
    assert [seen.authorization for seen in server.seen] == [None]


def test_an_address_may_carry_its_own(server: FaultServer, tmp_path: Path, limits: Limits) -> None:
    url = server.add("/file", b"data").replace("http://", "http://you:p%40ss@")
    fetch(url, tmp_path / "file", limits)
    expected = "Basic " + base64.b64encode(b"you:p@ss").decode()
    assert [seen.authorization for seen in server.gets("/file")] == [expected]
