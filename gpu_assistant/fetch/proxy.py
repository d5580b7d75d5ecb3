"""The proxy that the user chose in the settings, for every connection of this process and for the programs it starts.

User and password of a proxy are kept in the memory of this process alone: no file and no log has them.
"""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from msgspec import Struct

from ..core.types import ProxyUse

# A proxy is for addresses outside of this computer.
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
NO_PROXY_NAMES = ("NO_PROXY", "no_proxy")
PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_ADDRESS = re.compile(
    r"(?:(?P<scheme>https?)://)?(?:[^/@]*@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/@:?#\[\]]+)(?::(?P<port>\d{1,5}))?/?"
)
MAX_PORT = 65_535


class ProxyChoice(Struct, frozen=True, kw_only=True):
    """`use` "manual" is through the proxy at `address` ("http://proxy.example:8080"), with these credentials."""

    use: ProxyUse = "system"
    address: str | None = None
    user: str = ""
    password: str = ""

    @property
    def url(self) -> str | None:
        """The proxy's address with the credentials, None where no proxy was entered."""
        if self.use != "manual" or self.address is None:
            return None
        if not self.user:
            return self.address
        parts = urlsplit(self.address)
        credentials = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return parts._replace(netloc=f"{credentials}@{parts.netloc}").geturl()

    def answer(self, url: str) -> str | None:
        """How an address is reached: through this proxy; "" directly; None as the system's settings say."""
        if self.use == "none":
            return ""
        proxy = self.url
        if proxy is None:
            return None
        return "" if (urlsplit(url).hostname or "") in LOCAL_HOSTS else proxy

    def variables(self) -> dict[str, str] | None:
        """The environment variables for programs of others; None where the system's settings decide.

        Each in both spellings: programs differ in which one counts (curl.se/docs/manpage.html, "ENVIRONMENT").
        """
        if self.use == "none":
            return dict.fromkeys(NO_PROXY_NAMES, "*")
        proxy = self.url
        if proxy is None:
            return None
        return dict.fromkeys(PROXY_NAMES, proxy) | dict.fromkeys(NO_PROXY_NAMES, ",".join(LOCAL_HOSTS))


_choice = ProxyChoice()


def use_proxy(choice: ProxyChoice) -> None:
    """Use this proxy from the next connection on."""
    global _choice  # noqa: PLW0603 - one for the process, as the system's settings are
    _choice = choice


def proxy_in_use() -> ProxyChoice:
    """The choice in use."""
    return _choice


def parse_address(text: str) -> str | None:
    """A proxy's address as it is stored, from what the user entered; user and password are dropped. None where it is
    none, or a proxy of another kind.
    """
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or int(match["port"] or 1) not in range(1, MAX_PORT + 1):
        return None
    port = f":{match['port']}" if match["port"] else ""
    return f"{match['scheme'] or 'http'}://{match['host']}{port}"
