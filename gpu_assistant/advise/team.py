"""Several NVIDIA cards in one computer: one driver and one PyTorch for all of them where that costs nothing beyond
the oldest card's own builds, else the strongest card's.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.versions import numbers
from ..core.machine import Machine
from ..core.recommendation import Channel
from .builds import Build, code_for
from .cards import Card
from .cudnn import cudnn_fit
from .drivers import driver_system, drops, serves_both
from .pick import Pick, Site, best_pick, site

Chip = tuple[int, int]


class Team(Struct, frozen=True, kw_only=True):
    """Who works together. `where` decides. `whole` is the newest build that serves every card, `whole_where` the
    place where it was found, `alone` what the strongest card would get by itself: None where all cards agree.
    """

    where: Site
    whole: Pick | None = None
    whole_where: Site | None = None
    alone: Pick | None = None


class _Room(Struct, frozen=True, kw_only=True):
    """What is asked again and again for one machine."""

    machine: Machine
    catalog: Catalog
    arch: str
    cards: tuple[Card, ...]
    channel: Channel

    def site(self, card: Card, oldest: Chip | None = None, others: tuple[Chip, ...] = ()) -> Site:
        found = site(self.machine, self.catalog, self.arch, card, self.channel, oldest=oldest)
        return replace(found, others=others) if others else found


def team(machine: Machine, catalog: Catalog, arch: str, cards: tuple[Card, ...], channel: Channel) -> Team:
    """The deciding facts of a machine with any number of NVIDIA cards (strongest first)."""
    room = _Room(machine=machine, catalog=catalog, arch=arch, cards=cards, channel=channel)
    alone = site(machine, catalog, arch, cards[0] if cards else None, channel)
    chips = _other_chips(cards)
    best = best_pick(alone) if chips else None
    if best is None or all(_serves(catalog, best.build, chip) for chip in chips):
        return Team(where=alone)
    strongest = cards[0].capability or (0, 0)
    system = driver_system(machine)
    partners = tuple(chip for chip in chips if serves_both(catalog, strongest, chip, system))
    whole, whole_where = _together(room, partners) if partners == chips else (None, None)
    # A driver that is there and refuses the older card is not taken back unasked.
    here = numbers(machine.driver.version) if machine.driver is not None else None
    known = tuple(c for c in partners if drops(catalog, here, c, system) is None)
    where = alone
    if known:
        # The older card keeps its driver where the strongest loses no release by that.
        shared = room.site(cards[0], oldest=known[-1])
        there = best_pick(shared)
        keeps = there is not None and there.build.rank <= best.build.rank and _has_driver(shared, there)
        where = shared if keeps else alone
    for count in range(len(known), 0, -1):
        crowd = known[:count]
        if not _loses_nothing(room, crowd[-1], best):
            continue
        pick, place = _together(room, crowd)
        if pick is not None and place is not None and _has_driver(place, pick) and _costs_nothing(room, pick, crowd):
            where = _kept_too(room, crowd, known[count:], pick) or place
            break
    return Team(where=where, whole=whole, whole_where=whole_where, alone=best)


def _other_chips(cards: tuple[Card, ...]) -> tuple[Chip, ...]:
    """The further kinds of chips beside the strongest, newest first; none where that one is not known."""
    if len(cards) < 2 or cards[0].capability is None:
        return ()
    chips = {card.capability for card in cards[1:] if card.capability is not None}
    return tuple(sorted(chips - {cards[0].capability}, reverse=True))


def _serves(catalog: Catalog, build: Build, chip: Chip) -> bool:
    """Whether a build has code for a chip, in its cuDNN, too."""
    return code_for(catalog, build.record, chip) is not None and cudnn_fit(catalog, build, chip) != "too-new"


def _together(room: _Room, chips: tuple[Chip, ...]) -> tuple[Pick | None, Site | None]:
    """The newest build with code for the strongest card and for further chips, on a driver that knows them all."""
    where = room.site(room.cards[0], oldest=chips[-1], others=chips)
    pick = best_pick(where)
    return pick, where if pick is not None else None


def _kept_too(room: _Room, chips: tuple[Chip, ...], older: tuple[Chip, ...], pick: Pick) -> Site | None:
    """The place with a driver that serves still older cards, too, for which the build has no code: where the cards
    that it has code for lose no release by that.
    """
    for oldest in reversed(older):
        place = room.site(room.cards[0], oldest=oldest, others=chips)
        there = best_pick(place)
        if there is not None and there.build.rank <= pick.build.rank and _has_driver(place, there):
            return place
    return None


def _has_driver(where: Site, pick: Pick) -> bool:
    """Whether a driver for all cards is there or known by its number."""
    state, lowest = where.state, pick.floor
    there = state is not None and state.usable is not None and lowest is not None and state.usable >= lowest.version
    return there or (state is not None and state.package is not None)


def _loses_nothing(room: _Room, oldest: Chip, best: Pick) -> bool:
    """Whether the strongest card has its newest release on the older card's drivers, too."""
    there = best_pick(room.site(room.cards[0], oldest=oldest))
    return there is not None and there.build.rank <= best.build.rank


def _costs_nothing(room: _Room, pick: Pick, chips: tuple[Chip, ...]) -> bool:
    """Whether a build is as new as what one of the older cards could have by itself."""
    own = (best_pick(room.site(card)) for card in room.cards if card.capability in chips)
    return any(mine is not None and pick.build.rank <= mine.build.rank for mine in own)
