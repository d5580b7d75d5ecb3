"""A file server on loopback that misbehaves to order: one fault for each of the next requests, then it is well."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

CHUNK = 1 << 16

Kind = Literal[
    "drop",
    "stall",
    "status",
    "ignore-range",
    "other-version",
    "garbage",
    "redirect",
    "reset",
    "wrong-range",
    "shifted-range",
    "long",
    "packed",
    "page",
    "flip",
]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one GET. `after` bytes of the body are sent properly before drop, stall and flip."""

    kind: Kind
    after: int = 0
    status: int = 503
    headers: dict[str, str] = field(default_factory=dict)
    location: str = ""


@dataclass
class Served:
    """One file. `rate` in bytes per second over one connection; None is as fast as it goes.

    Of more than `most` requests at once the rest gets `busy`. `length` False sends without saying how much; so many
    bytes `more` than there are it announces. Any range is answered by `refuses`, if that is a status.
    """

    data: bytes
    etag: str | None = '"one"'
    media: str = "application/octet-stream"
    rate: float | None = None
    faults: list[Fault] = field(default_factory=list)
    ranges: bool = True
    most: int | None = None
    busy: int = 429
    length: bool = True
    more: int = 0
    refuses: int | None = None
    now: int = 0
    highest: int = 0


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    path: str
    range: str | None
    if_range: str | None
    authorization: str | None = None


class FaultServer:
    """Serves `files` by path; `seen` and `sent` (bytes of bodies) tell what happened."""

    def __init__(self) -> None:
        self.files: dict[str, Served] = {}
        self.seen: list[Seen] = []
        self.sent = 0
        self.let_go = threading.Event()
        self.stalled = threading.Event()
        self._guard = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                server.answer(self, head=True)

            def do_GET(self) -> None:
                server.answer(self, head=False)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.handle_error = lambda *_args: None  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The server's address, without a slash at the end."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def add(self, path: str, data: bytes, **more: Any) -> str:
        """Serve a file; gives its address."""
        self.files[path] = Served(data, **more)
        return self.url + path

    def gets(self, path: str) -> list[Seen]:
        """The GET requests for one path."""
        return [seen for seen in self.seen if (seen.method, seen.path) == ("GET", path)]

    def close(self) -> None:
        """End everything, stalled answers too."""
        self.let_go.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: BaseHTTPRequestHandler, *, head: bool) -> None:
        """One request."""
        headers = request.headers
        with self._guard:
            headers_seen = (headers["Range"], headers["If-Range"], headers["Authorization"])
            self.seen.append(Seen(request.command, request.path, *headers_seen))
            served = self.files.get(request.path)
            fault = served.faults.pop(0) if served and served.faults and not head else None
            if served is not None:
                served.now += 1
                crowded = served.most is not None and served.now > served.most
                served.highest = max(served.highest, served.now)
        if served is None:
            self._plain(request, 404)
            return
        try:
            if crowded:
                self._plain(request, served.busy, {"Retry-After": "0"})
            else:
                self._answer(request, served, fault, head=head)
        finally:
            with self._guard:
                served.now -= 1

    def _answer(self, request: BaseHTTPRequestHandler, served: Served, fault: Fault | None, *, head: bool) -> None:
        if fault is None:
            self._file(request, served, fault, head=head)
        elif fault.kind == "status":
            self._plain(request, fault.status, fault.headers)
        elif fault.kind == "redirect":
            self._plain(request, 302, {"Location": fault.location})
        elif fault.kind == "reset":
            request.close_connection = True
            request.connection.close()
        elif fault.kind == "page":
            kind = {"Content-Type": "text/html; charset=utf-8"}
            self._body(request, 200, b"<html>Please log in</html>", kind, served, None)
        elif fault.kind == "garbage":
            self._body(request, 200, b"<html>Please log in</html>", {"ETag": '"portal"'}, served, None)
        else:
            self._file(request, served, fault, head=head)

    def _file(self, request: BaseHTTPRequestHandler, served: Served, fault: Fault | None, *, head: bool) -> None:
        headers = {"Accept-Ranges": "bytes", "Content-Type": served.media}
        if served.etag is not None:
            headers["ETag"] = served.etag
        range_header = request.headers["Range"]
        if range_header is not None and served.refuses is not None:
            self._plain(request, served.refuses)
            return
        if fault is not None and fault.kind == "other-version":
            # A careless mirror: it looks neither at If-Range nor at which version it holds.
            headers["ETag"] = '"two"'
        elif request.headers["If-Range"] not in (None, served.etag):
            range_header = None
        if range_header is None or not served.ranges or (fault is not None and fault.kind == "ignore-range"):
            self._body(request, 200, b"" if head else served.data, headers, served, fault, len(served.data))
            return
        first, _, last = range_header.removeprefix("bytes=").partition("-")
        # Without a first byte it is the last ones that are asked for.
        start = int(first) if first else max(0, len(served.data) - int(last))
        if start >= len(served.data):
            self._plain(request, 416, {"Content-Range": f"bytes */{len(served.data)}"})
            return
        end = min(int(last) + 1 if first and last else len(served.data), len(served.data))
        off, total = 0, len(served.data)
        if fault is not None and fault.kind == "shifted-range":
            off = 7
        elif fault is not None and fault.kind == "wrong-range":
            total += 1000
        headers["Content-Range"] = f"bytes {start + off}-{end - 1 + off}/{total}"
        self._body(request, 206, served.data[start:end], headers, served, fault)

    def _plain(self, request: BaseHTTPRequestHandler, status: int, headers: dict[str, str] | None = None) -> None:
        request.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": "0"}.items():
            request.send_header(name, value)
        request.end_headers()

    def _body(
        self,
        request: BaseHTTPRequestHandler,
        status: int,
        data: bytes,
        headers: dict[str, str],
        served: Served,
        fault: Fault | None,
        length: int | None = None,
    ) -> None:
        request.send_response(status)
        headers = {**headers, "Content-Length": str((len(data) if length is None else length) + served.more)}
        if fault is not None and fault.kind == "flip":
            data = data[: fault.after] + bytes([data[fault.after] ^ 1]) + data[fault.after + 1 :]
        elif fault is not None and fault.kind == "long":
            data += b"and more of it" * 1000
        elif fault is not None and fault.kind == "packed":
            data = gzip.compress(data)
            headers |= {"Content-Encoding": "gzip", "Content-Length": str(len(data))}
        if not served.length:
            del headers["Content-Length"]
            request.close_connection = True
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        until = min(fault.after, len(data)) if fault is not None and fault.kind in ("drop", "stall") else len(data)
        for start in range(0, until, CHUNK):
            piece = data[start : min(start + CHUNK, until)]
            request.wfile.write(piece)
            with self._guard:
                self.sent += len(piece)
            if served.rate is not None:
                time.sleep(len(piece) / served.rate)
        request.close_connection = request.close_connection or bool(served.more)
        if until == len(data):
            return
        if fault is not None and fault.kind == "stall":
            self.stalled.set()
            self.let_go.wait()
        request.close_connection = True


@contextmanager
def fault_server() -> Iterator[FaultServer]:
    """A server for the length of a test."""
    server = FaultServer()
    try:
        yield server
    finally:
        server.close()
