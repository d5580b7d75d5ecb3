"""Who the cards are: a card has the number that the driver gives it now, and one that the driver no longer lists is
remembered for a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

from msgspec.structs import replace

from ..core.results import GpuSample, GpuState


class GpuRegistry:
    """The names of the cards, and what was reported of them, by their numbers of now; and who is gone, since when.

    A card that is gone is forgotten after `forget_s` seconds; None: never.
    """

    def __init__(self, forget_s: float | None = None) -> None:
        self._forget_s = forget_s
        self._known: dict[int, GpuSample] = {}
        self._missing: tuple[tuple[GpuSample, float], ...] = ()

    def all_samples(self, state: GpuState) -> tuple[GpuSample, ...]:
        """All of them, with nothing but their names; who is gone stays so."""
        return self._with_missing([replace(known, state=state) for known in self._known.values()])

    def update(self, samples: Sequence[GpuSample], now: float) -> tuple[GpuSample, ...]:
        """The same samples, whose numbers are the driver's, and the cards seen before that are not among them, as
        "gone". `now` is in seconds of a steady clock.
        """
        if not self._missing and self._is_unchanged(samples):
            return tuple(samples)
        reported_uuids = {sample.uuid for sample in samples if sample.uuid is not None}
        current = {sample.index: self._restore_identity(sample, reported_uuids) for sample in samples}
        current_uuids = {sample.uuid for sample in current.values() if sample.uuid is not None}

        def is_missing(gpu: GpuSample) -> bool:
            return gpu.index not in current if gpu.uuid is None else gpu.uuid not in current_uuids

        missing = [*self._missing, *((known, now) for known in self._known.values())]
        remembered = [
            (card, missing_since)
            for card, missing_since in missing
            if is_missing(card) and (self._forget_s is None or now - missing_since < self._forget_s)
        ]
        self._known = {index: _identity_sample(index, sample) for index, sample in current.items()}
        self._missing = _assign_indexes(remembered, set(current))
        return self._with_missing(current.values())

    def _with_missing(self, present: Iterable[GpuSample]) -> tuple[GpuSample, ...]:
        missing = [replace(card, state="gone") for card, _ in self._missing]
        return tuple(sorted([*present, *missing], key=lambda card: card.index))

    def _is_unchanged(self, samples: Sequence[GpuSample]) -> bool:
        """Whether all cards are there, at work and in their seats, as nearly always."""
        if len(samples) != len(self._known):
            return False
        for sample in samples:
            known = self._known.get(sample.index)
            if known is None or sample.uuid is None or sample.uuid != known.uuid or sample.state != "ready":
                return False
        return True

    def _restore_identity(self, sample: GpuSample, reported_uuids: set[str]) -> GpuSample:
        """A card that is lost cannot say who it is: the one that was in its place, unless that is elsewhere."""
        previous = self._known.get(sample.index)
        if sample.uuid is not None or previous is None or previous.uuid in reported_uuids:
            return sample
        return replace(
            sample,
            name=sample.name or previous.name,
            uuid=previous.uuid,
            address=sample.address or previous.address,
        )


def _assign_indexes(missing: Sequence[tuple[GpuSample, float]], used_indexes: set[int]) -> tuple[tuple[GpuSample, float], ...]:
    """Who is gone keeps its number until a card that is there has it; then it gets one that nobody has."""
    numbered = [entry for entry in missing if entry[0].index not in used_indexes]
    used_indexes |= {card.index for card, _ in numbered}
    for card, missing_since in missing:
        if card.index in used_indexes and (card, missing_since) not in numbered:
            index = next(candidate for candidate in count() if candidate not in used_indexes)
            used_indexes.add(index)
            numbered.append((replace(card, index=index), missing_since))
    return tuple(numbered)


def _identity_sample(index: int, sample: GpuSample) -> GpuSample:
    return GpuSample(
        index=index,
        name=sample.name,
        uuid=sample.uuid,
        address=sample.address,
        xid=sample.xid,
        xid_t=sample.xid_t,
    )
