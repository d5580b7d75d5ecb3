"""What the cards did while they were measured, as their driver told it: in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from ...core.results import BenchWatch
from ...texts.format import UNKNOWN, short_name
from .. import language

translate = QCoreApplication.translate
REASON = "monitor.throttle."
HELD = 4  # the row that says what held it back


def name(card: BenchWatch, cards: Sequence[BenchWatch]) -> str:
    """The card's name, with its number where there are several."""
    called = short_name(card.name) if card.name else "GPU"
    return f"GPU {card.index} · {called}" if len(cards) > 1 else called


def rows(card: BenchWatch) -> list[tuple[str, str]]:
    """Each figure's name and the figure; a dash for what the driver does not tell."""
    return [
        (translate("Along", "Temperature, start to end"), _temperature(card)),
        (translate("Along", "Clock under load"), _megahertz(card.clock_sm)),
        (translate("Along", "Memory clock under load"), _megahertz(card.clock_mem)),
        (translate("Along", "Power at most"), _power(card)),
        (translate("Along", "Held back by"), held_back(card)),
        (translate("Along", "In use before the test"), _percent(card.util_before)),
    ]


def held_back(card: BenchWatch) -> str:
    """Why its clocks were not higher, in the driver's reasons; nothing where there was none."""
    texts = language.texts()
    if not card.throttle:
        return translate("Along", "nothing")
    said = [texts.say(REASON + why) if texts.has(REASON + why) else why for why in card.throttle]
    return translate("Along", "; ").join(said)


def _temperature(card: BenchWatch) -> str:
    ends = [UNKNOWN if each is None else str(each) for each in (card.temp_start, card.temp_end)]
    if card.temp_start is None and card.temp_end is None:
        return UNKNOWN
    if card.temp_max is None:
        return translate("Along", "{first} → {last} °C").format(first=ends[0], last=ends[1])
    said = translate("Along", "{first} → {last} °C, at most {most} °C")
    return said.format(first=ends[0], last=ends[1], most=card.temp_max)


def _megahertz(clock: int | None) -> str:
    return UNKNOWN if clock is None else f"{clock:,} MHz"


def _power(card: BenchWatch) -> str:
    if card.power_max_w is None:
        return UNKNOWN
    if card.power_limit_w is None:
        return f"{card.power_max_w:.0f} W"
    said = translate("Along", "{power} W of {limit} W")
    return said.format(power=round(card.power_max_w), limit=round(card.power_limit_w))


def _percent(share: int | None) -> str:
    return UNKNOWN if share is None else translate("Along", "{percent} %").format(percent=share)
