"""More graphs, for who looks for the reason: clock, fan, memory temperature, PCI Express, video."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from PySide6.QtCore import QT_TRANSLATE_NOOP

from ...core.results import GpuSample
from ..components import Button
from .metrics import GPU_CLOCK, GPU_FAN, GPU_TEMPERATURE, Metric

BYTES_PER_MB = 1e6
MEMORY_TEMPERATURE = replace(
    GPU_TEMPERATURE,
    key="temp_memory",
    title=str(QT_TRANSLATE_NOOP("Metric", "Memory temperature")),
    figure_name="temp_memory",
)
PCIE_RX = Metric(
    key="pcie_rx",
    title=str(QT_TRANSLATE_NOOP("Metric", "PCIe to the card")),
    icon="download",
    colour="s4",
    unit="MB/s",
    figure_name="pcie_rx",
    scale=BYTES_PER_MB,
)
PCIE_TX = replace(
    PCIE_RX,
    key="pcie_tx",
    title=str(QT_TRANSLATE_NOOP("Metric", "PCIe from the card")),
    figure_name="pcie_tx",
)
VIDEO_ENCODER = replace(
    GPU_FAN, key="enc", title=str(QT_TRANSLATE_NOOP("Metric", "Video encoder")), icon="long", figure_name="enc"
)
VIDEO_DECODER = replace(VIDEO_ENCODER, key="dec", title=str(QT_TRANSLATE_NOOP("Metric", "Video decoder")), figure_name="dec")
SECONDARY_METRICS = (MEMORY_TEMPERATURE, GPU_CLOCK, GPU_FAN, PCIE_RX, PCIE_TX, VIDEO_ENCODER, VIDEO_DECODER)


class SecondaryPlotsButton(Button):
    """The switch, to be seen where a card reports any of it. What was reported once stays, so that no plot comes and
    goes with a card that falls asleep.
    """

    def __init__(self) -> None:
        self._reported_keys: set[str] = set()
        self._enabled = False
        super().__init__(kind="ghost", icon_name="monitor")
        self.clicked.connect(self._toggle)
        self.hide()
        self.retranslate()

    @property
    def shown_metrics(self) -> tuple[Metric, ...]:
        """What is to be drawn besides; nothing while the switch is off."""
        return tuple(metric for metric in SECONDARY_METRICS if metric.key in self._reported_keys) if self._enabled else ()

    def update_reported(self, gpus: Iterable[GpuSample]) -> bool:
        """What cards report now; whether something that is shown is new."""
        new_keys = {metric.key for gpu in gpus for metric in SECONDARY_METRICS if metric.read(gpu)[0] is not None} - self._reported_keys
        self._reported_keys |= new_keys
        self.setVisible(bool(self._reported_keys))
        return bool(new_keys) and self._enabled

    def reset(self) -> None:
        """Other cards than before."""
        self._reported_keys.clear()

    def _toggle(self) -> None:
        self._enabled = not self._enabled
        self.retranslate()

    def retranslate(self) -> None:
        """Its words."""
        self.setText(self.tr("Fewer graphs") if self._enabled else self.tr("More graphs"))
        self.setToolTip(self.tr("Clock, fan, memory temperature, PCI Express and video, where the card reports them"))
