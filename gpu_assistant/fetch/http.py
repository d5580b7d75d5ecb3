"""HTTP: sessions that trust what the operating system trusts, what response headers mean, why requests fail."""

from __future__ import annotations

import os
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies_environment
from weakref import WeakSet

import requests
import urllib3
from msgspec import Struct
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.auth import HTTPBasicAuth
from requests.utils import get_auth_from_url, get_environ_proxies, select_proxy, should_bypass_proxies

from .. import __version__
from ..core.errors import NetworkError
from ..core.files import is_plain_authority
from ..system.probes import is_network_available
from .credentials import index_credentials
from .partial_file import STRONG_ETAG
from .proxy import proxy_in_use

# Statuses that a later request may change; every other one from 400 on is final.
RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522, 523, 524})

# Not the default of six hours: the user is told until when a server wants to be left alone. Ten years can be a date.
_RETRY = urllib3.Retry()
_RETRY.retry_after_max = 10 * 365 * 86_400

# Up to an exabyte; Python refuses to read numbers of thousands of digits.
_SIZE = r"[0-9]{1,18}"
_RANGE = re.compile(rf"bytes ({_SIZE})-({_SIZE})/({_SIZE}|\*)\Z", re.IGNORECASE)
_UNSATISFIED_RANGE = re.compile(rf"bytes \*/({_SIZE})\Z", re.IGNORECASE)
# A longer body of a redirect is not read.
LONGEST_REDIRECT_BODY = 1 << 16

# RFC 2606: nobody's. Nothing is sent there; scripts for proxies decide by a host's name.
OUTSIDE_URL = "https://www.example.com/"

_TUNNEL_REFUSED = re.compile(rf"Tunnel connection failed: {requests.codes.proxy_authentication_required}\b")

ConnectionCode = Literal["network-none", "network-proxy", "host-unknown", "host-refused", "host-silent"]


class InsecureRedirect(requests.RequestException):
    """A server redirected us from https to an address without encryption."""


class NonHttpRedirect(requests.RequestException):
    """A server redirected us to an address that is neither http nor https."""


# Response headers


class ContentRange(Struct, frozen=True):
    """First byte sent, the byte after the last one, and the whole file's size where the server says it."""

    start: int
    end: int
    total: int | None


def content_range(headers: Mapping[str, str]) -> ContentRange | None:
    """The part of the file in a response 206; None if the header is missing or invalid (RFC 9110, 14.4)."""
    match = _RANGE.match(headers.get("Content-Range", "").strip())
    if match is None:
        return None
    sent = ContentRange(int(match[1]), int(match[2]) + 1, None if match[3] == "*" else int(match[3]))
    return sent if sent.start < sent.end and (sent.total is None or sent.end <= sent.total) else None


def content_length(headers: Mapping[str, str]) -> int | None:
    """Bytes of the file in the response; None if the server does not say, or compresses them."""
    sizes = _lengths(headers)
    return int(sizes.pop()) if has_valid_length(headers) and sizes and "Content-Encoding" not in headers else None


def has_valid_length(headers: Mapping[str, str]) -> bool:
    """Whether a response's length is one, or left open: else nobody knows where it ends (RFC 9112, 6.3)."""
    sizes = _lengths(headers)
    return len(sizes) <= 1 and all(re.fullmatch(_SIZE, size) for size in sizes)


