"""Who the cards are: a card has the number that the driver gives it now, and one that the driver no longer lists is
remembered for a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

from msgspec.structs import replace

from ..core.results import GpuSample, GpuState


class Seats:
    """The names of the cards, and what was reported of them, by their numbers of now; and who is gone, since when.

    A card that is gone is forgotten after `forget_s` seconds; None: never.
    """

    def __init__(self, forget_s: float | None = None) -> None:
        self._forget_s = forget_s
        self._seen: dict[int, GpuSample] = {}
        self._gone: tuple[tuple[GpuSample, float], ...] = ()

    def all(self, state: GpuState) -> tuple[GpuSample, ...]:
        """All of them, with nothing but their names; who is gone stays so."""
        return self._with_gone([replace(seen, state=state) for seen in self._seen.values()])

    def seated(self, samples: Sequence[GpuSample], now: float) -> tuple[GpuSample, ...]:
        """The same samples, whose numbers are the driver's, and the cards seen before that are not among them, as
        "gone". `now` is in seconds of a steady clock.
        """
        if not self._gone and self._as_before(samples):
            return tuple(samples)
        told = {sample.uuid for sample in samples if sample.uuid is not None}
        here = {sample.index: self._complete(sample, told) for sample in samples}
        named = {sample.uuid for sample in here.values() if sample.uuid is not None}

        def away(card: GpuSample) -> bool:
            return card.index not in here if card.uuid is None else card.uuid not in named

        gone = [*self._gone, *((seen, now) for seen in self._seen.values())]
        kept = [
            (card, since)
            for card, since in gone
            if away(card) and (self._forget_s is None or now - since < self._forget_s)
        ]
        self._seen = {index: _named(index, sample) for index, sample in here.items()}
        self._gone = _numbered(kept, set(here))
        return self._with_gone(here.values())

    def _with_gone(self, cards: Iterable[GpuSample]) -> tuple[GpuSample, ...]:
        gone = [replace(card, state="gone") for card, _ in self._gone]
        return tuple(sorted([*cards, *gone], key=lambda card: card.index))

    def _as_before(self, samples: Sequence[GpuSample]) -> bool:
        """Whether all cards are there, at work and in their seats, as nearly always."""
        if len(samples) != len(self._seen):
            return False
        for sample in samples:
            seen = self._seen.get(sample.index)
            if seen is None or sample.uuid is None or sample.uuid != seen.uuid or sample.state != "ready":
                return False
        return True

    def _complete(self, sample: GpuSample, told: set[str]) -> GpuSample:
        """A card that is lost cannot say who it is: the one that was in its place, unless that is elsewhere."""
        before = self._seen.get(sample.index)
        if sample.uuid is not None or before is None or before.uuid in told:
            return sample
        return replace(
            sample,
            name=sample.name or before.name,
            uuid=before.uuid,
            address=sample.address or before.address,
        )


def _numbered(gone: Sequence[tuple[GpuSample, float]], taken: set[int]) -> tuple[tuple[GpuSample, float], ...]:
    """Who is gone keeps its number until a card that is there has it; then it gets one that nobody has."""
    kept = [each for each in gone if each[0].index not in taken]
    taken |= {card.index for card, _ in kept}
    for card, since in gone:
        if card.index in taken and (card, since) not in kept:
            index = next(number for number in count() if number not in taken)
            taken.add(index)
            kept.append((replace(card, index=index), since))
    return tuple(kept)


def _named(index: int, sample: GpuSample) -> GpuSample:
    return GpuSample(
        index=index,
        name=sample.name,
        uuid=sample.uuid,
        address=sample.address,
        xid=sample.xid,
        xid_t=sample.xid_t,
    )
