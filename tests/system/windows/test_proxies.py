"""Automatic configuration of proxies: Windows' own library asks a script that a server of the test's gives."""

from __future__ import annotations

import ctypes
import http.server
import os
import sys
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

if sys.platform != "win32":
    pytest.skip("WinHTTP is Windows'", allow_module_level=True)

import winreg

from gpu_assistant.system.windows import proxies as module
from gpu_assistant.system.windows.facts import INTERNET_POLICIES_KEY, INTERNET_SETTINGS_KEY
from gpu_assistant.system.windows.parsing import parse_proxy_list
from gpu_assistant.system.windows.proxies import AutomaticProxies, automatic_configuration
from gpu_assistant.system.windows.system import WindowsSystem

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
        ("socks=proxy.example:1080", "socks4://proxy.example:1080"),
        ("socks5://proxy.example:1080;http=other.example:80", "http://other.example:80"),
        ("socks5=proxy.example:1080;socks=other.example:1080", "socks5://proxy.example:1080"),
        ("", None),
    ],
)
def test_first_http_proxy_of_the_list_else_a_socks_proxy(text: str, proxy: str | None) -> None:
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
    assert proxies.find("https://inside.example/") == ""


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


def windows_that_answers(answer: Callable[[Any, Any], int]) -> SimpleNamespace:
    """WinHTTP, whose WinHttpGetProxyForUrl gets the options and what is to be filled in."""
    return SimpleNamespace(
        WinHttpOpen=lambda *_: 1,
        WinHttpSetTimeouts=lambda *_: 1,
        WinHttpCloseHandle=lambda *_: 1,
        WinHttpGetProxyForUrl=lambda _session, _url, options, info: answer(options._obj, info._obj),  # noqa: SLF001 - what byref points to
    )


def test_credentials_are_sent_only_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    logs_on: list[bool] = []

    def refuse(options: Any, _info: Any) -> int:
        logs_on.append(bool(options.fAutoLogonIfChallenged))
        ctypes.set_last_error(module.ERROR_WINHTTP_LOGIN_FAILURE)
        return 0

    monkeypatch.setattr(module, "winhttp", windows_that_answers(refuse))
    assert AutomaticProxies(lambda: (False, "http://script.example/")).find("https://one.example/") is None
    assert logs_on == [False, True]


@pytest.mark.parametrize("found", [True, False])
def test_network_is_asked_before_the_script_that_is_set(monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    asked: list[tuple[int, str | None]] = []

    def answer(options: Any, info: Any) -> int:
        asked.append((options.dwFlags, options.lpszAutoConfigUrl))
        if found or options.lpszAutoConfigUrl:
            info.dwAccessType = module.WINHTTP_ACCESS_TYPE_NO_PROXY
            return 1
        ctypes.set_last_error(12180)  # ERROR_WINHTTP_AUTODETECTION_FAILED
        return 0

    monkeypatch.setattr(module, "winhttp", windows_that_answers(answer))
    assert AutomaticProxies(lambda: (True, "http://script.example/")).find("https://one.example/") == ""
    network, script = (module.WINHTTP_AUTOPROXY_AUTO_DETECT, None), (2, "http://script.example/")
    assert asked == [network] if found else [network, script]


def test_configuration_of_this_user_is_read() -> None:
    is_detected, address = automatic_configuration()
    assert isinstance(is_detected, bool)
    assert address is None or "://" in address


@pytest.fixture
def machine_settings() -> Iterator[Callable[[str, str, int, int | str], None]]:
    """Writes values for the whole computer, which are gone afterwards."""
    if "WINEPREFIX" not in os.environ and "WINELOADERNOEXEC" not in os.environ:
        pytest.skip("changes settings of the whole computer; runs in a Wine prefix only")
    written: list[tuple[str, str]] = []

    def write(key: str, name: str, kind: int, value: int | str) -> None:
        with winreg.CreateKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            winreg.SetValueEx(opened, name, 0, kind, value)
        written.append((key, name))

    yield write
    for key, name in written:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key, 0, winreg.KEY_SET_VALUE) as opened:
            winreg.DeleteValue(opened, name)


def test_proxy_for_the_whole_computer_is_asked_for_by_address(
    machine_settings: Callable[[str, str, int, int | str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    machine_settings(INTERNET_POLICIES_KEY, "ProxySettingsPerUser", winreg.REG_DWORD, 0)
    machine_settings(INTERNET_SETTINGS_KEY, "ProxyEnable", winreg.REG_DWORD, 1)
    machine_settings(INTERNET_SETTINGS_KEY, "ProxyServer", winreg.REG_SZ, "all.example:3128")
    machine_settings(INTERNET_SETTINGS_KEY, "ProxyOverride", winreg.REG_SZ, "*.inside.example")
    system = WindowsSystem()
    assert system.proxy() == "all.example:3128"
    assert system.automatic_proxy("https://outside.example/") == "http://all.example:3128"
    assert system.automatic_proxy("https://files.inside.example/") == ""
