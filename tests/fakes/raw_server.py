"""A server on loopback that sends what a script says, byte for byte: what no library would send."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RawRequest:
    """One request as it came, header names in lower case; `number` counts from 0."""

    number: int
    line: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    @property
    def start(self) -> int | None:
        """The first byte of the range that is asked for; None without one."""
        value = self.headers.get("range")
        return None if value is None else int(value.removeprefix("bytes=").partition("-")[0])

    def last(self, size: int) -> int:
        """The byte after the last one that is asked for, of a file of so many."""
        text = self.headers.get("range", "").partition("-")[2]
        return min(int(text) + 1, size) if text else size


# Pieces of a response; the connection is closed after the last one.
Script = Callable[[RawRequest], Iterable[bytes]]


@dataclass
class RawServer:
    """`url` is the address; `seen` are the requests so far. A script may wait for `closing`."""

    url: str
    closing: threading.Event = field(default_factory=threading.Event)
    seen: list[RawRequest] = field(default_factory=list)

    def answer(self, connection: socket.socket, script: Script, lock: threading.Lock) -> None:
        """One request, one response."""
        with connection, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                data = connection.recv(1 << 16)
                if not data:
                    return
                head += data
            line, *lines = head.decode("latin-1").partition("\r\n\r\n")[0].split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
            with lock:
                request = RawRequest(len(self.seen), line, headers)
                self.seen.append(request)
            for piece in script(request):
                connection.sendall(piece)
            # Closed in order: a reset could overtake what was sent.
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(5)
            while connection.recv(1 << 16):
                pass


@contextmanager
def raw_server(script: Script) -> Iterator[RawServer]:
    """Such a server for the length of a test."""
    listener = socket.create_server(("127.0.0.1", 0))
    server, lock = RawServer(f"http://127.0.0.1:{listener.getsockname()[1]}"), threading.Lock()

    def listen() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                if server.closing.is_set():
                    connection.close()
                    return
                threading.Thread(target=server.answer, args=(connection, script, lock), daemon=True).start()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        with suppress(OSError):
            # Wakes the thread that accepts.
            socket.create_connection(listener.getsockname(), timeout=5).close()
        thread.join()
        listener.close()


def head(status: str, **headers: str | int) -> bytes:
    """The head of the only response on a connection; in the names of headers "_" stands for "-"."""
    lines = [
        f"HTTP/1.1 {status}",
        "Connection: close",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
