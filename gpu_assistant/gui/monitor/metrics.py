"""The metrics of Home and Monitor: where a sample has them, their names, units, colours and number formats."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from ...core.results import GpuSample, Sample
from ...health.rules import temperature_limit
from ...texts.format import UNKNOWN_VALUE, join_unit

SecondaryMetricKey = Literal["mem_shared", "temp_memory", "pcie_rx", "pcie_tx", "enc", "dec"]
MetricKey = Literal["cpu", "ram", "util", "mem", "temp", "power", "clock", "fan"] | SecondaryMetricKey
GIB, BYTES_PER_MB = 2**30, 1e6


class Metric(Struct, frozen=True, kw_only=True):
    """One metric. `figure_name` and `total_name` are fields of a sample (or of its GPU), divided by `scale`.

    Without `names_total` the total is only the length of the bar. `full_scale` is used where no field has it; `floor`
    is where the plot begins. Memory is in GiB, written as "GB" as manufacturers and systems do. With `has_strips`
    several lines have a strip each in their plot: they jump between nothing and full, and would cross all the time.
    Such a metric has a fixed scale and no limit.
    """

    key: MetricKey
    title: str
    icon: str
    colour: str
    unit: str
    figure_name: str
    total_name: str | None = None
    names_total: bool = True
    full_scale: float | None = None
    scale: float = 1.0
    digits: int = 0
    floor: float = 0.0
    has_strips: bool = False

    def read(self, source: Sample | GpuSample | None) -> tuple[float | None, float | None]:
        """(value, full scale) in the unit of the metric; None where it is unknown."""
        if source is None:
            return None, None
        value: float | None = getattr(source, self.figure_name)
        total: float | None = getattr(source, self.total_name) if self.total_name else None
        return (
            None if value is None else value / self.scale,
            self.full_scale if total is None else total / self.scale,
        )

    def fraction(self, source: Sample | GpuSample | None) -> float | None:
        """How much of its bar the value fills, 0 to 1; the bar of a GPU's temperature ends where the GPU slows down."""
        value, total = self.read(source)
        total = self._slowdown_temperature(source) or total
        return min(value / total, 1.0) if value is not None and total else None

    def _slowdown_temperature(self, source: Sample | GpuSample | None) -> float | None:
        """°C at which a GPU slows down, as its driver reports it; None for other metrics."""
        if self.key != "temp" or not isinstance(source, GpuSample):
            return None
        return temperature_limit(source, lambda _: None)

    def title_text(self) -> str:
        """The name in the current language."""
        return str(QCoreApplication.translate("Metric", self.title))

    def format_value(self, value: float | None) -> str:
        """The number: "97", "5.6"; a dash where it is unknown."""
        return UNKNOWN_VALUE if value is None or math.isnan(value) else f"{value:,.{self.digits}f}"

    def format_with_unit(self, value: float | None) -> str:
        """The number with its unit."""
        if value is None:
            return self.format_value(value)
        return join_unit(self.format_value(value), self.unit)

    def unit_text(self, total: float | None) -> str:
        """The unit, with the total where the metric has one: "of 8.0 GB"."""
        if total is None or self.total_name is None or not self.names_total:
            return self.unit
        text = QCoreApplication.translate("Metric", "of {total} {unit}")
        return text.format(total=f"{total:,.{self.digits}f}", unit=self.unit)

    def unit_text_with_limit(self, source: Sample | GpuSample | None) -> str:
        """`unit_text`, for the temperature of a GPU with the one at which it slows down: "°C (slows at 87 °C)"."""
        limit = self._slowdown_temperature(source)
        if limit is None:
            return self.unit_text(self.read(source)[1])
        text = QCoreApplication.translate("Metric", "{unit} (slows at {temperature})")
        return text.format(unit=self.unit, temperature=self.format_with_unit(limit))

    def ticks(self, highest: float, total: float | None) -> tuple[float, ...]:
        """Round values for the axis, from the floor up to the highest value or the total."""
        if self.unit == "%":
            return (0, 25, 50, 75, 100)
        if self.unit == "°C":
            return (30, 50, 70, 90) if highest <= 92 else (30, 50, 70, 90, 110)
        maximum = max(total if self.key in ("mem", "ram") and total else highest, 4 * 10.0**-self.digits)
        magnitude = 10.0 ** math.floor(math.log10(maximum / 4))
        step = next(m * magnitude for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if m * magnitude * 4 >= maximum * 0.999)
        return tuple(step * i for i in range(math.ceil(maximum / step - 1e-3) + 1))


