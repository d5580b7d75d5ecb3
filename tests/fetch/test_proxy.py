"""The proxy of the settings: what is reached through it, what programs of others are told, and whether it works."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from requests.utils import select_proxy

from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.fetch import http
from gpu_assistant.fetch.connection_check import ConnectionCheckJob, ask_address
from gpu_assistant.fetch.http import HttpSession, proxy_variables
from gpu_assistant.fetch.proxy import LOCAL_HOSTS, ProxyChoice, parse_address, use_proxy

URL = "https://a.example/simple"
OUTSIDE = "http://outside.invalid/whl/"


@pytest.fixture(autouse=True)
def system_setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The environment names a proxy, which the settings replace."""
    monkeypatch.setenv("https_proxy", "http://of-the-environment:1")
    monkeypatch.setattr(http, "_system_proxy", lambda _: None)
    yield
    use_proxy(ProxyChoice())


def proxy_of(url: str) -> str | None:
    with HttpSession() as session:
        chosen = select_proxy(url, session.merge_environment_settings(url, {}, None, None, None)["proxies"])
    return None if chosen is None else str(chosen)


class TestChoice:
    def test_system_setting_is_what_the_environment_names(self) -> None:
        use_proxy(ProxyChoice(use="system", address="http://by-hand:8080"))
        assert proxy_of(URL) == "http://of-the-environment:1"
        assert proxy_variables(URL) == {}

    def test_none_goes_directly_whatever_the_environment_names(self) -> None:
        use_proxy(ProxyChoice(use="none"))
        assert proxy_of(URL) is None
        assert proxy_variables(URL) == {"NO_PROXY": "*", "no_proxy": "*"}

    def test_by_hand_comes_before_the_environment(self) -> None:
        use_proxy(ProxyChoice(use="manual", address="http://by-hand:8080", user="mei", password="s@fe"))
        assert proxy_of(URL) == "http://mei:s%40fe@by-hand:8080"
        variables = proxy_variables(URL)
        assert variables["HTTPS_PROXY"] == variables["https_proxy"] == "http://mei:s%40fe@by-hand:8080"

    @pytest.mark.parametrize("host", [*LOCAL_HOSTS[:2], "[::1]"])
    def test_this_computer_is_not_reached_through_it(self, host: str) -> None:
        use_proxy(ProxyChoice(use="manual", address="http://by-hand:8080"))
        assert proxy_of(f"http://{host}:1/") is None

    def test_by_hand_without_an_address_is_the_system_setting(self) -> None:
        use_proxy(ProxyChoice(use="manual"))
        assert proxy_of(URL) == "http://of-the-environment:1"


@pytest.mark.parametrize(
    ("entered", "address"),
    [
        ("proxy.example:8080", "http://proxy.example:8080"),
        (" https://proxy.example ", "https://proxy.example"),
        ("http://mei:s@fe@proxy:1/", None),
        ("http://mei:safe@proxy:1/", "http://proxy:1"),
        ("[::1]:3128", "http://[::1]:3128"),
        ("socks5://proxy:1080", None),
        ("proxy:99999", None),
        ("proxy/path", None),
        ("", None),
    ],
)
def test_address_is_stored_without_credentials(entered: str, address: str | None) -> None:
    assert parse_address(entered) == address


class ForwardProxy(ThreadingHTTPServer):
    """An HTTP proxy that knows one site, and answers for it; with a `credential` it wants that."""

    daemon_threads = True

    def __init__(self, credential: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), ForwardHandler)
        self.credential = credential
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class ForwardHandler(BaseHTTPRequestHandler):
    server: ForwardProxy

    def do_HEAD(self) -> None:
        wanted = self.server.credential
        given = self.headers.get("Proxy-Authorization", "")
        if wanted is not None and given != "Basic " + base64.b64encode(wanted.encode()).decode():
            self.send_response(407)
        else:
            self.server.asked.append(urlsplit(self.path).hostname or "")
            self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def forward_proxy() -> Iterator[ForwardProxy]:
    server = ForwardProxy("mei:s@fe")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class TestCheck:
    def test_a_source_answers_through_the_proxy_with_credentials(self, forward_proxy: ForwardProxy) -> None:
        use_proxy(ProxyChoice(use="manual", address=forward_proxy.address, user="mei", password="s@fe"))
        answer = ConnectionCheckJob(OUTSIDE).run(JobContext())
        assert (answer.outcome, answer.proxy) == ("answers-by-proxy", forward_proxy.address)
        assert forward_proxy.asked == ["outside.invalid"]

    def test_a_proxy_that_wants_credentials_is_named_without_any(self, forward_proxy: ForwardProxy) -> None:
        use_proxy(ProxyChoice(use="manual", address=forward_proxy.address, user="mei", password="wrong"))
        answer = ask_address(OUTSIDE)
        assert answer.outcome == "proxy-credentials"
        assert "wrong" not in str(answer.message)

    def test_a_proxy_that_is_not_there(self) -> None:
        use_proxy(ProxyChoice(use="manual", address="http://127.0.0.1:9"))
        assert ask_address(OUTSIDE, 2.0).outcome == "network-proxy"

    def test_it_can_be_cancelled(self, forward_proxy: ForwardProxy) -> None:
        context: JobContext[object] = JobContext()
        context.cancel.set()
        with pytest.raises(Cancelled):
            ConnectionCheckJob(OUTSIDE).run(context)
