"""Whom to ask for newer facts (`refresh.json`), and for a newer version of ourselves (`updates.json`)."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...core.machine import SystemName
from ...core.types import Channel
from ...core.versions import Version
from .base import (
    CatalogFile,
    Hex32Bytes,
    HttpsUrl,
)
from .gpus import Segment


class UpdateKey(Struct, frozen=True, kw_only=True):
    """A public key for signatures of update information: its name and its 32 bytes in lower-case hex."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.-]{0,31}$")]
    ed25519: Hex32Bytes


class RootStatement(Struct, frozen=True, kw_only=True):
    """Root `version`: at least `threshold` of the root `keys` name the `release_keys` and the root's successor.

    It holds up to and including the day `expires`.
    """

    schema: Literal["gpu-assistant/update-root/1"]
    version: Annotated[int, Meta(ge=1)]
    expires: date
    keys: Annotated[tuple[UpdateKey, ...], Meta(min_length=1, max_length=8)]
    threshold: Annotated[int, Meta(ge=1)]
    release_keys: Annotated[tuple[UpdateKey, ...], Meta(max_length=8)]


class UpdateCatalog(CatalogFile, frozen=True, kw_only=True):
    """`updates.json`. A build without `address` or `root` does not look for updates.

    It looks at most every `interval_hours`; a response has at most `answer_bytes` and must arrive within
    `answer_seconds`.
    """

    address: HttpsUrl | None
    root: RootStatement | None
    interval_hours: Annotated[float, Meta(ge=1)]
    answer_bytes: Annotated[int, Meta(ge=1024)]
    answer_seconds: Annotated[float, Meta(ge=1)]


class DriverLookupQuery(Struct, frozen=True, kw_only=True):
    """One query of NVIDIA's driver lookup: a product (`pfid`) that represents a generation, on a system (`osID`)."""

    system: SystemName
    system_id: int
    generation: str
    segment: Segment
    channel: Channel | None
    product: int


class RefreshSettings(CatalogFile, frozen=True, kw_only=True):
    """`refresh.json`: the sources of newer facts; those with the URL None are not used.

    A response has at most `answer_bytes` and must arrive within `answer_seconds`; at most `newest` new index files are
    read. PyTorch releases before `oldest_release` are ignored.
    """

    wheels: HttpsUrl | None
    wheel_index: HttpsUrl
    cuda: HttpsUrl | None
    cudnn: HttpsUrl | None
    lookup: HttpsUrl | None
    drivers: tuple[DriverLookupQuery, ...]
    answer_bytes: Annotated[int, Meta(ge=1024)]
    answer_seconds: Annotated[float, Meta(ge=1)]
    newest: Annotated[int, Meta(ge=1)]
    oldest_release: Version
