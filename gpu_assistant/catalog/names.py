"""Names of cards as drivers, device lists and people write them, brought to one form."""

from __future__ import annotations

import re

_MAKER = re.compile(r"^(?:nvidia|geforce)\s+", re.IGNORECASE)
_MARKS = re.compile(r"\((?:r|tm|c|pascal)\)|[®™©]", re.IGNORECASE)
# What tells how a chip is built in, cooled or fitted with memory, and nothing about the chip itself.
_FITTING = re.compile(
    r"\b(?:with|max q|design|laptop|notebook|mobile|gpu|graphics|generation|edition"
    r"|pcie|sxm\d*|dgxs|nvl|hbm\d\w?|\d+ ?gb?)\b"
)
_PORTABLE = re.compile(r"\b(?:max[ -]q|laptop|notebook|mobile)\b", re.IGNORECASE)
_DESKTOP_MAX_Q = re.compile(r"\bworkstation\b", re.IGNORECASE)
_LINES = ("radeon", "instinct", "arc")
_LINE = re.compile(r"\b(?:radeon|instinct|arc)\b[^()\[\]]*", re.IGNORECASE)


def plain_name(name: str) -> str:
    """Lower case, single spaces, without the maker in front: "NVIDIA GeForce RTX 4060" is "rtx 4060"."""
    plain = " ".join(name.split())
    while (shorter := _MAKER.sub("", plain)) != plain:
        plain = shorter
    return plain.casefold()


def chip_name(name: str) -> str:
    """What is left of a name when all that says nothing about the chip is gone: "Tesla V100-SXM2-16GB" is
    "tesla v100", "NVIDIA GeForce GTX 1060 with Max-Q Design" is "gtx 1060". Empty where nothing is left.
    """
    words = re.sub(r"[-_,]", " ", _MARKS.sub(" ", plain_name(name)))
    return " ".join(_FITTING.sub(" ", " ".join(words.split())).split())


def portable_name(name: str) -> bool:
    """Whether the name itself says that the card is a laptop's."""
    return _PORTABLE.search(name) is not None and _DESKTOP_MAX_Q.search(name) is None


def listed_names(listed: str) -> tuple[str, ...]:
    """The names that one line of a device list stands for: "Radeon RX 7900 XT/7900 XTX / PRO W7900" is "Radeon RX
    7900 XT", "Radeon RX 7900 XTX" and "Radeon PRO W7900".
    """
    first, *others = (part.strip() for part in listed.split("/"))
    named = _LINE.search(first)
    words = (named.group() if named is not None else first).split()
    line = " ".join(words[: next((at for at, word in enumerate(words) if any(c.isdigit() for c in word)), 0)])
    found = [first]
    for part in others:
        start = part.split(" ")[0].casefold()
        if start in _LINES:
            found.append(part)
        elif start == "pro" and words:
            found.append(f"{words[0]} {part}")
        else:
            found.append(f"{line} {part}".strip())
    return tuple(found)


def card_name(name: str) -> str:
    """An AMD or Intel card's name without maker, marks and what tells nothing about the chip: "Intel(R) Arc(TM) A770
    Graphics" is "arc a770". Empty where no number is left, since lines of cards hold many chips.
    """
    line = _LINE.search(_MARKS.sub(" ", name))
    plain = chip_name(line.group()) if line is not None else ""
    return plain if any(character.isdigit() for character in plain) else ""
