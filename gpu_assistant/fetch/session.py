"""HTTP sessions that trust what the operating system trusts and never fall back from https to http."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from weakref import WeakSet

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.auth import HTTPBasicAuth
from requests.utils import get_auth_from_url
from urllib3 import PoolManager

from .. import __version__


class InsecureRedirect(requests.RequestException):
    """A server sent us from https to an address without encryption."""


class StrayRedirect(requests.RequestException):
    """A server sent us to what is no address of the web."""


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
    """The sockets that a session has opened, so that another thread can end a read that waits on one."""

    def __init__(self) -> None:
        self._open: WeakSet[socket.socket] = WeakSet()
        self._guard = threading.Lock()

    def add(self, opened: socket.socket) -> None:
        with self._guard:
            self._open.add(opened)

    def close(self) -> None:
        """Wake every reader with an error. Linux wakes it on shutdown alone, Windows on close alone.

        Where shutdown does, its reader closes it: a reader just about to wait would else wait for whatever socket gets
        the same number next.
        """
        from ..system import current_system

        wakes = current_system().name != "windows"
        with self._guard:
            opened = list(self._open)
        for one in opened:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                # Who begins to read only now must not wait out the time limit on a socket that is gone.
                one.settimeout(0)
            if not wakes:
                with suppress(OSError):
                    # Not one.close(): that waits for the reader to let go of its file.
                    socket.close(one.detach())

    def watch(self, manager: PoolManager) -> None:
        """Have every connection that the manager makes noted here."""

        def watched(pool: Any) -> Any:  # noqa: ANN401 - urllib3's own types say no more
            class Connection(pool.ConnectionCls):  # type: ignore[misc]
                def connect(connection) -> None:  # noqa: N805
                    super().connect()
                    self.add(connection.sock)

            return type(pool.__name__, (pool,), {"ConnectionCls": Connection})

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


def _own_credentials(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Those that stand in the address itself; without an `auth` of ours requests would look into ~/.netrc."""
    user, password = get_auth_from_url(request.url or "")
    return HTTPBasicAuth(user, password)(request) if user or password else request


class Session(requests.Session):
    """A session for one thread. Proxies may come from the environment, credentials only from an address.

    `trusted` gives the certificates once an address needs them: to read them takes as long as a small file.
    """

    def __init__(self, trusted: Callable[[], ssl.SSLContext] = certificates) -> None:
        super().__init__()
        self._sockets, self._trusted = _Sockets(), trusted
        # Without the library's own, which trust another bundle: what is not mounted is not connected to.
        self.adapters.clear()
        self.mount("http://", _Adapter(trusted, self._sockets, secure=False))
        self.auth = _own_credentials
        self.headers["User-Agent"] = f"gpu-assistant/{__version__}"
        # Hashes and sizes are of the file as it lies on the server.
        self.headers["Accept-Encoding"] = "identity"

    def get_adapter(self, url: str) -> BaseAdapter:
        """That for https is made when the first such address comes."""
        if "https://" not in self.adapters and url.lower().startswith("https://"):
            self.mount("https://", _Adapter(self._trusted, self._sockets, secure=True))
        return super().get_adapter(url)

    def interrupt(self) -> None:
        """From another thread: end every read that waits for the network; it fails with an OSError of some kind."""
        self._sockets.close()

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Another host does not get the first one's credentials, nor any from ~/.netrc."""
        asked, now = response.request.url, prepared_request.url
        if self.should_strip_auth(asked, now):  # type: ignore[no-untyped-call]
            prepared_request.headers.pop("Authorization", None)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Where an answer sends us; raises InsecureRedirect where that would leave https, StrayRedirect where it would
        leave the web, TooManyRedirects where it is the very same address without a cookie that may change the answer.
        """
        target = super().get_redirect_target(resp)
        if target is None:
            return None
        there = urljoin(resp.url, target)
        scheme = urlsplit(there).scheme
        if scheme not in ("https", "http"):
            raise StrayRedirect(f"{resp.url} -> {target}", response=resp)
        if urlsplit(resp.url).scheme == "https" and scheme != "https":
            raise InsecureRedirect(f"{resp.url} -> {target}", response=resp)
        if there == resp.url and "Set-Cookie" not in resp.headers:
            raise requests.TooManyRedirects(there, response=resp)
        return target


class Sessions:
    """Sessions that several downloads and threads use one after the other, so that connections live on."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._idle: list[Session] = []
        # Reading all certificates takes longer than a small file: once is enough.
        self._context: ssl.SSLContext | None = None

    def take(self) -> Session:
        """A session for the calling thread; give it back."""
        with self._guard:
            if self._idle:
                return self._idle.pop()
        return Session(self._trusted)

    def _trusted(self) -> ssl.SSLContext:
        with self._guard:
            self._context = self._context or certificates()
            return self._context

    def give(self, session: Session) -> None:
        """The thread is done with it, and nothing was interrupted."""
        with self._guard:
            self._idle.append(session)

    def close(self) -> None:
        """Close the connections of all that were given back."""
        with self._guard:
            for session in self._idle:
                session.close()
            self._idle.clear()
