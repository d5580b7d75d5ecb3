"""HTTP sessions that trust what the operating system trusts and never fall back from https to http."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter

from .. import __version__


class InsecureRedirect(requests.RequestException):
    """A server sent us from https to an address that is not https."""


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


class _Adapter(HTTPAdapter):
    """Connections with our certificates instead of the bundle that requests brings."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - the library's own signature
        super().init_poolmanager(*args, **kwargs, ssl_context=self._context)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:  # noqa: ANN401
        return super().proxy_manager_for(proxy, **kwargs, ssl_context=self._context)

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:  # noqa: ANN401, ARG002
        # The context decides what is trusted; nothing is added to it, and it cannot be switched off.
        conn.cert_reqs = "CERT_REQUIRED"
        conn.ca_certs = None
        conn.ca_cert_dir = None


class Session(requests.Session):
    """A session for one thread."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__()
        self.mount("https://", _Adapter(certificates(environ)))
        self.headers["User-Agent"] = f"gpu-assistant/{__version__}"
        # Hashes and sizes are of the file as it lies on the server.
        self.headers["Accept-Encoding"] = "identity"

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Where an answer sends us; raises InsecureRedirect where that would leave https."""
        target = super().get_redirect_target(resp)
        if target is None:
            return None
        scheme = urlsplit(urljoin(resp.url, target)).scheme
        if scheme not in ("https", "http") or (urlsplit(resp.url).scheme == "https" and scheme != "https"):
            raise InsecureRedirect(f"{resp.url} -> {target}", response=resp)
        return target
