"""Which addresses hold the same bytes as an official one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

_PLACE = re.compile(r"\{[a-z_]+\}")


class Mirror(Struct, frozen=True, kw_only=True):
    """A mirror's address for a publisher's; both are beginnings of addresses with places like `{variant}`.

    The same places stand in both, and what follows them is the same on both servers.
    """

    official: str
    mirror: str


def candidates(url: str, mirrors: Iterable[Mirror]) -> tuple[str, ...]:
    """The mirrors' addresses for an official one, in the order given; none is the official one, none comes twice.

    A place stands for one part of a path, the last one in an address also for all that follows. Mirrors without
    encryption are left out where the official source has it.
    """
    found: list[str] = []
    for each in mirrors:
        match = _pattern(each.official).match(url)
        if match is None:
            continue
        places = match.groupdict()
        address = _PLACE.sub(lambda place, places=places: places.get(place[0][1:-1], place[0]), each.mirror)  # type: ignore[misc]
        address += url[match.end() :]
        secure = not url.startswith("https:") or address.startswith("https:")
        if secure and not _PLACE.search(address) and address != url:
            found.append(address)
    return tuple(dict.fromkeys(found))


def _pattern(official: str) -> re.Pattern[str]:
    """A regular expression for a beginning with places."""
    parts = re.split(r"(\{[a-z_]+\})", official)
    texts = []
    for part in parts:
        # The last place of "…/{path}" may hold several folders.
        last = "[^?#]+" if official.endswith(part) else "[^/?#]+"
        texts.append(f"(?P<{part[1:-1]}>{last})" if _PLACE.fullmatch(part) else re.escape(part))
    return re.compile("".join(texts))
