"""Every card keeps its number while the program runs, also where another before it fell off the bus."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..core.results import GpuSample, GpuState


class Seats:
    """The names of the cards seen so far, and what was reported of them, by the number that each got."""

    def __init__(self) -> None:
        self._seen: dict[int, GpuSample] = {}

    def all(self, state: GpuState) -> tuple[GpuSample, ...]:
        """All of them, with nothing but their names."""
        return tuple(replace(self._seen[index], state=state) for index in sorted(self._seen))

    def seated(self, samples: Sequence[GpuSample]) -> tuple[GpuSample, ...]:
        """The same samples under their cards' numbers; cards seen before that are not among them are lost."""
        if self._as_before(samples):
            return tuple(samples)
        taken: dict[int, GpuSample] = {}
        unknown = []
        for sample in samples:
            index = self._number(sample)
            if index is None or index in taken:
                unknown.append(sample)
            else:
                taken[index] = sample
        for sample in unknown:
            # Who is lost cannot say who it is: it is the one that is missing at its place, or a new one.
            place = sample.index
            while place in taken or (sample.uuid is not None and place in self._seen):
                place += 1
            taken[place] = sample
        for index, sample in taken.items():
            if sample.uuid is not None or index not in self._seen:
                self._seen[index] = _named(index, sample)
        found = {index: self._complete(index, sample) for index, sample in taken.items()}
        gone = {index: replace(each, state="lost") for index, each in self._seen.items() if index not in found}
        return tuple(each for _, each in sorted({**found, **gone}.items()))

    def _as_before(self, samples: Sequence[GpuSample]) -> bool:
        """Whether all cards are there, at work and in their seats, as nearly always."""
        if len(samples) != len(self._seen):
            return False
        for sample in samples:
            seen = self._seen.get(sample.index)
            if seen is None or sample.uuid is None or sample.uuid != seen.uuid or sample.state != "ready":
                return False
        return True

    def _number(self, sample: GpuSample) -> int | None:
        if sample.uuid is None:
            return None
        return next((index for index, each in self._seen.items() if each.uuid == sample.uuid), None)

    def _complete(self, index: int, sample: GpuSample) -> GpuSample:
        named = self._seen[index]
        if sample.index == index and sample.uuid is not None:
            return sample
        return replace(
            sample,
            index=index,
            name=sample.name or named.name,
            uuid=sample.uuid or named.uuid,
            address=sample.address or named.address,
        )


def _named(index: int, sample: GpuSample) -> GpuSample:
    return GpuSample(
        index=index,
        name=sample.name,
        uuid=sample.uuid,
        address=sample.address,
        xid=sample.xid,
        xid_t=sample.xid_t,
    )
