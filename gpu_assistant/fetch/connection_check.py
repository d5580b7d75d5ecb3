"""Whether one source of downloads answers by the present proxy settings, and if not, why; said in a sentence of
`connection.<outcome>`.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Literal
from urllib.parse import urlsplit

import requests
from msgspec import Struct
from requests.utils import select_proxy

from ..core.jobs import JobContext
from ..core.message import Message
from ..system.variables import strip_credentials
from .http import ConnectionCode, HttpSession, connection_error, final_error

TIMEOUT_S = 10.0
POLL_S = 0.05
CREDENTIALS_STATUS = requests.codes.proxy_authentication_required

ConnectionOutcome = (
    Literal["answers", "answers-by-proxy", "proxy-credentials", "proxy-socks", "certificate", "status", "unclear"]
    | ConnectionCode
)


class ConnectionAnswer(Struct, frozen=True, kw_only=True):
    """What came of a request to `host`, through `proxy` (its address without credentials) or directly."""

    outcome: ConnectionOutcome
    host: str
    proxy: str | None
    seconds: float
    status: int | None = None

    @property
    def is_good(self) -> bool:
        """Whether the host answered."""
        return self.outcome in ("answers", "answers-by-proxy")

    @property
    def message(self) -> Message:
        """The sentence."""
        figures = {"host": self.host, "proxy": self.proxy, "seconds": f"{self.seconds:.1f}", "status": self.status}
        return Message(f"connection.{self.outcome}", {**figures})


class ConnectionCheckJob:
    """Asks one address, within ten seconds. Nothing but the request itself is sent."""

    def __init__(self, url: str) -> None:
        self._url = url

    def run(self, context: JobContext[Any]) -> ConnectionAnswer:
        """Raises Cancelled."""
        answers: list[ConnectionAnswer] = []
        done = threading.Event()

        def ask() -> None:
            try:
                answers.append(ask_address(self._url))
            finally:
                done.set()

        # Looking a name up cannot be interrupted: the thread may outlast the question.
        context.check_cancelled()
        started = time.monotonic()
        threading.Thread(target=ask, name="connection check", daemon=True).start()
        while not done.wait(POLL_S) and time.monotonic() - started < TIMEOUT_S:
            context.check_cancelled()
        if answers:
            return answers[0]
        host = urlsplit(self._url).hostname or ""
        return ConnectionAnswer(outcome="host-silent", host=host, proxy=None, seconds=time.monotonic() - started)


def ask_address(url: str, timeout_s: float = TIMEOUT_S) -> ConnectionAnswer:
    """Request the headers of an address."""
    host, started, status = urlsplit(url).hostname or "", time.monotonic(), None
    with HttpSession() as session:
        proxies = session.merge_environment_settings(url, {}, None, None, None)["proxies"]
        proxy_url = select_proxy(url, proxies)
        proxy = strip_credentials(str(proxy_url)) if proxy_url else None
        outcome: ConnectionOutcome
        try:
            with session.head(url, timeout=timeout_s, allow_redirects=True) as response:
                status = response.status_code
                if status == CREDENTIALS_STATUS:
                    outcome = "proxy-credentials"
                elif response.ok:
                    outcome = "answers-by-proxy" if proxy is not None else "answers"
                else:
                    outcome = "status"
        except (requests.RequestException, OSError, ValueError) as error:
            outcome = _failure(error, host)
    return ConnectionAnswer(outcome=outcome, host=host, proxy=proxy, seconds=time.monotonic() - started, status=status)


def _failure(error: BaseException, host: str) -> ConnectionOutcome:
    final = final_error(error, "", host)
    match final.code if final is not None else None:
        case "certificate" | "proxy-socks" | "proxy-credentials" as outcome:
            return outcome
    return connection_error(error) or "unclear"
