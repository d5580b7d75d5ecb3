"""Names of cards as drivers, device lists and people write them, brought to one form."""

from __future__ import annotations

import re

_VENDOR_PREFIX = re.compile(r"^(?:nvidia|geforce)\s+", re.IGNORECASE)
_TRADEMARKS = re.compile(r"\((?:r|tm|c|pascal)\)|[®™©]", re.IGNORECASE)
# Parts of a name about form factor, cooling or memory, not about the chip.
_BOARD_DETAILS = re.compile(
    r"\b(?:with|max q|design|laptop|notebook|mobile|gpu|graphics|generation|edition"
    r"|pcie|sxm\d*|dgxs|nvl|hbm\d\w?|\d+ ?gb?)\b"
)
_LAPTOP = re.compile(r"\b(?:max[ -]q|laptop|notebook|mobile)\b", re.IGNORECASE)
_DESKTOP_MAX_Q = re.compile(r"\bworkstation\b", re.IGNORECASE)
_PRODUCT_LINES = ("radeon", "instinct", "arc")
_PRODUCT_LINE = re.compile(r"\b(?:radeon|instinct|arc)\b[^()\[\]]*", re.IGNORECASE)


def normalize_name(name: str) -> str:
    """A name in lower case, with single spaces, without vendor: "NVIDIA GeForce RTX 4060" gives "rtx 4060"."""
    normalized = " ".join(name.split())
    while (shorter := _VENDOR_PREFIX.sub("", normalized)) != normalized:
        normalized = shorter
    return normalized.casefold()


def chip_name(name: str) -> str:
    """The part of a name that identifies the chip: "Tesla V100-SXM2-16GB" gives "tesla v100", "NVIDIA GeForce GTX 1060
    with Max-Q Design" gives "gtx 1060". May be empty.
    """
    text = re.sub(r"[-_,]", " ", _TRADEMARKS.sub(" ", normalize_name(name)))
    return " ".join(_BOARD_DETAILS.sub(" ", " ".join(text.split())).split())


def is_laptop_name(name: str) -> bool:
    """Whether the name is one of a laptop's GPU."""
    return _LAPTOP.search(name) is not None and _DESKTOP_MAX_Q.search(name) is None


def split_listed_names(list_line: str) -> tuple[str, ...]:
    """Split a line of a device list into names: "Radeon RX 7900 XT/7900 XTX / PRO W7900" gives "Radeon RX 7900 XT",
    "Radeon RX 7900 XTX" and "Radeon PRO W7900".
    """
    first, *other_parts = (part.strip() for part in list_line.split("/"))
    match = _PRODUCT_LINE.search(first)
    name_words = (match.group() if match is not None else first).split()
    product_line = " ".join(
        name_words[: next((index for index, word in enumerate(name_words) if any(c.isdigit() for c in word)), 0)]
    )
    names = [first]
    for part in other_parts:
        start = part.split(" ")[0].casefold()
        if start in _PRODUCT_LINES:
            names.append(part)
        elif start == "pro" and name_words:
            names.append(f"{name_words[0]} {part}")
        else:
            names.append(f"{product_line} {part}".strip())
    return tuple(names)


def card_name(name: str) -> str:
    """The part of an AMD or Intel name that identifies the chip: "Intel(R) Arc(TM) A770 Graphics" gives "arc a770".

    Empty where it has no number, because the name of a product line covers many chips.
    """
    match = _PRODUCT_LINE.search(_TRADEMARKS.sub(" ", name))
    name_part = chip_name(match.group()) if match is not None else ""
    return name_part if any(character.isdigit() for character in name_part) else ""
