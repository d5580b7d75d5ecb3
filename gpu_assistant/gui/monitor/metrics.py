"""What is measured, how it is called, and how its figures are said: shared by Home and Monitor."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from ...core.results import GpuSample, Sample

SecondaryMetricKey = Literal["temp_memory", "pcie_rx", "pcie_tx", "enc", "dec"]
MetricKey = Literal["cpu", "ram", "util", "mem", "temp", "power", "clock", "fan"] | SecondaryMetricKey
GIB = 2**30


class Metric(Struct, frozen=True, kw_only=True):
    """One metric. `figure_name` and `total_name` are fields of a sample (or of its GPU), divided by `scale`.

    `full` is the full scale where no field says it; `floor` is where the plot begins. Memory is in GiB, which
    makers and systems write as "GB".
    """

    key: MetricKey
    title: str
    icon: str
    colour: str
    unit: str
    figure_name: str
    total_name: str | None = None
    full_scale: float | None = None
    scale: float = 1.0
    digits: int = 0
    floor: float = 0.0

    def read(self, source: Sample | GpuSample | None) -> tuple[float | None, float | None]:
        """(value, full scale) of one moment; None where it is not known."""
        if source is None:
            return None, None
        value: float | None = getattr(source, self.figure_name)
        total: float | None = getattr(source, self.total_name) if self.total_name else None
        return (
            None if value is None else value / self.scale,
            self.full_scale if total is None else total / self.scale,
        )

    def title_text(self) -> str:
        """The metric's name in the language that is on."""
        return str(QCoreApplication.translate("Metric", self.title))

    def format_value(self, value: float | None) -> str:
        """The bare figure: "97", "5.6"; "—" where it is unknown."""
        return "—" if value is None or math.isnan(value) else f"{value:,.{self.digits}f}"

    def format_with_unit(self, value: float | None) -> str:
        """The figure with its unit."""
        return self.format_value(value) if value is None else f"{self.format_value(value)} {self.unit}"

    def unit_text(self, total: float | None) -> str:
        """The unit, and out of how much: "of 8.0 GB"."""
        if total is None or self.total_name is None:
            return self.unit
        text = QCoreApplication.translate("Metric", "of {total} {unit}")
        return text.format(total=f"{total:,.{self.digits}f}", unit=self.unit)

    def ticks(self, highest: float, total: float | None) -> tuple[float, ...]:
        """Four steps of a round length from the floor up to the highest value, or to the full scale."""
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

MACHINE_METRICS = (CPU_UTILIZATION, MAIN_MEMORY)
GPU_METRICS = (GPU_UTILIZATION, GPU_MEMORY, GPU_TEMPERATURE, GPU_POWER)
GPU_TILE_METRICS = (*GPU_METRICS, GPU_CLOCK, GPU_FAN)
# The colour says which card where there are several: look.md §3.
GPU_COLOURS = ("s1", "s2", "s3", "s4")
