"""What all files of one download share."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .rate import RateLimiter
from .request import Limits
from .sources import HostLimiter

if TYPE_CHECKING:
    from .http import SessionPool


class TransferState:
    """`lock` guards `hosts`. The sessions are made for the first request: files that are on this computer already need
    no client of HTTP and TLS, which takes a quarter of the time in which the program loads.
    """

    def __init__(self, limits: Limits, stopped: threading.Event, rate: RateLimiter) -> None:
        self.limits, self.stopped, self.rate = limits, stopped, rate
        self.hosts = HostLimiter(limits.connections)
        self.lock = threading.Lock()
        self._sessions: SessionPool | None = None
        self._sessions_lock = threading.Lock()

    @property
    def sessions(self) -> SessionPool:
        """The connections, from any thread."""
        with self._sessions_lock:
            if self._sessions is None:
                from .http import SessionPool

                self._sessions = SessionPool()
            return self._sessions

    def close(self) -> None:
        """Close the connections."""
        if self._sessions is not None:
            self._sessions.close()
