"""Whose lines are drawn, where there are more GPUs than lines can be told apart."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.health import Health
from ...core.results import GpuSample

# Lines of more cards than this cannot be told apart.
MOST_LINES = 4


class Picked:
    """`gpus` are the indexes of those that are drawn, lowest first unless they were picked by hand."""

    def __init__(self) -> None:
        self.gpus: list[int] = []
        self.by_hand = False

    def follow(self, gpus: Sequence[GpuSample], health: Health | None) -> bool:
        """The cards of now: as picked by hand, else as many as can be told apart. A card that is lost or gone, and
        draws no line, comes last; of the others the one that is least well comes first. Whether that is another
        choice than before.
        """
        shown = self._to_show(gpus, health)
        new, self.gpus = shown != self.gpus, shown
        return new

    def pick(self, gpu: int) -> None:
        """Show or hide the lines of a GPU; of too many the one that came first gives way, and one always stays."""
        self.by_hand = True
        if gpu not in self.gpus:
            self.gpus = [*self.gpus, gpu][-MOST_LINES:]
        elif len(self.gpus) > 1:
            self.gpus = [each for each in self.gpus if each != gpu]

    def _to_show(self, gpus: Sequence[GpuSample], health: Health | None) -> list[int]:
        there = [gpu.index for gpu in gpus]
        if len(there) <= MOST_LINES:
            return there
        kept = [gpu for gpu in self.gpus if gpu in there]
        if self.by_hand and kept:
            return kept
        ailing = [alarm.gpu for alarm in health.alarms if alarm.level != "info"] if health is not None else []

        def rank(gpu: GpuSample) -> tuple[bool, int]:
            return gpu.state in ("lost", "gone"), ailing.index(gpu.index) if gpu.index in ailing else len(ailing)

        return sorted(gpu.index for gpu in sorted(gpus, key=rank)[:MOST_LINES])
