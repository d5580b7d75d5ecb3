"""A WSGI server for a port that others may reach: few connections, each for a short time, under our own names only.

Where all connections are taken, the oldest gives way: one that sends nothing, or a byte now and then, keeps no scrape
out. A request whose Host is a name that is not ours is refused: a page in the user's browser could else read from here
under a name of its own that it lets point to this computer (DNS rebinding).
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

MAX_CONNECTIONS = 32
CONNECTION_TIME_S = 10.0  # for a connection as a whole; Prometheus waits as long for a scrape by default
IDLE_TIME_S = 5.0
EXCLUSIVE_OPTION: int | None = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)  # Windows has it


class _RequestHandler(WSGIRequestHandler):
    timeout = IDLE_TIME_S

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the library's own signature
        """Requests are not logged."""


class BoundedServer(ThreadingMixIn, WSGIServer):
    """Serves one application at `address`, a thread for each of at most `MAX_CONNECTIONS`. Raises OSError."""

    daemon_threads = True
    request_queue_size = 128
    # On Windows a second program could listen on the same port with it, and get what is meant for the first one:
    # learn.microsoft.com/windows/win32/winsock/using-so-reuseaddr-and-so-exclusiveaddruse
    allow_reuse_address = not EXCLUSIVE_OPTION

    def __init__(self, address: str, port: int, application: WSGIApplication) -> None:
        self._open: dict[socket.socket, float] = {}  # the oldest first, each with its end
        self._lock = threading.Lock()
        self.address_family, _, _, _, endpoint = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        super().__init__((str(endpoint[0]), port), _RequestHandler)
        self.set_app(_HostCheck(application, address, str(self.server_address[0])))

    def server_bind(self) -> None:
        """Bind to the port, which is then ours alone."""
        if EXCLUSIVE_OPTION:
            self.socket.setsockopt(socket.SOL_SOCKET, EXCLUSIVE_OPTION, 1)
        super().server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the library's own types
        """Start the thread of a connection; the oldest one ends where there are too many."""
        with self._lock:
            while len(self._open) >= MAX_CONNECTIONS:
                self._end(next(iter(self._open)))
            self._open[request] = time.monotonic() + CONNECTION_TIME_S
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401
        """Called by a connection's thread at its end."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Called by the server's loop twice a second: end the connections whose time is over."""
        now = time.monotonic()
        with self._lock:
            for request in [each for each, end in self._open.items() if end < now]:
                self._end(request)

    def server_close(self) -> None:
        """Stop listening, and end all connections."""
        super().server_close()
        with self._lock:
            for request in list(self._open):
                self._end(request)

    def _end(self, request: socket.socket) -> None:
        """Wake the connection's thread with an end of file; it closes the socket."""
        self._open.pop(request)
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002
        """A connection that broke off is no error of ours: into the log, not on stderr."""
        logging.getLogger(__name__).debug("connection of %s", client_address, exc_info=True)


class _HostCheck:
    """An application for requests that name this computer by its address, or by a name of its own."""

    def __init__(self, application: WSGIApplication, given_address: str, bound_address: str) -> None:
        self._application = application
        self._names = {"localhost"}
        self._short_name: str | None = None
        if not ip_address(bound_address.partition("%")[0]).is_loopback:
            # A network's own names for this computer are not known here, but they begin with its name.
            self._short_name = socket.gethostname().lower().partition(".")[0]
            self._names |= {given_address.lower(), socket.getfqdn().lower()}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self._is_own_name(environ.get("HTTP_HOST")):
            return self._application(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"This server answers to the addresses and names of its own computer only.\n"]

    def _is_own_name(self, host: str | None) -> bool:
        if host is None:  # HTTP/1.0; browsers always send it
            return True
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        with suppress(ValueError):
            return bool(ip_address(name))
        return name in self._names or (self._short_name is not None and name.partition(".")[0] == self._short_name)
