"""Where publishers' files lie, and who mirrors them (`mirrors.json`)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from .base import (
    ByteCount,
    CatalogFile,
    Confidence,
    HttpsUrl,
)

IndexKind = Literal["pep503", "flat", "files"]
# A URL whose host may be the field {host}, since PyPI's files have no host of their own name.
HostTemplateUrl = Annotated[str, Meta(pattern=r"^https://(\{host\}|[a-z0-9.-]+)/")]


class Publisher(Struct, frozen=True, kw_only=True):
    """The official source of files: `url` with {variant}, {version}, {file}, {tag} or {path}; None is the installer's
    default. `files` is the base URL of files where it differs from that of the pages. `missing_status` is the HTTP
    status for an absent file, `plus_as` the encoding of "+" in a name.
    """

    id: str
    url: HttpsUrl | None
    hosts: tuple[str, ...]
    kind: IndexKind
    files: HostTemplateUrl | None = None
    missing_status: int | None = None
    plus_as: str | None = None
    checksums: str | None = None
    source: str
    note: str | None = None


class MirrorRecord(Struct, frozen=True, kw_only=True):
    """A mirror of a publisher; `files` mirrors the publisher's `files`. `hashes`: whether its pages contain hashes
    (None: unknown); files are checked against the publisher's hashes anyway.
    """

    publisher: str
    name: str
    url: HttpsUrl
    kind: IndexKind
    region: str
    hashes: bool | None
    source: str
    confidence: Confidence
    files: HttpsUrl | None = None
    note: str | None = None


class SlowSourceThreshold(Struct, frozen=True, kw_only=True):
    """The speed below which mirrors are used in addition to the official source."""

    bytes_per_second: ByteCount
    source: str


class MirrorCatalog(CatalogFile, frozen=True, kw_only=True):
    """`mirrors.json`."""

    slow: SlowSourceThreshold
    publishers: tuple[Publisher, ...]
    mirrors: tuple[MirrorRecord, ...]
