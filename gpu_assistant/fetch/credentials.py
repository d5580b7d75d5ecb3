"""User name and password for the package index that the user has set for uv, and for no other server.

uv finds them itself while it resolves; its lock file names the files without them. They are looked up where uv looks
(docs.astral.sh/uv/concepts/authentication/http): in the index's address, in ~/.netrc, and, where UV_KEYRING_PROVIDER is
"subprocess", with the program `keyring`. They are kept in memory alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from urllib.parse import unquote, urlsplit

from ..core.errors import AppError
from ..system.variables import strip_credentials

INDEX_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
KEYRING_VARIABLE = "UV_KEYRING_PROVIDER"
KEYRING_TIMEOUT_S = 30.0
# A password may hold an "@", as far as the last one.
_USER_INFO = re.compile(r"(?<=://)[^/\s\"'<>]*@")


def user_index_url(environ: Mapping[str, str] = os.environ) -> str | None:
    """The general package index that the user has set for uv; None for uv's default, PyPI."""
    return next((environ[name] for name in INDEX_VARIABLES if environ.get(name)), None)


def index_credentials(url: str, environ: Mapping[str, str] = os.environ) -> tuple[str, str] | None:
    """User and password for an address on the server of the user's index; None for every other server."""
    from requests.utils import get_netrc_auth  # what only resolves does not load it

    index = user_index_url(environ)
    if index is None or _origin(index) != _origin(url):
        return None
    parts = urlsplit(index)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if password:
        return user, password
    stored = get_netrc_auth(strip_credentials(index))
    if stored is not None and stored[0] and user in ("", stored[0]):
        return stored[0], stored[1]
    if user and environ.get(KEYRING_VARIABLE) == "subprocess":
        secret = _keyring_password(strip_credentials(index), user)
        return None if secret is None else (user, secret)
    return None


def redact_credentials(text: str) -> str:
    """The text with every address without user and password."""
    return _USER_INFO.sub("", text)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port


@cache
def _keyring_password(index: str, user: str) -> str | None:
    """The password that `keyring` has for the index, or for its host."""
    from ..system import current_system

    system = current_system()
    program = system.find_program("keyring")
    if program is None:
        return None
    for service in (index, urlsplit(index).netloc):
        try:
            finished = system.run([program, "get", service, user], timeout=KEYRING_TIMEOUT_S)
        except AppError:
            return None
        if finished.returncode == 0 and finished.stdout.strip():
            return finished.stdout.strip()
    return None
