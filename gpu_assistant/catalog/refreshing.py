"""Whom to ask for newer facts: `refresh.json`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..core.machine import SystemName
from ..core.recommendation import Channel
from .records import Segment
from .subject import HttpsUrl, DottedVersion, CatalogFile


class DriverLookupQuery(Struct, frozen=True, kw_only=True):
    """One question to the driver lookup: a product (`pfid`) that stands for its kind of card, on a system (`osID`)."""

    system: SystemName
    system_id: int
    generation: str
    segment: Segment
    channel: Channel | None
    product: int


class RefreshSettings(CatalogFile, frozen=True, kw_only=True):
    """`refresh.json`. An answer may have `answer_bytes` and `answer_seconds`; of new index files at most `newest`
    are read. `oldest_release` bounds which PyTorch releases are of interest. Addresses None are not asked.
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
    oldest_release: DottedVersion
