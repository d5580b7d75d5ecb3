"""The proxy of an address by automatic configuration: a script (PAC) that is named or found in the network.

WinHttpGetProxyForUrl runs the script as Windows' browsers do (learn.microsoft.com/windows/win32/winhttp/
winhttp-autoproxy-support), and in their order: one that the network names, then one whose address is set
(learn.microsoft.com/archive/blogs/ieinternals/understanding-web-proxy-configuration). Finding one in the network may
take seconds: after a failure nothing is asked for a minute, in which a network or a VPN may have come.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from .functions import kernel32, winhttp
from .parsing import parse_proxy_list
from .structures import AutoproxyOptions, CurrentUserProxyConfig, ProxyInfo

# winhttp.h
WINHTTP_ACCESS_TYPE_NO_PROXY, WINHTTP_ACCESS_TYPE_NAMED_PROXY = 1, 3
WINHTTP_AUTOPROXY_AUTO_DETECT, WINHTTP_AUTOPROXY_CONFIG_URL = 0x1, 0x2
WINHTTP_AUTO_DETECT_TYPE_DHCP, WINHTTP_AUTO_DETECT_TYPE_DNS_A = 0x1, 0x2
ERROR_WINHTTP_LOGIN_FAILURE = 12015
TIMEOUT_MS = 5000
RETRY_AFTER_S = 60.0


class AutomaticProxies:
    """Asks for each host once, from any thread. `configuration` replaces `automatic_configuration` in tests."""

    def __init__(self, configuration: Callable[[], tuple[bool, str | None]] | None = None) -> None:
        self._configuration = configuration or automatic_configuration
        self._lock = threading.Lock()
        self._by_host: dict[tuple[str, str], str | None] = {}
        self._retry_at = 0.0

    def find(self, url: str) -> str | None:
        """See `base.UserEnvironment.automatic_proxy`."""
        parts = urlsplit(url)
        host = parts.scheme, parts.netloc.rpartition("@")[2]
        with self._lock:
            if host not in self._by_host and time.monotonic() >= self._retry_at:
                try:
                    # A script decides by address and host: the path may hold what is nobody's business.
                    self._by_host[host] = _ask(f"{host[0]}://{host[1]}/", *self._configuration())
                except OSError:
                    self._retry_at = time.monotonic() + RETRY_AFTER_S
            return self._by_host.get(host)


def automatic_configuration() -> tuple[bool, str | None]:
    """Whether Windows looks for a script in the network, and the address of one that is set; raises OSError."""
    config = CurrentUserProxyConfig()
    if not winhttp.WinHttpGetIEProxyConfigForCurrentUser(ctypes.byref(config)):
        raise ctypes.WinError(ctypes.get_last_error())
    script = _take_text(config.lpszAutoConfigUrl)
    _take_text(config.lpszProxy)
    _take_text(config.lpszProxyBypass)
    return bool(config.fAutoDetect), script or None


def _ask(url: str, is_detected: bool, script: str | None) -> str | None:
    ways: list[AutoproxyOptions] = []
    if is_detected:
        detect_types = WINHTTP_AUTO_DETECT_TYPE_DHCP | WINHTTP_AUTO_DETECT_TYPE_DNS_A
        ways.append(AutoproxyOptions(dwFlags=WINHTTP_AUTOPROXY_AUTO_DETECT, dwAutoDetectFlags=detect_types))
    if script is not None:
        ways.append(AutoproxyOptions(dwFlags=WINHTTP_AUTOPROXY_CONFIG_URL, lpszAutoConfigUrl=script))
    if not ways:
        return None
    session = winhttp.WinHttpOpen("GPU Assistant", WINHTTP_ACCESS_TYPE_NO_PROXY, None, None, 0)
    if not session:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        winhttp.WinHttpSetTimeouts(session, TIMEOUT_MS, TIMEOUT_MS, TIMEOUT_MS, TIMEOUT_MS)
        error = 0
        for options in ways:
            info = ProxyInfo()
            # Windows' own service for proxies, which remembers scripts, serves only who does not log on; and nobody is
            # sent the user's credentials unasked.
            for may_log_on in (False, True):
                options.fAutoLogonIfChallenged = may_log_on
                if winhttp.WinHttpGetProxyForUrl(session, url, ctypes.byref(options), ctypes.byref(info)):
                    proxies = _take_text(info.lpszProxy)
                    _take_text(info.lpszProxyBypass)
                    is_named = info.dwAccessType == WINHTTP_ACCESS_TYPE_NAMED_PROXY
                    return (parse_proxy_list(proxies) if is_named else None) or ""
                error = ctypes.get_last_error()
                if error != ERROR_WINHTTP_LOGIN_FAILURE:
                    break
        raise ctypes.WinError(error)
    finally:
        winhttp.WinHttpCloseHandle(session)


def _take_text(pointer: int | None) -> str:
    """A text of WinHTTP's, which is freed."""
    if not pointer:
        return ""
    try:
        return ctypes.wstring_at(pointer)
    finally:
        kernel32.GlobalFree(pointer)