CPU_UTILIZATION = Metric(
    key="cpu",
    title=str(QT_TRANSLATE_NOOP("Metric", "CPU load")),
    icon="cpu",
    colour="s5",
    unit="%",
    figure_name="cpu",
    full_scale=100.0,
)
MAIN_MEMORY = Metric(
    key="ram",
    title=str(QT_TRANSLATE_NOOP("Metric", "Main memory")),
    icon="memory",
    colour="s5",
    unit="GB",
    figure_name="ram_used",
    total_name="ram_total",
    scale=GIB,
    digits=1,
)
GPU_UTILIZATION = Metric(
    key="util",
    title=str(QT_TRANSLATE_NOOP("Metric", "Load")),
    icon="chip",
    colour="s1",
    unit="%",
    figure_name="util",
    full_scale=100.0,
    has_strips=True,
)
GPU_MEMORY = Metric(
    key="mem",
    title=str(QT_TRANSLATE_NOOP("Metric", "Memory")),
    icon="memory",
    colour="s2",
    unit="GB",
    figure_name="mem_used",
    total_name="mem_total",
    scale=GIB,
    digits=1,
)
GPU_TEMPERATURE = Metric(
    key="temp",
    title=str(QT_TRANSLATE_NOOP("Metric", "Temperature")),
    icon="temp",
    colour="s3",
    unit="°C",
    figure_name="temp",
    full_scale=100.0,
    floor=30.0,
)
GPU_POWER = Metric(
    key="power",
    title=str(QT_TRANSLATE_NOOP("Metric", "Power")),
    icon="bolt",
    colour="s4",
    unit="W",
    figure_name="power_w",
    total_name="power_limit_w",
)
GPU_CLOCK = Metric(
    key="clock",
    title=str(QT_TRANSLATE_NOOP("Metric", "Clock")),
    icon="clock",
    colour="s5",
    unit="MHz",
    figure_name="clock_sm",
    total_name="clock_sm_max",
    names_total=False,
)
GPU_FAN = Metric(
    key="fan",
    title=str(QT_TRANSLATE_NOOP("Metric", "Fan")),
    icon="fan",
    colour="s5",
    unit="%",
    figure_name="fan",
    full_scale=100.0,
)

MEMORY_TEMPERATURE = replace(
    GPU_TEMPERATURE,
    key="temp_memory",
    title=str(QT_TRANSLATE_NOOP("Metric", "Memory temperature")),
    figure_name="temp_memory",
)
SHARED_MEMORY = replace(
    GPU_MEMORY,
    key="mem_shared",
    title=str(QT_TRANSLATE_NOOP("Metric", "Shared memory")),
    figure_name="mem_shared",
    total_name=None,
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
    GPU_UTILIZATION,
    key="enc",
    title=str(QT_TRANSLATE_NOOP("Metric", "Video encoder")),
    icon="long",
    colour="s5",
    figure_name="enc",
)
VIDEO_DECODER = replace(
    VIDEO_ENCODER, key="dec", title=str(QT_TRANSLATE_NOOP("Metric", "Video decoder")), figure_name="dec"
)

MACHINE_METRICS = (CPU_UTILIZATION, MAIN_MEMORY)
GPU_METRICS = (GPU_UTILIZATION, GPU_MEMORY, GPU_TEMPERATURE, GPU_POWER)
GPU_TILE_METRICS = (*GPU_METRICS, GPU_CLOCK, GPU_FAN)
SECONDARY_METRICS = (
    SHARED_MEMORY,
    MEMORY_TEMPERATURE,
    GPU_CLOCK,
    GPU_FAN,
    PCIE_RX,
    PCIE_TX,
    VIDEO_ENCODER,
    VIDEO_DECODER,
)
# With several GPUs the colour says which one it is.
GPU_COLOURS = ("s1", "s2", "s3", "s4")
