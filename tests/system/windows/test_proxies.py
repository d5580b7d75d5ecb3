"""Automatic configuration of proxies: Windows' own library asks a script that a server of the test's gives."""

from __future__ import annotations

import ctypes
import http.server
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

if sys.platform != "win32":
    pytest.skip("WinHTTP is Windows'", allow_module_level=True)

from gpu_assistant.system.windows import proxies as module
from gpu_assistant.system.windows.parsing import parse_proxy_list
from gpu_assistant.system.windows.proxies import AutomaticProxies, automatic_configuration

pytestmark = pytest.mark.windows
SCRIPT = b"""
function FindProxyForURL(url, host) {
    return host == "inside.example" ? "DIRECT" : "PROXY proxy.example:8080; DIRECT";
}
"""


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("proxy.example:8080", "http://proxy.example:8080"),
        ("proxy.example:8080;other.example:80", "http://proxy.example:8080"),
        ("http=proxy.example:8080", "http://proxy.example:8080"),
        ("https://proxy.example:443", "https://proxy.example:443"),
        ("socks=proxy.example:1080", None),
        ("", None),
    ],
)
def test_first_http_proxy_of_the_list(text: str, proxy: str | None) -> None:
    assert parse_proxy_list(text) == proxy


class Script(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ns-proxy-autoconfig")
        self.send_header("Content-Length", str(len(SCRIPT)))
        self.end_headers()
        self.wfile.write(SCRIPT)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def script() -> Iterator[str]:
    """The address of a script."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Script) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/proxy.pac"
        server.shutdown()


def test_script_decides_by_host(script: str) -> None:
    proxies = AutomaticProxies(lambda: (False, script))
    assert proxies.find("https://outside.example/a?b=c") == "http://proxy.example:8080"
    assert proxies.find("https://inside.example/") is None


def test_nothing_configured_is_no_proxy() -> None:
    assert AutomaticProxies(lambda: (False, None)).find("https://outside.example/") is None


def test_script_that_cannot_be_read_is_asked_for_once() -> None:
    asked: list[None] = []

    def configuration() -> tuple[bool, str]:
        asked.append(None)
        return False, "http://127.0.0.1:9/proxy.pac"

    proxies = AutomaticProxies(configuration)
    assert proxies.find("https://one.example/") is None
    assert proxies.find("https://two.example/") is None
    assert len(asked) == 1


def test_failure_is_forgotten_after_a_while(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_AFTER_S", 0.0)
    addresses = ["http://127.0.0.1:9/proxy.pac", script]
    proxies = AutomaticProxies(lambda: (False, addresses.pop(0)))
    assert proxies.find("https://outside.example/") is None
    assert proxies.find("https://outside.example/") == "http://proxy.example:8080"


def test_credentials_are_sent_only_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    logs_on: list[bool] = []

    def refuse(_session: int, _url: str, options: Any, _info: Any) -> int:
        logs_on.append(bool(options._obj.fAutoLogonIfChallenged))  # noqa: SLF001 - what byref points to
        ctypes.set_last_error(module.ERROR_WINHTTP_LOGIN_FAILURE)
        return 0

    windows = SimpleNamespace(
        WinHttpOpen=lambda *_: 1,
        WinHttpSetTimeouts=lambda *_: 1,
        WinHttpCloseHandle=lambda *_: 1,
        WinHttpGetProxyForUrl=refuse,
    )
    monkeypatch.setattr(module, "winhttp", windows)
    assert AutomaticProxies(lambda: (False, "http://script.example/")).find("https://one.example/") is None
    assert logs_on == [False, True]


def test_configuration_of_this_user_is_read() -> None:
    is_detected, address = automatic_configuration()
    assert isinstance(is_detected, bool)
    assert address is None or "://" in address
