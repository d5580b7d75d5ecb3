"""One small answer from the network, into memory: bounded in size and time, ended at once by a cancel."""

from __future__ import annotations

import threading
import time

import requests
import urllib3

from ..core.errors import Cancelled
from ..fetch.limits import Limits
from ..fetch.session import InsecureRedirect, Session, StrayRedirect
from .statement import Refused, secure

READ = 1 << 14
BEAT = 0.1


def ask(url: str, *, most_bytes: int, seconds: float, cancel: threading.Event) -> bytes:
    """The answer's body; raises Refused or Cancelled. No cookies, no ids: the request says our version only."""
    if not secure(url):
        raise Refused("insecure")
    asking = _Asking(url, most_bytes, seconds)
    # A daemon: a look-up of a name cannot be ended, and must not keep the program from ending.
    thread = threading.Thread(target=asking.run, name="asks for updates", daemon=True)
    thread.start()
    end = time.monotonic() + seconds
    while not asking.ended.wait(BEAT):
        if cancel.is_set() or time.monotonic() > end:
            asking.session.interrupt()
            thread.join(BEAT)
            break
    if cancel.is_set():
        raise Cancelled
    return asking.result()


class _Asking:
    """The request on a thread of its own; `ended` is set once `result` holds what came of it."""

    def __init__(self, url: str, most_bytes: int, seconds: float) -> None:
        self.session = Session()
        self.ended = threading.Event()
        self._url, self._most = url, most_bytes
        limits = Limits()
        self._patience = (min(limits.connect_seconds, seconds), min(limits.stall_seconds, seconds))
        self._body: bytes | None = None
        self._why = Refused("unreachable")

    def run(self) -> None:
        """Ask."""
        try:
            with self.session:
                self._body = self._read()
        except Refused as refusal:
            self._why = refusal
        except (InsecureRedirect, StrayRedirect):
            self._why = Refused("insecure")
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            self._why.__cause__ = error
        finally:
            self.ended.set()

    def result(self) -> bytes:
        """The body; raises Refused, also where none has come yet."""
        if self._body is None:
            raise self._why
        return self._body

    def _read(self) -> bytes:
        with self.session.get(self._url, stream=True, timeout=self._patience) as response:
            if response.status_code != 200:
                raise Refused("unreachable")
            if not secure(response.url):
                raise Refused("insecure")
            body = bytearray()
            while chunk := response.raw.read1(READ, decode_content=False):
                body += chunk
                if len(body) > self._most:
                    raise Refused("too-large")
        return bytes(body)
