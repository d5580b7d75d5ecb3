"""Response headers, redirects, credentials, and why no connection came about."""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from email.utils import formatdate
from pathlib import Path

import msgspec
import pytest
import requests

from gpu_assistant.core.errors import NetworkError
from gpu_assistant.fetch import http
from gpu_assistant.fetch.http import HttpSession, InsecureRedirect, NonHttpRedirect
from gpu_assistant.fetch.request import Limits
from gpu_assistant.system.probes import is_network_available
from gpu_assistant.update.fetch import fetch_bytes

from ..fakes.fault_server import Fault, FaultServer, fault_server
from .downloads import SMALL, download, fetch, request

UNKNOWN_HOST = "http://nobody.invalid/file"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bytes 5-9/10", (5, 10, 10)),
        ("bytes 0-9/*", (0, 10, None)),
        ("bytes */10", None),
        ("items 0-1/2", None),
        ("", None),
    ],
)
def test_content_range(text: str, expected: tuple[int, int, int | None] | None) -> None:
    sent = http.content_range({"Content-Range": text})
    assert (None if sent is None else (sent.start, sent.end, sent.total)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7.0),
        ("86400", 86400.0),
        ("9" * 400, 10 * 365 * 86400.0),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
        ("soon", None),
        ("Thu, 01 Jan 99999999 00:00:10 GMT", None),
        ("", None),
    ],
)
def test_retry_after(text: str, expected: float | None) -> None:
    assert http.retry_after({"Retry-After": text}) == expected


def test_retry_after_a_date_to_come() -> None:
    seconds = http.retry_after({"Retry-After": formatdate(time.time() + 100, usegmt=True)})
    assert seconds is not None
    assert 90 < seconds <= 101


def test_no_retry_after() -> None:
    assert http.retry_after({}) is None


def test_weak_tags_name_no_bytes() -> None:
    assert http.strong_etag({"ETag": 'W/"x"'}) is None
    assert http.strong_etag({"ETag": '"x"'}) == '"x"'


def test_compressed_responses_have_no_length() -> None:
    assert http.content_length({"Content-Length": "5", "Content-Encoding": "gzip"}) is None
    assert http.content_length({"Content-Length": "-5"}) is None
    # More digits than Python reads: a server that lies is no error of ours.
    assert http.content_length({"Content-Length": "9" * 5000}) is None
    assert http.content_range({"Content-Range": f"bytes 0-{'9' * 5000}/*"}) is None


# Redirects


@pytest.mark.parametrize(
    ("start", "target", "allowed"),
    [
        ("https://a.example/x", "https://b.example/x", True),
        ("https://a.example/x", "/y", True),
        ("http://a.example/x", "http://b.example/x", True),
        ("http://a.example/x", "https://b.example/x", True),
        ("https://a.example/x", "http://a.example/x", False),
    ],
)
def test_redirects_never_leave_https(start: str, target: str, allowed: bool) -> None:
    response = requests.Response()
    response.url, response.status_code = start, 302
    response.headers.update({"Location": target, "Content-Length": "0"})
    with HttpSession() as session:
        if allowed:
            assert session.get_redirect_target(response) == target
        else:
            with pytest.raises(InsecureRedirect):
                session.get_redirect_target(response)


@pytest.mark.parametrize("start", ["https://a.example/x", "http://a.example/x"])
def test_redirects_never_leave_http(start: str) -> None:
    response = requests.Response()
    response.url, response.status_code = start, 302
    response.headers["Location"] = "file:///etc/passwd"
    with HttpSession() as session, pytest.raises(NonHttpRedirect):
        session.get_redirect_target(response)


# Credentials


@pytest.fixture
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    """A file that requests finds and reads by itself, as curl's users have one."""
    file = tmp_path / "netrc"
    file.write_text("machine 127.0.0.1 login me password secret\ndefault login me password secret\n")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    url = server.add("/plain", b"x")
    assert requests.get(url, timeout=60).request.headers["Authorization"].startswith("Basic "), (
        "requests alone sends it"
    )
    server.seen.clear()


@pytest.mark.usefixtures("netrc")
def test_a_download_sends_no_credentials(server: FaultServer, path: Path, limits: Limits) -> None:
    fetch(path, limits, server.add("/file", b"data"), data=None)
    assert [seen.authorization for seen in server.gets("/file")] == [None]


