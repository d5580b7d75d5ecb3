"""Files that servers have, as every room names them: addresses, name, size, SHA-256."""

from __future__ import annotations

from msgspec import Struct


class RemoteFile(Struct, frozen=True, kw_only=True):
    """A file on the network. `urls` are addresses of the same bytes, the publisher's own first, then mirrors.

    `sha256` is lower-case hex from an official index or the catalog, never from a server of the bytes. It and the size
    in bytes are None where nobody published them.
    """

    urls: tuple[str, ...]
    name: str
    bytes: int | None = None
    sha256: str | None = None

    @property
    def url(self) -> str:
        """The publisher's own address."""
        return self.urls[0]
