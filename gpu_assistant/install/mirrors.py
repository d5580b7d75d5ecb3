"""The mirrors of every publisher's file, by the catalog. What the bytes must come to never comes from a mirror."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import structs

from ..core.names import MirrorUse
from ..fetch.mirrors import Mirror, candidates
from ..fetch.wanted import Wanted

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..catalog.places import Publisher


def with_mirrors(request: Wanted, catalog: Catalog, mirror_use: MirrorUse) -> Wanted:
    """The same file with its mirrors as the user wants them; without a checksum it has none."""
    if mirror_use == "never" or request.check is None:
        return request
    known = (*request.mirrors, *request.reserve)
    mirror_urls = tuple(url for url in candidates(request.url, _mirror_pairs(catalog)) if url not in known)
    if mirror_use == "first":
        return structs.replace(request, mirrors=(*request.mirrors, *mirror_urls), mirrors_first=bool(mirror_urls))
    slow_threshold = float(catalog.mirrors.slow.bytes_per_second)
    return structs.replace(request, reserve=(*request.reserve, *mirror_urls), slow_bytes=slow_threshold)


def _mirror_pairs(catalog: Catalog) -> Iterator[Mirror]:
    for publisher in catalog.mirrors.publishers:
        for mirror in catalog.mirrors_of(publisher.id):
            for official in _official_urls(publisher):
                address = mirror.files if publisher.files is not None else mirror.url
                if address is not None:
                    yield Mirror(official=official, mirror=address)


def _official_urls(publisher: Publisher) -> Iterator[str]:
    """Where its files lie: at each of its hosts."""
    if publisher.files is not None:
        yield publisher.files
    elif publisher.url is not None:
        host = urlsplit(publisher.url).netloc
        for other in dict.fromkeys((host, *publisher.hosts)):
            yield publisher.url.replace(f"//{host}/", f"//{other}/", 1)
