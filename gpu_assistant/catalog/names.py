"""Names of cards as drivers, device lists and people write them, brought to one form."""

from __future__ import annotations

import re

_MAKER = re.compile(r"^(?:nvidia|geforce)\s+", re.IGNORECASE)


def plain_name(name: str) -> str:
    """Lower case, single spaces, without the maker in front: "NVIDIA GeForce RTX 4060" is "rtx 4060"."""
    plain = " ".join(name.split())
    while (shorter := _MAKER.sub("", plain)) != plain:
        plain = shorter
    return plain.casefold()
