"""Where publishers' files lie, and who mirrors them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .subject import Confidence, Https, Subject

PageKind = Literal["pep503", "flat", "files"]


class Publisher(Struct, frozen=True, kw_only=True):
    """The official place: `url` with {variant}, {version}, {file}, {tag} or {path}; None is the installer's own
    default. `missing_status` is what it answers for an absent file, `plus_as` how a "+" in a name must be sent.
    """

    id: str
    url: Https | None
    hosts: tuple[str, ...]
    kind: PageKind
    missing_status: int | None = None
    plus_as: str | None = None
    checksums: str | None = None
    source: str
    note: str | None = None


class Mirror(Struct, frozen=True, kw_only=True):
    """A mirror of a publisher's files. `hashes`: whether its pages carry them (None: not known); those from the
    publisher are the ones that count.
    """

    publisher: str
    name: str
    url: Https
    kind: PageKind
    region: str
    hashes: bool | None
    source: str
    confidence: Confidence
    note: str | None = None


class Mirrors(Subject, frozen=True, kw_only=True):
    """`mirrors.json`."""

    publishers: tuple[Publisher, ...]
    mirrors: tuple[Mirror, ...]
