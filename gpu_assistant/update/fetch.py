"""One small answer from the network, into memory: bounded in size and time, ended at once by a cancel."""

from __future__ import annotations

import threading
import time

import requests
import urllib3

from ..core.errors import Cancelled
from ..fetch.http import HttpSession, InsecureRedirect, NonHttpRedirect
from ..fetch.request import Limits
from .signed_statement import ResponseRejected, is_secure_url

READ_BYTES = 1 << 14
POLL_S = 0.1


def fetch_bytes(url: str, *, max_bytes: int, timeout: float, cancel: threading.Event) -> bytes:
    """The answer's body; raises ResponseRejected or Cancelled. No cookies, no ids: the request has our version only."""
    if not is_secure_url(url):
        raise ResponseRejected("insecure")
    request = _BoundedRequest(url, max_bytes, timeout)
    # A daemon: a look-up of a name cannot be ended, and must not keep the program from ending.
    thread = threading.Thread(target=request.run, name="asks for updates", daemon=True)
    thread.start()
    deadline = time.monotonic() + timeout
    while not request.finished.wait(POLL_S):
        if cancel.is_set() or time.monotonic() > deadline:
            request.session.interrupt()
            thread.join(POLL_S)
            break
    if cancel.is_set():
        raise Cancelled
    return request.result()


class _BoundedRequest:
    """The request on a thread of its own; `finished` is set once `result` has the outcome."""

    def __init__(self, url: str, max_bytes: int, timeout: float) -> None:
        self.session = HttpSession()
        self.finished = threading.Event()
        self._url, self._max_bytes = url, max_bytes
        limits = Limits()
        self._timeouts = (min(limits.connect_seconds, timeout), min(limits.stall_seconds, timeout))
        self._body: bytes | None = None
        self._rejection = ResponseRejected("unreachable")

    def run(self) -> None:
        """Send the request; its result or reason of rejection is read afterwards."""
        try:
            with self.session:
                self._body = self._read()
        except ResponseRejected as rejection:
            self._rejection = rejection
        except (InsecureRedirect, NonHttpRedirect):
            self._rejection = ResponseRejected("insecure")
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            self._rejection.__cause__ = error
        finally:
            self.finished.set()

    def result(self) -> bytes:
        """The body; raises ResponseRejected, also where none has come yet."""
        if self._body is None:
            raise self._rejection
        return self._body

    def _read(self) -> bytes:
        with self.session.get(self._url, stream=True, timeout=self._timeouts) as response:
            if response.status_code != 200:
                raise ResponseRejected("unreachable")
            if not is_secure_url(response.url):
                raise ResponseRejected("insecure")
            body = bytearray()
            while chunk := response.raw.read1(READ_BYTES, decode_content=False):
                body += chunk
                if len(body) > self._max_bytes:
                    raise ResponseRejected("too-large")
        return bytes(body)
