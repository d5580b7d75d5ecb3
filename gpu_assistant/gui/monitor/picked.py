"""Whose lines are drawn, where there are more GPUs than lines can be told apart."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.health import Health
from ...core.results import GpuSample

# Lines of more cards than this cannot be told apart.
MAX_LINES = 4


class GpuSelection:
    """`gpus` are the indexes of those that are drawn, lowest first unless they were picked by hand."""

    def __init__(self) -> None:
        self.gpus: list[int] = []
        self.is_manual = False

    def update(self, gpus: Sequence[GpuSample], health: Health | None) -> bool:
        """The cards of now: as picked by hand, else as many as can be told apart. A card that is lost or gone, and
        draws no line, comes last; of the others the one that is least well comes first. Whether that is another
        choice than before.
        """
        selected = self._select(gpus, health)
        changed, self.gpus = selected != self.gpus, selected
        return changed

    def toggle(self, gpu: int) -> None:
        """Show or hide the lines of a GPU; of too many the one that came first gives way, and one always stays."""
        self.is_manual = True
        if gpu not in self.gpus:
            self.gpus = [*self.gpus, gpu][-MAX_LINES:]
        elif len(self.gpus) > 1:
            self.gpus = [each for each in self.gpus if each != gpu]

    def _select(self, gpus: Sequence[GpuSample], health: Health | None) -> list[int]:
        present = [gpu.index for gpu in gpus]
        if len(present) <= MAX_LINES:
            return present
        selected = [gpu for gpu in self.gpus if gpu in present]
        if self.is_manual and selected:
            return selected
        alarming = [alarm.gpu for alarm in health.alarms if alarm.level != "info"] if health is not None else []

        def rank(gpu: GpuSample) -> tuple[bool, int]:
            return gpu.state in ("lost", "gone"), alarming.index(gpu.index) if gpu.index in alarming else len(alarming)

        return sorted(gpu.index for gpu in sorted(gpus, key=rank)[:MAX_LINES])
