"""Where publishers' files lie, and who mirrors them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from .subject import ByteCount, Confidence, HttpsUrl, CatalogFile

IndexKind = Literal["pep503", "flat", "files"]
# An address whose host may be a place, too: the general index names none.
HostTemplateUrl = Annotated[str, Meta(pattern=r"^https://(\{host\}|[a-z0-9.-]+)/")]


class Publisher(Struct, frozen=True, kw_only=True):
    """The official place: `url` with {variant}, {version}, {file}, {tag} or {path}; None is the installer's own
    default. `files` is where the files lie where that is elsewhere than the pages. `missing_status` is what it answers
    for an absent file, `plus_as` how a "+" in a name must be sent.
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
    """A mirror of a publisher's files; `files` is its place for those of the publisher's `files`. `hashes`: whether its
    pages carry them (None: not known); those from the publisher are the ones that count.
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
    """An official source that gives less is slow: its mirrors are asked."""

    bytes_per_second: ByteCount
    source: str


class MirrorCatalog(CatalogFile, frozen=True, kw_only=True):
    """`mirrors.json`."""

    slow: SlowSourceThreshold
    publishers: tuple[Publisher, ...]
    mirrors: tuple[MirrorRecord, ...]
