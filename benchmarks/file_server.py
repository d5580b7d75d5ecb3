"""A file server for the benchmarks of downloads: fast enough not to be what is measured, or slow to order.

`python benchmarks/file_server.py FILE [--rate BYTES] [--latency SECONDS] [--workers N]` prints its port. It serves
that one file under any path, with ranges, by sendfile, from several processes that share one listening socket. With
`--rate` each connection gets so many bytes a second; with `--latency` an answer begins so much later. A GET of
/sent answers with the bytes of bodies that clients have been sent so far.
"""

from __future__ import annotations

import argparse
import mmap
import os
import re
import socket
import struct
import threading
import time
from pathlib import Path

PORTION = 1 << 16


class Server:
    """One process's share of the work: a thread for each connection."""

    def __init__(self, path: Path, rate: float | None, latency: float, sent: mmap.mmap, place: int) -> None:
        self._path, self._size = path, path.stat().st_size
        self._rate, self._latency = rate, latency
        self._sent, self._place, self._guard = sent, place, threading.Lock()

    def serve(self, listening: socket.socket) -> None:
        """For ever."""
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as lines, self._path.open("rb") as file:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while request := self._request(lines):
                    self._answer(connection, file.fileno(), request)
        except OSError:
            pass  # the client has gone

    def _request(self, lines: object) -> bytes:
        request = b""
        while (line := lines.readline()) not in (b"\r\n", b""):  # type: ignore[attr-defined]
            request += line
        return request

    def _answer(self, connection: socket.socket, file: int, request: bytes) -> None:
        time.sleep(self._latency)
        if request.startswith(b"GET /sent "):
            body = str(sum(struct.unpack(f"{len(self._sent) // 8}q", self._sent[:]))).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            return
        range_header = re.search(rb"(?im)^range: *bytes=(\d+)-(\d*)", request)
        start = int(range_header[1]) if range_header else 0
        end = min(int(range_header[2]) + 1, self._size) if range_header and range_header[2] else self._size
        head = [b"HTTP/1.1 206 Partial Content" if range_header else b"HTTP/1.1 200 OK", b"Accept-Ranges: bytes"]
        head += [b'ETag: "one"', b"Content-Length: %d" % (end - start)]
        if range_header:
            head.append(b"Content-Range: bytes %d-%d/%d" % (start, end - 1, self._size))
        connection.sendall(b"\r\n".join(head) + b"\r\n\r\n")
        if not request.startswith(b"HEAD"):
            self._body(connection, file, start, end)

    def _body(self, connection: socket.socket, file: int, start: int, end: int) -> None:
        began, at = time.monotonic(), start
        while at < end:
            count = os.sendfile(connection.fileno(), file, at, min(PORTION if self._rate else 1 << 20, end - at))
            at += count
            with self._guard:
                place = slice(self._place * 8, self._place * 8 + 8)
                self._sent[place] = struct.pack("q", struct.unpack("q", self._sent[place])[0] + count)
            if self._rate is not None:
                time.sleep(max(0.0, (at - start) / self._rate - (time.monotonic() - began)))


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    sent = mmap.mmap(-1, 8 * given.workers)
    print(listening.getsockname()[1], flush=True)
    place = 0
    for number in range(1, given.workers):
        if os.fork() == 0:
            place = number
            break
    parent = os.getppid() if place else None
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    Server(given.file, given.rate, given.latency, sent, place).serve(listening)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


if __name__ == "__main__":
    main()
