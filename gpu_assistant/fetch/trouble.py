"""Why no connection came about, in words that lead to different ways out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Literal

import requests
import urllib3

from ..system.probes import is_network_available

Trouble = Literal["network-none", "network-proxy", "host-unknown", "host-refused", "host-silent"]


def trouble(error: BaseException) -> Trouble | None:
    """What stood in the way of a connection; None where there was one, or nobody knows."""
    causes = list(_causes(error))
    refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
    unknown = any(isinstance(cause, socket.gaierror) for cause in causes)
    silent = any(isinstance(cause, urllib3.exceptions.ConnectTimeoutError) for cause in causes)
    # Who is refused has reached somebody, be it a program of this computer.
    if (unknown or silent) and not refused and not is_network_available():
        return "network-none"
    if any(isinstance(cause, requests.exceptions.ProxyError) for cause in causes):
        return "network-proxy"
    return "host-refused" if refused else "host-unknown" if unknown else "host-silent" if silent else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what the libraries wrapped into it, from the outside in."""
    while error is not None:
        yield error
        inner = [each for each in (*error.args, getattr(error, "reason", None)) if isinstance(each, BaseException)]
        error = inner[0] if inner else error.__cause__