@pytest.mark.usefixtures("netrc")
def test_a_redirect_adds_no_credentials(server: FaultServer, path: Path, limits: Limits) -> None:
    to = server.add("/file", b"data")
    fetch(path, limits, server.add("/from", b"", faults=[Fault("redirect", location=to)]), data=None)
    assert [(seen.path, seen.authorization) for seen in server.seen] == [("/from", None), ("/file", None)]


@pytest.mark.parametrize("spelling", ["http://{host}/file", "//{host}/file", "http://{host}\\@{first}/file"])
def test_a_password_is_not_taken_to_another_server(
    server: FaultServer, path: Path, limits: Limits, spelling: str
) -> None:
    """The first server's own, from its address; the second is told nothing, however its address is written."""
    first = server.url.removeprefix("http://")
    with fault_server() as other:
        other.add("/file", SMALL)
        location = spelling.format(host=other.url.removeprefix("http://"), first=first)
        url = server.add("/from", b"", faults=[Fault("redirect", location=location)] * 9)
        with suppress(NetworkError):
            fetch(path, limits, url.replace("http://", "http://me:secret@"))
        assert {seen.authorization for seen in server.seen if seen.path == "/from"} == {"Basic bWU6c2VjcmV0"}
        assert {seen.authorization for seen in other.seen} <= {None}
        assert bool(other.seen) == ("@" not in spelling)
        assert {seen.path for seen in server.seen} == {"/from"}


@pytest.mark.usefixtures("netrc")
def test_the_question_for_updates_sends_none(server: FaultServer) -> None:
    assert fetch_bytes(server.add("/newest", b"{}"), max_bytes=100, timeout=60, cancel=threading.Event()) == b"{}"
    assert [seen.authorization for seen in server.seen] == [None]