def _lengths(headers: Mapping[str, str]) -> set[str]:
    """The values of Content-Length; the same one may come several times (RFC 9110, 8.6)."""
    return {size.strip() for size in headers["Content-Length"].split(",")} if "Content-Length" in headers else set()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from seconds or a date by the server's own clock; None if the server does not say."""
    until, now = http_date(headers.get("Retry-After", "")), http_date(headers.get("Date", ""))
    if until is not None and now is not None:
        return min(max(0.0, until - now), float(_RETRY.retry_after_max))
    try:
        return float(_RETRY.parse_retry_after(headers["Retry-After"]))
    except (KeyError, urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return None


def http_date(text: str) -> float | None:
    """Seconds since 1970; None if the text is no date."""
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def strong_etag(headers: Mapping[str, str]) -> str | None:
    """The tag that names these very bytes; a weak one does not."""
    tag = headers.get("ETag", "").strip()
    return tag if re.match(STRONG_ETAG, tag) else None


def strong_date(headers: Mapping[str, str]) -> str | None:
    """The date that names these very bytes, as RFC 9110, 8.8.2.2, means it: of a file that has no tag, and was not
    changed in the second in which it was sent.
    """
    text = headers.get("Last-Modified", "").strip()
    changed, sent = http_date(text), http_date(headers.get("Date", ""))
    if "ETag" in headers or changed is None or sent is None or sent - changed < 1:
        return None
    return text


def unsatisfied_length(headers: Mapping[str, str]) -> int | None:
    """The file's size by a response 416; None if the server does not say it."""
    match = _UNSATISFIED_RANGE.match(headers.get("Content-Range", "").strip())
    return None if match is None else int(match[1])


def is_html_page(headers: Mapping[str, str], name: str) -> bool:
    """Whether a page came instead of a file: a network's login, a mirror's notice."""
    media_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return media_type in ("text/html", "application/xhtml+xml") and not name.lower().endswith((".html", ".htm"))


def is_encoded(headers: Mapping[str, str], name: str) -> bool:
    """Whether the server compressed the body unasked. Of an archive some servers say so by mistake."""
    transfer_coding = headers.get("Transfer-Encoding", "chunked").strip().lower()
    if transfer_coding not in ("chunked", "identity", ""):
        return True
    coding = headers.get("Content-Encoding", "identity").strip().lower()
    return coding not in ("identity", "") and not name.lower().endswith((".gz", ".tgz", ".bz2", ".xz", ".zst", ".br"))


# Errors


def connection_error(error: BaseException) -> ConnectionCode | None:
    """Why no connection came about; None where there was one, or the reason is unknown."""
    causes = list(_causes(error))
    refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
    unknown = any(isinstance(cause, socket.gaierror) for cause in causes)
    silent = any(isinstance(cause, urllib3.exceptions.ConnectTimeoutError) for cause in causes)
    # A refused connection reached a computer, be it this one: the network is not reported as down.
    if (unknown or silent) and not refused and not is_network_available():
        return "network-none"
    if any(isinstance(cause, requests.exceptions.ProxyError) for cause in causes):
        return "network-proxy"
    return "host-refused" if refused else "host-unknown" if unknown else "host-silent" if silent else None


def final_error(error: BaseException, name: str, host: str) -> NetworkError | None:
    """The error to report of a request that fails again however often it is sent; None if a retry may help."""
    for code, holds in (
        ("certificate", isinstance(error, requests.exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error)),
        ("proxy-credentials", asks_for_proxy_credentials(error)),
        ("proxy-socks", isinstance(error, requests.exceptions.InvalidSchema) and "SOCKS" in str(error)),
        ("insecure-redirect", isinstance(error, InsecureRedirect)),
    ):
        if holds:
            return NetworkError(code, host=host)
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return NetworkError("redirect-circle", name=name, host=host)
    if isinstance(error, NonHttpRedirect | requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema):
        return NetworkError("redirect-stray", name=name, host=host)
    return None


def asks_for_proxy_credentials(error: BaseException) -> bool:
    """Whether a proxy refused a tunnel because it wants other credentials; http.client has its status in a text."""
    return any(isinstance(cause, OSError) and _TUNNEL_REFUSED.match(str(cause)) for cause in _causes(error))


def is_network_error(error: BaseException) -> bool:
    """Whether the network or the server failed; an OSError of the disk is none."""
    if isinstance(error, requests.RequestException | urllib3.exceptions.HTTPError | TimeoutError | ConnectionError):
        return True
    return isinstance(error, OSError) and error.errno is None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what the libraries wrapped into it, from the outside in."""
    while error is not None:
        yield error
        inner = [each for each in (*error.args, getattr(error, "reason", None)) if isinstance(each, BaseException)]
        error = inner[0] if inner else error.__cause__


# Sessions


def certificates(environ: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """The certificates to trust: a bundle that the user named, else the operating system's own.

    Only our sessions use them: the process's other TLS connections stay as they are.
    """
    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
        bundle = environ.get(name)
        if bundle and Path(bundle).is_file():
            return ssl.create_default_context(cafile=bundle)
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class _Sockets:
    """The open sockets of a session, so that another thread can end a read that blocks on one."""

    def __init__(self) -> None:
        self._open: WeakSet[socket.socket] = WeakSet()
        self._lock = threading.Lock()

    def add(self, opened: socket.socket) -> None:
        with self._lock:
            self._open.add(opened)

    def close(self) -> None:
        """Wake every reader with an error. Linux wakes it on shutdown alone, Windows on close alone.

        Where shutdown wakes it, the reader closes the socket: a reader that is about to block would else block on
        whatever socket gets the same number next.
        """
        from ..system import current_system

        shutdown_wakes = current_system().name != "windows"
        with self._lock:
            sockets = list(self._open)
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                # A read that begins only now must not wait for its timeout on a closed socket.
                each.settimeout(0)
            if not shutdown_wakes:
                with suppress(OSError):
                    # Not each.close(): that waits for the reader to release its file.
                    socket.close(each.detach())

    def watch(self, manager: urllib3.PoolManager) -> None:
        """Record the socket of every connection that the manager makes."""

        def watched(pool: Any) -> Any:  # noqa: ANN401 - urllib3's own types say no more
            class WatchedConnection(pool.ConnectionCls):  # type: ignore[misc]
                def connect(connection) -> None:  # noqa: N805
                    super().connect()
                    self.add(connection.sock)

            return type(pool.__name__, (pool,), {"ConnectionCls": WatchedConnection})

        manager.pool_classes_by_scheme = {s: watched(pool) for s, pool in manager.pool_classes_by_scheme.items()}


class _Adapter(HTTPAdapter):
    """Connections with our certificates instead of the bundle that requests brings.

    One that is not `secure` serves http alone: it needs them only for a proxy that is reached by https.
    """

    def __init__(self, trusted: Callable[[], ssl.SSLContext], sockets: _Sockets, *, secure: bool) -> None:
        self._trusted = trusted
        self._sockets = sockets
        self._secure = secure
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - the library's own signature
        if self._secure:
            kwargs["ssl_context"] = self._trusted()
        super().init_poolmanager(*args, **kwargs)
        self._sockets.watch(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:  # noqa: ANN401
        new = proxy not in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **kwargs, ssl_context=self._trusted())
        if new:
            self._sockets.watch(manager)
        return manager

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:  # noqa: ANN401, ARG002
        # The context decides what is trusted; nothing is added to it, and it cannot be switched off.
        conn.cert_reqs = "CERT_REQUIRED"
        conn.ca_certs = None
        conn.ca_cert_dir = None


def _credentials(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Those in the address itself, or of the user's package index; without an `auth` of ours requests would send those
    in ~/.netrc to every server.
    """
    user, password = get_auth_from_url(request.url or "")
    if not (user or password):
        user, password = index_credentials(request.url or "") or ("", "")
    # As UTF-8, as uv sends them (RFC 7617, 2.1); requests takes text for ISO-8859-1.
    return HTTPBasicAuth(user.encode(), password.encode())(request) if user or password else request


def _system_proxy(url: str) -> str | None:
    from ..system import current_system

    return current_system().automatic_proxy(url)


def _automatic_answer(url: str, ask: Callable[[str], str | None]) -> str | None:
    """What the system's automatic configuration says of an address, as `base.UserEnvironment.automatic_proxy` does.

    Windows' own order: what it finds by itself, then a script, then the proxy of its settings
    (learn.microsoft.com/archive/blogs/ieinternals/understanding-web-proxy-configuration). Before all of them come the
    environment's variables, and None is the answer for them and for exceptions. What the user chose in our settings
    comes before everything.
    """
    chosen = proxy_in_use().answer(url)
    if chosen is not None:
        return chosen
    if should_bypass_proxies(url, no_proxy=None) or select_proxy(url, getproxies_environment()) is not None:
        return None
    return ask(url)


def proxy_variables(url: str | None) -> dict[str, str]:
    """The variables for programs of others, which know no automatic configuration, so that they reach an address as it
    says; {} where they know as much themselves. None: some address outside.
    """
    chosen = proxy_in_use().variables()
    if chosen is not None:
        return chosen
    url = url or OUTSIDE_URL
    proxy = _automatic_answer(url, _system_proxy)
    if proxy is None:
        return {}
    parts = urlsplit(url)
    if proxy == "":  # directly, even where there is a proxy in the system's settings
        return {"NO_PROXY": parts.hostname or ""} if select_proxy(url, get_environ_proxies(url)) is not None else {}
    return {f"{parts.scheme.upper()}_PROXY": proxy}


class HttpSession(requests.Session):
    """A session for one thread. Proxies may come from the environment, credentials only from an address,
    or for the server of the user's package index.

    `trusted` gives the certificates once an address needs them: to read them takes as long as a small file.
    `automatic_proxy` replaces the system's automatic configuration, asked where the environment names no proxy.
    """

    def __init__(
        self,
        trusted: Callable[[], ssl.SSLContext] = certificates,
        automatic_proxy: Callable[[str], str | None] | None = None,
    ) -> None:
        super().__init__()
        self._automatic_proxy = automatic_proxy or _system_proxy
        self._sockets, self._trusted = _Sockets(), trusted
        # Without the library's own adapters, which trust another bundle: no other scheme is connected to.
        self.adapters.clear()
        self.mount("http://", _Adapter(trusted, self._sockets, secure=False))
        self.auth = _credentials
        self.headers["User-Agent"] = f"gpu-assistant/{__version__}"
        # Hashes and sizes are of the file as it lies on the server.
        self.headers["Accept-Encoding"] = "identity"

    def get_adapter(self, url: str) -> BaseAdapter:
        """That for https is made when the first such address comes."""
        if "https://" not in self.adapters and url.lower().startswith("https://"):
            self.mount("https://", _Adapter(self._trusted, self._sockets, secure=True))
        return super().get_adapter(url)

    def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:  # noqa: ANN401 - the library's own signature
        """The system's automatic configuration comes before the proxy of its settings."""
        settings = super().merge_environment_settings(url, proxies, stream, verify, cert)
        settings["proxies"] = self._with_automatic_proxy(url, settings["proxies"])
        return settings

    def rebuild_proxies(self, prepared_request: requests.PreparedRequest, proxies: Any) -> Any:  # noqa: ANN401, ARG002 - the library's own signature
        """The address of a redirect is asked for anew: a script may say something else of its host."""
        rebuilt = super().rebuild_proxies(prepared_request, None)  # type: ignore[no-untyped-call]
        proxies_in_use = self._with_automatic_proxy(prepared_request.url, rebuilt)
        if proxies_in_use is not rebuilt:
            # Of the environment's proxy; the one in use gets its own from urllib3.
            prepared_request.headers.pop("Proxy-Authorization", None)
        return proxies_in_use

    def _with_automatic_proxy(self, url: Any, proxies: Any) -> Any:  # noqa: ANN401
        address = url.decode() if isinstance(url, bytes) else str(url)
        proxy = _automatic_answer(address, self._automatic_proxy)
        if proxy is None:
            return proxies
        return {urlsplit(address).scheme: proxy} if proxy else {}

    def interrupt(self) -> None:
        """From another thread: end every read that waits for the network; it fails with an OSError of some kind."""
        self._sockets.close()

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Another host does not get the first one's credentials, nor any from ~/.netrc."""
        if self.should_strip_auth(response.request.url, prepared_request.url):  # type: ignore[no-untyped-call]
            prepared_request.headers.pop("Authorization", None)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Where a response redirects to.

        Raises InsecureRedirect where that would leave https; NonHttpRedirect for any other scheme, and for an address
        in which readers see different hosts; TooManyRedirects for the very same address without a cookie that may
        change the response.
        """
        try:
            target = super().get_redirect_target(resp)
            if target is None:
                return None
            url = urljoin(resp.url, target)
            parts = urlsplit(url)
            scheme, is_plain = parts.scheme, parts.port != 0 and is_plain_authority(parts.netloc)
        except ValueError as error:  # a host or a port that is none, or bytes that are no text
            raise NonHttpRedirect(resp.url, response=resp) from error
        if scheme not in ("https", "http") or not is_plain:
            raise NonHttpRedirect(f"{resp.url} -> {target}", response=resp)
        if urlsplit(resp.url).scheme == "https" and scheme != "https":
            raise InsecureRedirect(f"{resp.url} -> {target}", response=resp)
        if url == resp.url and "Set-Cookie" not in resp.headers:
            raise requests.TooManyRedirects(url, response=resp)
        length = content_length(resp.headers)
        if length is None or length > LONGEST_REDIRECT_BODY:
            # requests would read all of it into memory.
            resp.close()
        return target


class SessionPool:
    """Sessions that several downloads and threads use one after the other, so that connections live on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[HttpSession] = []
        # Reading all certificates takes longer than a small file: once is enough.
        self._context: ssl.SSLContext | None = None

    def take(self) -> HttpSession:
        """A session for the calling thread; give it back."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return HttpSession(self._trusted)

    def _trusted(self) -> ssl.SSLContext:
        with self._lock:
            self._context = self._context or certificates()
            return self._context

    def give_back(self, session: HttpSession) -> None:
        """For the next caller; not after `interrupt`, and only once its response was read to the end."""
        with self._lock:
            self._idle.append(session)

    def close(self) -> None:
        """Close the connections of all that were given back."""
        with self._lock:
            for session in self._idle:
                session.close()
            self._idle.clear()
