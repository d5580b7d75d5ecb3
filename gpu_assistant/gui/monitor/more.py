"""More graphs, for who looks for the reason: clock, fan, memory temperature, PCI Express, video."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from PySide6.QtCore import QT_TRANSLATE_NOOP

from ...core.results import GpuSample
from ..components import Button
from .metrics import CLOCK, FAN, TEMPERATURE, Metric

BYTES_IN_MB = 1e6
MEMORY_TEMPERATURE = replace(
    TEMPERATURE,
    key="temp_memory",
    title=str(QT_TRANSLATE_NOOP("Metric", "Memory temperature")),
    figure_name="temp_memory",
)
TO_CARD = Metric(
    key="pcie_rx",
    title=str(QT_TRANSLATE_NOOP("Metric", "PCIe to the card")),
    icon="download",
    colour="s4",
    unit="MB/s",
    figure_name="pcie_rx",
    scale=BYTES_IN_MB,
)
FROM_CARD = replace(
    TO_CARD,
    key="pcie_tx",
    title=str(QT_TRANSLATE_NOOP("Metric", "PCIe from the card")),
    figure_name="pcie_tx",
)
ENCODER = replace(
    FAN, key="enc", title=str(QT_TRANSLATE_NOOP("Metric", "Video encoder")), icon="long", figure_name="enc"
)
DECODER = replace(ENCODER, key="dec", title=str(QT_TRANSLATE_NOOP("Metric", "Video decoder")), figure_name="dec")
MORE_OF_GPU = (MEMORY_TEMPERATURE, CLOCK, FAN, TO_CARD, FROM_CARD, ENCODER, DECODER)


class More(Button):
    """The switch, to be seen where a card reports any of it. What was reported once stays, so that no plot comes and
    goes with a card that falls asleep.
    """

    def __init__(self) -> None:
        self._reported: set[str] = set()
        self._on = False
        super().__init__(kind="ghost", icon="monitor")
        self.clicked.connect(self._turn_over)
        self.hide()
        self.retranslate()

    @property
    def shown(self) -> tuple[Metric, ...]:
        """What is to be drawn besides; nothing while the switch is off."""
        return tuple(metric for metric in MORE_OF_GPU if metric.key in self._reported) if self._on else ()

    def note(self, gpus: Iterable[GpuSample]) -> bool:
        """What cards report now; whether something that is shown is new."""
        new = {metric.key for gpu in gpus for metric in MORE_OF_GPU if metric.read(gpu)[0] is not None} - self._reported
        self._reported |= new
        self.setVisible(bool(self._reported))
        return bool(new) and self._on

    def forget(self) -> None:
        """Other cards than before."""
        self._reported.clear()

    def _turn_over(self) -> None:
        self._on = not self._on
        self.retranslate()

    def retranslate(self) -> None:
        """Its words."""
        self.setText(self.tr("Fewer graphs") if self._on else self.tr("More graphs"))
        self.setToolTip(self.tr("Clock, fan, memory temperature, PCI Express and video, where the card reports them"))