@pytest.mark.usefixtures("netrc")
def test_an_address_may_carry_its_own_credentials(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", b"data").replace("http://", "http://you:p%40ss@")
    fetch(path, limits, url, data=None)
    expected = "Basic " + base64.b64encode(b"you:p@ss").decode()
    assert [seen.authorization for seen in server.gets("/file")] == [expected]


# Why there was no connection

PROGRAM = """
import sys, threading
from pathlib import Path
from gpu_assistant.core.errors import NetworkError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch.downloader import Downloader
from gpu_assistant.fetch.request import DownloadRequest, Limits
path, limits = Path(sys.argv[1]), Limits(tries=1, connect_seconds=2)
for url in sys.argv[2:]:
    try:
        file = RemoteFile(urls=(url,), name=path.name)
        Downloader([DownloadRequest(file=file, path=path)], cancel=threading.Event(), limits=limits).run()
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


def code(url: str, path: Path, limits: Limits) -> str:
    with pytest.raises(NetworkError) as caught:
        download(request(path, url, data=None), limits).run()
    assert caught.value.exit_code == 6
    assert caught.value.data["name"] == path.name
    assert list(path.parent.iterdir()) == []
    return caught.value.code


def test_a_closed_port(closed: str, path: Path, limits: Limits) -> None:
    assert code(closed + "/file", path, limits) == "host-refused"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems answer for a full queue")
def test_no_answer(silent: str, path: Path, limits: Limits) -> None:
    soon = msgspec.structs.replace(limits, connect_seconds=0.3)
    assert code(silent + "/file", path, soon) == ("host-silent" if is_network_available() else "network-none")


def test_a_name_without_an_address(path: Path, limits: Limits) -> None:
    assert code(UNKNOWN_HOST, path, limits) == ("host-unknown" if is_network_available() else "network-none")


def test_a_missing_proxy(closed: str, path: Path, limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", closed)
    assert code(UNKNOWN_HOST, path, limits) == "network-proxy"


def test_a_download_that_had_begun_says_so(server: FaultServer, path: Path, limits: Limits) -> None:
    url = server.add("/file", bytes(1_000_000), faults=[Fault("drop", after=400_000)] + [Fault("reset")] * 9)
    with pytest.raises(NetworkError) as caught:
        fetch(path, limits, url, data=None)
    # There was a connection each time.
    assert (caught.value.code, caught.value.data["have_bytes"]) == ("download-broke-off", 400_000)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="nothing here takes the network away")
def test_no_network_at_all(path: Path) -> None:
    command = ["unshare", "--map-root-user", "--net", sys.executable, "-c", PROGRAM, str(path)]
    command += [UNKNOWN_HOST, "http://192.0.2.1/file"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "unshare" in ran.stderr:
        pytest.skip("may not take the network away")
    assert ran.stdout.split() == ["network-none"] * 2


def test_interrupt_ends_a_read(server: FaultServer) -> None:
    url = server.add("/file", bytes(500_000), faults=[Fault("stall", after=100_000)])
    with HttpSession() as session, session.get(url, stream=True, timeout=60) as response:
        assert server.stalled.wait(60)
        threading.Timer(0.2, session.interrupt).start()
        started = time.monotonic()
        with pytest.raises((requests.RequestException, OSError, ValueError)):
            list(response.iter_content(1 << 20))
    assert time.monotonic() - started < 10


class TestAutomaticProxy:
    """A script of the network's (PAC), which the system runs; it comes before the proxy of the system's settings."""

    @pytest.fixture(autouse=True)
    def no_proxy_is_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)

    @staticmethod
    def chosen(
        url: str, automatic: Callable[[str], str | None] = lambda asked: f"http://proxy-of-{len(asked)}:8080"
    ) -> str | None:
        with HttpSession(automatic_proxy=automatic) as session:
            settings = session.merge_environment_settings(url, {}, None, None, None)
        proxy = settings["proxies"].get(url.partition(":")[0])
        return str(proxy) if proxy is not None else None

    @pytest.fixture
    def system_proxy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One in the system's settings."""
        monkeypatch.setattr(requests.utils, "getproxies", lambda: {"https": "http://fixed:1", "http": "http://fixed:1"})

    @pytest.mark.usefixtures("system_proxy")
    @pytest.mark.parametrize(
        ("answer", "proxy"), [("http://found:8080", "http://found:8080"), ("", None), (None, "http://fixed:1")]
    )
    def test_it_comes_before_the_systems_settings(self, answer: str | None, proxy: str | None) -> None:
        assert self.chosen("https://a.example/", lambda _: answer) == proxy

    @pytest.mark.usefixtures("system_proxy")
    @pytest.mark.parametrize(
        ("answer", "variables"),
        [
            ("http://found:8080", {"HTTPS_PROXY": "http://found:8080"}),
            ("", {"NO_PROXY": "a.example"}),
            (None, {}),
        ],
    )
    def test_programs_of_others_get_its_answer(
        self, answer: str | None, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(http, "_system_proxy", lambda _: answer)
        assert http.proxy_variables("https://a.example/simple") == variables

    def test_address_of_a_redirect_is_asked_for_anew(self, server: FaultServer) -> None:
        target = server.add("/file", b"all")
        url = server.add("/moved", b"", faults=[Fault("redirect", location=target)])
        asked: list[str] = []

        def answer(address: str) -> str:
            asked.append(address)
            return ""

        with HttpSession(automatic_proxy=answer) as session:
            assert session.get(url, timeout=60).content == b"all"
        assert asked == [url, target]

    def test_socks_proxy_that_it_names_is_said_to_be_unsupported(self) -> None:
        failing = pytest.raises(requests.exceptions.InvalidSchema)
        with HttpSession(automatic_proxy=lambda _: "socks4://127.0.0.1:9") as session, failing as caught:
            session.get("http://a.example/", timeout=20)
        error = http.final_error(caught.value, "file", "a.example")
        assert error is not None
        assert error.code == "proxy-socks"

    def test_it_is_asked_where_nothing_is_set(self) -> None:
        assert self.chosen("https://a.example/") == "http://proxy-of-18:8080"

    def test_one_that_is_set_comes_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("https_proxy", "http://own:1")
        assert self.chosen("https://a.example/") == "http://own:1"

    def test_an_exception_is_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("no_proxy", "a.example")
        assert self.chosen("https://a.example/") is None

    def test_requests_go_through_it(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            closed = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with HttpSession(automatic_proxy=lambda _: closed) as session, pytest.raises(requests.exceptions.ProxyError):
            session.get("http://a.example/", timeout=20)


def test_a_socks_proxy_is_said_to_be_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    with HttpSession() as session, pytest.raises(requests.exceptions.InvalidSchema) as caught:
        session.get("http://a.example/", timeout=20)
    error = http.final_error(caught.value, "file", "a.example")
    assert error is not None
    assert (error.code, error.data) == ("proxy-socks", {"host": "a.example"})
